#include <fmt/format.h>

#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "report/suite/suite_format.h"
#include "report/suite/tally.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

struct Totals {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
  double seconds = 0;

  void add(const Totals& other) {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    skipped += other.skipped;
    seconds += other.seconds;
  }
};

/// The schema that Jenkins publishes has milliseconds here, and no number of skipped tests of the whole.
void write_totals(pugi::xml_node suite, const Totals& totals) {
  suite.append_attribute("tests") = static_cast<unsigned long>(totals.tests);
  suite.append_attribute("failures") = static_cast<unsigned long>(totals.failures);
  suite.append_attribute("errors") = static_cast<unsigned long>(totals.errors);
  if (suite.parent() != suite.root())
    suite.append_attribute("skipped") = static_cast<unsigned long>(totals.skipped);
  suite.append_attribute("time") = fmt::format("{:.3f}", totals.seconds).c_str();
}

/// Whose values are compared, where that is not what everybody thinks.
void write_sides(pugi::xml_node suite, const conformance::Sides& sides) {
  if (sides == conformance::Sides()) return;
  pugi::xml_node properties = suite.append_child("properties");
  const auto add = [&](const char* name, const std::string& value) {
    pugi::xml_node property = properties.append_child("property");
    property.append_attribute("name") = name;
    property.append_attribute("value") = printable(value).c_str();
  };
  add("actual", sides.actual);
  add("expected", sides.expected);
}

/// One line for every output that differs: where a CI system shows a body, all of them are there.
std::string details(const conformance::CaseResult& result) {
  std::string out;
  for (const conformance::OutputResult& output : result.outputs) {
    if (output.comparison.ok) continue;
    if (!output.data_set.empty()) out += printable(output.data_set) + ", ";
    out += fmt::format("output '{}': {}\n", printable(output.name), printable(describe(output.comparison)));
  }
  for (const trial::Explanation& finding : result.findings) {
    out += "why: " + (finding.data_set.empty() ? "" : printable(finding.data_set) + ", ") +
           printable(describe(finding)) + "\n";
  }
  return out;
}

void add_child(pugi::xml_node test, const char* name, std::string_view type, const std::string& message,
               const std::string& body) {
  pugi::xml_node child = test.append_child(name);
  if (!type.empty()) child.append_attribute("type") = std::string(type).c_str();
  child.append_attribute("message") = message.c_str();
  if (!body.empty()) child.append_child(pugi::node_pcdata).set_value(body.c_str());
}

/// What changes no verdict stands where CI systems show what a test printed. The order of the elements is
/// that of the format's schema: behind failure, error and skipped.
void add_warnings(pugi::xml_node test, const conformance::CaseOutcome& outcome) {
  const conformance::CaseResult& result = outcome.result;
  if (result.warnings.empty() && outcome.attempts.empty()) return;
  std::string lines;
  if (!outcome.attempts.empty())
    lines = (outcome.is_flaky() ? "flaky: " : "run again: ") + printable(attempts_note(outcome)) + "\n";
  for (const conformance::Warning& warning : result.warnings)
    lines += "warning: " + printable(describe(warning)) + "\n";
  test.append_child("system-out").append_child(pugi::node_pcdata).set_value(lines.c_str());
}

/// The verdict of a case that ran, as a child of its element.
void write_verdict(pugi::xml_node node, const conformance::SuiteResult& result,
                   const conformance::CaseOutcome& outcome, Totals& totals) {
  const conformance::Verdict verdict = outcome.result.verdict;
  std::string message = printable(outcome.result.message);
  const std::string note = printable(expectation_note(result, outcome));
  if (!note.empty()) message += (message.empty() ? "" : " ") + fmt::format("[{}]", note);
  if (!outcome.unexpected) {
    if (verdict == conformance::Verdict::passed || verdict == conformance::Verdict::passed_not_comparable)
      return;
    add_child(node, "skipped", {}, fmt::format("{}: {}", conformance::verdict_name(verdict), message), {});
    totals.skipped = 1;
  } else if (conformance::is_good(verdict) || verdict == conformance::Verdict::differs ||
             verdict == conformance::Verdict::random) {
    add_child(node, "failure", conformance::verdict_name(verdict), message, details(outcome.result));
    totals.failures = 1;
  } else {
    add_child(node, "error", conformance::verdict_name(verdict), message, {});
    totals.errors = 1;
  }
}

/// ending keeps CI systems, which know a case by classname and name, from taking two for one.
Totals write_case(pugi::xml_node suite, const conformance::SuiteResult& result, std::size_t index,
                  const std::string& ending) {
  const conformance::Case& test = result.cases[index];
  const conformance::CaseOutcome& outcome = result.outcomes[index];
  Totals totals;
  totals.tests = 1;
  pugi::xml_node node = suite.append_child("testcase");
  node.append_attribute("classname") = ("grurun." + printable(test.kind)).c_str();
  node.append_attribute("name") = printable(test.name + ending).c_str();
  totals.seconds = outcome.ran ? outcome.result.seconds : 0;
  node.append_attribute("time") = fmt::format("{:.6f}", totals.seconds).c_str();
  if (!outcome.ran) {
    // A reader of this report alone must not take a suite that was broken off for one that passed.
    add_child(node, "error", "not-run", "the suite was stopped before this case", {});
    totals.errors = 1;
    return totals;
  }
  write_verdict(node, result, outcome, totals);
  add_warnings(node, outcome);
  return totals;
}

Totals write_stale(pugi::xml_node suite, const conformance::SuiteResult& result) {
  Totals totals;
  for (const conformance::Expectation* line : result.stale) {
    pugi::xml_node node = suite.append_child("testcase");
    node.append_attribute("classname") = "grurun.expectations";
    node.append_attribute("name") = printable(line->pattern).c_str();
    node.append_attribute("time") = "0.000000";
    add_child(node, "failure", "stale", printable(stale_note(result, *line)), {});
    ++totals.tests;
    ++totals.failures;
  }
  return totals;
}

Totals write_unused_rules(pugi::xml_node suite, const conformance::SuiteResult& result) {
  Totals totals;
  for (const std::string& line : result.unused_rules) {
    pugi::xml_node node = suite.append_child("testcase");
    node.append_attribute("classname") = "grurun.policy";
    node.append_attribute("name") = printable(line.substr(0, line.find(": "))).c_str();
    node.append_attribute("time") = "0.000000";
    add_child(node, "failure", "unused", printable(line), {});
    ++totals.tests;
    ++totals.failures;
  }
  return totals;
}

}  // namespace

std::string junit_report(const conformance::SuiteResult& result) {
  std::map<std::string, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < result.cases.size(); ++i) kinds[result.cases[i].kind].push_back(i);

  const std::vector<std::string> endings = name_endings(result.cases);
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  root.append_attribute("name") = "grurun conformance";
  Totals all;
  const auto add_suite = [&](const std::string& name, const auto& fill) {
    pugi::xml_node suite = root.append_child("testsuite");
    suite.append_attribute("name") = printable(name).c_str();
    write_sides(suite, result.sides);
    const Totals totals = fill(suite);
    write_totals(suite, totals);
    all.add(totals);
  };
  for (const auto& [kind, indices] : kinds) {
    add_suite(kind, [&, &members = indices](pugi::xml_node suite) {
      Totals totals;
      for (const std::size_t index : members) totals.add(write_case(suite, result, index, endings[index]));
      return totals;
    });
  }
  if (!result.stale.empty())
    add_suite("expectations", [&](pugi::xml_node suite) { return write_stale(suite, result); });
  if (!result.unused_rules.empty())
    add_suite("policy", [&](pugi::xml_node suite) { return write_unused_rules(suite, result); });
  write_totals(root, all);
  std::ostringstream out;
  document.save(out, " ");
  return out.str();
}

}  // namespace grurun::report
