#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/streams.h"
#include "onnx_io/models/model.h"
#include "opset/schema/near_match.h"
#include "report/json_text.h"
#include "report/schema/ops_matrix.h"
#include "tensor/error.h"

namespace grurun::cli {
namespace {

struct OpsFlags {
  std::vector<std::string> operators;
  std::string format = "text";
  bool missing = false;
};

struct Counts {
  std::size_t schemas = 0;
  std::size_t of_the_standard = 0;
  std::map<report::SupportKind, std::size_t> by_kind;
  std::size_t types = 0;  // (schema, constraint, type)
  std::size_t types_supported = 0;
};

Counts count(const std::vector<report::OpSupport>& matrix) {
  Counts counts;
  for (const report::OpSupport& row : matrix) {
    ++counts.schemas;
    if (opset::newest_opset(row.schema->domain)) ++counts.of_the_standard;
    ++counts.by_kind[row.kind];
    for (const report::TypeSupport& types : row.types) {
      counts.types += types.supported.size() + types.unsupported.size();
      counts.types_supported += types.supported.size();
    }
  }
  return counts;
}

std::string summary(const Counts& counts) {
  const auto of = [&](report::SupportKind kind) {
    const auto found = counts.by_kind.find(kind);
    return found == counts.by_kind.end() ? 0 : found->second;
  };
  return fmt::format(
      "{} operator versions, {} of the standard: {} by a kernel, {} by the function body of the standard, {} "
      "deprecated, {} not "
      "supported. "
      "{} of {} types of their constraints.",
      counts.schemas, counts.of_the_standard, of(report::SupportKind::kernel),
      of(report::SupportKind::function_body), of(report::SupportKind::deprecated),
      of(report::SupportKind::none), counts.types_supported, counts.types);
}

// "T: float double; Tind: int64"
std::string types_text(const report::OpSupport& row, std::vector<std::string> report::TypeSupport::*member) {
  std::vector<std::string> parts;
  for (const report::TypeSupport& types : row.types) {
    const std::vector<std::string>& names = types.*member;
    if (!names.empty()) parts.push_back(fmt::format("{}: {}", types.constraint, fmt::join(names, " ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string op_name(const opset::SchemaInfo& schema) {
  return onnx_io::qualified_name(schema.domain, schema.name);
}

bool is_named(const opset::SchemaInfo& schema, const std::string& name) {
  return schema.name == name || op_name(schema) == name ||
         onnx_io::shown_domain(schema.domain) + "." + schema.name == name;
}

void print_table(const std::vector<report::OpSupport>& matrix) {
  for (const report::OpSupport& row : matrix) {
    const std::string supported = types_text(row, &report::TypeSupport::supported);
    const std::string missing = types_text(row, &report::TypeSupport::unsupported);
    std::string line =
        fmt::format("{:<40} {:<14}", fmt::format("{}-{}", op_name(*row.schema), row.schema->since_version),
                    report::support_kind_name(row.kind));
    if (!supported.empty()) line += " " + supported;
    if (!missing.empty()) line += "  (not " + missing + ")";
    while (line.ends_with(' ')) line.pop_back();
    print("{}\n", line);
  }
  print("\n{}\n", summary(count(matrix)));
}

void print_markdown(const std::vector<report::OpSupport>& matrix) {
  print("# Operators, versions and types\n\n{}\n", summary(count(matrix)));
  std::string domain = "?";
  for (const report::OpSupport& row : matrix) {
    if (row.schema->domain != domain) {
      domain = row.schema->domain;
      print("\n## {}\n\n| operator | version | by | types | unsupported types |\n|---|---|---|---|---|\n",
            onnx_io::shown_domain(domain));
    }
    print("| {} | {} | {} | {} | {} |\n", row.schema->name, row.schema->since_version,
          report::support_kind_name(row.kind), types_text(row, &report::TypeSupport::supported),
          types_text(row, &report::TypeSupport::unsupported));
  }
}

void print_json(const std::vector<report::OpSupport>& matrix) {
  using Json = nlohmann::ordered_json;
  const Counts counts = count(matrix);
  Json summary = {{"operator_versions", counts.schemas}, {"of_the_standard", counts.of_the_standard}};
  for (const report::SupportKind kind : {report::SupportKind::kernel, report::SupportKind::function_body,
                                         report::SupportKind::deprecated, report::SupportKind::none}) {
    const auto found = counts.by_kind.find(kind);
    summary[report::support_kind_name(kind)] = found == counts.by_kind.end() ? 0 : found->second;
  }
  summary["types"] = counts.types;
  summary["types_supported"] = counts.types_supported;
  Json rows = Json::array();
  for (const report::OpSupport& row : matrix) {
    Json types = Json::object();
    for (const report::TypeSupport& support : row.types) {
      types[support.constraint] = {{"supported", support.supported}, {"unsupported", support.unsupported}};
    }
    rows.push_back({{"domain", onnx_io::shown_domain(row.schema->domain)},
                    {"operator", row.schema->name},
                    {"since_version", row.schema->since_version},
                    {"by", report::support_kind_name(row.kind)},
                    {"types", types}});
  }
  grurun::cli::print_text(report::json_text(Json{{"summary", summary}, {"operators", rows}}, 1));
}

int run_ops(const OpsFlags& flags) {
  require_stdout("ops");
  std::vector<report::OpSupport> matrix = report::support_matrix();
  for (const std::string& name : flags.operators) {
    const bool known = std::ranges::any_of(
        matrix, [&](const report::OpSupport& row) { return is_named(*row.schema, name); });
    if (!known)
      fail_usage("no operator '{}' in any version{}", name, opset::did_you_mean(opset::near_operators(name)));
  }
  std::erase_if(matrix, [&](const report::OpSupport& row) {
    const bool named =
        flags.operators.empty() || std::ranges::any_of(flags.operators, [&](const std::string& name) {
          return is_named(*row.schema, name);
        });
    return !named || (flags.missing && !row.has_gap());
  });
  if (flags.format == "json") {
    print_json(matrix);
  } else if (flags.format == "markdown") {
    print_markdown(matrix);
  } else {
    print_table(matrix);
  }
  return 0;
}

}  // namespace

void add_ops(CLI::App& app, Action& action) {
  CLI::App* ops = app.add_subcommand("ops", "Which operators, versions and types run");
  const auto flags = std::make_shared<OpsFlags>();
  ops->add_option("operator", flags->operators, "Only these, as in GRU or ai.onnx.ml.Scaler (all)");
  ops->add_option("--output-format,--format", flags->format, "text, json or markdown (text)")
      ->check(CLI::IsMember({"text", "json", "markdown"}))
      ->type_name("FORMAT");
  ops->add_flag("--missing", flags->missing, "Only versions that lack support, or lack it for some type");
  ops->footer(
      "\nA version runs by its kernel, or by the function body that the standard gives it; then a type "
      "counts as\n"
      "supported when every operator of the body for that type runs.");
  ops->callback([&action, flags] { action = [flags] { return run_ops(*flags); }; });
}

}  // namespace grurun::cli
