// Every operator that has a kernel here and a function body in the standard gives the same by both, in every
// version and for every choice of element types that the schema admits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "engine/graph/op_registry.h"
#include "engine/ops/shared/cast.h"
#include "opset/schema/added/listed_schemas.h"
#include "tests/engine/ops/bodies/body_table.h"
#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using Types = std::map<std::string, std::string>;

std::vector<BodyRow> all_rows() {
  std::vector<BodyRow> out;
  for (const auto& rows : {activation_body_rows(), attention_body_rows(), normalization_body_rows(),
                           loss_body_rows(), sequence_body_rows(), reduction_body_rows(),
                           generator_body_rows(), tensor_body_rows(), quantized_body_rows()}) {
    out.insert(out.end(), rows.begin(), rows.end());
  }
  return out;
}

/// The versions with a kernel and a body, oldest last.
std::vector<const opset::SchemaInfo*> versions_with_both() {
  std::vector<const opset::SchemaInfo*> out;
  for (const auto& schemas : {opset::all_schemas(), opset::added_schemas()}) {
    for (const opset::SchemaInfo* schema : schemas) {
      if (schema->has_function_body &&
          find_op(schema->domain, schema->name, schema->since_version) != nullptr) {
        out.push_back(schema);
      }
    }
  }
  return out;
}

std::string label(const opset::SchemaInfo& schema) {
  return schema.domain.empty() ? schema.name : schema.domain + "." + schema.name;
}

/// Every combination of types of the schema's constraints.
std::vector<Types> type_choices(const opset::SchemaInfo& schema) {
  std::vector<Types> out = {{}};
  for (const auto& constraint : schema.type_constraints) {
    std::vector<Types> longer;
    for (const Types& chosen : out) {
      for (const std::string& type : constraint.types) {
        longer.push_back(chosen);
        longer.back()[constraint.name] = type;
      }
    }
    out = std::move(longer);
  }
  return out;
}

bool has_body(const opset::SchemaInfo& schema, std::int64_t opset) {
  if (opset::function_body_needs_types(schema.name, schema.domain, opset)) return true;
  onnx_io::Node node;
  node.op_type = schema.name;
  node.domain = schema.domain;
  return opset::function_body(node, opset, {}).has_value();
}

/// The first and the last opset in which this version is current and has a body. Bodies may come later than
/// the version, and are written anew within its life when operators that they use change.
std::vector<std::int64_t> opsets_of(const opset::SchemaInfo& schema) {
  std::vector<std::int64_t> with_body;
  // Added schemas are of one version.
  const std::int64_t newest = opset::newest_opset(schema.domain).value_or(schema.since_version);
  for (std::int64_t opset = schema.since_version; opset <= newest; ++opset) {
    if (opset::since_version(schema.name, schema.domain, opset) != schema.since_version) break;
    if (has_body(schema, opset)) with_body.push_back(opset);
  }
  if (with_body.size() > 2) with_body.erase(with_body.begin() + 1, with_body.end() - 1);
  return with_body;
}

std::string tensor_difference(const Tensor& kernel, const Tensor& body, double roundings, DType precision) {
  if (kernel.dtype() != body.dtype() || !(kernel.shape() == body.shape())) {
    return fmt::format("kernel gives {} {}, body {} {}", dtype_name(kernel.dtype()),
                       kernel.shape().to_string(), dtype_name(body.dtype()), body.shape().to_string());
  }
  const double unit = std::max(epsilon_of(kernel.dtype()), epsilon_of(precision));
  if (kernel.dtype() == DType::string) {
    return std::ranges::equal(kernel.span<std::string>(), body.span<std::string>()) ? "" : "strings differ";
  }
  if (epsilon_of(kernel.dtype()) == 0) {
    return std::memcmp(kernel.raw(), body.raw(), kernel.byte_size()) == 0 ? "" : "elements differ";
  }
  const Tensor a = cast_tensor(kernel, DType::float64), b = cast_tensor(body, DType::float64);
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = a.data<double>()[i], y = b.data<double>()[i];
    const bool same = x == y || (std::isnan(x) && std::isnan(y)) ||
                      std::fabs(x - y) <= roundings * unit * std::max(1.0, std::fabs(y));
    if (!same) {
      return fmt::format("element {}: kernel gives {}, body {}: {} roundings of {}", i, x, y,
                         std::fabs(x - y) / unit / std::max(1.0, std::fabs(y)), dtype_name(kernel.dtype()));
    }
  }
  return "";
}

std::string difference(const Value& kernel, const Value& body, double roundings, DType precision) {
  if (kernel.is_tensor() && body.is_tensor()) {
    return tensor_difference(kernel.tensor(), body.tensor(), roundings, precision);
  }
  if (!kernel.is_sequence() || !body.is_sequence() || kernel.describe() != body.describe()) {
    return fmt::format("kernel gives {}, body {}", kernel.describe(), body.describe());
  }
  for (std::size_t i = 0; i < kernel.sequence().items.size(); ++i) {
    const std::string found =
        difference(kernel.sequence().items[i], body.sequence().items[i], roundings, precision);
    if (!found.empty()) return fmt::format("item {}: {}", i, found);
  }
  return "";
}

OneNode node_of(const BodyCase& made, const BodyInputs& in) {
  return {.op = in.schema().name,
          .domain = in.schema().domain,
          .opset = in.opset(),
          .inputs = made.inputs,
          .attributes = made.attributes,
          .outputs = made.outputs};
}

// The standard's own operators may stand in graph attributes, whatever the node's domain is.
onnx_io::Model model_of(const OneNode& one) {
  onnx_io::Model model = one_node_model(one);
  model.opset_imports.try_emplace("", opset::newest_opset("").value());
  return model;
}

std::vector<Value> run_body(const OneNode& one, bool planned_apart) {
  const onnx_io::Model model = model_of(one);
  if (!planned_apart) {
    PlanOptions options;
    options.prefer_function_bodies = true;
    return run_plan(*make_plan(model, options), fed_values(one));
  }
  std::vector<ValueType> types;
  std::vector<bool> present;
  for (const Value& input : one.inputs) {
    types.push_back(input.type());
    present.push_back(!input.empty());
  }
  const onnx_io::Node& node = model.graph.nodes[0];
  const auto function = opset::function_body(node, one.opset, types);
  if (!function) fail_unsupported("no body for these types");
  return run_plan(*make_function_plan(*function, node.attributes, present, {}), one.inputs);
}

/// "" when kernel and body agree.
std::string compare(const BodyRow& row, const BodyCase& made, const BodyInputs& in) {
  const OneNode one = node_of(made, in);
  std::vector<Value> kernel, body;
  try {
    kernel = run_plan(*make_plan(model_of(one)), fed_values(one));
  } catch (const Error& error) {
    ADD_FAILURE() << in.schema().name << "-" << in.since_version() << " " << made.note
                  << ": the kernel fails: " << error.what();
    return "the kernel fails";
  }
  try {
    body = run_body(one, row.planned_apart);
  } catch (const Error& error) {
    return fmt::format("the body fails: {}", error.what());
  }
  if (kernel.size() != body.size()) return fmt::format("{} and {} outputs", kernel.size(), body.size());
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::string found = difference(kernel[i], body[i], row.roundings, made.precision);
    if (!found.empty()) return fmt::format("output {}: {}", i, found);
  }
  return "";
}

void check(const BodyRow& row, const opset::SchemaInfo& schema, std::int64_t opset, const Types& types) {
  BodyInputs in(schema, opset, types);
  std::string label = fmt::format("{}-{} in opset {}", schema.name, schema.since_version, opset);
  for (const auto& [constraint, type] : types) label += fmt::format(", {} {}", constraint, type);
  const std::vector<BodyCase> cases = row.cases(in);
  EXPECT_FALSE(cases.empty()) << label << ": no case";
  for (const BodyCase& made : cases) {
    const std::string found = compare(row, made, in);
    if (made.differs.empty()) {
      EXPECT_EQ(found, "") << label << ", " << made.note;
    } else {
      EXPECT_NE(found, "") << label << ", " << made.note
                           << ": kernel and body agree, although the table says: " << made.differs;
    }
  }
}

class FunctionBodies : public ::testing::TestWithParam<const opset::SchemaInfo*> {};

TEST_P(FunctionBodies, AgreeWithKernels) {
  const opset::SchemaInfo& schema = *GetParam();
  for (const BodyRow& row : all_rows()) {
    if (row.op == label(schema)) {
      const std::vector<std::int64_t> opsets = opsets_of(schema);
      EXPECT_FALSE(opsets.empty()) << schema.name << "-" << schema.since_version << " has a body in no opset";
      for (const std::int64_t opset : opsets) {
        for (const Types& types : type_choices(schema)) check(row, schema, opset, types);
      }
      return;
    }
  }
  FAIL()
      << schema.name << "-" << schema.since_version
      << " has a function body and a kernel, but no row in tests/engine/ops/bodies says how to compare them";
}

INSTANTIATE_TEST_SUITE_P(Operators, FunctionBodies, ::testing::ValuesIn(versions_with_both()),
                         [](const auto& version) {
                           return version.param->name + "_" + std::to_string(version.param->since_version);
                         });

TEST(FunctionBodyTable, HoldsNoOperatorWithoutBoth) {
  std::set<std::string> names;
  for (const opset::SchemaInfo* schema : versions_with_both()) names.insert(label(*schema));
  for (const BodyRow& row : all_rows()) {
    EXPECT_TRUE(names.contains(row.op)) << row.op << " has no version with both a kernel and a function body";
  }
}

}  // namespace
}  // namespace grurun::engine::testing
