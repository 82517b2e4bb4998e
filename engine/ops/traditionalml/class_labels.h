// The classes of a classifier of ai.onnx.ml.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace grurun::engine {

class PrepareContext;
class RunContext;

/// What classlabels_strings or its integer twin lists: Y holds one of these for each row.
class ClassLabels {
 public:
  /// integers is the twin's name, which differs between operators. Throws Error(invalid_model) unless one of
  /// them is given and not both, and Error(unsupported) for a single label: for that the text names no other
  /// class to choose, unless one_will_do.
  ClassLabels(PrepareContext& node, const char* integers, bool one_will_do = false);

  std::size_t size() const { return static_cast<std::size_t>(labels_.size()); }

  /// Output 0 [N]: the label of each row's class. Classes must be below size().
  void write(RunContext& run, std::span<const std::size_t> classes) const;

 private:
  Tensor labels_;
};

/// The place of the largest score, the first of several. NaN is never larger.
std::size_t top_class(std::span<const double> scores);

}  // namespace grurun::engine
