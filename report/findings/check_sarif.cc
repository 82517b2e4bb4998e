// SARIF 2.1.0, the format of static analysis results that code hosts and editors read.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "conformance/version.h"
#include "opset/recurrent/recurrent_rules.h"
#include "report/findings/check_format.h"
#include "report/json_text.h"

namespace grurun::report {

namespace {

using nlohmann::ordered_json;
using opset::Finding;

// A path as a URI reference: bytes that may not stand in one are escaped.
std::string uri_of(const std::string& path) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    uri += plain.find(c) != plain.npos ? std::string(1, c)
                                       : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

ordered_json artifact(const std::string& path) {
  return {{"artifactLocation", {{"uri", uri_of(path)}}}};
}

ordered_json rule_json(const opset::RuleInfo& rule) {
  ordered_json entry = {{"id", rule.code},
                        {"shortDescription", {{"text", rule.full_text()}}},
                        {"defaultConfiguration", {{"level", opset::severity_name(rule.severity)}}}};
  if (!rule.op_type.empty()) {
    entry["properties"] = {{"op", rule.op_type}, {"section", rule.section}, {"versions", rule.versions}};
  }
  return entry;
}

ordered_json result_json(const CheckedModel& model, const Finding& finding, std::size_t rule_index) {
  ordered_json location = {{"physicalLocation", artifact(model.path)}};
  if (!finding.node.empty()) {
    location["logicalLocations"] = {{{"fullyQualifiedName", finding.node}, {"kind", "element"}}};
  }
  ordered_json entry = {{"ruleId", finding.code},
                        {"ruleIndex", rule_index},
                        {"level", opset::severity_name(finding.severity)},
                        {"message", {{"text", finding.message}}},
                        {"locations", ordered_json::array({std::move(location)})}};
  if (!finding.op.empty()) {
    entry["properties"] = {{"op", finding.op}};
    if (!finding.section.empty()) entry["properties"]["section"] = finding.section;
  }
  return entry;
}

}  // namespace

std::string check_sarif(const std::vector<CheckedModel>& models) {
  std::map<std::string, std::size_t> index_of;
  for (const CheckedModel& model : models) {
    for (const Finding& finding : model.findings) index_of.emplace(finding.code, 0);
  }
  ordered_json rules = ordered_json::array();
  for (auto& [code, index] : index_of) {
    index = rules.size();
    rules.push_back(rule_json(*opset::find_rule(code)));
  }
  ordered_json results = ordered_json::array();
  ordered_json failures = ordered_json::array();
  for (const CheckedModel& model : models) {
    for (const Finding& finding : model.findings) {
      results.push_back(result_json(model, finding, index_of.at(finding.code)));
    }
    const std::string& failure = model.failure.empty() ? model.cut_short : model.failure;
    if (failure.empty()) continue;
    failures.push_back({{"level", "error"},
                        {"message", {{"text", failure}}},
                        {"locations", {{{"physicalLocation", artifact(model.path)}}}}});
  }
  ordered_json invocation = {{"executionSuccessful", failures.empty()}};
  if (!failures.empty()) invocation["toolExecutionNotifications"] = std::move(failures);
  const ordered_json log = {
      {"$schema",
       "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs",
       {{{"tool",
          {{"driver",
            {{"name", "grurun"}, {"version", conformance::version()}, {"rules", std::move(rules)}}}}},
         {"invocations", ordered_json::array({std::move(invocation)})},
         {"results", std::move(results)}}}}};
  return json_text(log);
}

}  // namespace grurun::report
