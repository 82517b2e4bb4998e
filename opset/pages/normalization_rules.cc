#include <fmt/format.h>

#include <algorithm>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

bool trains(const NodeFacts& facts) {
  const int version = facts.since_version();
  if (version <= 6) return facts.int_attribute("is_test", 0) == 0;
  if (version <= 9) return facts.output_count() > 1;
  return facts.int_attribute("training_mode", 0) != 0;
}

}  // namespace

std::optional<std::string> stashed_outputs(const onnx_io::Node& node, int) {
  const onnx_io::Attribute* stated = node.find_attribute("stash_type");
  const DType stash = stated == nullptr ? DType::float32 : static_cast<DType>(stated->i);
  const auto given = [](const std::string& name) { return !name.empty(); };
  if (stash == DType::float32 || stash == DType::bfloat16 || node.outputs.size() < 2 ||
      std::none_of(node.outputs.begin() + 1, node.outputs.end(), given))
    return std::nullopt;
  return fmt::format(
      "stash_type is {} ({}), but Mean and InvStdDev, which are of that type, must be float or bfloat16",
      stated->i, dtype_name(stash));
}

void check_statistics(const NodeFacts& facts) {
  const bool training = trains(facts);
  const std::size_t given = facts.output_count();
  if (facts.since_version() >= 14 && given != (training ? 3 : 1))
    fail_invalid("training_mode is {}, which gives {} output{}, but the node has {}", training ? 1 : 0,
                 training ? 3 : 1, training ? "s" : "", given);
  if (facts.since_version() < 14 && given != 1 && given != 5)
    fail_invalid("the node has {} outputs; BatchNormalization-{} gives Y alone or all five", given,
                 facts.since_version());
  if (!training && given > 1)
    fail_invalid("there is one output when is_test is 1, but the node has {}", given);
  const SymbolicShape* X = facts.shape(0);
  if (X == nullptr) return;
  if (X->empty()) fail_invalid("X is a scalar, but must have at least one axis");
  // From version 9 on X of one axis has "size N in which case C is assumed to be 1".
  const bool one_channel = X->size() == 1 && facts.since_version() >= 9;
  const bool spatial = facts.since_version() > 7 || facts.int_attribute("spatial", 1) != 0;
  const int channel = X->size() > 1 ? 1 : 0;
  Sizes wanted = {one_channel ? 1 : size_of(X, channel)};
  bool empty = (one_channel || channel > 0) && size_of(X, 0) == 0;
  for (int axis = channel + 1; axis < rank_of(*X); ++axis) {
    if (!spatial) wanted.push_back(size_of(X, axis));
    empty = empty || (spatial && size_of(X, axis) == 0);
  }
  for (std::size_t i = 1; i < 5; ++i)
    require_sizes(input_name(facts, i), facts.shape(i), wanted,
                  spatial ? "a number for each channel" : "a number for each element of one of the batch");
  if (training && empty) fail_invalid("X is {}: of nothing there are no statistics", to_string(*X));
}

void check_group_count(const NodeFacts& facts) {
  const std::int64_t groups = facts.int_attribute("num_groups", 1);
  const Size C = size_of(facts.shape(0), 1);
  if (C && *C % groups != 0) fail_invalid("num_groups {} does not divide the {} channels of X", groups, *C);
  if (facts.since_version() >= 21) return;
  for (const std::size_t i : {1, 2})
    require_sizes(input_name(facts, i), facts.shape(i), {groups}, "a number for each group");
}

// Mean and InvStdDev get a size of 1 from axis on, whatever it is.
void check_broadcast_to_first(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  for (std::size_t i = 1; X != nullptr && i < facts.input_count(); ++i)
    require_broadcast(input_name(facts, i), facts.shape(i), sizes_of(*X));
}

}  // namespace grurun::opset
