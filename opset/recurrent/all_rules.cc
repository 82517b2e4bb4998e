#include "opset/recurrent/all_rules.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "opset/recurrent/recurrent_rules.h"

namespace grurun::opset {

namespace {

std::vector<RuleInfo> make_rules() {
  const std::span<const RuleInfo> general = general_rules();
  std::vector<RuleInfo> made(general.begin(), general.end());
  for (RuleInfo& rule : make_recurrent_rules()) made.push_back(std::move(rule));
  return made;
}

}  // namespace

std::span<const RuleInfo> all_rules() {
  static const std::vector<RuleInfo> rules = make_rules();
  return rules;
}

const RuleInfo* find_rule(std::string_view code) {
  const auto rules = all_rules();
  const auto found = std::ranges::find(rules, code, &RuleInfo::code);
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace grurun::opset
