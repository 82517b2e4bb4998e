#include "conformance/expectations.h"

#include <gtest/gtest.h>

#include "tensor/error.h"
#include "tests/places/scratch.h"

namespace grurun::conformance {
namespace {

Case named(const std::string& kind, const std::string& name) {
  Case out;
  out.kind = kind;
  out.name = name;
  return out;
}

TEST(Expectations, ParsesPatternVerdictReason) {
  const Expectations got = Expectations::parse(
      "# a comment\n\n  test_a   differs\tthe  reason, with blanks  \r\nnode/test_b* unsupported no kernel",
      "file");
  ASSERT_EQ(got.lines().size(), 2u);
  EXPECT_EQ(got.lines()[0].pattern, "test_a");
  EXPECT_EQ(got.lines()[0].verdict, Verdict::differs);
  EXPECT_EQ(got.lines()[0].reason, "the  reason, with blanks");
  EXPECT_EQ(got.lines()[0].line, 3);
  EXPECT_EQ(got.lines()[1].verdict, Verdict::unsupported);
}

TEST(Expectations, BeginWithAByteOrderMarkOrNot) {
  const Expectations got = Expectations::parse("\xEF\xBB\xBFtest_a differs reason", "file");
  EXPECT_EQ(got.lines().at(0).pattern, "test_a");
}

TEST(Expectations, RefusesWhatBreaksTheFormat) {
  const std::pair<const char*, const char*> rows[] = {
      {"test_a", "usage: list:1: '' is no verdict"},
      {"\ntest_a wrong reason", "usage: list:2: 'wrong' is no verdict"},
      {"test_a passed reason", "usage: list:1: passed needs no line"},
      {"test_a known-wrong reason", "usage: list:1: known-wrong needs no line"},
      {"test_a differs  ", "usage: list:1: a reason must follow"},
  };
  for (const auto& [text, start] : rows) {
    try {
      Expectations::parse(text, "list");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(std::string(error.what()).substr(0, std::string(start).size()), start);
    }
  }
}

TEST(Expectations, AFileThatCannotBeReadIsNoEmptyList) {
  const tests::Scratch s;
  const std::pair<std::string, const char*> rows[] = {
      {s.folder(), ": this is a folder, and a list of expectations is a file"},
      {s.path("missing"), ": no such file"}};
  for (const auto& [path, text] : rows) {
    try {
      Expectations::load(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(std::string(error.what()), "usage: " + path + text);
    }
  }
  EXPECT_TRUE(Expectations::load(s.file("empty", "")).lines().empty());
  EXPECT_EQ(Expectations::load(s.file("one", "test_a differs r")).lines().size(), 1u);
}

TEST(Expectations, FirstMatchingLineDecides) {
  const Expectations list = Expectations::parse(
      "node/test_gru_* unsupported a\n"
      "test_gru_1 differs b\n"  // never decides: the line above took it
      "*/test_x differs c\n"
      "test_none crashed d\n",
      "list");
  const std::vector<Case> cases = {named("node", "test_gru_1"), named("simple", "test_x"),
                                   named("node", "test_y")};
  ASSERT_NE(list.find(cases[0]), nullptr);
  EXPECT_EQ(list.find(cases[0])->line, 1);
  ASSERT_NE(list.find(cases[1]), nullptr);
  EXPECT_EQ(list.find(cases[1])->line, 3);
  EXPECT_EQ(list.find(cases[2]), nullptr);
  std::vector<int> stale;
  for (const Expectation* line : list.without_case(cases)) stale.push_back(line->line);
  EXPECT_EQ(stale, (std::vector<int>{2, 4}));
}

TEST(Expectations, PatternsWithTwoSlashesAreForThePath) {
  Case test = named("node", "test_gru");
  test.path = "data/onnx-1.22.0/node/test_gru";
  const std::pair<const char*, bool> rows[] = {
      {"onnx-1.22.0/node/test_gru", true},
      {"onnx-1.22.0/node/test_*", true},
      {"data/onnx-1.2?.0/*/test_gru", true},
      {"*/onnx-1.22.0/node/test_gru", true},
      {"onnx-1.22.*/*/*gru", true},
      {"1.22.0/node/test_gru", false},  // whole folders only
      {"onnx-1.21.0/node/test_gru", false},
      {"onnx-1.22.0/node/test", false},
      {"/onnx-1.22.0/node/test_gru", false},
      {"onnx-1.22.0/node", false},  // one slash: for kind/name
      {"node/test_gru", true},
  };
  for (const auto& [pattern, matches] : rows) EXPECT_EQ(matches_pattern(test, pattern), matches) << pattern;
  EXPECT_TRUE(matches_filter(test, "1.22.0/node/test"));
  EXPECT_FALSE(matches_filter(test, "1.21.0/node/test"));
  EXPECT_TRUE(matches_filter(test, "onnx-1.22.0/*/test_gru"));
  test.path = "/data/node/test_gru";
  EXPECT_TRUE(matches_pattern(test, "/data/node/*"));
  EXPECT_FALSE(matches_pattern(test, "/node/test_gru/"));
}

TEST(Filter, TextOrShellPattern) {
  const Case gru = named("node", "test_gru_defaults");
  const std::pair<const char*, bool> rows[] = {
      {"gru", true},       {"node/test_gru", true},
      {"de/te", true},     {"lstm", false},
      {"test_gru*", true}, {"gru*", false},
      {"node/*", true},    {"*gru_default[a-s]", true},
      {"simple/*", false}, {"test_gru_default?", true},
  };
  for (const auto& [filter, matches] : rows) EXPECT_EQ(matches_filter(gru, filter), matches) << filter;
}

}  // namespace
}  // namespace grurun::conformance
