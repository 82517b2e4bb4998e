#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "opset/pages/forms.h"
#include "opset/recurrent/recurrent_form.h"
#include "opset/recurrent/recurrent_rules.h"
#include "report/findings/check_format.h"
#include "report/json_text.h"

namespace grurun::report {

namespace {

using nlohmann::ordered_json;
using opset::RuleInfo;

constexpr const char* head = R"(# Rules

Made by `grurun check --list-rules --output-format markdown`. Codes are stable. An error makes `grurun check` end with exit
code 3 (4 where versions newer than those known here are all that is wrong) and keeps a run from starting; a warning is allowed but
probably a mistake; a note is worth knowing. `--select`, `--ignore` and `--severity` choose among them, here too. The rules of SHAPE004 and SHAPE005 show at run time only.

## Any model

| code | severity | what must hold |
|---|---|---|
)";

constexpr const char* forms_head = R"(
## Forms that are taken all the same

The standard forbids them, published exporters write them, runtimes run them, and they can mean one thing only. `grurun` takes
them for that, with a warning of this code in a check, a run and the report of a suite. With `--strict` each of them is an error,
exit code 3. FORM007 shows at run time only, and so do FORM001 to FORM003 and FORM010 to
FORM012 where shapes are not known before.

)";

constexpr const char* middle = R"(
## GRU, RNN and LSTM

A rule has the same number for all three. *Section* is the part of the operator's text that states it.
)";

// Empty without rules.
std::string table_of(const Rules& rules, const char* op_type, int version) {
  std::string text;
  for (const RuleInfo& rule : rules) {
    if (rule.op_type != op_type) continue;
    if (std::ranges::find(rule.versions, version) == rule.versions.end()) continue;
    text += fmt::format("| {} | {} | {} | {} |\n", rule.code, opset::severity_name(rule.severity),
                        rule.section, rule.text_at(version));
  }
  if (text.empty()) return text;
  return fmt::format("\n### {}-{}\n\n| code | severity | section | what must hold |\n|---|---|---|---|\n{}",
                     op_type, version, text);
}

}  // namespace

std::string rules_text(const Rules& rules) {
  std::string text;
  for (const RuleInfo& rule : rules) {
    text += fmt::format("{:<12} {:<8} {}", rule.code, opset::severity_name(rule.severity), rule.full_text());
    if (!rule.op_type.empty()) text += fmt::format(" ({} {})", rule.op_type, fmt::join(rule.versions, ", "));
    text += '\n';
  }
  return text;
}

std::string rules_json(const Rules& rules) {
  ordered_json list = ordered_json::array();
  for (const RuleInfo& rule : rules) {
    ordered_json entry = {
        {"code", rule.code}, {"severity", opset::severity_name(rule.severity)}, {"text", rule.full_text()}};
    if (!rule.op_type.empty()) {
      entry["op"] = rule.op_type;
      entry["section"] = rule.section;
      entry["versions"] = rule.versions;
    }
    list.push_back(std::move(entry));
  }
  return json_text(list);
}

std::string rules_markdown(const Rules& rules) {
  std::string text = head;
  for (const RuleInfo& rule : rules) {
    if (!rule.op_type.empty()) continue;
    text += fmt::format("| {} | {} | {} |\n", rule.code, opset::severity_name(rule.severity), rule.text);
  }
  text += forms_head + opset::forms_markdown();
  text += middle;
  for (const opset::RecurrentForm& form : opset::recurrent_forms()) {
    const RuleInfo& first = *opset::find_rule(fmt::format("{}001", form.op_type));
    for (const int version : first.versions) text += table_of(rules, form.op_type, version);
  }
  return text;
}

}  // namespace grurun::report
