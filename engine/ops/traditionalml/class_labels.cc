#include "engine/ops/traditionalml/class_labels.h"

#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

namespace {

template <typename T>
Tensor list_tensor(const std::vector<T>& values) {
  return Tensor::from<T>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

ClassLabels::ClassLabels(PrepareContext& node, const char* integers, bool one_will_do) {
  const std::vector<std::string> strings = node.strings_attribute("classlabels_strings");
  const std::vector<std::int64_t> numbers = node.ints_attribute(integers);
  labels_ = strings.empty() ? list_tensor(numbers) : list_tensor(strings);
  if (size() == 1 && !one_will_do) {
    fail_unsupported("a single class label leaves open which other class a row may be of: name two");
  }
}

void ClassLabels::write(RunContext& run, std::span<const std::size_t> classes) const {
  Tensor& y = run.output(0, labels_.dtype(), Shape{static_cast<std::int64_t>(classes.size())});
  std::int64_t row = 0;
  for (const std::size_t one : classes) copy_elements(y, row++, labels_, static_cast<std::int64_t>(one), 1);
}

std::size_t top_class(std::span<const double> scores) {
  std::size_t top = 0;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] > scores[top]) top = i;
  }
  return top;
}

}  // namespace grurun::engine
