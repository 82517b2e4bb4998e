#include "cli/finding_filter.h"

#include <algorithm>

#include "opset/recurrent/all_rules.h"
#include "opset/schema/near_match.h"
#include "tensor/error.h"

namespace grurun::cli {

namespace {

using opset::RuleInfo;
using opset::Severity;

bool begins(const std::string& code, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return code.starts_with(prefix); });
}

// "GRU023" -> "GRU".
std::string family(const std::string& code) {
  return code.substr(0, code.find_first_of("0123456789"));
}

void add_prefix(const char* flag, const std::string& prefix, std::vector<std::string>& to) {
  const auto rules = opset::all_rules();
  const bool known =
      std::ranges::any_of(rules, [&](const RuleInfo& rule) { return rule.code.starts_with(prefix); });
  if (!prefix.empty() && known) {
    to.push_back(prefix);
    return;
  }
  std::vector<std::string> families;
  for (const RuleInfo& rule : rules) {
    if (families.empty() || families.back() != family(rule.code)) families.push_back(family(rule.code));
  }
  families.erase(std::unique(families.begin(), families.end()), families.end());
  fail_usage("{}: no code begins with '{}'; codes begin with {}; see grurun check --list-rules", flag, prefix,
             fmt::join(families, ", "));
}

std::vector<std::string> prefixes(const char* flag, const std::vector<std::string>& values) {
  std::vector<std::string> found;
  for (const std::string& value : values) {
    std::size_t begin = 0;
    while (begin <= value.size()) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      add_prefix(flag, value.substr(begin, end - begin), found);
      begin = end + 1;
    }
  }
  return found;
}

}  // namespace

bool FindingFilter::keeps(const std::string& code, Severity severity) const {
  if (severity > least || begins(code, ignore)) return false;
  return select.empty() || begins(code, select);
}

bool FindingFilter::excludes_by_select(const std::string& code) const {
  return !select.empty() && !begins(code, select) && !begins(code, ignore);
}

FindingFilter make_filter(const std::vector<std::string>& select, const std::vector<std::string>& ignore,
                          const std::string& least) {
  FindingFilter filter{prefixes("--select", select), prefixes("--ignore", ignore), Severity::note};
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
    if (least != opset::severity_name(severity)) continue;
    filter.least = severity;
    return filter;
  }
  fail_usage("--severity: '{}' is none of error, warning and note", least);
}

}  // namespace grurun::cli
