// Each format against a golden file in tests/report/suite/golden. GRURUN_UPDATE_GOLDEN=1 writes them anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <sstream>

#include "conformance/version.h"
#include "report/suite/json_lines.h"
#include "report/suite/read_suite.h"
#include "report/suite/suite_format.h"
#include "report/suite/tally.h"
#include "tensor/error.h"
#include "tensor/printable.h"
#include "tests/report/golden.h"

namespace grurun::report {
namespace {

void add(conformance::SuiteResult& result, const std::string& kind, const std::string& name,
         conformance::Verdict verdict, const std::string& message, std::vector<std::string> operators) {
  conformance::Case test;
  test.kind = kind;
  test.name = name;
  test.path = "data/" + kind + "/" + name;
  conformance::CaseOutcome outcome;
  outcome.ran = true;
  outcome.result = {verdict, message, 0.25, std::move(operators), {{"ai.onnx", 14}}, {}, {}, {}};
  result.cases.push_back(test);
  result.outcomes.push_back(outcome);
}

conformance::OutputResult differing_output() {
  conformance::OutputResult out;
  out.data_set = "test_data_set_0";
  out.name = "Y";
  const float nan = std::numeric_limits<float>::quiet_NaN();
  out.comparison =
      trial::compare_values(Tensor::from(Shape{2, 2}, std::vector<float>{1, 2, nan, 4}),
                            Tensor::from(Shape{2, 2}, std::vector<float>{1, 2.5f, 3, 4}), {{}, {}, {}, 10});
  return out;
}

/// One case for each way to end, and text that breaks terminals and XML.
conformance::SuiteResult sample() {
  conformance::SuiteResult result;
  result.expectations = conformance::Expectations::parse(
      "test_listed unsupported no such kernel yet\n"
      "test_now_passes differs rounding\n"
      "test_gone differs max_abs=1e-3 differing=2 was renamed\n"
      "test_list* crashed never reached\n",
      "list.txt");
  add(result, "node", "test_good", conformance::Verdict::passed, "", {"Abs"});
  add(result, "node", "test_random", conformance::Verdict::passed_not_comparable,
      "random values were checked by type, shape and distribution", {"Bernoulli"});
  result.outcomes.back().result.warnings.push_back(
      {"", {"SHAPE004", opset::Severity::warning, "", "", "'<Y>\n' is declared"}});
  add(result, "node", "test_differs", conformance::Verdict::differs, "", {"Abs", "GRU"});
  conformance::CaseResult& differs = result.outcomes.back().result;
  differs.outputs.push_back(differing_output());
  differs.message = "test_data_set_0, output 'Y': " + describe(differs.outputs[0].comparison);
  differs.findings.push_back(
      {"reproduced", "test_data_set_0", "node 'g\x1b' (GRU-14)", {"gate-order"}, 3, "with <gates>"});
  differs.findings.push_back(
      {"unexplained", "test_data_set_0", "node 'h' (GRU-14)", {}, std::nullopt, "it parts"});
  differs.warnings.push_back(
      {"test_data_set_0",
       {"SHAPE004", opset::Severity::warning, "", "", "'Y' is declared tensor(float) [2,3]"}});
  differs.warnings.push_back(
      {"test_data_set_1",
       {"SHAPE004", opset::Severity::warning, "", "", "'Z' is declared tensor(float) [2]"}});
  add(result, "node", "test_listed", conformance::Verdict::unsupported, "GRU-99 has no kernel", {"GRU"});
  add(result, "node", "test_now_passes", conformance::Verdict::passed, "", {"Abs"});
  add(result, "simple", "test_<&>\"'\x1b[31m\n\xff\xc2\x85\xef\xbf\xbe\xf0\x9f\x98\x80",
      conformance::Verdict::invalid, "a \x01 control, ]]> and <tags> & \"quotes\"", {"ai.onnx.ml.Scaler"});
  add(result, "simple", "test_crash", conformance::Verdict::crashed,
      "the worker process was killed by SIGSEGV (Segmentation fault)", {});
  add(result, "simple", "test_slow", conformance::Verdict::timed_out, "killed: it took longer than 60 s", {});
  add(result, "simple", "test_known", conformance::Verdict::known_wrong, "the text says otherwise",
      {"Momentum"});
  add(result, "simple", "test_not_run", conformance::Verdict::passed, "", {});
  result.outcomes.back() = conformance::CaseOutcome{};
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    conformance::CaseOutcome& outcome = result.outcomes[i];
    outcome.expectation = result.expectations.find(result.cases[i]);
    outcome.unexpected =
        outcome.ran && conformance::is_unexpected(outcome.result.verdict, outcome.expectation);
  }
  result.stale = result.expectations.without_case(result.cases);
  result.outcomes[0].attempts.push_back({conformance::Verdict::timed_out, "killed: it took <too> long", 60});
  result.unused_rules = {"policy.toml:3: the rule decided for no output (<as> it was)"};
  result.no_cases["only a url"] = {"real/a", "real/b"};
  result.end = conformance::PoolEnd::interrupted;
  result.seconds = 1.5;
  return result;
}

TEST(Report, Console) {
  expect_golden("suite/golden/console.txt", console_report(sample()));
}

TEST(Report, ConsoleOfARunWhereAllPassed) {
  conformance::SuiteResult result;
  add(result, "node", "test_good", conformance::Verdict::passed, "", {"Abs"});
  result.seconds = 0.5;
  EXPECT_TRUE(result.as_expected());
  expect_golden("suite/golden/console_passed.txt", console_report(result));
}

TEST(Report, CasesThatShareKindAndNameAreToldApartByTheirPaths) {
  conformance::SuiteResult result;
  add(result, "node", "test_a", conformance::Verdict::differs, "m", {});
  add(result, "node", "test_b", conformance::Verdict::differs, "m", {});
  add(result, "node", "test_a", conformance::Verdict::differs, "m", {});
  result.cases[2].path = "other/node/test_a\n";
  result.outcomes[2].unexpected = true;
  const std::string console = console_report(result);
  for (const char* line :
       {"differs      node/test_a (data/node/test_a): m\n", "differs      node/test_b: m\n",
        "differs      node/test_a (other/node/test_a\\n): m\n"})
    EXPECT_NE(console.find(line), std::string::npos) << line << console;
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(junit_report(result).c_str()));
  std::vector<std::string> names;
  for (const pugi::xpath_node& found : document.select_nodes("//testcase"))
    names.emplace_back(found.node().attribute("name").value());
  EXPECT_EQ(names, (std::vector<std::string>{"test_a (data/node/test_a)", "test_b",
                                             "test_a (other/node/test_a\\n)"}));
  EXPECT_NE(json_report(result).find("\"path\": \"other/node/test_a\\\\n\""), std::string::npos);
}

/// With a word for the version of grurun.
std::string without_version(std::string text) {
  const std::string version = conformance::version();
  return text.replace(text.find(version), version.size(), "VERSION");
}

TEST(Report, Markdown) {
  expect_golden("suite/golden/report.md", markdown_report(sample()));
}

TEST(Report, Github) {
  expect_golden("suite/golden/github.txt", suite_github(sample()));
}

TEST(Report, JsonLines) {
  expect_golden("suite/golden/report.jsonl", without_version(json_lines_report(sample())));
}

TEST(Report, JsonLinesAreReadBack) {
  EXPECT_EQ(json_report(parse_suite(json_lines_report(sample()), "r.jsonl")), json_report(sample()));
}

/// Without the page's style and program, which tests/report/test_suite_page.py tries in a browser.
std::string without_code(std::string page) {
  for (const std::string name : {"style", "script"}) {
    const std::size_t from = page.find("<" + name + ">") + name.size() + 2;
    page.erase(from, page.find("</" + name + ">", from) - from);
  }
  return page;
}

TEST(Report, Html) {
  expect_golden("suite/golden/report.html", without_version(without_code(html_report(sample()))));
}

TEST(Report, HtmlHoldsTheReport) {
  const std::string page = html_report(sample());
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">\n<!-- grurun conformance: report -->"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  const std::string begin = R"(<script type="application/json" id="report">)";
  const std::size_t from = page.find(begin) + begin.size();
  const std::string json = page.substr(from, page.find("</script>", from) - from);
  EXPECT_EQ(json.find('<'), json.npos);
  EXPECT_EQ(nlohmann::json::parse(json), nlohmann::json::parse(json_report(sample())));
}

TEST(Report, Json) {
  conformance::SuiteResult result = sample();
  const std::string text = json_report(result);
  const auto json = nlohmann::json::parse(text);
  std::size_t sum = 0;
  for (const auto& [verdict, cases] : json.at("summary").items()) sum += cases.get<std::size_t>();
  EXPECT_EQ(sum, json.at("cases").size());
  expect_golden("suite/golden/report.json", without_version(text));
}

TEST(Report, JsonIsReadBackWhole) {
  const std::string text = json_report(sample());
  const conformance::SuiteResult read = parse_suite(text, "r.json");
  EXPECT_EQ(json_report(read), text);
  EXPECT_EQ(console_report(read), console_report(sample()));
  EXPECT_EQ(junit_report(read), junit_report(sample()));
}

TEST(Report, WhatIsNoReportIsRefused) {
  const std::string good = json_report(sample());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const std::string rows[] = {"",
                              "[]",
                              "{\"format\": 1}",
                              good.substr(0, good.size() / 2),
                              changed("\"format\": 1", "\"format\": 2"),
                              changed("\"verdict\": \"differs\"", "\"verdict\": \"odd\""),
                              changed("\"differing\": 2", "\"differing\": 1e300"),
                              changed("\"ended\": \"interrupted\"", "\"ended\": \"\""),
                              changed("\"line\": 2,\n    \"pattern\"", "\"line\": 7,\n    \"pattern\"")};
  for (const std::string& text : rows) {
    try {
      parse_suite(text, "r.json");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(error.message().find("r.json: no report that can be read"), std::string::npos)
          << error.what();
    }
  }
}

// Nothing that a stranger's report holds takes the stack, or memory without end.
TEST(Report, WhatNoReportHasIsBounded) {
  const auto repeated = [](const std::string& text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += text;
    return out;
  };
  const std::string good = json_report(sample());
  const auto with = [&](const std::string& more) { return "{" + more + "," + good.substr(1); };
  EXPECT_EQ(json_report(parse_suite(with("\"unknown\": {\"a\": [1, 2]}"), "r.json")), good);
  const std::pair<std::string, const char*> rows[] = {
      {with("\"unknown\": " + repeated("[", 500'000) + repeated("]", 500'000)), "nested deeper than 64"},
      {"{\"format\": " + repeated("[", 500'000) + repeated("]", 500'000) + "}", "nested deeper than 64"},
      {with("\"format\": 1"), "the key \"format\" is there twice"},
      {with("\"unknown\": [{\"a\": 1, \"a\": 1}]"), "the key \"a\" is there twice"},
      {"{\"cases\": [" + repeated("1,", 4'000'000) + "1]}", "more than 4000000 values"},
      {json_lines_head(sample()) + repeated("[", 500'000) + "\n{}\n", "nested deeper than 64"}};
  for (const auto& [text, problem] : rows) {
    try {
      parse_suite(text, "r.json");
      ADD_FAILURE() << problem;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(error.message().find(problem), std::string::npos) << error.message();
    }
  }
}

TEST(Report, ListsThatAFileMakesAreCut) {
  conformance::SuiteResult result = sample();
  result.unused_rules.clear();
  for (int i = 0; i < 70; ++i) result.unused_rules.push_back(fmt::format("p.toml:{}: unused", i));
  const std::string text = console_report(result);
  EXPECT_NE(text.find("policy       p.toml:49: unused\npolicy       and 20 more\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("p.toml:50"), std::string::npos);
}

TEST(Report, JsonHasANumberForErrorsBeyondDouble) {
  constexpr double max = std::numeric_limits<double>::max();
  conformance::SuiteResult result;
  add(result, "node", "test_far", conformance::Verdict::differs, "m", {});
  conformance::OutputResult far;
  far.comparison = trial::compare_values(Tensor::from(Shape{2}, std::vector<double>{max, 1}),
                                         Tensor::from(Shape{2}, std::vector<double>{-max, 1e-320}), {});
  result.outcomes[0].result.outputs.push_back(far);
  const auto output = nlohmann::json::parse(json_report(result)).at("cases").at(0).at("outputs").at(0);
  EXPECT_EQ(output.at("max_abs"), max);
  EXPECT_EQ(output.at("max_rel"), max);
}

TEST(Report, JUnit) {
  const std::string text = junit_report(sample());
  expect_golden("suite/golden/junit.xml", text);
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(text.c_str()));
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    EXPECT_TRUE(code >= 0x20 || code == '\n') << "XML 1.0 cannot carry it: " << int{code};
  }
  const pugi::xml_node root = document.child("testsuites");
  const std::pair<const char*, const char*> counted[] = {
      {"tests", "//testcase"}, {"failures", "//failure"}, {"errors", "//error"}, {"skipped", "//skipped"}};
  for (const auto& [attribute, elements] : counted) {
    unsigned sum = 0;
    for (const pugi::xml_node suite : root.children("testsuite")) sum += suite.attribute(attribute).as_uint();
    EXPECT_EQ(document.select_nodes(elements).size(), sum) << attribute;
    // Which the format's schema does not have there.
    const bool is_in_root = std::string_view(attribute) != "skipped";
    EXPECT_EQ(root.attribute(attribute).as_uint(), is_in_root ? sum : 0) << attribute;
  }
  const std::string message =
      document.select_node("//failure[@type='differs']").node().attribute("message").value();
  EXPECT_NE(message.find("2, expected 2.5"), std::string::npos) << message;
}

TEST(Suite, AnUnexpectedCaseAStaleLineOrOneNotRunFails) {
  const auto verdict = [](conformance::Verdict of, const char* list) {
    conformance::SuiteResult result;
    result.expectations = conformance::Expectations::parse(list, "list");
    add(result, "node", "test_a", of, "", {});
    conformance::CaseOutcome& outcome = result.outcomes[0];
    outcome.expectation = result.expectations.find(result.cases[0]);
    outcome.unexpected = conformance::is_unexpected(of, outcome.expectation);
    result.stale = result.expectations.without_case(result.cases);
    return result.as_expected();
  };
  EXPECT_TRUE(verdict(conformance::Verdict::passed, ""));
  EXPECT_TRUE(verdict(conformance::Verdict::known_wrong, ""));
  EXPECT_TRUE(verdict(conformance::Verdict::passed_not_comparable, ""));
  EXPECT_FALSE(verdict(conformance::Verdict::unsupported, ""));
  EXPECT_TRUE(verdict(conformance::Verdict::unsupported, "test_a unsupported r"));
  EXPECT_FALSE(verdict(conformance::Verdict::differs, "test_a unsupported r"));
  EXPECT_FALSE(verdict(conformance::Verdict::passed, "test_a unsupported r"));
  EXPECT_FALSE(verdict(conformance::Verdict::passed, "test_b unsupported r"));
  conformance::SuiteResult stopped = sample();
  EXPECT_EQ(stopped.not_run(), 1u);
  EXPECT_FALSE(stopped.as_expected());
}

TEST(Text, OneLine) {
  const std::pair<std::string, const char*> rows[] = {
      {"plain", "plain"},
      {"a\nb\tc\rd", "a\\nb\\tc\\x0dd"},
      {std::string("nul\0end", 7), "nul\\x00end"},
      {"\x1b[31m\x7f", "\\x1b[31m\\x7f"},
      {"\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80", "\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80"},
      {"\xc3", "\\xc3"},
      {"\xc0\xaf", "\\xc0\\xaf"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"\xef\xbf\xbf", "\\xef\\xbf\\xbf"},
      {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
  };
  for (const auto& [in, out] : rows) EXPECT_EQ(printable(in), out);
}

}  // namespace
}  // namespace grurun::report
