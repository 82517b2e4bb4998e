// Whether a check of a model and a run of it agree: what the run refuses for reasons that the file shows, the
// check refuses, and what the check refuses, the run does.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "fuzz/node_cases.h"
#include "onnx_io/models/write_model.h"
#include "tensor/interruption.h"
#include "trial/trial.h"

namespace grurun::fuzz {

/// What became of one of the two.
struct Verdict {
  enum class Kind : std::uint8_t { passes, refuses, undecided, breaks } kind = Kind::passes;
  std::string sentence;
};

/// undecided: not done here, or more than the limits of a draw.
inline Verdict verdict_of(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::internal:
      return {Verdict::Kind::breaks, error.what()};
    case ErrorKind::unsupported:
    case ErrorKind::limit:
      return {Verdict::Kind::undecided, error.what()};
    default:
      return {Verdict::Kind::refuses, error.message()};
  }
}

/// Values into `outputs`, by graph output.
inline Verdict run_of(const onnx_io::Model& model, std::vector<Value> inputs, std::vector<Value>& outputs) {
  trial::TrialOptions options;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  options.diagnose = false;
  try {
    outputs = trial::Trial(model, std::move(options)).run({{}, std::move(inputs), {}}).outputs;
  } catch (const Error& error) {
    return verdict_of(error);
  }
  return {};
}

/// typed: outputs are declared with their types, without which ONNX's own checker (ONNX001) finds fault.
inline Verdict check_of(const onnx_io::Model& model, bool typed) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  try {
    const Interruption interruption([deadline] { require_time(deadline); });
    const opset::CheckResult result = trial::check_fully(model, trial::CheckDepth::everything);
    for (const opset::Finding& finding : result.findings)
      if (finding.severity == opset::Severity::error && (typed || finding.code != "ONNX001"))
        return {Verdict::Kind::refuses, finding.message + " [" + finding.code + "]"};
  } catch (const Error& error) {
    const Verdict verdict = verdict_of(error);
    if (verdict.kind == Verdict::Kind::undecided) return verdict;
    return {Verdict::Kind::breaks, std::string("the check throws: ") + error.what()};
  }
  return {};
}

/// Of ones, as far as the type has such in plain numbers.
inline Tensor ones(DType type, const Shape& shape) {
  Tensor tensor = Tensor::zeros(type, shape);
  const std::size_t width = dtype_size(type);
  auto* bytes = type == DType::string ? nullptr : static_cast<std::uint8_t*>(tensor.mutable_raw());
  for (std::int64_t i = 0; bytes != nullptr && i < tensor.size(); ++i, bytes += width) {
    const float one = 1;
    if (type == DType::float32) std::memcpy(bytes, &one, sizeof one);
    if (is_integer(type)) *bytes = 1;
  }
  return tensor;
}

/// Of the node's first input.
inline Shape first_shape(const DrawnNode& node) {
  const std::vector<std::string>& names = node.model.graph.nodes.front().inputs;
  const std::string name = names.empty() ? "" : names.front();
  for (const onnx_io::Initializer& each : node.model.graph.initializers)
    if (each.name == name) return each.tensor.shape();
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.model.graph.inputs[i].name == name && node.inputs[i].is_tensor())
      return node.inputs[i].tensor().shape();
  return {};
}

/// The sizes of `first`, from axis 2 on twice as long: what a list of sizes may ask for. Ones else.
inline Tensor sizes(DType type, const Shape& shape, const Shape& first) {
  Tensor tensor = ones(type, shape);
  if (type != DType::int64 || shape.rank() != 1 || shape[0] != static_cast<std::int64_t>(first.rank()))
    return tensor;
  for (std::size_t i = 0; i < first.rank(); ++i)
    tensor.mutable_data<std::int64_t>()[i] = i < 2 || first[i] > 1000 ? first[i] : 2 * first[i];
  return tensor;
}

/// The same shapes and types, different elements.
inline std::vector<Value> redrawn(const DrawnNode& node, const opset::SchemaInfo& schema, Drawn* drawn,
                                  bool as_sizes) {
  std::vector<Value> inputs;
  for (const Value& value : node.inputs) {
    const Tensor& known = value.tensor();
    if (as_sizes) {
      inputs.push_back(sizes(known.dtype(), known.shape(), first_shape(node)));
      continue;
    }
    inputs.push_back(drawn == nullptr
                         ? ones(known.dtype(), known.shape())
                         : NodeMaker(*drawn, {nullptr, &schema}).make_tensor(known.dtype(), known.shape()));
  }
  return inputs;
}

/// A refusal of whatever values are fed is one that the file shows.
inline bool is_shown_by_file(const DrawnNode& node, const onnx_io::Model& model,
                             const opset::SchemaInfo& schema, const std::string& sentence) {
  for (const Value& value : node.inputs)
    if (!value.is_tensor()) return false;
  std::uint64_t state = 1;
  constexpr int redraws = 100;  // a list of sizes is seldom right by chance
  for (int i = 0; i < redraws; ++i) {
    std::vector<std::uint8_t> bytes(4096);
    for (std::uint8_t& byte : bytes) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      byte = static_cast<std::uint8_t>(state >> 56);
    }
    Drawn drawn(bytes.data(), bytes.size());
    std::vector<Value> outputs;
    const Verdict again = run_of(model, redrawn(node, schema, i == 0 ? nullptr : &drawn, i == 1), outputs);
    if (again.kind != Verdict::Kind::refuses || again.sentence != sentence) return false;
  }
  return true;
}

struct Difference {
  std::string operator_text;  // "GRU-14"
  std::string run, check;     // their sentences
};

inline std::string operator_text(const opset::SchemaInfo& schema) {
  return onnx_io::qualified_name(schema.domain, schema.name) + "-" + std::to_string(schema.since_version);
}

inline std::string sentence_of(const Verdict& verdict) {
  return verdict.kind == Verdict::Kind::passes ? "passes" : verdict.sentence;
}

/// Of a node that is drawn from these bytes. nullopt: they agree.
inline std::optional<Difference> difference_in(Drawn& drawn, std::string* model_bytes = nullptr) {
  using Kind = Verdict::Kind;
  const Operator* const of = draw_operator(drawn);
  if (of == nullptr) return std::nullopt;
  DrawnNode node;
  try {
    node = NodeChanger(drawn, *of).draw();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::limit) throw;
    return std::nullopt;  // more elements than a draw is to have
  }
  std::vector<Value> outputs;
  const Verdict run = run_of(node.model, node.inputs, outputs);
  const bool typed = run.kind == Kind::passes;
  for (std::size_t i = 0; i < outputs.size(); ++i) node.model.graph.outputs[i].type = outputs[i].type();
  onnx_io::Model file;
  try {
    file = onnx_io::reread(node.model);
  } catch (const Error&) {  // what no file can say, as a sparse tensor without dimensions
    return std::nullopt;
  }
  const Verdict check = check_of(file, typed);
  const bool breaks = run.kind == Kind::breaks || check.kind == Kind::breaks;
  // A run does not judge a body that it never enters.
  const std::string& op_type = of->schema->name;
  const bool may_skip_body = op_type == "Loop" || op_type == "Scan" || op_type == "SequenceMap";
  const bool check_alone = check.kind == Kind::refuses && run.kind == Kind::passes && !may_skip_body;
  const bool run_alone = run.kind == Kind::refuses && check.kind == Kind::passes;
  if (!breaks && !check_alone &&
      !(run_alone && is_shown_by_file(node, node.model, *of->schema, run.sentence)))
    return std::nullopt;
  if (model_bytes != nullptr) *model_bytes = onnx_io::model_bytes(node.model);
  return Difference{operator_text(*of->schema), sentence_of(run), sentence_of(check)};
}

}  // namespace grurun::fuzz
