// Lists that grow with what a file holds are cut in text that people read.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "report/bench/bench_format.h"
#include "report/bisect/bisect_format.h"
#include "report/bounded.h"
#include "report/generate/generate_format.h"
#include "report/suite/suite_diff.h"

namespace grurun::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int one_too_many = 51;

std::string numbered(int i) {
  return fmt::format("item_{}_", i);
}

BisectReport bisection() {
  BisectReport report;
  trial::Bisection& made = report.bisection.emplace();
  made.conclusion = trial::Conclusion::made;
  for (int i = 1; i <= one_too_many; ++i) {
    trial::ValueDifference& difference = made.differences.emplace_back();
    difference.label = numbered(i);
    difference.alone.emplace().ok = false;
  }
  return report;
}

BisectReport one_wrong_node() {
  BisectReport report;
  trial::Bisection& made = report.bisection.emplace();
  made.conclusion = trial::Conclusion::made;
  trial::ValueDifference& difference = made.differences.emplace_back();
  difference.alone.emplace().ok = false;
  for (int i = 1; i <= one_too_many; ++i) difference.details.inputs.push_back(numbered(i));
  return report;
}

BisectReport sought() {
  BisectReport report;
  report.sought = "nan";
  trial::FoundOddity& found = report.found.emplace();
  for (int i = 1; i <= one_too_many; ++i) found.inputs.push_back({numbered(i), {}, {}, {}});
  return report;
}

trial::BenchResult profiled() {
  trial::BenchResult result;
  result.samples_us = {1};
  result.has_profile = true;
  for (int i = 1; i <= one_too_many; ++i) result.operators.emplace_back().op = numbered(i);
  return result;
}

SuiteDiff changes() {
  SuiteDiff diff;
  for (int i = 1; i <= one_too_many; ++i) diff.changes.push_back({ChangeKind::gone, numbered(i), ""});
  return diff;
}

GenerateReport inputs() {
  GenerateReport report;
  trial::GeneratedSet& set = report.generated.sets.emplace_back();
  for (int i = 1; i <= one_too_many; ++i) set.inputs.push_back(numbered(i));
  return report;
}

GenerateReport frozen_sizes() {
  GenerateReport report;
  for (int i = 1; i <= one_too_many; ++i) report.generated.frozen.push_back({numbered(i), 2, {}, {}, {}});
  return report;
}

TEST(LongLists, AreCutInText) {
  const std::vector<std::pair<const char*, std::function<std::string()>>> texts = {
      {"bisect", [] { return bisect_text(bisection()); }},
      {"bisect, markdown", [] { return bisect_markdown(bisection()); }},
      {"bisect, page", [] { return bisect_html(bisection()); }},
      {"bisect, inputs of a node", [] { return bisect_text(one_wrong_node()); }},
      {"bisect --find", [] { return bisect_text(sought()); }},
      {"bench --profile", [] { return bench_text(profiled()); }},
      {"report diff", [] { return suite_diff_text(changes()); }},
      {"generate, inputs", [] { return generate_text(inputs()); }},
      {"generate, frozen", [] { return generate_text(frozen_sizes()); }},
  };
  for (const auto& [what, make] : texts) {
    SCOPED_TRACE(what);
    const std::string text = make();
    EXPECT_THAT(text, HasSubstr(numbered(most_in_text)));
    EXPECT_THAT(text, Not(HasSubstr(numbered(one_too_many))));
    EXPECT_THAT(text, HasSubstr("and 1 more"));
  }
}

TEST(LongLists, OfDifferencesAreCutInJson) {
  BisectReport report = bisection();
  report.bisection->differences.resize(most_in_json + 3, report.bisection->differences.front());
  EXPECT_THAT(bisect_json(report), HasSubstr("\"differences_left_out\": 3"));
}

}  // namespace
}  // namespace grurun::report
