// Sanitizers slow a test ten times and look at memory more than at values: of a long product of cases their
// builds take a part.
#pragma once

#include "tensor/sanitizers.h"

namespace grurun {

constexpr bool slow_build = GRURUN_ASAN != 0 || GRURUN_TSAN != 0;

/// Goes through a product of cases: takes every case, but in a slow build one of `part`. A part that divides
/// none of the product's factors meets every value of each.
class Sample {
 public:
  explicit Sample(int part) : part_(slow_build ? part : 1) {}

  bool takes_next() { return next_++ % part_ == 0; }

 private:
  int part_, next_ = 0;
};

}  // namespace grurun
