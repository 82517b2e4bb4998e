#include "report/suite/json_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conformance/version.h"
#include "report/read_json.h"
#include "report/suite/read_suite.h"
#include "report/suite/suite_json.h"
#include "tensor/error.h"

namespace grurun::report {

namespace {

constexpr std::string_view lines_begin = "{\"format\":1,\"json_lines\":1,\"grurun\":\"";

std::string one_line(const nlohmann::ordered_json& json) {
  return json.dump() + "\n";
}

}  // namespace

std::string json_lines_head(const conformance::SuiteResult& result) {
  nlohmann::ordered_json out = {
      {"format", 1}, {"json_lines", 1}, {"grurun", conformance::version()}, {"found", result.cases.size()}};
  add_setting(out, result);
  return one_line(out);
}

std::string json_lines_case(const conformance::SuiteResult& result, std::size_t index) {
  return one_line(case_json(result, index));
}

std::string json_lines_end(const conformance::SuiteResult& result) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  add_totals(out, totals_of(result));
  add_end(out, result.sandbox, result.end);
  out["cases_not_run"] = cases_not_run_json(result);
  return one_line(out);
}

std::string json_lines_report(const conformance::SuiteResult& result) {
  std::string out = json_lines_head(result);
  for (std::size_t i = 0; i < result.cases.size(); ++i)
    if (result.outcomes[i].ran) out += json_lines_case(result, i);
  return out + json_lines_end(result);
}

bool is_json_lines(std::string_view head) {
  return head.starts_with(lines_begin);
}

nlohmann::json read_json_lines(std::string_view text, bool may_be_unfinished,
                               const std::function<void(const nlohmann::json& test)>& take_case) {
  using nlohmann::json;
  const auto next_line = [&text] {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
  };
  json report = parse_json(next_line());
  for (std::size_t number = 2; !text.empty(); ++number) {
    json part;
    try {
      part = parse_json(next_line());
    } catch (const json::parse_error&) {
      if (text.empty()) break;  // half of a line
      fail_usage("line {} is no JSON", number);
    }
    if (part.contains("summary")) {
      report.update(part);
      return report;
    }
    take_case(part);
  }
  if (!may_be_unfinished) fail_usage("its last line is missing: the run was ended before it could write it");
  report["seconds"] = 0;
  report["unused_rules"] = json::array();
  report["ended"] = ended_name(conformance::PoolEnd::interrupted);
  report["cases_not_run"] = json::array();
  return report;
}

}  // namespace grurun::report
