// A suite that several machines share: which cases are whose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case.h"

namespace grurun::conformance {

/// The part `number`, from 1, of `count`.
struct Shard {
  std::size_t number = 1;
  std::size_t count = 1;
};

/// What one part knows of the whole.
struct SuitePart {
  Shard shard;
  std::size_t found = 0;  // cases of the whole suite
  std::string suite;      // the same for all parts of one suite, and for no other: its cases in their order,
                          // and its policy
};

/// "2/8", or "auto": what the system that started this process says by its variables (docs/scale.md has the
/// table). Throws Error(usage) for what is neither, and where no system says anything.
Shard parse_shard(const std::string& text);

/// Seconds that cases took, by path and, where only one has it, by kind/name.
using CaseTimes = std::map<std::string, double>;

/// The path of a case as it is compared: without "." and "..", and no slash at the end.
std::string path_key(const Case& test);

/// Numbers the cases (Case::place) and leaves those of the shard. Without times a hash of the path decides;
/// with them each case, the longest first, goes to the part that has the least to do, and one without a time
/// counts as the mean. Neither depends on the order of the cases. policy: its text, where there is one.
SuitePart take_shard(std::vector<Case>& cases, const Shard& shard, const CaseTimes& times,
                     std::string_view policy = {});

}  // namespace grurun::conformance
