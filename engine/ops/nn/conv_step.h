// The run step of Conv, so that steps after it can become its tail.
#pragma once

#include <cstdint>

#include "engine/graph/op_context.h"
#include "engine/ops/nn/convolution.h"
#include "engine/ops/shared/window.h"

namespace grurun::engine {

struct ConvStep {
  WindowAttributes attributes;
  std::int64_t group = 1;
  RowTail<float> tail = {};  // float32 only

  void operator()(RunContext& run) const;
};

}  // namespace grurun::engine
