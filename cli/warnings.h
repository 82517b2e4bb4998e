// Warnings of the standard's rules on stderr, beside what a run gives.
#pragma once

#include <cstddef>

#include "opset/findings/finding.h"

namespace grurun::cli {

/// Tells of the first fifty at once, and when it is destroyed how many more there were.
class Warnings {
 public:
  Warnings() = default;
  ~Warnings();
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;

  void tell_of(const opset::Finding& finding);

 private:
  std::size_t count_ = 0;
};

}  // namespace grurun::cli
