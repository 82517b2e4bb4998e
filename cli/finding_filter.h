// --select, --ignore and --severity: which findings count, and which rules are listed.
#pragma once

#include <string>
#include <vector>

#include "opset/check/check.h"

namespace grurun::cli {

struct FindingFilter {
  std::vector<std::string> select;  // prefixes of codes; empty: all
  std::vector<std::string> ignore;
  opset::Severity least = opset::Severity::note;

  bool keeps(const std::string& code, opset::Severity severity) const;

  /// Whether --select alone leaves it out.
  bool excludes_by_select(const std::string& code) const;
};

/// Each of select and ignore may hold several prefixes, "GRU,SHAPE003". Throws Error(usage) for one that no
/// code begins with, and for a severity that is none of error, warning and note.
FindingFilter make_filter(const std::vector<std::string>& select, const std::vector<std::string>& ignore,
                          const std::string& least);

}  // namespace grurun::cli
