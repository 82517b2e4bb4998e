#include "trial/diagnosis/replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "onnx_io/models/walk.h"
#include "opset/recurrent/recurrent_form.h"
#include "trial/diagnosis/hypotheses.h"

namespace grurun::trial::diagnosis {
namespace {

using onnx_io::Attribute;
using onnx_io::AttributeType;
using onnx_io::Graph;
using onnx_io::Node;

void set(Node& node, Attribute attribute) {
  std::erase_if(node.attributes, [&](const Attribute& old) { return old.name == attribute.name; });
  node.attributes.push_back(std::move(attribute));
}

Attribute named(const char* name, AttributeType type) {
  Attribute out;
  out.name = name;
  out.type = type;
  return out;
}

void set_flag(Node& node, const char* name, bool before, bool value) {
  if (before == value) return;
  Attribute flag = named(name, AttributeType::int_);
  flag.i = value ? 1 : 0;
  set(node, flag);
}

bool same(const std::vector<Activation>& a, const std::vector<Activation>& b) {
  return std::ranges::equal(a, b, [](const Activation& x, const Activation& y) {
    return x.kind == y.kind && x.alpha == y.alpha && x.beta == y.beta;
  });
}

void set_functions(Node& node, const std::vector<Activation>& functions) {
  Attribute names = named("activations", AttributeType::strings);
  Attribute alpha = named("activation_alpha", AttributeType::floats);
  Attribute beta = named("activation_beta", AttributeType::floats);
  for (const Activation& f : functions) {
    const std::string text = function_text(f);
    names.strings.push_back(text.substr(0, text.find('(')));
    if (takes_alpha(f.kind)) alpha.floats.push_back(static_cast<float>(f.alpha));
    if (takes_beta(f.kind)) beta.floats.push_back(static_cast<float>(f.beta));
  }
  set(node, names);
  set(node, alpha);
  set(node, beta);
}

/// False where the directions are none that a node can have.
bool set_direction(Node& node, const Layer& before, const Layer& after) {
  if (before.reversed == after.reversed) return true;
  if (after.num_directions != 1) return false;
  Attribute direction = named("direction", AttributeType::string);
  direction.s = after.reversed[0] ? "reverse" : "forward";
  set(node, direction);
  return true;
}

/// [Wb, Rb] of each direction; a half that is left out is zeros.
std::vector<double> joined(const Layer& layer) {
  std::vector<double> out;
  for (std::int64_t d = 0; d < layer.num_directions; ++d) {
    for (const Array& half : {layer.Wb, layer.Rb}) {
      if (half)
        out.insert(out.end(), half->begin() + d * layer.rows(), half->begin() + (d + 1) * layer.rows());
      else
        out.resize(out.size() + static_cast<std::size_t>(layer.rows()), 0.0);
    }
  }
  return out;
}

class Writer {
 public:
  Writer(const BodyLayer& layer, const Candidate& candidate)
      : before_(layer.subject.layer),
        after_(candidate.layer),
        dtype_(layer.subject.dtype),
        out_{layer.node, *layer.node, {}} {}

  std::optional<Replacement> write() {
    Node& node = out_.node;
    if (!set_direction(node, before_, after_)) return std::nullopt;
    const std::int64_t D = after_.num_directions, H = after_.hidden_size;
    if (after_.W != before_.W) put(opset::input_W, *after_.W, {D, after_.rows(), after_.input_size});
    if (after_.R != before_.R) put(opset::input_R, *after_.R, {D, after_.rows(), H});
    if (after_.Wb != before_.Wb || after_.Rb != before_.Rb)
      put(opset::input_B, joined(after_), {D, 2 * after_.rows()});
    if (after_.P != before_.P) put_or_leave_out(opset::input_P, after_.P, {D, 3 * H});
    set_flag(node, "linear_before_reset", before_.linear_before_reset, after_.linear_before_reset);
    set_flag(node, "input_forget", before_.input_forget, after_.input_forget);
    if (after_.clip != before_.clip) {
      if (after_.clip) return std::nullopt;
      std::erase_if(node.attributes, [](const Attribute& a) { return a.name == "clip"; });
    }
    if (!same(before_.functions, after_.functions)) set_functions(node, after_.functions);
    if (!put_state(opset::input_initial_h, after_.initial_h) ||
        !put_state(opset::input_initial_c, after_.initial_c))
      return std::nullopt;
    return std::move(out_);
  }

 private:
  std::string& input(std::size_t i) {
    if (out_.node.inputs.size() <= i) out_.node.inputs.resize(i + 1);
    return out_.node.inputs[i];
  }

  void put(std::size_t i, const std::vector<double>& values, const Shape& shape) {
    const std::string name =
        fmt::format("input {} of {} in a variant", i, static_cast<const void*>(out_.before));
    input(i) = name;
    out_.initializers.push_back({name, rounded(values, shape, dtype_)});
  }

  void put_or_leave_out(std::size_t i, const Array& values, const Shape& shape) {
    if (values)
      put(i, *values, shape);
    else
      input(i).clear();
  }

  /// States are not known: they may change places, or be left out.
  bool put_state(std::size_t i, const Array& state) {
    const Array& was = i == opset::input_initial_h ? before_.initial_h : before_.initial_c;
    if (state == was) return true;
    if (state == nullptr) return input(i).clear(), true;
    const std::size_t other = i == opset::input_initial_h ? opset::input_initial_c : opset::input_initial_h;
    if (state != (i == opset::input_initial_h ? before_.initial_c : before_.initial_h)) return false;
    input(i) = out_.before->inputs.at(other);
    return true;
  }

  const Layer &before_, &after_;
  const DType dtype_;
  Replacement out_;
};

bool holds(const Node& node, const std::vector<Replacement>& replacements) {
  return onnx_io::find_node(node, [&](const Node& inner) {
           return std::ranges::find(replacements, &inner, &Replacement::before) != replacements.end();
         }) != nullptr;
}

Graph replaced(const Graph& graph, const std::vector<Replacement>& replacements) {
  Graph out = graph;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const auto found = std::ranges::find(replacements, &node, &Replacement::before);
    if (found != replacements.end()) {
      out.nodes[i] = found->node;
      continue;
    }
    if (!holds(node, replacements)) continue;
    onnx_io::rewrite_bodies(out.nodes[i], [&](const Graph& body) { return replaced(body, replacements); });
  }
  return out;
}

}  // namespace

std::optional<Replacement> replacement(const BodyLayer& layer, const Candidate& candidate) {
  const Layer &before = layer.subject.layer, &after = candidate.layer;
  const bool same_sequence = candidate.reading == as_stated(layer.subject).reading && after.X == before.X &&
                             after.lengths == before.lengths &&
                             after.num_directions == before.num_directions &&
                             after.clip_cell_state == before.clip_cell_state;
  return same_sequence ? Writer(layer, candidate).write() : std::nullopt;
}

onnx_io::Model with_replacements(const onnx_io::Model& model, const std::vector<Replacement>& replacements) {
  onnx_io::Model out = model;
  out.graph = replaced(model.graph, replacements);
  for (const Replacement& each : replacements)
    out.graph.initializers.insert(out.graph.initializers.end(), each.initializers.begin(),
                                  each.initializers.end());
  return out;
}

}  // namespace grurun::trial::diagnosis
