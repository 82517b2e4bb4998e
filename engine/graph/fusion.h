// Steps that are made one where that saves passes over memory.
#pragma once

#include "engine/graph/plan.h"

namespace grurun::engine {

/// Puts one step in the place of several that follow each other: a convolution by constant float32 weights,
/// and element-wise operators on its result and on scalar constants, where nothing else reads what lies
/// between. Every bit of the last result stays as it is. The plan's lifetimes must be known.
void fuse_steps(Plan& plan);

}  // namespace grurun::engine
