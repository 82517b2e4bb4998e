// Prints the source file that defines signature_table() and domain_table(); a build step.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "opset/schema/added/added_schemas.h"
#include "opset/schema/added/experimental.h"
#include "tensor/dtype.h"

namespace {

using grurun::DType;
using grurun::DTypeSet;
using onnx::OpSchema;
using Versions = std::map<int, OpSchema>;  // by since_version

// Element types of the parameter's types that begin like this: "tensor(", "seq(tensor(".
std::string dtypes_of(const OpSchema::FormalParameter& parameter, std::string_view prefix) {
  const auto closing = static_cast<std::size_t>(std::ranges::count(prefix, '('));
  std::vector<int> numbers;
  for (const onnx::DataType type : parameter.GetTypes()) {
    std::string_view name = *type;
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    name.remove_suffix(closing);
    const DType dtype = grurun::parse_dtype(name);
    if (dtype != DType::undefined) numbers.push_back(static_cast<int>(dtype));
  }
  std::ranges::sort(numbers);
  std::vector<std::string> casts;
  for (const int number : numbers) casts.push_back(fmt::format("static_cast<DType>({})", number));
  return fmt::format("DTypeSet({})", fmt::join(casts, ", "));
}

std::string types_of(const OpSchema::FormalParameter& parameter) {
  const bool maps = std::ranges::any_of(parameter.GetTypes(), [](const onnx::DataType type) {
    return std::string_view(*type).starts_with("map(");
  });
  return fmt::format("{{{}, {}, {}, {}, {}}}", dtypes_of(parameter, "tensor("),
                     dtypes_of(parameter, "seq(tensor("), dtypes_of(parameter, "optional(tensor("),
                     dtypes_of(parameter, "optional(seq(tensor("), maps);
}

const char* kind_of(const OpSchema::FormalParameter& parameter) {
  switch (parameter.GetOption()) {
    case OpSchema::Single:
      return "ParameterKind::single";
    case OpSchema::Optional:
      return "ParameterKind::optional";
    case OpSchema::Variadic:
      break;
  }
  return "ParameterKind::variadic";
}

std::string input_row(const OpSchema& schema, const OpSchema::FormalParameter& input) {
  const bool constraint = std::ranges::any_of(schema.typeConstraintParams(), [&](const auto& param) {
    return param.type_param_str == input.GetTypeStr();
  });
  return fmt::format("{{\"{}\", {}, {}, \"{}\", {}, {}}},\n", input.GetName(), kind_of(input),
                     input.GetIsHomogeneous(), input.GetTypeStr(), constraint, types_of(input));
}

// Offsets into the arrays before it, so that all stay constants of the program.
struct Arrays {
  std::string inputs, outputs, attributes, versions, operators;
  std::size_t input_count = 0, output_count = 0, attribute_count = 0, version_count = 0;

  void add(const OpSchema& schema) {
    const std::size_t first = input_count, first_output = output_count, first_attribute = attribute_count;
    for (const auto& input : schema.inputs()) {
      inputs += input_row(schema, input);
      ++input_count;
    }
    for (const auto& output : schema.outputs()) {
      outputs += fmt::format("{{\"{}\", {}, {}}},\n", output.GetName(), kind_of(output), types_of(output));
      ++output_count;
    }
    for (const auto& [name, attribute] : schema.attributes()) {
      attributes += fmt::format("{{\"{}\", static_cast<onnx_io::AttributeType>({}), {}}},\n", name,
                                static_cast<int>(attribute.type), attribute.required);
      ++attribute_count;
    }
    versions += fmt::format(
        "{{{}, {}, {}, {}, {}, {}, {}, {{inputs + {}, {}}}, {{outputs + {}, {}}}, {{attributes + {}, "
        "{}}}}},\n",
        schema.since_version(), schema.min_input(), schema.max_input(), schema.min_output(),
        schema.max_output(), schema.HasFunction() || schema.HasContextDependentFunction(),
        schema.deprecated(), first, input_count - first, first_output, output_count - first_output,
        first_attribute, attribute_count - first_attribute);
    ++version_count;
  }

  void add(const Versions& all, int newest_opset) {
    const std::size_t first = version_count;
    bool experimental = true;
    for (const auto& [since, schema] : all) {
      add(schema);
      experimental &= grurun::opset::is_experimental_addition(schema);
    }
    if (experimental && !grurun::opset::is_of_runtimes(all.begin()->second.Name()))
      newest_opset = static_cast<int>(grurun::opset::last_experimental_opset);
    const OpSchema& one = all.begin()->second;
    operators += fmt::format("{{\"{}\", \"{}\", {}, {}, {{versions + {}, {}}}}},\n", one.domain(), one.Name(),
                             experimental, newest_opset, first, version_count - first);
  }
};

constexpr const char* file = R"(#include "opset/schema/signature.h"

namespace grurun::opset {{

namespace {{

constexpr SignatureInput inputs[] = {{
{}}};

constexpr SignatureOutput outputs[] = {{
{}}};

constexpr SignatureAttribute attributes[] = {{
{}}};

constexpr Signature versions[] = {{
{}}};

constexpr Signatures operators[] = {{
{}}};

constexpr DomainRow domains[] = {{
{}}};

}}  // namespace

std::span<const Signatures> signature_table() {{
  return operators;
}}

std::span<const DomainRow> domain_table() {{
  return domains;
}}

}}  // namespace grurun::opset
)";

}  // namespace

int main() {
  grurun::opset::register_experimental_operators();
  std::map<std::string, int> newest;
  for (const auto& [domain, range] : onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map())
    newest[domain] = range.second;
  std::map<std::pair<std::string, std::string>, Versions> operators;
  for (const OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history())
    operators[{schema.domain(), schema.Name()}].emplace(schema.since_version(), schema);
  for (const std::string_view domain : grurun::opset::added_domains()) {
    for (const OpSchema& schema : grurun::opset::added_schemas_of(domain))
      operators[{schema.domain(), schema.Name()}].emplace(schema.since_version(), schema);
  }
  Arrays arrays;
  for (const auto& [name, versions] : operators) {
    const auto known = newest.find(name.first);
    arrays.add(versions, known == newest.end() ? std::numeric_limits<int>::max() : known->second);
  }
  std::string domains;
  for (const auto& [domain, version] : newest) domains += fmt::format("{{\"{}\", {}}},\n", domain, version);
  const std::string text = fmt::format(file, arrays.inputs, arrays.outputs, arrays.attributes,
                                       arrays.versions, arrays.operators, domains);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0 ? 0 : 1;
}
