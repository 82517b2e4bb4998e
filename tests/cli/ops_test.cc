// grurun ops must say what the tables say.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/graph/op_registry.h"
#include "opset/schema/added/listed_schemas.h"
#include "report/schema/ops_matrix.h"
#include "tests/cli/command_line.h"
#include "tests/places/in_tree.h"

namespace grurun::cli::testing {
namespace {

const report::OpSupport* find(const std::vector<report::OpSupport>& matrix, const std::string& name,
                              int version) {
  const auto found = std::ranges::find_if(matrix, [&](const report::OpSupport& row) {
    return row.schema->domain.empty() && row.schema->name == name && row.schema->since_version == version;
  });
  return found == matrix.end() ? nullptr : &*found;
}

TEST(OpsMatrix, HasEverySchemaOnce) {
  const std::vector<report::OpSupport> matrix = report::support_matrix();
  std::set<const opset::SchemaInfo*> seen;
  for (const report::OpSupport& row : matrix) EXPECT_TRUE(seen.insert(row.schema).second) << row.schema->name;
  EXPECT_EQ(seen.size(), opset::all_schemas().size() + opset::added_schemas().size());
  EXPECT_GE(seen.size(), 659u);
}

TEST(OpsMatrix, AKernelIsARowForTheExactVersion) {
  for (const report::OpSupport& row : report::support_matrix()) {
    const opset::SchemaInfo& schema = *row.schema;
    const bool has_row = engine::find_op(schema.domain, schema.name, schema.since_version) != nullptr;
    EXPECT_EQ(row.kind == report::SupportKind::kernel, has_row) << schema.name << "-" << schema.since_version;
    for (const report::TypeSupport& types : row.types) {
      const bool none = row.kind == report::SupportKind::none;
      EXPECT_TRUE(!none || types.supported.empty()) << schema.name << "-" << schema.since_version;
    }
  }
}

TEST(OpsMatrix, EveryTypeOfEveryConstraintIsToldOnce) {
  for (const report::OpSupport& row : report::support_matrix()) {
    if (row.kind == report::SupportKind::deprecated) continue;
    for (const opset::TypeConstraintInfo& constraint : row.schema->type_constraints) {
      const auto told = std::ranges::find(row.types, constraint.name, &report::TypeSupport::constraint);
      ASSERT_NE(told, row.types.end()) << row.schema->name << " " << constraint.name;
      EXPECT_EQ(told->supported.size() + told->unsupported.size(), constraint.types.size())
          << row.schema->name;
    }
  }
}

// A row that names a version which the standard does not have would never be found.
TEST(OpsMatrix, TheTablesListVersionsThatExist) {
  for (const engine::OpRow& row : engine::all_op_rows()) {
    const std::string domain = row.domain;
    const auto versions = opset::schema_versions(row.type, &domain);
    if (versions.empty()) continue;  // an operator of old releases that the standard has dropped
    for (const int version : row.since_versions) {
      EXPECT_EQ(std::ranges::count(versions, version, &opset::SchemaInfo::since_version), 1)
          << row.type << "-" << version;
    }
  }
}

TEST(OpsMatrix, ABodyRunsWhenItsOperatorsDo) {
  const std::vector<report::OpSupport> matrix = report::support_matrix();
  const report::OpSupport* loop = find(matrix, "Loop", 13);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->kind, report::SupportKind::kernel);
  const report::OpSupport* upsample = find(matrix, "Upsample", 10);
  ASSERT_NE(upsample, nullptr);
  EXPECT_TRUE(upsample->kind == report::SupportKind::deprecated ||
              upsample->kind == report::SupportKind::kernel);
}

class Ops : public CommandLine {};

TEST_F(Ops, FormatsAgree) {
  const auto json = nlohmann::json::parse(grurun({"ops", "--output-format", "json"}).out);
  std::size_t total = 0;
  for (const char* kind : {"kernel", "function body", "deprecated", "none"}) {
    const std::size_t count = json["summary"][kind];
    total += count;
    EXPECT_EQ(std::ranges::count_if(json["operators"], [&](const auto& row) { return row["by"] == kind; }),
              static_cast<std::ptrdiff_t>(count))
        << kind;
  }
  EXPECT_EQ(json["summary"]["operator_versions"], total);
  EXPECT_EQ(json["operators"].size(), total);

  const std::string text = grurun({"ops"}).out;
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(text, '\n')), total + 2);
  const std::string markdown = grurun({"ops", "--output-format", "markdown"}).out;
  std::size_t rows = 0;
  for (std::size_t at = markdown.find("\n| "); at != std::string::npos; at = markdown.find("\n| ", at + 1))
    ++rows;
  EXPECT_EQ(rows, total + static_cast<std::size_t>(std::ranges::count(markdown, '#') / 2));
}

TEST_F(Ops, NamesAndGapsSelect) {
  const std::string loop = grurun({"ops", "Loop", "SequenceAt"}).out;
  EXPECT_EQ(grurun({"ops", "ai.onnx.Loop"}).out, grurun({"ops", "Loop"}).out);
  for (const char* row : {"Loop-1 ", "Loop-11 ", "Loop-13 ", "SequenceAt-11 "}) {
    EXPECT_NE(loop.find(row), std::string::npos) << row << loop;
  }
  EXPECT_EQ(loop.find("Add-"), std::string::npos);
  const auto missing = nlohmann::json::parse(grurun({"ops", "--missing", "--output-format", "json"}).out);
  for (const auto& row : missing["operators"]) {
    bool gap = row["by"] == "none";
    for (const auto& types : row["types"]) gap = gap || !types["unsupported"].empty();
    EXPECT_TRUE(gap) << row;
  }
}

// grurun ops --output-format markdown > docs/coverage.md
TEST_F(Ops, CoveragePageIsWhatTheCommandPrints) {
  std::ifstream file(tests::in_tree("docs/coverage.md"));
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string made = grurun({"ops", "--output-format", "markdown"}).out;
  EXPECT_TRUE(page == made)
      << "docs/coverage.md is stale: grurun ops --output-format markdown > docs/coverage.md";
}

}  // namespace
}  // namespace grurun::cli::testing
