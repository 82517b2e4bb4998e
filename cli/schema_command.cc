#include "cli/schema_command.h"

#include <cstdio>
#include <memory>

#include "onnx_io/model.h"
#include "opset/near_match.h"
#include "tensor/error.h"

namespace grurun::cli {

namespace {

using opset::SchemaInfo;

struct SchemaFlags {
  std::string op_type;
  std::optional<std::string> domain;
  std::optional<std::int64_t> opset_version;
  std::string output_format = "text";
  bool doc = false;
};

std::string require_domain(const std::string& domain) {
  const std::string canonical = onnx_io::canonical_domain(domain);
  if (opset::newest_opset(canonical)) return canonical;
  std::vector<std::string> known;
  for (const std::string& name : opset::known_domains()) known.push_back(onnx_io::shown_domain(name));
  fail_usage("no standard domain '{}'; there are {}", domain, fmt::join(known, ", "));
}

int run_schema(const SchemaFlags& flags) {
  const SchemaView view = select_schema(flags.op_type, flags.domain, flags.opset_version);
  const std::string text = flags.output_format == "json" ? schema_json(view) : schema_text(view, flags.doc);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

SchemaView select_schema(const std::string& op_type, const std::optional<std::string>& domain,
                         std::optional<std::int64_t> opset_version) {
  std::optional<std::string> wanted;
  if (domain) wanted = require_domain(*domain);
  std::vector<const SchemaInfo*> versions = opset::schema_versions(op_type, wanted ? &*wanted : nullptr);
  if (versions.empty()) {
    fail_usage("no operator '{}'{}{}", op_type,
               wanted ? fmt::format(" in domain {}", onnx_io::shown_domain(*wanted)) : "",
               opset::did_you_mean(opset::near_operators(op_type)));
  }
  const std::string found = versions.front()->domain;  // known_domains() order: ai.onnx before the others
  std::erase_if(versions, [&](const SchemaInfo* schema) { return schema->domain != found; });
  if (!opset_version) return {versions.front(), std::move(versions)};
  const std::int64_t newest = *opset::newest_opset(found);
  if (*opset_version < 1 || *opset_version > newest) {
    fail_usage("--opset {}: {} has opsets 1 to {}", *opset_version, onnx_io::shown_domain(found), newest);
  }
  const SchemaInfo* schema = opset::find_schema(op_type, found, *opset_version);
  if (schema == nullptr) {
    fail_usage("no operator '{}' in opset {} of {}; it exists from opset {} on", op_type, *opset_version,
               onnx_io::shown_domain(found), versions.back()->since_version);
  }
  return {schema, std::move(versions)};
}

void add_schema(CLI::App& app, std::function<int()>& action) {
  CLI::App* command =
      app.add_subcommand("schema", "Print an operator as one version of the standard defines it");
  const auto flags = std::make_shared<SchemaFlags>();
  command->add_option("OP", flags->op_type, "The operator: GRU, Conv, ...")->required();
  command->add_option("--opset", flags->opset_version,
                      "The opset a model imports (without it the newest known)");
  command->add_option("--domain", flags->domain, "The operator's domain: ai.onnx, ai.onnx.ml, ...");
  command->add_option("--output-format", flags->output_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--doc", flags->doc, "The operator's text behind the rest (always part of json)");
  command->footer(R"(
Attributes with type and default, inputs and outputs with their type constraints, and all versions of the operator.

  grurun schema GRU
  grurun schema GRU --opset 14
  grurun schema Scaler --domain ai.onnx.ml --output-format json

Exit codes: 0; 2 for an operator, domain or opset that does not exist, with names that are near.)");
  command->callback([flags, &action] { action = [flags] { return run_schema(*flags); }; });
}

}  // namespace grurun::cli
