#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/flag_values.h"
#include "cli/new_folder.h"
#include "cli/report_flags.h"
#include "conformance/reduce/failure.h"
#include "report/generate/generate_format.h"
#include "tensor/error.h"
#include "trial/node_case.h"

namespace grurun::cli {
namespace {

struct NodeFlags {
  std::string op_type, domain, folder;
  std::string opset, seed = "0";
  std::vector<std::string> attributes, shapes, values, types, inputs, ranges;
  int outputs = 0;
  EngineFlags engine;
  ReportFlags report;
};

/// "NAME=TEXT" of each.
std::map<std::string, std::string> named_texts(const char* flag, const std::vector<std::string>& texts) {
  std::map<std::string, std::string> out;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) fail_usage("{} takes NAME=VALUE; got '{}'", flag, text);
    if (!out.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      fail_usage("{}: '{}' is given twice", flag, text.substr(0, equals));
  }
  return out;
}

trial::NodeRequest node_request(const NodeFlags& flags) {
  trial::NodeRequest request;
  request.op_type = flags.op_type;
  request.domain = onnx_io::canonical_domain(flags.domain);
  if (!flags.opset.empty()) request.opset = static_cast<std::int64_t>(parse_whole("--opset", flags.opset));
  request.attributes = named_texts("--attr", flags.attributes);
  request.values = named_texts("--value", flags.values);
  request.types = named_texts("--type", flags.types);
  for (const std::string& text : flags.shapes) {
    auto [name, shape] = parse_named_shape("--input-shapes", text);
    if (name.empty()) fail_usage("--input-shapes {}: name the input, as in X:{}", text, text);
    if (!request.shapes.emplace(name, std::move(shape)).second)
      fail_usage("--input-shapes: the shape of '{}' is given twice", name);
  }
  request.optional_inputs = {flags.inputs.begin(), flags.inputs.end()};
  if (flags.outputs > 0) request.outputs = static_cast<std::size_t>(flags.outputs);
  request.random.names = {"--value", "--val-range", "--input-shapes", "--set"};
  request.random.seed = parse_whole("--seed", flags.seed);
  for (const std::string& text : flags.ranges)
    request.random.ranges.push_back(parse_range("--val-range", text));
  return request;
}

int run(const NodeFlags& flags, const trial::NodeRequest& request, Reports<report::GenerateReport>& reports) {
  const trial::NodeCase made = trial::make_node_case(request);
  reports.open();
  conformance::write_case(flags.folder, made.part);
  report::GenerateReport result{made.operator_text, flags.folder, {}};
  result.generated.sets.push_back({"test_data_set_0", {}, request.random.seed, made.drawn});
  reports.write(result);
  return 0;
}

Work prepare(const std::shared_ptr<const NodeFlags>& chosen) {
  const NodeFlags& flags = *chosen;
  require_new_folder("-o", flags.folder);
  const auto reports = std::make_shared<Reports<report::GenerateReport>>(flags.report, "node", true);
  apply(flags.engine);
  const trial::NodeRequest request = node_request(flags);
  SandboxFiles files{{}, {}, paths_of(reports->files())};
  files.folders.push_back(flags.folder);
  return {{flags.engine.sandbox, files}, [=] { return run(*chosen, request, *reports); }};
}

constexpr const char* node_footer = R"(
Sizes, types and attributes that no flag tells come of the operator's schema, of its page and of an example; the rules of the standard and a
run judge them.

  grurun node GRU --opset 14 --attr hidden_size=4 --attr direction=bidirectional -o case
  grurun node Reshape --input-shapes data:[2,3,4] --value shape=6,4 -o case
  grurun node Conv --type T=float16 --input B --attr group=2 -o case

Exit codes: 0 the case is written; 2 usage, and what cannot be made; 4 unsupported; 5 a limit was hit; 70 internal error.)";

}  // namespace

void add_node(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<NodeFlags>();
  command.add_option("operator", flags->op_type, "Operator, as the standard spells it")
      ->type_name("OP")
      ->required();
  command.add_option("-o,--output", flags->folder, "The case's folder, a new or empty one")
      ->type_name("DIR")
      ->required();
  const char* node = "The node";
  command.add_option("--domain", flags->domain, "Domain of the operator (ai.onnx)")
      ->type_name("NAME")
      ->group(node);
  command.add_option("--opset", flags->opset, "Version of the domain (the newest)")
      ->type_name("N")
      ->group(node);
  const auto repeated = [&command](const char* name, std::vector<std::string>& values, const char* text,
                                   const char* type, const char* group) {
    command.add_option(name, values, text)->allow_extra_args(false)->type_name(type)->group(group);
  };
  repeated("--attr", flags->attributes,
           "An attribute, axis=1, pads=0,1, activations=Relu,Tanh, value=float:1,2", "NAME=VALUE", node);
  repeated("--input", flags->inputs, "An optional input that is given, too", "NAME", node);
  command.add_option("--outputs", flags->outputs, "How many outputs are made (as many as can be)")
      ->check(CLI::Range(1, 64).description(""))
      ->type_name("N")
      ->group(node);
  const char* data = "Its data";
  repeated("--input-shapes", flags->shapes, "A shape, X:[5,2,3]", "X:[D,...]", data);
  repeated("--type", flags->types, "An element type, of an input or of a name of the schema, T=float16",
           "NAME=TYPE", data);
  repeated("--value", flags->values, "Elements of an input, shape=6,4", "NAME=N,...", data);
  repeated("--val-range", flags->ranges, "Range of random values, -1:1 or for one input X:0:9",
           "[X:]LOW:HIGH", data);
  command.add_option("--seed", flags->seed, "Seed of random values (0)")->type_name("N")->group(data);
  add_engine_flags(command, flags->engine, "Engine");
  add_report_flags(command, flags->report, either_of(report::format_names<report::GenerateReport>()),
                   "Output");
  add_short_form(command, flags->report, "json", "Write the result as JSON; - is stdout", "Output");
  command.footer(node_footer);
  command.callback([flags, &action] { action = [flags] { return prepare(flags); }; });
}

}  // namespace grurun::cli
