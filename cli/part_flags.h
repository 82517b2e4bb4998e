// Which part of a suite a run of `grurun conformance` does: selected cases, one machine's share, what is
// left.
#pragma once

#include <string>
#include <string_view>

#include "cli/app.h"
#include "conformance/select.h"
#include "conformance/suite.h"

namespace grurun::cli {

struct PartFlags {
  conformance::Selection selection;
  std::string shard;
  std::string times;
  std::string resume;
};

/// -k, --kind, --op, --since, --until; --shard, --times, --resume.
void add_part_flags(CLI::App& command, PartFlags& flags);

/// Leaves the cases of the shard, and takes over what a run before did. policy: its text; empty: none. Throws
/// Error(usage) for reports that cannot be read and for values that are none.
void take_part(const PartFlags& flags, std::string_view policy, conformance::SuiteResult& result);

}  // namespace grurun::cli
