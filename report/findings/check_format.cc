#include "report/findings/check_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "opset/recurrent/recurrent_rules.h"
#include "report/counted.h"
#include "report/json_text.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

using nlohmann::json;
using opset::Finding;
using opset::Severity;

std::string summary(std::size_t errors, std::size_t warnings, std::size_t notes) {
  std::string text = counted(errors, "error");
  if (warnings > 0) text += ", " + counted(warnings, "warning");
  if (notes > 0) text += ", " + counted(notes, "note");
  return text;
}

}  // namespace

std::string finding_text(const Finding& finding) {
  std::string text = finding.code;
  if (!finding.node.empty())
    text += fmt::format(" {} '{}'", finding.op.empty() ? "in" : "node", finding.node);
  if (!finding.op.empty())
    text += fmt::format(" ({}{}{})", finding.op, finding.section.empty() ? "" : ", ", finding.section);
  return text + ": " + finding.message;
}

std::string finding_line(const Finding& finding) {
  return printable(fmt::format("{} {}", opset::severity_name(finding.severity), finding_text(finding)));
}

std::size_t CheckedModel::count(Severity severity) const {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

std::string check_text(const std::vector<CheckedModel>& models) {
  std::string text;
  std::size_t failed = 0;
  std::size_t unread = 0;
  for (const CheckedModel& model : models) {
    const std::string path = printable(model.path);
    if (!model.failure.empty()) {
      ++unread;
      continue;
    }
    for (const Finding& finding : model.findings)
      text += fmt::format("{}: {}\n", path, finding_line(finding));
    const std::size_t errors = model.count(Severity::error);
    if (errors > 0) ++failed;
    text += model.findings.empty()
                ? fmt::format("{}: ok\n", path)
                : fmt::format("{}: {}\n", path,
                              summary(errors, model.count(Severity::warning), model.count(Severity::note)));
  }
  if (models.size() > 1)
    text += fmt::format("{} checked, {} with errors{}\n", counted(models.size() - unread, "model"), failed,
                        unread > 0 ? fmt::format(", {} could not be read", unread) : "");
  return text;
}

std::string check_json(const std::vector<CheckedModel>& models) {
  json list = json::array();
  for (const CheckedModel& model : models) {
    json entry = {{"path", model.path}};
    if (!model.failure.empty()) entry["failure"] = model.failure;
    entry["errors"] = model.count(Severity::error);
    entry["warnings"] = model.count(Severity::warning);
    entry["notes"] = model.count(Severity::note);
    entry["findings"] = json::array();
    for (const Finding& finding : model.findings) {
      const opset::RuleInfo* rule = opset::find_rule(finding.code);
      entry["findings"].push_back({{"code", finding.code},
                                   {"severity", opset::severity_name(finding.severity)},
                                   {"node", finding.node},
                                   {"op", finding.op},
                                   {"section", finding.section},
                                   {"message", finding.message},
                                   {"rule", rule == nullptr ? "" : rule->full_text()}});
    }
    list.push_back(std::move(entry));
  }
  return json_text(json::object({{"models", std::move(list)}}));
}

}  // namespace grurun::report
