#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/streams.h"
#include "onnx_io/models/model.h"
#include "report/schema/schema_diff_format.h"
#include "report/schema/schema_format.h"
#include "report/schema/schema_selection.h"
#include "tensor/error.h"

namespace grurun::cli {

namespace {

using opset::SchemaInfo;

struct SchemaFlags {
  std::string op_type;
  std::vector<std::int64_t> diff;
  std::vector<std::int64_t> diff_opset;
  std::optional<std::string> domain;
  std::optional<std::int64_t> opset_version;
  std::string output_format = "text";
  bool doc = false;
};

int run_diff(const SchemaFlags& flags) {
  const report::SchemaView from = report::select_schema(flags.op_type, flags.domain, flags.diff.at(0));
  const report::SchemaView to = report::select_schema(flags.op_type, flags.domain, flags.diff.at(1));
  report::DiffView view{opset::diff_schemas(*from.schema, *to.schema), flags.diff[0], flags.diff[1], {}};
  const auto [low, high] = std::minmax(from.schema->since_version, to.schema->since_version);
  for (const SchemaInfo* version : from.versions) {
    if (version->since_version > low && version->since_version < high)
      view.between.insert(view.between.begin(), version->since_version);
  }
  print_text(flags.output_format == "json"       ? report::diff_json(view)
             : flags.output_format == "markdown" ? report::diff_markdown(view)
                                                 : report::diff_text(view));
  return 0;
}

int run_diff_opset(const SchemaFlags& flags) {
  const std::string domain = report::require_domain(flags.domain.value_or("ai.onnx"));
  const std::int64_t newest = *opset::newest_opset(domain);
  for (const std::int64_t opset_version : flags.diff_opset) {
    if (opset_version >= 1 && opset_version <= newest) continue;
    fail_usage("opset {}: {} has opsets 1 to {}", opset_version, onnx_io::shown_domain(domain), newest);
  }
  const report::OpsetDiffView view{domain, flags.diff_opset.at(0), flags.diff_opset.at(1),
                                   opset::diff_opsets(domain, flags.diff_opset[0], flags.diff_opset[1])};
  print_text(flags.output_format == "json"       ? report::opset_diff_json(view)
             : flags.output_format == "markdown" ? report::opset_diff_markdown(view)
                                                 : report::opset_diff_text(view));
  return 0;
}

int run_schema(const SchemaFlags& flags) {
  require_stdout("schema");
  if (!flags.diff_opset.empty() && !flags.op_type.empty())
    fail_usage("--diff-opset is about all operators; for one use grurun schema {} --diff FROM TO",
               flags.op_type);
  if (!flags.diff_opset.empty()) return run_diff_opset(flags);
  if (flags.op_type.empty()) fail_usage("schema: no operator named; see grurun schema --help");
  if (!flags.diff.empty()) return run_diff(flags);
  if (flags.output_format == "markdown")
    fail_usage("--output-format markdown is for --diff and --diff-opset");
  const report::SchemaView view = report::select_schema(flags.op_type, flags.domain, flags.opset_version);
  print_text(flags.output_format == "json" ? report::schema_json(view)
                                           : report::schema_text(view, flags.doc));
  return 0;
}

}  // namespace

void add_schema(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("schema", "Print an operator as one version of the standard defines it");
  const auto flags = std::make_shared<SchemaFlags>();
  command->add_option("OP", flags->op_type, "The operator: GRU, Conv, ai.onnx.ml.Scaler, ...");
  CLI::Option* opset_version = command->add_option("--opset", flags->opset_version,
                                                   "The opset a model imports (without it the newest known)");
  command->add_option("--domain", flags->domain, "The operator's domain: ai.onnx, ai.onnx.ml, ...");
  CLI::Option* diff =
      command->add_option("--diff", flags->diff, "What changed from one opset or version to another")
          ->expected(2)
          ->allow_extra_args(false)
          ->type_name("FROM TO")
          ->excludes(opset_version);
  CLI::Option* diff_opset =
      command->add_option("--diff-opset", flags->diff_opset, "The same for all operators of a domain")
          ->expected(2)
          ->allow_extra_args(false)
          ->type_name("FROM TO")
          ->excludes(diff)
          ->excludes(opset_version);
  command->add_option("--output-format", flags->output_format, "text or json; with --diff markdown too")
      ->check(CLI::IsMember({"text", "json", "markdown"}).description(""))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_flag("--doc", flags->doc, "The operator's text behind the rest (always part of json)")
      ->excludes(diff)
      ->excludes(diff_opset);
  command->footer(R"(
Attributes with type and default, inputs and outputs with their type constraints, and all versions of the operator.

  grurun schema GRU
  grurun schema GRU --opset 14
  grurun schema Scaler --domain ai.onnx.ml --output-format json
  grurun schema GRU --diff 7 14
  grurun schema --diff-opset 17 22 --output-format markdown

A change is breaking when some node that is valid in the one version is invalid, or means something else, in the other.

Exit codes: 0; 2 for an operator, domain or opset that does not exist, with names that are near.)");
  command->callback([flags, &action] { action = [flags] { return run_schema(*flags); }; });
}

}  // namespace grurun::cli
