#include "report/schema/ops_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "onnx_io/models/model.h"
#include "report/json_text.h"

namespace grurun::report {

namespace {

using Json = nlohmann::ordered_json;

struct MatrixCounts {
  std::size_t schemas = 0;
  std::size_t of_the_standard = 0;
  std::map<SupportKind, std::size_t> by_kind{{SupportKind::kernel, 0},
                                             {SupportKind::function_body, 0},
                                             {SupportKind::deprecated, 0},
                                             {SupportKind::none, 0}};
  std::size_t types = 0;  // (schema, constraint, type)
  std::size_t types_supported = 0;
};

MatrixCounts count(const OpsMatrix& matrix) {
  MatrixCounts counts;
  for (const OpSupport& row : matrix) {
    ++counts.schemas;
    if (opset::newest_opset(row.schema->domain)) ++counts.of_the_standard;
    ++counts.by_kind[row.kind];
    for (const TypeSupport& types : row.types) {
      counts.types += types.supported.size() + types.unsupported.size();
      counts.types_supported += types.supported.size();
    }
  }
  return counts;
}

std::string summary(const MatrixCounts& counts) {
  return fmt::format(
      "{} operator versions, {} of the standard: {} by a kernel, {} by the function body of the standard, {} "
      "deprecated, {} not supported. {} of {} types of their constraints.",
      counts.schemas, counts.of_the_standard, counts.by_kind.at(SupportKind::kernel),
      counts.by_kind.at(SupportKind::function_body), counts.by_kind.at(SupportKind::deprecated),
      counts.by_kind.at(SupportKind::none), counts.types_supported, counts.types);
}

// "T: float double; Tind: int64"
std::string types_text(const OpSupport& row, std::vector<std::string> TypeSupport::*member) {
  std::vector<std::string> parts;
  for (const TypeSupport& types : row.types) {
    const std::vector<std::string>& names = types.*member;
    if (!names.empty()) parts.push_back(fmt::format("{}: {}", types.constraint, fmt::join(names, " ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string ops_text(const OpsMatrix& matrix) {
  std::string text;
  for (const OpSupport& row : matrix) {
    const std::string supported = types_text(row, &TypeSupport::supported);
    const std::string missing = types_text(row, &TypeSupport::unsupported);
    const opset::SchemaInfo& schema = *row.schema;
    const std::string name =
        fmt::format("{}-{}", onnx_io::qualified_name(schema.domain, schema.name), schema.since_version);
    std::string line = fmt::format("{:<40} {:<14}", name, support_kind_name(row.kind));
    if (!supported.empty()) line += " " + supported;
    if (!missing.empty()) line += "  (not " + missing + ")";
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text + "\n" + summary(count(matrix)) + "\n";
}

std::string ops_markdown(const OpsMatrix& matrix) {
  std::string text = fmt::format("# Operators, versions and types\n\n{}\n", summary(count(matrix)));
  std::string domain = "?";
  for (const OpSupport& row : matrix) {
    if (row.schema->domain != domain) {
      domain = row.schema->domain;
      text += fmt::format(
          "\n## {}\n\n| operator | version | by | types | unsupported types |\n|---|---|---|---|---|\n",
          onnx_io::shown_domain(domain));
    }
    text += fmt::format("| {} | {} | {} | {} | {} |\n", row.schema->name, row.schema->since_version,
                        support_kind_name(row.kind), types_text(row, &TypeSupport::supported),
                        types_text(row, &TypeSupport::unsupported));
  }
  return text;
}

std::string ops_json(const OpsMatrix& matrix) {
  const MatrixCounts counts = count(matrix);
  Json summary = {{"operator_versions", counts.schemas}, {"of_the_standard", counts.of_the_standard}};
  for (const auto& [kind, number] : counts.by_kind) summary[support_kind_name(kind)] = number;
  summary["types"] = counts.types;
  summary["types_supported"] = counts.types_supported;
  Json rows = Json::array();
  for (const OpSupport& row : matrix) {
    Json types = Json::object();
    for (const TypeSupport& support : row.types)
      types[support.constraint] = {{"supported", support.supported}, {"unsupported", support.unsupported}};
    rows.push_back({{"domain", onnx_io::shown_domain(row.schema->domain)},
                    {"operator", row.schema->name},
                    {"since_version", row.schema->since_version},
                    {"by", support_kind_name(row.kind)},
                    {"types", types}});
  }
  return json_text(Json{{"summary", summary}, {"operators", rows}}, 1);
}

}  // namespace grurun::report
