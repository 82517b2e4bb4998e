#include "conformance/policy.h"

#include <gtest/gtest.h>

#include "conformance/bounds.h"
#include "conformance/update_expectations.h"
#include "tensor/error.h"

namespace grurun::conformance {
namespace {

Case case_at(const std::string& kind, const std::string& name) {
  Case out;
  out.kind = kind;
  out.name = name;
  out.path = "data/" + kind + "/" + name;
  return out;
}

TEST(Policy, TheFirstRuleThatMatchesDecides) {
  const Policy policy = Policy::parse(R"(
[[rule]]
case = ["node/test_gru_*", "test_lstm"]
type = "float16"
max_ulp = 4
reason = "half"

[[rule]]
operator = "GRU"
output = "Y_*"
rtol = 1e-2
differing = 0
reason = "states"
)",
                                      "p.toml");
  const auto place = [&](const Case& test, const std::string& output, DType type) {
    const trial::AccuracyRule* rule = policy.find(test, {"GRU", "Squeeze"}, output, type);
    return rule == nullptr ? std::string() : rule->place;
  };
  const Case gru = case_at("node", "test_gru_x"), other = case_at("node", "test_other");
  EXPECT_EQ(place(gru, "Y", DType::float16), "p.toml:2");
  EXPECT_EQ(place(case_at("any", "test_lstm"), "Y", DType::float16), "p.toml:2");
  EXPECT_EQ(place(gru, "Y_h", DType::float32), "p.toml:8");
  EXPECT_EQ(place(gru, "Y", DType::float32), "");
  EXPECT_EQ(place(other, "Y_h", DType::float16), "p.toml:8");
  EXPECT_EQ(policy.find(other, {"LSTM"}, "Y_h", DType::float16), nullptr);
  EXPECT_EQ(policy.rules()[1].accuracy.differing, 0);
}

/// "a.a.a": a key of so many parts.
std::string joined(const std::string& part, std::size_t parts) {
  std::string out = part;
  for (std::size_t i = 1; i < parts; ++i) out += "." + part;
  return out;
}

TEST(Policy, SaysWhereAFileIsWrong) {
  const std::pair<std::string, const char*> rows[] = {
      {"", "p: no [[rule]] is in it"},
      {"[&", "p:1: this is no name of a table"},
      {"# rules\n\n[[rule]]\nreason = 'x'\nrtol = 1\n[[[rule]]]\nrtol = 1\n",
       "p:6: this is no name of a table"},
      {"[[rule]]\nreason = \"\"\"\n[&\n\"\"\"\n[=]\n", "p:5: this is no name of a table"},
      {"[[rule]]\nrtol = 1\n", "p:1: the rule has no reason"},
      {"[[rule]]\nreason = 'x'\n", "p:1: the rule asks nothing"},
      {"[[rule]]\nreason = ''\nrtol = 1\n", "p:2: reason is a text"},
      {"[[rule]]\nreason = 'x'\nrtol = -1\n", "p:3: rtol is a number from 0"},
      {"[[rule]]\nreason = 'x'\nrtol = nan\n", "p:3: rtol is a number from 0"},
      {"[[rule]]\nreason = 'x'\nrtol = '1'\n", "p:3: rtol is a number from 0"},
      {"[[rule]]\nreason = 'x'\nmax_ulp = 1.5\n", "p:3: max_ulp is a whole number from 0"},
      {"[[rule]]\nreason = 'x'\ndiffering = 2\n", "p:3: differing is a number from 0 to 1"},
      {"[[rule]]\nreason = 'x'\nrtol = 1\nulp_floor = 1\n",
       "p:1: ulp_floor says where the steps of max_ulp end"},
      {"[[rule]]\nreason = 'x'\nrotl = 1\n", "p:3: a rule has no 'rotl'; it has case, "},
      {"[[rule]]\nreason = 'x'\nrtol = 1\ntype = 'half'\n", "p:4: 'half' is no element type"},
      {"[[rule]]\nreason = 'x'\nrtol = 1\ncase = [1]\n", "p:4: case is a text, or a list of texts"},
      {"[rules]\nrtol = 1\n", "p:1: 'rules' is not known here"},
      {"[[rule]\n", "p:1: "},
      {"[[rule]]\nreason = 'x'\nrtol = 1\n" + joined("a", 200'000) + " = 1\n",
       "p:4: the key has more than 16 dots"},
      {"[" + joined("a", 200'000) + "]\n", "p:1: the key has more than 16 dots"},
      {"\n[[" + joined("\"a.\"", 200'000) + "]]\n", "p:2: the key has more than 16 dots"},
      {"a = {b = {" + joined("a ", 18) + " = 1}}\n", "p:1: the key has more than 16 dots"},
      {"a = {b = {" + joined("a", 17) + " = 1}}\n", "p:1: 'a' is not known here"},
      {"# " + joined("a", 99) + "\na = '" + joined("a", 99) + "'\n", "p:2: 'a' is not known here"},
      {"a = \"\"\"\n\\\"" + joined("a", 99) + "\n\"\"\"\n", "p:1: 'a' is not known here"},
      {"a = \x27\x27\x27\n" + joined("a", 99) + "\x27\x27\x27\n", "p:1: 'a' is not known here"},
  };
  for (const auto& [text, line] : rows) {
    try {
      Policy::parse(text, "p");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.message().substr(0, std::string(line).size()), line);
    }
  }
}

TEST(Policy, TellsOfRulesThatDecideForNothing) {
  const Policy policy = Policy::parse(
      "[[rule]]\ncase='test_a'\nrtol=1\nreason='a'\n[[rule]]\ncase='test_b'\nrtol=1\nreason='b'\n", "p");
  CaseResult result;
  result.outputs.emplace_back().comparison.rule = policy.rules()[0].accuracy;
  std::set<std::string> used;
  add_used_rules(result, used);
  EXPECT_EQ(unused_rules(policy, used), std::vector<std::string>{"p:5: the rule decided for no output (b)"});
  EXPECT_EQ(rules_without_case(policy, {case_at("node", "test_b")}),
            std::vector<std::string>{"p:1: the rule matches no case (a)"});
}

CaseResult differing(double max_abs, std::int64_t elements, std::int64_t non_finite = 0) {
  CaseResult out;
  out.verdict = Verdict::differs;
  out.message = "output 'Y' differs";
  trial::Comparison& comparison = out.outputs.emplace_back().comparison;
  comparison.ok = false;
  comparison.errors = {100, elements, non_finite, max_abs, 0, std::nullopt};
  return out;
}

TEST(Bounds, HoldWhatDiffers) {
  Bounds bounds;
  add_bound("max_abs=3e-4", "list:1", bounds);
  add_bound("differing=12", "list:1", bounds);
  EXPECT_EQ(to_string(bounds), "max_abs=0.0003 differing=12");
  EXPECT_EQ(beyond(bounds, differing(3e-4, 12)), "");
  EXPECT_EQ(beyond(bounds, differing(4e-4, 13)),
            "max_abs 0.0004 instead of 0.0003, differing 13 instead of 12");
  EXPECT_EQ(beyond(bounds, differing(3e-4, 12, 1)), "non_finite 1 instead of 0");
  CaseResult other_shape = differing(0, 0);
  other_shape.outputs[0].comparison.structure = "shape [1], expected [2]";
  EXPECT_EQ(beyond(bounds, other_shape), "shape [1], expected [2]");
  EXPECT_EQ(beyond({}, differing(1, 100)), "");
  EXPECT_EQ(far_within(bounds, differing(3e-5, 12)), "max_abs 3e-05 instead of 0.0003");
  EXPECT_EQ(far_within(bounds, differing(4e-5, 2)), "");
}

TEST(Bounds, OfAResultKeepItJust) {
  for (const double max_abs : {1.0, 0.12345, 9.999e-7, 3.0001e20, 1e-320}) {
    const CaseResult result = differing(max_abs, 7, 2);
    const Bounds bounds = bounds_of(result);
    EXPECT_EQ(beyond(bounds, result), "") << max_abs;
    EXPECT_LE(*bounds.max_abs, max_abs * 1.02) << max_abs;
    EXPECT_NE(beyond(bounds, differing(max_abs * 1.03, 7, 2)), "") << max_abs;
    EXPECT_NE(beyond(bounds, differing(max_abs, 8, 2)), "");
  }
}

TEST(Bounds, AreReadFromALine) {
  const Expectations list = Expectations::parse("test_a differs max_abs=1e-3 max_ulp=4 why x=1\n", "list");
  EXPECT_EQ(list.lines()[0].bounds.max_abs, 1e-3);
  EXPECT_EQ(list.lines()[0].bounds.max_ulp, 4u);
  EXPECT_EQ(list.lines()[0].reason, "why x=1");
  const std::pair<const char*, const char*> rows[] = {
      {"test_a differs max_abs=1e-3", "list:1: a reason must follow"},
      {"test_a differs max_foo=1 r", "list:1: max_foo=1 is no bound"},
      {"test_a differs max_ulp=1.5 r", "list:1: max_ulp=1.5: a bound is a number from 0"},
      {"test_a differs max_abs=-1 r", "list:1: max_abs=-1: a bound is a number from 0"},
      {"test_a differs max_abs=1 max_abs=2 r", "list:1: max_abs=2 is a second bound"},
      {"test_a crashed max_abs=1 r", "list:1: only differs has bounds"},
  };
  for (const auto& [text, line] : rows) {
    try {
      Expectations::parse(text, "list");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.message().substr(0, std::string(line).size()), line);
    }
  }
}

/// The list after a run in which cases of kind "node" ended so; those without a result did not run.
std::string updated(const std::string& list,
                    const std::vector<std::pair<std::string, std::optional<CaseResult>>>& ended) {
  SuiteResult result;
  result.expectations = Expectations::parse(list, "list");
  std::vector<Case> all;
  for (const auto& [name, outcome] : ended) {
    all.push_back(case_at("node", name));
    if (!outcome) continue;
    result.cases.push_back(all.back());
    result.outcomes.emplace_back().ran = true;
    result.outcomes.back().result = *outcome;
  }
  judge_by_expectations(result, all);
  const UpdatedList found = update_expectations(list, result, all);
  result.expectations = Expectations::parse(found.text, "list");
  judge_by_expectations(result, all);
  EXPECT_TRUE(result.as_expected()) << found.text;
  EXPECT_EQ(found.is_changed(), found.text != list) << found.text;
  return found.text;
}

CaseResult ended_as(Verdict verdict) {
  CaseResult out;
  out.verdict = verdict;
  out.message = is_good(verdict) ? "" : "no kernel";
  return out;
}

TEST(UpdatedExpectations, ChangeOnlyWhatDoesNotHold) {
  const CaseResult passed = ended_as(Verdict::passed), unsupported = ended_as(Verdict::unsupported);
  const std::string list =
      "# The list.\n\n"
      "# about a\ntest_a   differs  max_abs=1e-3   kept as it is\n"
      "test_c unsupported  no kernel yet\n"
      "test_e crashed  dies\n";
  EXPECT_EQ(
      updated(list, {{"test_a", differing(1e-3, 3)}, {"test_c", unsupported}, {"test_e", std::nullopt}}),
      list);
  EXPECT_EQ(updated(list, {{"test_a", differing(0.5, 3)}, {"test_c", passed}, {"test_e", unsupported}}),
            "# The list.\n\n"
            "# about a\ntest_a  differs  max_abs=0.5 differing=3 kept as it is\n"
            "test_e  unsupported  dies\n");
  EXPECT_EQ(updated(list, {{"test_a", differing(1e-3, 3)}, {"test_e", ended_as(Verdict::crashed)}}),
            "# The list.\n\n"
            "# about a\ntest_a   differs  max_abs=1e-3   kept as it is\n"
            "test_e crashed  dies\n")
      << "a line without a case";
}

TEST(UpdatedExpectations, NewLinesGoWhereTheOrderWantsThem) {
  const CaseResult unsupported = ended_as(Verdict::unsupported);
  EXPECT_EQ(updated("", {{"test_b", unsupported},
                         {"test_a", differing(0.25, 1)},
                         {"test_c", ended_as(Verdict::passed)}}),
            "node/test_a  differs  max_abs=0.25 differing=1 run: output 'Y' differs\n"
            "node/test_b  unsupported  run: no kernel\n");
  const std::string list = "# head\nnode/test_a unsupported r\n# about c\nnode/test_c unsupported r\n";
  EXPECT_EQ(updated(list, {{"test_a", unsupported},
                           {"test_b", unsupported},
                           {"test_c", unsupported},
                           {"test_d", unsupported}}),
            "# head\nnode/test_a unsupported r\nnode/test_b  unsupported  run: no kernel\n# about c\n"
            "node/test_c unsupported r\nnode/test_d  unsupported  run: no kernel\n");
}

TEST(UpdatedExpectations, APatternStaysForThoseThatItHoldsFor) {
  const CaseResult unsupported = ended_as(Verdict::unsupported);
  const std::string list = "test_a* unsupported  no kernel yet\n";
  EXPECT_EQ(
      updated(list, {{"test_a1", unsupported}, {"test_a2", differing(1, 1)}}),
      "node/test_a2  differs  max_abs=1 differing=1 no kernel yet\ntest_a* unsupported  no kernel yet\n");
  EXPECT_EQ(
      updated(list,
              {{"test_a1", unsupported}, {"test_a2", ended_as(Verdict::passed)}, {"test_a3", std::nullopt}}),
      "node/test_a1  unsupported  no kernel yet\nnode/test_a3  unsupported  no kernel yet\n");
}

}  // namespace
}  // namespace grurun::conformance
