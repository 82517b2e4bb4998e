#include "engine/ops/nn/normalization.h"

#include "engine/graph/op_context.h"
#include "engine/ops/shared/dtype_attribute.h"

namespace grurun::engine {

Standardization Standardization::read(PrepareContext& node, DTypeSet stashes) {
  Standardization out;
  out.stash = dtype_attribute(node, "stash_type", stashes).value_or(DType::float32);
  out.epsilon = static_cast<double>(node.float_attribute("epsilon", 1e-5f));
  round_floats(out.stash, &out.epsilon, 1);
  return out;
}

}  // namespace grurun::engine
