#include "report/findings/check_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

namespace {

constexpr std::size_t shown_of_a_code = 50;

std::string finding_lines(const CheckedModel& model, const std::string& path) {
  const std::size_t most = model.shows_all ? model.findings.size() : shown_of_a_code;
  std::string text;
  std::map<std::string, std::size_t> times;
  for (const Finding& finding : model.findings)
    if (++times[finding.code] <= most) text += fmt::format("{}: {}\n", path, finding_line(finding));
  for (const auto& [code, count] : times)
    if (count > most) text += fmt::format("{}: {} more {}; --all lists them\n", path, count - most, code);
  return text;
}

}  // namespace

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
    text += finding_lines(model, path);
    if (!model.cut_short.empty())
      text += fmt::format("{}: not checked to the end: {}\n", path, printable(model.cut_short));
    const std::size_t errors = model.count(Severity::error);
    if (errors > 0) ++failed;
    if (!model.findings.empty())
      text += fmt::format("{}: {}\n", path,
                          summary(errors, model.count(Severity::warning), model.count(Severity::note)));
    else if (model.cut_short.empty())
      text += fmt::format("{}: ok\n", path);
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
    if (!model.cut_short.empty()) entry["cut_short"] = model.cut_short;
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
