#include "conformance/runtime_values.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include "conformance/other_runtime.h"
#include "conformance/run_program.h"
#include "onnx_io/bytes.h"
#include "onnx_io/models/more_outputs.h"
#include "tensor/error.h"
#include "trial/intermediates.h"

namespace grurun::conformance {
namespace {

constexpr std::array<std::string_view, 3> python_runtimes{"onnxruntime", "openvino", "reference"};

/// Removed when the command is done.
class ModelCopy {
 public:
  explicit ModelCopy(std::string path) : path_(std::move(path)) {}
  ~ModelCopy() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ModelCopy(const ModelCopy&) = delete;
  ModelCopy& operator=(const ModelCopy&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

[[noreturn]] void fail_of(const RuntimeRun& run, const OtherOutputs& made) {
  const std::string absent = "No module named ";
  if (const std::size_t at = made.message.find(absent); at != std::string::npos) {
    const std::string module = made.message.substr(at + absent.size());
    const std::size_t end = module.find('\'', 1);
    fail_usage(
        "{}: Python has no module named {}; install it, or name a Python that has it and grurun in the "
        "environment's GRURUN_PYTHON (now {})",
        run.flag, module.starts_with('\'') && end != std::string::npos ? module.substr(0, end + 1) : module,
        python_program());
  }
  const ErrorKind kind = made.verdict == Verdict::timed_out ? ErrorKind::limit
                         : made.verdict == Verdict::invalid ? ErrorKind::invalid_model
                                                            : ErrorKind::unsupported;
  fail(kind, "{}: {}", run.flag, made.message);
}

}  // namespace

WantedValue wanted_value(const std::string& name, const Value& value) {
  WantedValue wanted;
  wanted.info.name = name;
  wanted.info.type = value.type();
  wanted.info.type.shape.reset();
  if (value.is_tensor()) wanted.bytes = value.tensor().byte_size();
  return wanted;
}

std::vector<WantedValue> wanted_values(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                       const trial::Rerun& rerun) {
  std::vector<WantedValue> wanted;
  trial::run_seeing_values(model, inputs, rerun, [&](const trial::MadeValue& made) {
    if (made.scope.outer == nullptr) wanted.push_back(wanted_value(made.name, made.value));
  });
  return wanted;
}

std::optional<std::string> command_of_runtime(const std::string& name) {
  if (std::ranges::count(python_runtimes, name) == 0) return std::nullopt;
  return fmt::format("'{}' -m grurun.runtimes.{} {{model}} {{inputs}} {{outputs}}", python_program(), name);
}

onnx_io::Graph graph_to_feed(const onnx_io::Graph& graph, const std::vector<Value>& inputs) {
  onnx_io::Graph out;
  out.inputs = graph.inputs;
  out.outputs = graph.outputs;
  const onnx_io::InitializerIndex initializers = onnx_io::index_initializers(graph);
  bool is_replaced = false;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    is_replaced = is_replaced || (initializers.contains(graph.inputs[i].name) && !inputs.at(i).empty());
  for (const onnx_io::ValueInfo& input : graph.inputs) {
    const auto found = initializers.find(input.name);
    if (found == initializers.end()) continue;
    out.initializers.push_back({input.name, is_replaced ? *found->second : Tensor()});
  }
  return out;
}

namespace {

OtherOutputs run_model(const RuntimeRun& run, const std::string& path, const onnx_io::Graph& graph,
                       const std::vector<Value>& inputs) {
  OtherRuntime runtime;
  runtime.command = parse_command(run.flag, run.command);
  runtime.values_between = true;
  Case test;
  test.model = path;
  return run_command(runtime, test, "", {"", inputs, {}}, graph, run.scratch + "/run", run.deadline);
}

}  // namespace

std::optional<std::vector<Value>> outputs_of_runtime(const RuntimeRun& run, const onnx_io::Graph& graph,
                                                     const std::vector<Value>& inputs) {
  OtherOutputs made = run_model(run, run.model, graph, inputs);
  if (made.verdict != Verdict::passed) return std::nullopt;
  return std::move(made.values);
}

trial::ValueStore values_of_runtime(const RuntimeRun& run, const onnx_io::Graph& graph,
                                    const std::vector<Value>& inputs,
                                    const std::vector<WantedValue>& wanted) {
  trial::ValueStore values = trial::ValueStore::make(run.scratch);
  std::set<std::string> returned;
  for (const onnx_io::ValueInfo& output : graph.outputs) returned.insert(output.name);
  // External data is found from the model's own folder only.
  const ModelCopy model(run.has_external_data
                            ? fmt::format("{}/.grurun-{}.onnx", onnx_io::folder_of(run.model), getpid())
                            : run.scratch + "/model.onnx");
  std::size_t next = 0;
  do {
    onnx_io::Graph asked;
    asked.inputs = graph.inputs;
    asked.outputs = graph.outputs;
    asked.initializers = graph.initializers;
    for (onnx_io::ValueInfo& output : asked.outputs) output.type = {};
    std::vector<onnx_io::ValueInfo> more;
    for (std::size_t bytes = 0; next < wanted.size(); ++next) {
      if (!more.empty() && bytes + wanted[next].bytes > run.bytes_at_once) break;
      if (returned.contains(wanted[next].info.name)) continue;
      bytes += wanted[next].bytes;
      more.push_back(wanted[next].info);
      asked.outputs.push_back({wanted[next].info.name, {}});
    }
    onnx_io::write_with_outputs(run.model, more, model.path());
    OtherOutputs made = run_model(run, model.path(), asked, inputs);
    if (made.verdict != Verdict::passed) fail_of(run, made);
    for (std::size_t i = 0; i < asked.outputs.size(); ++i)
      values.add(asked.outputs[i].name, made.values.at(i));
  } while (next < wanted.size());
  return values;
}

}  // namespace grurun::conformance
