#include <algorithm>

#include "report/bench/bench_format.h"
#include "report/bisect/bisect_format.h"
#include "report/compare/compare_format.h"
#include "report/diff/model_diff_format.h"
#include "report/findings/check_format.h"
#include "report/format.h"
#include "report/generate/generate_format.h"
#include "report/model/inspect_format.h"
#include "report/model/inspect_list.h"
#include "report/reduce/reduce_format.h"
#include "report/run/run_format.h"
#include "report/schema/ops_format.h"
#include "report/schema/schema_diff_format.h"
#include "report/schema/schema_format.h"
#include "report/suite/headroom_format.h"
#include "report/suite/json_lines.h"
#include "report/suite/suite_diff.h"
#include "report/suite/suite_format.h"

namespace grurun::report {

namespace {

// What marks a report of a suite as one; those of compared values are made as such.
constexpr std::string_view junit_begins =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"grurun conformance\" ";
constexpr std::string_view markdown_begins = "## Conformance: ";
constexpr std::string_view html_begins =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<!-- grurun conformance: report -->";

}  // namespace

template <>
std::span<const Format<conformance::SuiteResult>> formats() {
  static constexpr Format<conformance::SuiteResult> rows[] = {
      {"text", "", "", console_report},
      {"json", "{\n \"format\": 1,\n \"grurun\": \"", "\"summary\": {", json_report},
      {"jsonl", "{\"format\":1,\"json_lines\":1,\"grurun\":\"", "", json_lines_report},
      {"junit", junit_begins, "", junit_report},
      {"markdown", markdown_begins, "", markdown_report},
      {"html", html_begins, "", html_report},
      {"github", "", "", suite_github},
      {"suggest-policy", "# Tolerances that a run of grurun conformance needed", "", suggested_policy}};
  return rows;
}

template <>
std::span<const Format<std::vector<CheckedModel>>> formats() {
  static constexpr Format<std::vector<CheckedModel>> rows[] = {
      {"text", "", "", check_text},
      {"json", "{\n  \"models\": [\n", "\"findings\": [", check_json},
      {"github", "", "", check_github},
      {"sarif", "{\n  \"$schema\": \"https://docs.oasis-open.org/sarif/", "\"name\": \"grurun\"",
       check_sarif}};
  return rows;
}

template <>
std::span<const Format<Rules>> formats() {
  static constexpr Format<Rules> rows[] = {
      {"text", "", "", rules_text},
      {"json", "[\n  {\n    \"code\": \"", "\"severity\": \"", rules_json},
      {"markdown", "# Rules\n\nMade by `grurun check", "", rules_markdown}};
  return rows;
}

template <>
std::span<const Format<SchemaView>> formats() {
  static constexpr Format<SchemaView> rows[] = {
      {"text", "", "", schema_text}, {"json", "{\n  \"name\": \"", "\"has_function_body\": ", schema_json}};
  return rows;
}

template <>
std::span<const Format<DiffView>> formats() {
  static constexpr Format<DiffView> rows[] = {{"text", "", "", diff_text},
                                              {"json", "{\n  \"name\": \"", "\"breaking\": ", diff_json},
                                              {"markdown", "", "", diff_markdown}};
  return rows;
}

template <>
std::span<const Format<OpsetDiffView>> formats() {
  static constexpr Format<OpsetDiffView> rows[] = {
      {"text", "", "", opset_diff_text},
      {"json", "{\n  \"domain\": \"", "\"added\": [", opset_diff_json},
      {"markdown", "", "", opset_diff_markdown}};
  return rows;
}

template <>
std::span<const Format<Inspected>> formats() {
  static constexpr Format<Inspected> rows[] = {
      {"text", "", "", inspect_text}, {"json", "{\n  \"path\": \"", "\"ir_version\": ", inspect_json}};
  return rows;
}

template <>
std::span<const Format<std::vector<InspectedFile>>> formats() {
  static constexpr Format<std::vector<InspectedFile>> rows[] = {
      {"text", "", "", inspect_list_text},
      {"json", "{\n  \"models\": [\n", "\"ir_version\": ", inspect_list_json}};
  return rows;
}

template <>
std::span<const Format<OpsMatrix>> formats() {
  static constexpr Format<OpsMatrix> rows[] = {
      {"text", "", "", ops_text},
      {"json", "{\n \"summary\": {\n  \"operator_versions\": ", "", ops_json},
      {"markdown", "# Operators, versions and types\n", "", ops_markdown}};
  return rows;
}

template <>
std::span<const Format<trial::BenchResult>> formats() {
  static constexpr Format<trial::BenchResult> rows[] = {
      {"text", "", "", bench_text},
      {"json", "{\"model\":\"", ",\"median_us\":", bench_json},
      {"trace", "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", "", bench_trace}};
  return rows;
}

template <>
std::span<const Format<RunReport>> formats() {
  static constexpr Format<RunReport> rows[] = {
      {"text", "", "", run_text},
      {"json", "{\n \"format\": 1,\n \"grurun\": \"", "\"exit_status\": ", run_json}};
  return rows;
}

template <>
std::span<const Format<BisectReport>> formats() {
  static constexpr Format<BisectReport> rows[] = {
      {"text", "", "", bisect_text},
      {"json", "{\n  \"model\": \"", "", bisect_json},
      {"markdown", "# grurun bisect ", "", bisect_markdown},
      {"html", "<!DOCTYPE html>\n<html lang=\"en\">\n<!-- grurun bisect: report -->", "", bisect_html}};
  return rows;
}

template <>
std::span<const Format<SuiteDiff>> formats() {
  static constexpr Format<SuiteDiff> rows[] = {
      {"text", "", "", suite_diff_text},
      {"json", "{\n \"format\": 1,\n \"grurun\": \"", "\"changes\": [", suite_diff_json}};
  return rows;
}

template <>
std::span<const Format<HeadroomView>> formats() {
  static constexpr Format<HeadroomView> rows[] = {
      {"text", "", "", headroom_text},
      {"json", "{\n \"format\": 1,\n \"grurun\": \"", "\"by_type\": {", headroom_json}};
  return rows;
}

template <>
std::span<const Format<ComparedFiles>> formats() {
  static constexpr Format<ComparedFiles> rows[] = {
      {"text", "", "", compare_text},
      {"json", "{\n \"format\": 1,\n \"grurun\": \"", "\"actual\": \"", compare_json},
      {"junit", junit_begins, "", compare_junit},
      {"markdown", markdown_begins, "", compare_markdown},
      {"html", html_begins, "", compare_html},
      {"github", "", "", compare_github}};
  return rows;
}

template <>
std::span<const Format<ReduceReport>> formats() {
  static constexpr Format<ReduceReport> rows[] = {{"text", "", "", reduce_text},
                                                  {"json", "{\n  \"model\": \"", "\"fails\": ", reduce_json}};
  return rows;
}

template <>
std::span<const Format<GenerateReport>> formats() {
  static constexpr Format<GenerateReport> rows[] = {
      {"text", "", "", generate_text}, {"json", "{\n  \"model\": \"", "\"data_sets\": ", generate_json}};
  return rows;
}

template <>
std::span<const Format<ModelDiffReport>> formats() {
  static constexpr Format<ModelDiffReport> rows[] = {
      {"text", "", "", model_diff_text},
      {"json", "{\n  \"a\": \"", "\"same_structure\": ", model_diff_json},
      {"markdown", "# grurun diff ", "", model_diff_markdown}};
  return rows;
}

namespace {

/// Whether is(row) holds for a row of any subject.
template <typename... Subjects, typename Is>
bool any_row(const Is& is) {
  return (std::ranges::any_of(formats<Subjects>(), is) || ...);
}

template <typename Is>
bool any_format(const Is& is) {
  return any_row<conformance::SuiteResult, std::vector<CheckedModel>, Rules, SchemaView, DiffView,
                 OpsetDiffView, Inspected, std::vector<InspectedFile>, OpsMatrix, trial::BenchResult,
                 RunReport, BisectReport, SuiteDiff, HeadroomView, ComparedFiles, ReduceReport,
                 GenerateReport, ModelDiffReport>(is);
}

}  // namespace

bool is_format(std::string_view name) {
  return any_format([&](const auto& row) { return row.name == name; });
}

bool is_report(std::string_view head) {
  return any_format([&](const auto& row) {
    return !row.begins.empty() && head.starts_with(row.begins) && head.find(row.holds) != head.npos;
  });
}

}  // namespace grurun::report
