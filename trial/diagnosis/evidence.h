// How much the expected values can say.
#pragma once

#include <cstdint>
#include <string>

#include "trial/diagnosis/expected.h"

namespace grurun::trial::diagnosis {

struct Evidence {
  std::int64_t wrong = 0;  // elements that the layer as it is gets wrong
  /// The same, but of each output no more than it has different values: a thousand zeros say what one says,
  /// and those of another output too; and nothing of Y_h that repeats Y.
  std::int64_t elements = 0;
  /// "Y is 0 everywhere, Y_h is 0 everywhere" where that is so of each output that it gets wrong; else empty.
  std::string constant;
};

/// Of what is looked at; where the shapes are not the layer's own, of everything that is not 0.
Evidence weigh(const Expected& expected, const Candidate& stated, DType dtype);

}  // namespace grurun::trial::diagnosis
