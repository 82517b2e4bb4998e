#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "opset/recurrent/recurrent_rules.h"
#include "opset/schema/near_match.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Rules, CodesAreDistinctAndFound) {
  std::set<std::string> seen;
  for (const RuleInfo& rule : all_rules()) {
    EXPECT_TRUE(seen.insert(rule.code).second) << rule.code;
    EXPECT_EQ(find_rule(rule.code), &rule);
  }
  EXPECT_EQ(rule_info(Rule::inference).code, "SHAPE001");
  EXPECT_EQ(find_rule("NONE001"), nullptr);
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
