#include "conformance/reduce/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "onnx_io/models/write_model.h"
#include "onnx_io/remove_folder.h"
#include "trial/write_data_set.h"

namespace grurun::conformance {

namespace {

namespace fs = std::filesystem;

/// An output that has a declared type, at least.
Value stand_in(const ValueType& type) {
  if (type.kind != ValueType::Kind::tensor || type.elem == DType::undefined) return Tensor::scalar(0.0f);
  Shape shape;
  for (const Dim& dim : type.shape.value_or(SymbolicShape{})) shape.push_back(dim.value.value_or(1));
  return Tensor::zeros(type.elem, shape);
}

bool is_part_of_number(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == 'x';
}

/// The end of what begins at a quote or a bracket; npos: it has none.
std::size_t end_of_quoted(const std::string& text, std::size_t at) {
  const char begin = text[at];
  if (begin == '\'') return text.find('\'', at + 1);
  return begin == '[' ? text.find(']', at + 1) : text.npos;
}

}  // namespace

std::string kind_of_message(const std::string& whole) {
  // A node in a body or function is named behind those around it, which a smaller model may lack.
  const std::string_view mark = ": node ";
  const std::size_t first = whole.starts_with(mark.substr(2)) ? 0 : std::min(whole.find(mark), whole.size());
  const std::size_t last = whole.rfind(mark);
  const std::string message = last == whole.npos || last <= first
                                  ? whole
                                  : whole.substr(0, first) + whole.substr(first == 0 ? last + 2 : last);
  std::string out;
  for (std::size_t i = 0; i < message.size();) {
    const char c = message[i];
    if (const std::size_t end = end_of_quoted(message, i); end != message.npos) {
      out += c == '[' ? "[]" : "''";
      i = end + 1;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (i < message.size() && is_part_of_number(message[i])) ++i;
      out += '#';
    } else if (c == '/') {
      while (i < message.size() && message[i] != ' ' && message[i] != ':') ++i;
      while (!out.empty() && out.back() != ' ') out.pop_back();
      out += "path";
    } else {
      out += c;
      ++i;
    }
  }
  return out;
}

std::optional<Failure> failure_of(const CaseResult& result) {
  if (is_good(result.verdict)) return std::nullopt;
  Failure failure{result.verdict, result.message, ""};
  if (result.verdict == Verdict::differs) {
    const auto differs = [](const OutputResult& output) { return !output.comparison.ok; };
    const auto first = std::ranges::find_if(result.outputs, differs);
    const bool is_structure = first != result.outputs.end() && !first->comparison.structure.empty();
    failure.kind = is_structure ? "structure" : "elements";
  } else if (result.verdict != Verdict::timed_out) {
    failure.kind = kind_of_message(result.message);
  }
  return failure;
}

void write_case(const std::string& folder, const trial::Submodel& part) {
  fs::create_directories(folder);
  onnx_io::write_model(folder + "/model.onnx", part.model);
  const onnx_io::Graph& graph = part.model.graph;
  std::vector<Value> expected = part.expected;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected[i].empty()) expected[i] = stand_in(graph.outputs[i].type);
  trial::write_data_set(folder + "/test_data_set_0", graph, {"", part.inputs, std::move(expected)});
}

std::optional<Failure> Judge::operator()(const trial::Submodel& part) {
  const std::string folder = fmt::format("{}/{}", scratch_, runs_++);
  write_case(folder, part);
  Case test;
  test.name = "case";
  test.kind = "reduce";
  test.path = folder;
  test.model = folder + "/model.onnx";
  test.data_sets = {folder + "/test_data_set_0"};
  CaseOptions options = each_;
  options.random = true;  // what draws is no failure
  options.scratch = scratch_ + "/command";
  const CaseResult result = run_case(test, options);
  onnx_io::remove_folder(folder);
  return failure_of(result);
}

}  // namespace grurun::conformance
