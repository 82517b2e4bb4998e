// Steps that are made one where that saves passes over memory. Like all_op_rows (op_registry.h), what
// planning needs of the operators: declared here, defined in engine/ops/shared/fusion.cc, so that no include
// points up.
#pragma once

#include "engine/graph/plan.h"

namespace grurun::engine {

/// Puts one step in the place of several that follow each other where nothing else reads what lies between:
/// element-wise operators of float32, by themselves or on the result of a convolution or product by constant
/// float32 weights. On a convolution BatchNormalization by constants is one, too, and the others read
/// constants besides that are scalars or have one element for each channel; those on a product, scalars and
/// rows; those by themselves read whatever there is. Types and shapes that are not known before the run may
/// turn out not to fit: the steps then run one by one. Every bit of the last result stays as it is. The
/// plan's lifetimes must be known.
void fuse_steps(Plan& plan);

}  // namespace grurun::engine
