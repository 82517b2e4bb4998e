#include <filesystem>

#include "report/compare/compare_format.h"
#include "report/suite/suite_format.h"

namespace grurun::report {

namespace {

/// Each value as a case of one output, so that the formats of suites tell of it.
conformance::SuiteResult suite_of_values(const ComparedFiles& compared) {
  conformance::SuiteResult suite;
  suite.sides = {compared.actual, compared.expected};
  for (const trial::ComparedFile& value : compared.values) {
    conformance::Case& test = suite.cases.emplace_back();
    test.kind = "compare";
    test.name = value.name.empty() ? std::filesystem::path(compared.actual).filename().string() : value.name;
    test.path = value.name.empty() ? compared.actual : compared.actual + "/" + value.name;
    conformance::CaseOutcome& outcome = suite.outcomes.emplace_back();
    outcome.ran = true;
    conformance::CaseResult& result = outcome.result;
    if (value.unreadable)
      result.verdict = conformance::Verdict::invalid;
    else if (!value.in_actual)
      result.verdict = conformance::Verdict::missing;
    else if (!value.ok())
      result.verdict = conformance::Verdict::differs;
    result.message = problem_of(value);
    if (value.in_actual && value.in_expected && !value.unreadable)
      result.outputs.push_back({"", test.name, false, value.comparison});
    outcome.unexpected = !value.ok();
  }
  return suite;
}

}  // namespace

std::string compare_junit(const ComparedFiles& compared) {
  return junit_report(suite_of_values(compared));
}

std::string compare_markdown(const ComparedFiles& compared) {
  return markdown_report(suite_of_values(compared));
}

std::string compare_html(const ComparedFiles& compared) {
  return html_report(suite_of_values(compared));
}

std::string compare_github(const ComparedFiles& compared) {
  return suite_github(suite_of_values(compared));
}

}  // namespace grurun::report
