#include "cli/check_command.h"

#include <cstdio>
#include <memory>

#include "onnx_io/model.h"
#include "tensor/error.h"

namespace grurun::cli {

namespace {

struct CheckFlags {
  std::vector<std::string> models;
  std::string output_format = "text";
  bool list_rules = false;
};

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// A file that cannot be read does not keep the others from being checked: of their exit codes the first of
// usage, invalid and unsupported that occurs is the command's.
int check_models(const CheckFlags& flags) {
  std::vector<CheckedModel> checked;
  bool usage = false;
  bool invalid = false;
  int other = 0;
  for (const std::string& path : flags.models) {
    CheckedModel& model = checked.emplace_back();
    model.path = path;
    try {
      model.findings = opset::check_model(onnx_io::load_model(path)).findings;
      invalid = invalid || model.count(opset::Severity::error) > 0;
    } catch (const Error& error) {
      model.failure = error.what();
      std::fprintf(stderr, "grurun: %s\n", error.what());
      usage = usage || error.kind() == ErrorKind::usage;
      invalid = invalid || error.kind() == ErrorKind::invalid_model;
      if (other == 0) other = exit_code(error.kind());
    }
  }
  print(flags.output_format == "json" ? check_json(checked) : check_text(checked));
  if (usage) return exit_code(ErrorKind::usage);
  return invalid ? exit_code(ErrorKind::invalid_model) : other;
}

int run_check(const CheckFlags& flags) {
  if (flags.list_rules) {
    print(flags.output_format == "json" ? rules_json() : rules_text());
    return 0;
  }
  if (flags.models.empty()) fail_usage("check: no model given; see grurun check --help");
  return check_models(flags);
}

}  // namespace

void add_check(CLI::App& app, std::function<int()>& action) {
  CLI::App* command = app.add_subcommand("check", "Check models against the rules of the opsets they import");
  const auto flags = std::make_shared<CheckFlags>();
  command->add_option("MODEL", flags->models, "Model files");
  command->add_option("--output-format", flags->output_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--list-rules", flags->list_rules, "Print every rule with its code and severity");
  command->footer(R"(
Every node, in subgraphs and functions too, is held against the schema of the exact version that the model's opset
means: operators, attributes, inputs, outputs and types. Names must be defined before they are used. Types and shapes
are inferred and compared with what the model declares; ONNX's own checker has its say. All findings are listed.

  grurun check model.onnx
  grurun check --output-format json a.onnx b.onnx

Exit codes: 0 no errors (warnings and notes do not count), 2 a file is missing, 3 errors or no valid model file, 4 not
supported, 5 a limit was hit.)");
  command->callback([flags, &action] { action = [flags] { return run_check(*flags); }; });
}

}  // namespace grurun::cli
