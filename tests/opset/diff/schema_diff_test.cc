#include "opset/diff/schema_diff.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "opset/diff/meaning_changes.h"
#include "tests/sample.h"

namespace grurun::opset {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

SchemaDiff diff_of(const std::string& op_type, int from, int to, const std::string& domain = "") {
  return diff_schemas(*find_schema(op_type, domain, from), *find_schema(op_type, domain, to));
}

// "! - attribute output_sequence: INT, default 0"; a breaking one begins with '!'.
std::vector<std::string> lines(const SchemaDiff& diff) {
  std::vector<std::string> out;
  for (const SchemaChange& change : diff.changes) {
    out.push_back(fmt::format("{}{} {} {}{}", change.breaking ? "! " : "", change_name(change.kind),
                              change.part, change.name, change.what.empty() ? "" : ": " + change.what));
    EXPECT_NE(change.reason, "") << out.back();
  }
  return out;
}

TEST(SchemaDiff, OfGru) {
  const SchemaDiff first = diff_of("GRU", 1, 3);
  EXPECT_THAT(lines(first),
              ElementsAre("added operator shape inference",
                          "changed attribute direction: default \"foward\" -> default \"forward\"",
                          "added attribute linear_before_reset: INT, default 0",
                          "changed output Y_h: required -> optional"));
  EXPECT_TRUE(first.text_changed);
  EXPECT_THAT(lines(diff_of("GRU", 3, 1)),
              testing::Contains("changed attribute direction: default \"forward\" -> default \"foward\""))
      << "a default that is misspelt is no other one, either way";
  EXPECT_THAT(lines(diff_of("GRU", 3, 7)),
              ElementsAre("! removed attribute output_sequence: INT, default 0"));
  const SchemaDiff layout = diff_of("GRU", 7, 14);
  EXPECT_THAT(lines(layout), ElementsAre("added attribute layout: INT, default 0"));
  EXPECT_FALSE(layout.breaking());
  EXPECT_FALSE(layout.text_changed) << "formatting does not count";
  const SchemaDiff bfloat16 = diff_of("GRU", 14, 22);
  EXPECT_THAT(lines(bfloat16), ElementsAre("changed type constraint T: also tensor(bfloat16)"));
  EXPECT_FALSE(bfloat16.breaking());
  const SchemaDiff all = diff_of("GRU", 1, 22);
  EXPECT_TRUE(all.breaking());
  EXPECT_THAT(lines(all), IsSupersetOf({"! removed attribute output_sequence: INT, default 0",
                                        "added attribute layout: INT, default 0",
                                        "added attribute linear_before_reset: INT, default 0",
                                        "changed type constraint T: also tensor(bfloat16)"}));
}

TEST(SchemaDiff, OfRnnAndLstm) {
  for (const char* op : {"RNN", "LSTM"}) {
    EXPECT_TRUE(diff_of(op, 1, 7).breaking()) << op;
    EXPECT_THAT(lines(diff_of(op, 7, 14)), ElementsAre("added attribute layout: INT, default 0")) << op;
    EXPECT_THAT(lines(diff_of(op, 14, 22)), ElementsAre("changed type constraint T: also tensor(bfloat16)"))
        << op;
  }
}

TEST(SchemaDiff, KnowsEveryKindOfChange) {
  struct Case {
    const char* op;
    int from;
    int to;
    const char* line;
  };
  const Case cases[] = {
      {"Squeeze", 11, 13, "! removed attribute axes: INTS, optional"},
      {"Squeeze", 11, 13, "added input axes: optional, tensor(int64)"},
      {"Concat", 1, 4, "! changed attribute axis: optional -> required"},
      {"Softmax", 11, 13, "! changed attribute axis: default 1 -> default -1"},
      {"Softmax", 11, 13, "added operator function body"},
      {"Upsample", 9, 10, "! added operator deprecation"},
      {"Slice", 9, 10, "! added input starts: required, Tind"},
      {"Cast", 1, 6, "! changed attribute to: STRING -> INT"},
      {"Loop", 1, 11, "changed input v_initial: at least 1 -> 0"},
      {"BatchNormalization", 9, 14, "! removed output saved_mean: optional, T"},
      {"Pow", 7, 12, "changed input Y: type apart from X"},
      {"Pow", 12, 7, "! changed input Y: type that of X"},
      {"GRU", 22, 14, "! changed type constraint T: no longer tensor(bfloat16)"},
      {"GRU", 3, 1, "! changed output Y_h: optional -> required"},
      {"Dropout", 10, 12, "changed type constraint T1: now tensor(float16), tensor(float), tensor(double)"},
      {"Dropout", 12, 13, "changed type constraint T: also tensor(bfloat16)"},
  };
  for (const Case& c : cases) {
    const std::vector<std::string> found = lines(diff_of(c.op, c.from, c.to));
    EXPECT_NE(std::ranges::find(found, c.line), found.end())
        << c.op << " " << c.from << " -> " << c.to << ": " << c.line << " is not among\n"
        << fmt::format("{}", fmt::join(found, "\n"));
  }
}

// What texts say and schemas do not show.
TEST(SchemaDiff, KnowsWhatOnlyTheTextsChange) {
  struct Case {
    const char* op;
    int from;
    int to;
    const char* line;
    const char* domain = "";
  };
  const Case cases[] = {
      {"GroupNormalization", 18, 21, "! changed input scale: [num_groups] -> [C]"},
      {"GroupNormalization", 21, 18, "! changed input bias: [C] -> [num_groups]"},
      {"PRelu", 6, 7, "! changed input slope: by channel -> broadcast from the last axis"},
      {"PRelu", 16, 1, "! changed input slope: broadcast from the last axis -> by channel"},
      {"OneHot", 9, 11,
       "! changed input indices: negative ones match no element -> negative ones count from the end"},
      {"ConvTranspose", 1, 22,
       "! changed attribute auto_pad: an odd padding's larger half in front for SAME_UPPER -> for all but "
       "SAME_UPPER"},
      {"Attention", 24, 25, "! changed attribute q_num_heads: with inputs of rank 4 -> without"},
      {"Attention", 23, 24,
       "! changed input attn_mask: broadcast to all keys -> shorter ones hide the keys behind"},
      {"Split", 13, 18, "! changed input split: may be left out -> only with num_outputs"},
      {"Slice", 11, 13,
       "! changed input starts: backwards from before the first element: nothing -> the first element on"},
      {"Max", 6, 8, "changed input data_0: one shape -> broadcast"},
      {"Max", 13, 6, "! changed input data_0: broadcast -> one shape"},
      {"Flatten", 11, 9, "! changed attribute axis: negative ones, too -> from 0 on"},
      {"Mod", 28, 13, "! changed attribute fmod: either for both -> 0 for integers, 1 for floats"},
      {"Resize", 13, 18,
       "! changed attribute coordinate_transformation_mode: no longer tf_half_pixel_for_nn"},
      {"Resize", 18, 19, "changed attribute coordinate_transformation_mode: also half_pixel_symmetric"},
      {"ScatterND", 18, 16, "! changed attribute reduction: no longer max, min"},
      {"GridSample", 16, 20, "! changed attribute mode: no longer bilinear, bicubic"},
      {"Pad", 19, 18, "! changed attribute mode: no longer wrap"},
      {"Add", 7, 6, "! added attribute broadcast: INT, default 0"},
      {"Gemm", 7, 6, "! added attribute broadcast: INT, default 0"},
      {"Dropout", 7, 6, "! added attribute is_test: INT, default 0"},
      {"LabelEncoder", 2, 4, "! changed input X: NaN matches a key of the same bits -> any NaN key",
       "ai.onnx.ml"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(lines(diff_of(c.op, c.from, c.to, c.domain)), Contains(c.line))
        << c.op << " " << c.from << " -> " << c.to;
  }
  EXPECT_THAT(lines(diff_of("ConvTranspose", 11, 22)),
              ElementsAre("changed type constraint T: also tensor(bfloat16)"));
  EXPECT_FALSE(diff_of("PRelu", 7, 9).breaking());
}

// A row that no pair of versions meets would never be told.
TEST(SchemaDiff, EveryChangeOfMeaningIsThatOfAVersion) {
  for (const MeaningChange& change : all_meaning_changes()) {
    const std::string domain(change.domain);
    const auto versions = schema_versions(std::string(change.op_type), &domain);
    const auto made = std::ranges::find(versions, change.since, &SchemaInfo::since_version);
    ASSERT_NE(made, versions.end()) << change.op_type << " " << change.since;
    const SchemaInfo* const before = find_schema(std::string(change.op_type), domain, change.since - 1);
    ASSERT_NE(before, nullptr) << change.op_type << " " << change.since;
    EXPECT_TRUE(!change.up.empty() || !change.down.empty()) << change.op_type;
    const bool is_attribute = change.part == "attribute";
    const auto& parameters = change.part == "input" ? (*made)->inputs : (*made)->outputs;
    EXPECT_TRUE(is_attribute ? std::ranges::count((*made)->attributes, change.name, &AttributeInfo::name) == 1
                             : std::ranges::count(parameters, change.name, &ParameterInfo::name) == 1)
        << change.op_type << " " << change.name;
  }
}

TEST(SchemaDiff, OfAVersionWithItselfIsEmpty) {
  for (const SchemaInfo* schema : all_schemas()) {
    const SchemaDiff diff = diff_schemas(*schema, *schema);
    EXPECT_THAT(lines(diff), IsEmpty()) << schema->name;
    EXPECT_FALSE(diff.text_changed || diff.breaking()) << schema->name;
  }
}

// What one direction adds the other removes.
TEST(SchemaDiff, ReadsTheSameFromBothEnds) {
  int pairs = 0;
  for (const SchemaInfo* newest : all_schemas()) {
    for (const SchemaInfo* older : schema_versions(newest->name, &newest->domain)) {
      if (older->since_version >= newest->since_version) continue;
      const auto count = [](const SchemaDiff& diff, ChangeKind kind) {
        return std::ranges::count(diff.changes, kind, &SchemaChange::kind);
      };
      const SchemaDiff up = diff_schemas(*older, *newest);
      const SchemaDiff down = diff_schemas(*newest, *older);
      EXPECT_EQ(count(up, ChangeKind::added), count(down, ChangeKind::removed)) << newest->name;
      EXPECT_EQ(count(up, ChangeKind::removed), count(down, ChangeKind::added)) << newest->name;
      EXPECT_EQ(up.text_changed, down.text_changed) << newest->name;
      ++pairs;
    }
  }
  EXPECT_GT(pairs, 500);
}

std::set<std::string> names(const std::vector<const SchemaInfo*>& schemas) {
  std::set<std::string> found;
  for (const SchemaInfo* schema : schemas)
    found.insert(fmt::format("{}-{}", schema->name, schema->since_version));
  return found;
}

TEST(OpsetDiff, ListsWhatWasAddedChangedAndDeprecated) {
  const OpsetDiff diff = diff_opsets("", 17, 22);
  EXPECT_THAT(names(diff.added), IsSupersetOf({"Gelu-20", "Mish-22", "Col2Im-18", "StringSplit-20"}));
  EXPECT_THAT(diff.removed, IsEmpty());
  const auto gru =
      std::ranges::find_if(diff.changed, [](const SchemaDiff& d) { return d.to->name == "GRU"; });
  ASSERT_NE(gru, diff.changed.end());
  EXPECT_FALSE(gru->breaking());
  EXPECT_THAT(names(diff_opsets("", 9, 10).deprecated), ElementsAre("Upsample-10"));
  EXPECT_THAT(names(diff_opsets("", 10, 9).removed), IsSupersetOf({"QLinearConv-10"}));
  EXPECT_THAT(diff_opsets("", 14, 14).changed, IsEmpty());
  EXPECT_THAT(names(diff_opsets("ai.onnx.ml", 4, 5).added), ElementsAre("TreeEnsemble-5"));
}

// A model may use an operator where the opset has it and has not deprecated it.
bool usable(const SchemaInfo* schema) {
  return schema != nullptr && !schema->deprecated;
}

// Scatter is deprecated in opset 11 and unknown to 8.
TEST(OpsetDiff, AccountsForEveryUsableOperatorBetweenAnyTwoOpsets) {
  Sample sample(11);
  for (const std::string& domain : known_domains()) {
    std::vector<std::int64_t> sizes;  // usable operators by opset
    const std::int64_t newest = newest_opset(domain).value();
    std::set<std::string> operators;
    for (const SchemaInfo* schema : all_schemas())
      if (schema->domain == domain) operators.insert(schema->name);
    for (std::int64_t opset = 0; opset <= newest; ++opset) {
      sizes.push_back(std::ranges::count_if(
          operators, [&](const std::string& name) { return usable(find_schema(name, domain, opset)); }));
    }
    for (std::int64_t from = 1; from <= newest; ++from) {
      for (std::int64_t to = 1; to <= newest; ++to) {
        if (!sample.takes_next()) continue;
        const OpsetDiff diff = diff_opsets(domain, from, to);
        const auto added = static_cast<std::int64_t>(diff.added.size());
        const auto gone = static_cast<std::int64_t>(diff.removed.size() + diff.deprecated.size());
        EXPECT_EQ(sizes[static_cast<std::size_t>(from)] + added - gone, sizes[static_cast<std::size_t>(to)])
            << domain << " " << from << " to " << to;
        EXPECT_FALSE(std::ranges::any_of(diff.removed, &SchemaInfo::deprecated)) << from << " to " << to;
      }
    }
  }
  EXPECT_THAT(names(diff_opsets("", 11, 8).removed), Not(Contains("Scatter-11")));
  EXPECT_THAT(names(diff_opsets("", 10, 8).removed), Contains("Scatter-9"));
}

}  // namespace
}  // namespace grurun::opset
