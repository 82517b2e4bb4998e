// Pages and operators: none without the other.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "engine/graph/op_registry.h"
#include "opset/pages/page.h"
#include "opset/schema/added/experimental.h"
#include "opset/schema/added/listed_schemas.h"

namespace grurun::engine {
namespace {

using Names = std::set<std::string>;

Names without(const Names& all, const Names& some) {
  Names left;
  for (const std::string& name : all)
    if (!some.contains(name)) left.insert(name);
  return left;
}

TEST(Pages, EveryOperatorHasOneAndEachIsAnOperators) {
  Names operators, pages;
  for (const OpRow& row : all_op_rows()) operators.insert(onnx_io::qualified_name(row.domain, row.type));
  for (const opset::SchemaInfo* schema : opset::added_schemas())
    if (schema->has_function_body) operators.insert(onnx_io::qualified_name(schema->domain, schema->name));
  for (const opset::AddedOperator& early : opset::early_operators()) operators.insert(early.name);
  for (const auto& [domain, page] : opset::all_pages())
    pages.insert(onnx_io::qualified_name(std::string(domain), std::string(page->op_type)));
  EXPECT_EQ(without(operators, pages), Names()) << "run, but have no page: add a row in opset/pages";
  EXPECT_EQ(without(pages, operators), Names()) << "have a page, but do not run";
}

}  // namespace
}  // namespace grurun::engine
