#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/finding_filter.h"
#include "cli/streams.h"
#include "onnx_io/models/load_for_check.h"
#include "opset/findings/too_new.h"
#include "opset/recurrent/all_rules.h"
#include "report/findings/check_format.h"
#include "tensor/error.h"
#include "trial/model_check.h"

namespace grurun::cli {

namespace {

struct CheckFlags {
  std::vector<std::string> models;
  std::vector<std::string> select;
  std::vector<std::string> ignore;
  std::string severity = "note";
  std::string output_format = "text";
  bool list_rules = false;
};

std::string formatted(const std::string& format, const std::vector<report::CheckedModel>& models) {
  if (format == "json") return report::check_json(models);
  if (format == "github") return report::check_github(models);
  if (format == "sarif") return report::check_sarif(models);
  return report::check_text(models);
}

void check_model(const std::string& path, const FindingFilter& filter, report::CheckedModel& out) {
  const onnx_io::Model model = onnx_io::load_model_for_check(path);
  out.findings = trial::check_fully(model, trial::CheckDepth::everything).findings;
  // What --select asks for is not known where nodes could not be judged at all.
  const auto counts = [&](const opset::Finding& finding) {
    return filter.keeps(finding.code, finding.severity) ||
           (filter.excludes_by_select(finding.code) && opset::keeps_from_judging(finding.code));
  };
  std::erase_if(out.findings, [&](const opset::Finding& finding) { return !counts(finding); });
  const auto is_error = [](const opset::Finding& finding) {
    return finding.severity == opset::Severity::error;
  };
  const auto is_other = [&](const opset::Finding& finding) {
    return is_error(finding) && !opset::is_too_new(finding, model);
  };
  out.is_too_new =
      std::ranges::any_of(out.findings, is_error) && std::ranges::none_of(out.findings, is_other);
}

// A file that cannot be read does not keep the others from being checked: of their exit codes the first of
// usage, invalid and unsupported that occurs is the command's.
int check_models(const CheckFlags& flags) {
  const FindingFilter filter = make_filter(flags.select, flags.ignore, flags.severity);
  std::vector<report::CheckedModel> checked;
  bool usage = false;
  bool invalid = false;
  int other = 0;
  for (const std::string& path : flags.models) {
    report::CheckedModel& model = checked.emplace_back();
    model.path = path;
    try {
      check_model(path, filter, model);
      const bool errors = model.count(opset::Severity::error) > 0;
      invalid = invalid || (errors && !model.is_too_new);
      if (other == 0 && model.is_too_new) other = exit_code(ErrorKind::unsupported);
    } catch (const Error& error) {
      model.failure = error.what();
      tell("grurun: {}\n", error.what());
      usage = usage || error.kind() == ErrorKind::usage;
      invalid = invalid || error.kind() == ErrorKind::invalid_model;
      if (other == 0) other = exit_code(error.kind());
    }
  }
  print_text(formatted(flags.output_format, checked));
  if (usage) return exit_code(ErrorKind::usage);
  return invalid ? exit_code(ErrorKind::invalid_model) : other;
}

int list_rules(const CheckFlags& flags) {
  const std::string& format = flags.output_format;
  if (!flags.models.empty()) fail_usage("--list-rules checks no model; give one of them");
  if (format == "github" || format == "sarif")
    fail_usage("--output-format {} is for findings; --list-rules takes text, json or markdown", format);
  const FindingFilter filter = make_filter(flags.select, flags.ignore, flags.severity);
  report::Rules rules;
  for (const opset::RuleInfo& rule : opset::all_rules()) {
    if (filter.keeps(rule.code, rule.severity)) rules.push_back(rule);
  }
  print_text(format == "json"       ? report::rules_json(rules)
             : format == "markdown" ? report::rules_markdown(rules)
                                    : report::rules_text(rules));
  return 0;
}

int run_check(const CheckFlags& flags) {
  require_stdout("check");
  if (flags.list_rules) return list_rules(flags);
  if (flags.models.empty()) fail_usage("check: no model given; see grurun check --help");
  if (flags.output_format == "markdown") fail_usage("--output-format markdown is for --list-rules");
  return check_models(flags);
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("check", "Check models against the rules of the opsets they import");
  const auto flags = std::make_shared<CheckFlags>();
  command->add_option("MODEL", flags->models, "Model files");
  const auto repeated = [&](const char* name, std::vector<std::string>& values, const char* help) {
    command->add_option(name, values, help)->allow_extra_args(false)->type_name("CODES");
  };
  repeated("--select", flags->select,
           "Only findings whose code begins so: GRU or GRU,SHAPE003; may be repeated");
  repeated("--ignore", flags->ignore, "No findings whose code begins so; goes before --select");
  command
      ->add_option("--severity", flags->severity,
                   "Findings of this severity and above: error, warning or note")
      ->type_name("LEAST")
      ->capture_default_str();
  command
      ->add_option("--output-format", flags->output_format,
                   "text, json, github (annotations) or sarif; with --list-rules text, json or markdown")
      ->check(CLI::IsMember({"text", "json", "github", "sarif", "markdown"}).description(""))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_flag("--list-rules", flags->list_rules,
                    "Print the rules, with code and severity, that the flags leave in");
  command->footer(R"(
Every node, in subgraphs and functions too, is held against the schema of the exact version that the model's opset
means: operators, attributes, inputs, outputs and types. Names must be defined before they are used. Types and shapes
are inferred and compared with what the model declares; ONNX's own checker has its say. All findings are listed.
GRU, RNN and LSTM are held against everything that the text of their version states; docs/rules.md has the list.

  grurun check model.onnx
  grurun check --select GRU,RNN,LSTM --ignore GRU065 --severity warning model.onnx
  grurun check --output-format json a.onnx b.onnx

Exit codes: 0 no errors (warnings, notes and what the flags leave out do not count), 2 usage or a file is missing,
3 errors or no valid model file, 4 not supported (an opset or ir_version newer than those known here, say), 5 a limit was
hit.)");
  command->callback([flags, &action] { action = [flags] { return run_check(*flags); }; });
}

}  // namespace grurun::cli
