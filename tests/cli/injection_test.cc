// No text of a model begins a line, or carries an escape, a carriage return or a direction mark, in any
// output of any command: CI systems obey lines that begin with "::" and, anywhere, what follows "##".
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tests/cli/command_line.h"

namespace grurun::cli {
namespace {

const char* const hostile_texts[] = {
    "::error::owned",           "  ::stop-commands::x",
    "a\n::add-mask::x",         "a\r::warning::x",
    "##[error]owned",           "##vso[task.setvariable variable=x]y",
    "\x1b[2J\x1b]0;owned\x07",  "a\xE2\x80\xAEz\xE2\x81\xA6z",
    "]]></system-out><script>", "\xC2\x9Bm\xE2\x80\xA8::error::x",
};

/// Puts the text into every place that a model has for one; what becomes of it is right or wrong, by
/// `broken`.
std::string model_with(const std::string& text, bool broken) {
  onnx::ModelProto model;
  model.set_ir_version(10);
  model.set_producer_name(text);
  model.set_producer_version(text);
  model.set_domain(text);
  model.set_doc_string(text);
  auto* import = model.add_opset_import();
  import->set_version(20);
  import = model.add_opset_import();
  import->set_domain(text);
  import->set_version(1);
  auto* meta = model.add_metadata_props();
  meta->set_key(text);
  meta->set_value(text);
  auto& graph = *model.mutable_graph();
  graph.set_name(text);
  graph.set_doc_string(text);
  const auto value = [&](onnx::ValueInfoProto* info, const std::string& name) {
    info->set_name(name);
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    type->mutable_shape()->add_dim()->set_dim_param(text);
  };
  value(graph.add_input(), text);
  value(graph.add_output(), text + "y");
  auto* node = graph.add_node();
  node->set_name(text);
  node->set_op_type(broken ? text : "F");
  node->set_domain(text);
  node->set_doc_string(text);
  node->add_input(text);
  node->add_output(text + "y");
  if (broken) {
    auto* attribute = node->add_attribute();
    attribute->set_name(text);
    attribute->set_type(onnx::AttributeProto::STRING);
    attribute->set_s(text);
    value(graph.add_value_info(), text + "z");
    auto* weight = graph.add_initializer();
    weight->set_name(text);
    weight->set_data_type(onnx::TensorProto::STRING);
    weight->add_dims(1);
    weight->add_string_data(text);
  }
  auto* function = model.add_functions();
  function->set_name("F");
  function->set_domain(text);
  function->add_input(text);
  function->add_output(text + "o");
  function->add_opset_import()->set_version(20);
  auto* inner = function->add_node();
  inner->set_name(text);
  inner->set_op_type("Relu");
  inner->add_input(text);
  inner->add_output(text + "o");
  return model.SerializeAsString();
}

/// What is wrong with an output; empty: nothing.
std::string fault_of(const std::string& output, bool own_commands) {
  constexpr std::pair<const char*, const char*> marks[] = {
      {"\x1b", "an escape"},        {"\r", "a carriage return"},     {"\x07", "a bell"},
      {"\xC2\x9B", "a C1 control"}, {"\xE2\x80\xAE", "U+202E"},      {"\xE2\x81\xA6", "U+2066"},
      {"\xE2\x80\xA8", "U+2028"},   {"##[", "a command of runners"}, {"##vso[", "a command of Azure"},
  };
  for (const auto& [mark, name] : marks)
    if (output.find(mark) != output.npos) return fmt::format("it holds {}", name);
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == line.npos || line.compare(first, 2, "::") != 0) continue;
    const bool own = own_commands && (line.starts_with("::error file=m.onnx,title=") ||
                                      line.starts_with("::warning file=m.onnx,title=") ||
                                      line.starts_with("::notice file=m.onnx,title="));
    if (!own) return "a line begins like a command: " + line;
  }
  return "";
}

class Injection : public testing::CommandLine {};

TEST_F(Injection, NoTextOfAModelCommandsATerminalOrACiSystem) {
  const std::vector<std::string> commands = {
      "\"$GRURUN\" m.onnx --set x=1",
      "\"$GRURUN\" m.onnx --check --json -",
      "\"$GRURUN\" m.onnx -q --expected m.onnx",
      "\"$GRURUN\" check m.onnx",
      "\"$GRURUN\" check m.onnx --output-format json",
      "\"$GRURUN\" check m.onnx --output-format github",
      "\"$GRURUN\" check m.onnx --output-format sarif",
      "\"$GRURUN\" inspect m.onnx",
      "\"$GRURUN\" inspect m.onnx --output-format json",
      "\"$GRURUN\" bench m.onnx --runs 1 --warmup 0 --min-time 0 --profile",
      "\"$GRURUN\" conformance suite",
      "\"$GRURUN\" conformance suite --output-format json",
      "\"$GRURUN\" conformance suite --output-format junit",
      "\"$GRURUN\" conformance suite --list",
  };
  for (const std::string text : hostile_texts) {
    for (const bool broken : {false, true}) {
      write("m.onnx", model_with(text, broken));
      write("suite/case/model.onnx", model_with(text, broken));
      write("suite/case/test_data_set_0/input_0.pb", "");
      for (const std::string& command : commands) {
        const testing::Outcome outcome = shell(command);
        EXPECT_NE(outcome.code, 70) << outcome.err;
        EXPECT_LT(outcome.code, 128) << command;
        const std::string fault = fault_of(outcome.out + outcome.err, command.find("github") != command.npos);
        EXPECT_EQ(fault, "") << command << (broken ? " of a broken model" : "");
      }
    }
  }
}

}  // namespace
}  // namespace grurun::cli
