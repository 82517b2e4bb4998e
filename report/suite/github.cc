#include "report/github_commands.h"
#include "report/suite/suite_format.h"
#include "report/suite/tally.h"

namespace grurun::report {

std::string suite_github(const conformance::SuiteResult& result) {
  GithubCommands commands;
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    const conformance::CaseOutcome& outcome = result.outcomes[i];
    if (!outcome.ran || !outcome.unexpected) continue;
    std::string text = outcome.result.message;
    const std::string note = expectation_note(result, outcome);
    if (!note.empty()) text += (text.empty() ? "" : " ") + ("[" + note + "]");
    for (const std::string& why : reasons_of(outcome.result)) text += "\nwhy: " + why;
    commands.add("error", result.cases[i].path,
                 conformance::verdict_name(outcome.result.verdict) + (" " + result.cases[i].full_name()),
                 text);
  }
  for (const conformance::Expectation* line : result.stale)
    commands.add("error", result.expectations.file(), "stale expectation", stale_note(result, *line));
  for (const std::string& line : result.unused_rules)
    commands.add("error", line.substr(0, line.rfind(':', line.find(": ") - 1)), "unused rule", line);
  for (std::size_t i = 0; i < result.cases.size(); ++i)
    for (const conformance::Warning& warning : result.outcomes[i].result.warnings)
      commands.add("warning", result.cases[i].path, warning.finding.code,
                   result.cases[i].full_name() + ": " + describe(warning));
  return commands.finish("annotations", "the console report has all of them");
}

}  // namespace grurun::report
