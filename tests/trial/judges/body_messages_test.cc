// Operators of com.microsoft that run by a body: whatever shapes they get, a check and a run speak of the
// node that the model has and of the operator's own inputs, never of a node of the body.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <regex>
#include <set>

#include "opset/pages/page.h"
#include "opset/schema/registry.h"
#include "tensor/error.h"
#include "tests/engine/one_node.h"

namespace grurun::trial {
namespace {

using engine::testing::attr;
using engine::testing::OneNode;

class NodeDraw {
 public:
  explicit NodeDraw(const opset::SchemaInfo& schema) : schema_(schema), random_(schema.name.size()) {}

  OneNode draw() {
    OneNode one;
    one.op = schema_.name;
    one.domain = schema_.domain;
    one.opset = 1;
    std::map<std::string, DType> types;
    for (std::size_t i = 0; i < schema_.inputs.size(); ++i) {
      const opset::ParameterInfo& input = schema_.inputs[i];
      const bool optional = input.kind == opset::ParameterKind::optional;
      if (optional && below(3) != 0) {
        one.inputs.emplace_back();
        continue;
      }
      const DTypeSet admitted = schema_.input_dtypes(i);
      const DType first = admitted.contains(DType::float32) ? DType::float32 : first_of(admitted);
      one.inputs.emplace_back(Tensor::zeros(types.try_emplace(input.type_str, first).first->second, shape()));
    }
    while (!one.inputs.empty() && one.inputs.back().empty()) one.inputs.pop_back();
    for (const opset::AttributeInfo& attribute : schema_.attributes)
      if (attribute.required || below(4) == 0) state(attribute, one.attributes);
    one.outputs.assign(1, true);
    return one;
  }

 private:
  std::int64_t below(std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random_);
  }

  static DType first_of(const DTypeSet& types) {
    for (int number = 1; number < 32; ++number)
      if (is_valid_dtype(number) && types.contains(static_cast<DType>(number)))
        return static_cast<DType>(number);
    return DType::float32;
  }

  // Few sizes, so that inputs fit each other now and then.
  Shape shape() {
    static constexpr std::int64_t sizes[] = {1, 2, 2, 4, 4, 8, 16};
    std::vector<std::int64_t> dims(static_cast<std::size_t>(below(5)));
    for (std::int64_t& dim : dims) dim = sizes[below(std::size(sizes))];
    return Shape(dims);
  }

  void state(const opset::AttributeInfo& attribute, engine::testing::Attributes& to) {
    static constexpr std::int64_t numbers[] = {0, 1, 1, 2, 4, 16};
    const std::int64_t number = numbers[below(std::size(numbers))];
    const char* name = attribute.name.c_str();
    if (attribute.type == onnx_io::AttributeType::int_) to.push_back(attr(name, number));
    if (attribute.type == onnx_io::AttributeType::float_)
      to.push_back(attr(name, static_cast<float>(number)));
    if (attribute.type == onnx_io::AttributeType::ints)
      to.push_back(attr(name, std::vector<std::int64_t>(static_cast<std::size_t>(below(4)), number)));
  }

  const opset::SchemaInfo& schema_;
  std::mt19937_64 random_;
};

// What a message may put into quotes or call an input: names of the model, and of the operator's parameters.
std::set<std::string> own_names(const opset::SchemaInfo& schema) {
  std::set<std::string> names = {"node", "graph/node", "data"};
  for (int i = 0; i < 40; ++i) {
    names.insert("in_" + std::to_string(i));
    names.insert("out_" + std::to_string(i));
  }
  for (const auto& parameter : schema.inputs) names.insert(parameter.name);
  for (const auto& parameter : schema.outputs) names.insert(parameter.name);
  for (const auto& attribute : schema.attributes) names.insert(attribute.name);
  return names;
}

// Of a message that speaks of another node or operator; "" where it does not.
std::string foreign_word(const std::string& text, const opset::SchemaInfo& schema) {
  const std::set<std::string> names = own_names(schema);
  static const std::regex quoted("'([^']*)'"), operator_label("([A-Za-z0-9_.]+)-[0-9]+\\b"),
      input("input ([A-Za-z_][A-Za-z0-9_]*) (is|holds|names)");
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at)
    if (!names.contains((*at)[1])) return (*at)[1];
  for (std::sregex_iterator at(text.begin(), text.end(), operator_label), end; at != end; ++at)
    if ((*at)[1] != schema.name && (*at)[1] != schema.domain + "." + schema.name) return (*at)[1];
  for (std::sregex_iterator at(text.begin(), text.end(), input), end; at != end; ++at)
    if (!names.contains((*at)[1])) return (*at)[1];
  return "";
}

std::string run_words(const OneNode& one) {
  try {
    engine::testing::run_node(one);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(BodyMessages, NameOnlyWhatTheModelHas) {
  int refused = 0;
  for (const opset::PageOfDomain& each : opset::all_pages()) {
    if (each.domain != "com.microsoft") continue;
    const opset::SchemaInfo* schema =
        opset::find_schema(std::string(each.page->op_type), std::string(each.domain), 1);
    ASSERT_NE(schema, nullptr) << each.page->op_type;
    if (!schema->has_function_body) continue;
    NodeDraw draw(*schema);
    for (int i = 0; i < 60; ++i) {
      const OneNode one = draw.draw();
      const std::string ran = run_words(one);
      refused += ran.empty() ? 0 : 1;
      EXPECT_EQ(foreign_word(ran, *schema), "") << schema->name << ": " << ran;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace grurun::trial
