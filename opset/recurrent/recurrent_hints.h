// What a shape that does not fit was probably meant to be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opset/recurrent/recurrent_attributes.h"
#include "tensor/value_type.h"

namespace grurun::opset {

struct RecurrentSizes;

/// One dimension as the text writes it, its size where that is known, and the factor of hidden_size in it.
struct WantedDim {
  std::string text;
  std::optional<std::int64_t> size;
  int factor = 1;
};

/// Ranks agree, and so does every pair of sizes that is known; a size is a multiple of its factor.
bool fits(const SymbolicShape& shape, const std::vector<WantedDim>& want);

/// "[num_directions, 3*hidden_size, input_size]" and "[1,12,?]".
std::string spelled(const std::vector<WantedDim>& want);
std::string sized(const std::vector<WantedDim>& want);

/// "; ..." or nothing.
std::string shape_hint(std::size_t input, const SymbolicShape& shape, const std::vector<WantedDim>& want,
                       const RecurrentForm& form, const RecurrentAttributes& attributes,
                       const RecurrentSizes& sizes);

}  // namespace grurun::opset
