#include "opset/rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "opset/near_match.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Rules, CodesAreDistinctAndFound) {
  std::set<std::string> seen;
  for (const RuleInfo& rule : all_rules()) {
    EXPECT_TRUE(seen.insert(rule.code).second) << rule.code;
    EXPECT_EQ(find_rule(rule.code), &rule_info(rule.rule));
  }
  EXPECT_EQ(find_rule("NONE001"), nullptr);
}

TEST(Rules, AreListedInTheDocumentation) {
  std::ifstream file(GRURUN_SOURCE_DIR "/docs/check.md");
  std::ostringstream page;
  page << file.rdbuf();
  std::string table;
  for (const RuleInfo& rule : all_rules()) {
    table += fmt::format("| {} | {} | {} |\n", rule.code, severity_name(rule.severity), rule.text);
  }
  EXPECT_THAT(page.str(), HasSubstr("|---|---|---|\n" + table)) << "docs/check.md must hold this table:\n"
                                                                << table;
}

TEST(NearMatches, AreFewEditsAwayOrDifferInCase) {
  const std::vector<std::string> names = {"Relu", "PRelu", "Elu", "Selu", "Conv", "ConvTranspose", "GRU"};
  EXPECT_THAT(near_matches("relu", names), ElementsAre("Relu"));
  EXPECT_THAT(near_matches("gru", names), ElementsAre("GRU"));
  EXPECT_THAT(near_matches("Rleu", names), ElementsAre("Relu"));
  EXPECT_THAT(near_matches("Convtranpose", names), ElementsAre("ConvTranspose"));
  EXPECT_THAT(near_matches("Softmax", names), IsEmpty());
  EXPECT_THAT(near_matches("", names), IsEmpty());
  EXPECT_THAT(near_matches(std::string(1'000'000, 'x'), names), IsEmpty());
}

TEST(DidYouMean, ReadsAsASentence) {
  EXPECT_EQ(did_you_mean({}), "");
  EXPECT_EQ(did_you_mean({"A"}), "; did you mean 'A'?");
  EXPECT_EQ(did_you_mean({"A", "B", "C"}), "; did you mean 'A', 'B' or 'C'?");
}

}  // namespace
}  // namespace grurun::opset
