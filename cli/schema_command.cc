#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/limit_flags.h"
#include "cli/report_flags.h"
#include "cli/time_limit.h"
#include "report/schema/schema_selection.h"
#include "tensor/error.h"

namespace grurun::cli {

namespace {

struct SchemaFlags {
  std::string op_type;
  std::vector<std::int64_t> diff;
  std::vector<std::int64_t> diff_opset;
  std::optional<std::string> domain;
  std::optional<std::int64_t> opset_version;
  ReportFlags report;
  LimitFlags limits;
  bool doc = false;
};

template <typename Select>
Work write(const SchemaFlags& flags, const std::string& subject, const Select& select) {
  const auto reports = std::make_shared<Reports<decltype(select())>>(flags.report, subject, true);
  return {{"auto", {{}, {}, paths_of(reports->files())}}, [=, &flags] {
            const auto limit = limit_time(flags.limits.max_time, "schema");
            reports->open();
            reports->write(select());
            return 0;
          }};
}

/// flags: there as long as the work.
Work prepare_schema(const SchemaFlags& flags) {
  apply(flags.limits);
  if (!flags.diff_opset.empty() && !flags.op_type.empty())
    fail_usage("--diff-opset is about all operators; for one use grurun schema {} --diff FROM TO",
               flags.op_type);
  if (!flags.diff_opset.empty()) {
    return write(flags, "schema --diff-opset", [&flags] {
      return report::select_opset_diff(flags.domain.value_or("ai.onnx"), flags.diff_opset.at(0),
                                       flags.diff_opset.at(1));
    });
  }
  if (flags.op_type.empty()) fail_usage("schema: no operator named; see grurun schema --help");
  if (!flags.diff.empty()) {
    return write(flags, "schema --diff", [&flags] {
      return report::select_diff(flags.op_type, flags.domain, flags.diff.at(0), flags.diff.at(1));
    });
  }
  return write(flags, "schema without --diff", [&flags] {
    report::SchemaView view = report::select_schema(flags.op_type, flags.domain, flags.opset_version);
    view.with_doc = flags.doc;
    return view;
  });
}

}  // namespace

void add_schema(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<SchemaFlags>();
  command.add_option("OP", flags->op_type, "The operator: GRU, Conv, ai.onnx.ml.Scaler, ...");
  CLI::Option* opset_version = command.add_option("--opset", flags->opset_version,
                                                  "The opset a model imports (without it the newest known)");
  command.add_option("--domain", flags->domain, "The operator's domain: ai.onnx, ai.onnx.ml, ...");
  CLI::Option* diff =
      command.add_option("--diff", flags->diff, "What changed from one opset or version to another")
          ->expected(2)
          ->allow_extra_args(false)
          ->type_name("FROM TO")
          ->excludes(opset_version);
  CLI::Option* diff_opset =
      command.add_option("--diff-opset", flags->diff_opset, "The same for all operators of a domain")
          ->expected(2)
          ->allow_extra_args(false)
          ->type_name("FROM TO")
          ->excludes(diff)
          ->excludes(opset_version);
  const std::string formats = either_of(report::format_names<report::SchemaView>()) + "; with --diff " +
                              either_of(report::format_names<report::DiffView>());
  add_report_flags(command, flags->report, formats);
  command.add_flag("--doc", flags->doc, "The operator's text behind the rest (always part of json)")
      ->excludes(diff)
      ->excludes(diff_opset);
  add_limit_flags(command, flags->limits, "all of it");
  command.footer(R"(
Attributes with type and default, inputs and outputs with their type constraints, and all versions of the operator.

  grurun schema GRU
  grurun schema GRU --opset 14
  grurun schema Scaler --domain ai.onnx.ml --output-format json
  grurun schema GRU --diff 7 14
  grurun schema --diff-opset 17 22 --output-format markdown

A change is breaking when some node that is valid in the one version is invalid, or means something else, in the other.

Exit codes: 0; 2 for an operator, domain or opset that does not exist, with names that are near.)");
  command.callback([flags, &action] { action = [flags] { return prepare_schema(*flags); }; });
}

}  // namespace grurun::cli
