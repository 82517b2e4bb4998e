// Values as text for people, in the manner of numpy's arrays.
#pragma once

#include <string>

#include "tensor/value.h"

namespace grurun::report {

struct PrintOptions {
  /// Tensors with more elements are summarised: the first and last edge_items of each axis, "..." between.
  std::int64_t threshold = 100;
  int edge_items = 3;
  /// Significant digits of floats; 0: as many as tell the value from its neighbours.
  int digits = 6;
  std::size_t line_width = 100;
  /// Items of a sequence and entries of a map shown at most.
  std::size_t max_items = 6;

  /// Everything, every digit.
  static PrintOptions full();
};

/// Several lines, each ended by '\n', every one indented by `indent` spaces. Strings are quoted and their
/// control characters escaped, since they come out of files that strangers made. The type and shape are not
/// repeated for the value itself, but are for items within.
std::string print_value(const Value& value, const PrintOptions& options = {}, std::size_t indent = 2);

}  // namespace grurun::report
