#include "tests/trial/judges/mutant.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx_io/models/proto_convert.h"
#include "onnx_io/values/proto_tensor.h"
#include "opset/schema/registry.h"
#include "tests/trial/judges/attribute_mutations.h"
#include "tests/trial/judges/input_mutations.h"

namespace grurun::trial::testing {

namespace {

class Draw {
 public:
  Draw(const OneNodeCase& from, std::mt19937& random)
      : draws_(random), inputs_(from.inputs), graph_(*made_.model.mutable_graph()) {
    made_.model = from.model;
    for (const auto& input : graph_.input()) names_.push_back(input.name());
  }

  Mutant draw() {
    const int count = draws_.chance(4) ? 2 : 1;
    for (int i = 0, tries = 0; i < count && tries < 20; ++tries) {
      const std::string what = one();
      if (what.empty()) continue;
      made_.what += (i++ == 0 ? "" : ", ") + what;
    }
    finish();
    return std::move(made_);
  }

 private:
  onnx::NodeProto& node() { return *graph_.mutable_node(0); }

  std::string one() {
    switch (draws_.below(12)) {
      case 0:
      case 1:
      case 2:
        return change_attribute(node(), draws_);
      case 3:
        return draws_.chance(2) ? drop_attribute(node(), draws_) : add_attribute(node(), draws_);
      case 4:
        return draws_.chance(2) ? add_attribute(node(), draws_) : retype_attribute(node(), draws_);
      case 5:
        return change_arity();
      case 6:
        return retype_input(inputs_, draws_);
      case 7:
      case 8:
        return reshape_input(inputs_, draws_);
      case 9:
      case 10:
        return change_values(inputs_, draws_);
      default:
        return change_version();
    }
  }

  std::string change_arity() {
    const int count = node().input_size();
    switch (draws_.below(5)) {
      case 0:
        if (count == 0) return "";
        node().mutable_input()->RemoveLast();
        return "without the last input";
      case 1: {
        if (count == 0) return "";
        const int at = draws_.below(count);
        node().set_input(at, "");
        return fmt::format("without input {}", at);
      }
      case 2:
        if (count == 0) return "";
        node().add_input(node().input(draws_.below(count)));
        return "with another input";
      case 3:
        node().add_output("another_output");
        return "with another output";
      default:
        if (node().output_size() < 2) return "";
        node().mutable_output()->RemoveLast();
        return "without the last output";
    }
  }

  std::string change_version() {
    for (auto& import : *made_.model.mutable_opset_import()) {
      if (onnx_io::canonical_domain(import.domain()) != onnx_io::canonical_domain(node().domain())) continue;
      const std::optional<std::int64_t> newest = opset::newest_opset(import.domain());
      if (!newest) return "";
      import.set_version(1 + draws_.below(static_cast<int>(*newest)));
      return fmt::format("opset {}", import.version());
    }
    return "";
  }

  // The graph's inputs and initializers after all changes, and outputs of any type.
  void finish() {
    made_.all_known = !draws_.chance(3);
    made_.model.set_ir_version(10);
    graph_.clear_input();
    graph_.clear_output();
    graph_.clear_value_info();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (std::ranges::find(node().input(), names_[i]) == node().input().end()) continue;
      const Value& value = inputs_[i];
      if (value.is_tensor() && (made_.all_known || draws_.chance(3))) {
        *graph_.add_initializer() = onnx_io::tensor_to_proto(value.tensor(), names_[i]);
        continue;
      }
      made_.all_known = false;
      onnx::ValueInfoProto& input = *graph_.add_input();
      input.set_name(names_[i]);
      *input.mutable_type() = onnx_io::type_to_proto(value.type());
      made_.inputs.push_back(value);
    }
    for (const std::string& name : node().output())
      if (!name.empty()) graph_.add_output()->set_name(name);
  }

  Draws draws_;
  Mutant made_;
  std::vector<std::string> names_;  // of inputs_
  std::vector<Value> inputs_;
  onnx::GraphProto& graph_;
};

}  // namespace

Mutant mutate(const OneNodeCase& from, std::mt19937& random) {
  return Draw(from, random).draw();
}

}  // namespace grurun::trial::testing
