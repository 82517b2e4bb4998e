#include "opset/pages/page.h"

#include <gtest/gtest.h>

#include "opset/schema/registry.h"

namespace grurun::opset {
namespace {

TEST(Page, IsFoundByDomainAndName) {
  for (const auto& [domain, page] : all_pages()) EXPECT_EQ(find_page(domain, page->op_type), page);
  EXPECT_NE(find_page("", "LSTM"), find_page("openvino", "LSTM"));
  EXPECT_EQ(find_page("", "NoSuch"), nullptr);
  EXPECT_EQ(find_page("ai.onnx.ml", "Conv"), nullptr);
}

TEST(Page, RulesStandForVersionsThatExist) {
  for (const auto& [domain, page] : all_pages()) {
    for (const PageRule& rule : page->rules) {
      if (rule.check == nullptr) continue;
      SCOPED_TRACE(page->op_type);
      const auto begins = find_schema(std::string(page->op_type), std::string(domain), rule.since);
      if (rule.since > 1) {
        ASSERT_NE(begins, nullptr);
        EXPECT_EQ(begins->since_version, rule.since);
      }
      if (rule.until == any_later) continue;
      const auto ends = find_schema(std::string(page->op_type), std::string(domain), rule.until);
      ASSERT_NE(ends, nullptr);
      EXPECT_EQ(ends->since_version, rule.until);
    }
  }
}

TEST(Page, TellsWhatBecomesOfElements) {
  onnx_io::Node node;
  node.op_type = "Reshape";
  EXPECT_EQ(elements_of(node), Elements::in_order);
  EXPECT_EQ(folded_of(node), Folded::first);
  EXPECT_EQ(draws_of(node), Draws::never);
  node.op_type = "Dropout";
  EXPECT_EQ(draws_of(node), Draws::in_training);
  node.domain = "elsewhere";
  EXPECT_EQ(draws_of(node), Draws::never);
  EXPECT_EQ(flops_of(node), Flops::uncounted);
}

}  // namespace
}  // namespace grurun::opset
