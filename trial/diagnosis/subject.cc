#include "trial/diagnosis/subject.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "onnx_io/openvino/openvino_ir.h"
#include "opset/recurrent/recurrent_form.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "trial/diagnosis/capture.h"
#include "trial/diagnosis/element_sources.h"
#include "trial/diagnosis/graph_outputs.h"
#include "trial/diagnosis/paths_to_output.h"

namespace grurun::trial::diagnosis {
namespace {

using onnx_io::Node;

/// What turns the value around on its path, from the node on.
std::vector<GraphOutput::Turn> turns_of(const PathToOutput& path, const Values& values) {
  std::vector<GraphOutput::Turn> turns;
  for (auto node = path.between.rbegin(); node != path.between.rend(); ++node) {
    if ((*node)->op_type != "Transpose") continue;
    const Shape& before = values.at((*node)->inputs[0]).tensor().shape();
    std::vector<std::int64_t> perm;
    for (std::size_t i = before.rank(); i-- > 0;) perm.push_back(static_cast<std::int64_t>(i));
    if (const onnx_io::Attribute* given = (*node)->find_attribute("perm")) perm = given->ints;
    turns.push_back({before, perm});
  }
  return turns;
}

template <typename T>
T attribute_or(const Node& node, const char* name, T fallback, T onnx_io::Attribute::*member) {
  const onnx_io::Attribute* found = node.find_attribute(name);
  return found != nullptr ? found->*member : fallback;
}

class LayerReader {
 public:
  LayerReader(const Node& node, const Values& values, Subject& subject)
      : node_(node), values_(values), subject_(subject), layer_(subject.layer) {}

  void read() {
    check_size();
    read_attributes();
    read_sizes();
    read_weights();
    read_sequence();
  }

 private:
  /// Everything is copied as double, some of it more than once.
  void check_size() const {
    constexpr std::int64_t most_elements = std::int64_t{1} << 26;
    std::int64_t elements = 0;
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      if (const Tensor* tensor = input(i)) elements += tensor->size();
    }
    if (elements > most_elements) {
      fail(ErrorKind::limit, "{} has {} elements in its inputs; at most {} are recomputed", subject_.label,
           elements, most_elements);
    }
  }

  const Tensor* input(std::size_t index) const {
    if (index >= node_.inputs.size() || node_.inputs[index].empty()) return nullptr;
    return &values_.at(node_.inputs[index]).tensor();
  }
  Array array(std::size_t index) const {
    const Tensor* tensor = input(index);
    return tensor == nullptr ? nullptr : make_array(doubles_of(*tensor));
  }

  void read_attributes() {
    using onnx_io::Attribute;
    const std::string direction = attribute_or(node_, "direction", std::string("forward"), &Attribute::s);
    layer_.num_directions = direction == "bidirectional" ? 2 : 1;
    layer_.reversed = {direction == "reverse", true};
    subject_.layout = static_cast<int>(attribute_or(node_, "layout", std::int64_t{0}, &Attribute::i));
    layer_.linear_before_reset =
        attribute_or(node_, "linear_before_reset", std::int64_t{0}, &Attribute::i) != 0;
    layer_.input_forget = attribute_or(node_, "input_forget", std::int64_t{0}, &Attribute::i) != 0;
    if (const Attribute* clip = node_.find_attribute("clip")) layer_.clip = clip->f;
    layer_.clip_cell_state = node_.domain != onnx_io::openvino_domain && !subject_.from_openvino_ir;
    subject_.activations = attribute_or(node_, "activations", {}, &Attribute::strings);
    subject_.alpha = attribute_or(node_, "activation_alpha", {}, &Attribute::floats);
    subject_.beta = attribute_or(node_, "activation_beta", {}, &Attribute::floats);
    std::vector<std::string> names = subject_.activations;
    const std::size_t wanted = layer_.functions_each() * static_cast<std::size_t>(layer_.num_directions);
    if (names.empty()) {
      const std::vector<std::string> one = form_of(layer_.op).default_functions();
      while (names.size() < wanted) names.insert(names.end(), one.begin(), one.end());
    }
    names.resize(wanted);  // RNN with one direction may list two
    layer_.functions = engine::rnn::parse_activations(names, subject_.alpha, subject_.beta);
  }

  void read_sizes() {
    const Shape& X = input(opset::input_X)->shape();
    const bool batch_first = subject_.layout == 1;
    layer_.seq_length = X[batch_first ? 1 : 0];
    layer_.batch_size = X[batch_first ? 0 : 1];
    layer_.input_size = X[2];
    layer_.hidden_size = input(opset::input_R)->dim(2);
    subject_.dtype = input(opset::input_X)->dtype();
  }

  void read_weights() {
    layer_.W = array(opset::input_W);
    layer_.R = array(opset::input_R);
    if (const Tensor* B = input(opset::input_B)) {
      const std::vector<double> both = doubles_of(*B);
      std::vector<double> Wb, Rb;
      for (std::int64_t d = 0; d < layer_.num_directions; ++d) {
        const auto begin = both.begin() + d * 2 * layer_.rows();
        Wb.insert(Wb.end(), begin, begin + layer_.rows());
        Rb.insert(Rb.end(), begin + layer_.rows(), begin + 2 * layer_.rows());
      }
      layer_.Wb = make_array(std::move(Wb));
      layer_.Rb = make_array(std::move(Rb));
    }
    if (layer_.op == Op::lstm) layer_.P = array(opset::input_P);
  }

  void read_sequence() {
    layer_.X = array(opset::input_X);
    layer_.initial_h = array(opset::input_initial_h);
    if (layer_.op == Op::lstm) layer_.initial_c = array(opset::input_initial_c);
    if (subject_.layout == 1) {
      const auto [T, N, D] = std::tuple(layer_.seq_length, layer_.batch_size, layer_.num_directions);
      layer_.X = swap_leading(layer_.X, N, T);
      layer_.initial_h = swap_leading(layer_.initial_h, N, D);
      layer_.initial_c = swap_leading(layer_.initial_c, N, D);
    }
    layer_.lengths.assign(static_cast<std::size_t>(layer_.batch_size), layer_.seq_length);
    if (const Tensor* lengths = input(opset::input_sequence_lens)) {
      subject_.has_sequence_lens = true;
      std::ranges::copy(lengths->span<std::int32_t>(), layer_.lengths.begin());
    }
  }

  const Node& node_;
  const Values& values_;
  Subject& subject_;
  Layer& layer_;
};

}  // namespace

namespace {

/// Real models stack fewer; each further one is computed once more for every mistake that is tried.
constexpr int most_below = 16;

int layers_below(const Subject& subject) {
  int count = 0;
  for (const Below* below = subject.below.get(); below != nullptr; below = below->subject.below.get())
    ++count;
  return count;
}

}  // namespace

void read_layer(const Node& node, const Values& values, Subject& subject) {
  LayerReader(node, values, subject).read();
}

std::vector<Subject> find_subjects(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                   const Rerun& rerun) {
  const onnx_io::Graph& graph = model.graph;
  std::vector<std::string> names;
  std::unordered_set<std::string> wanted;
  const auto want = [&](const std::string& name) {
    if (!name.empty() && wanted.insert(name).second) names.push_back(name);
  };
  for (const Node& node : graph.nodes) {
    if (op_of(node)) std::ranges::for_each(node.inputs, want);
  }
  const onnx_io::Producers producers(graph.nodes);
  const NodeByValue sources = recurrent_sources(graph);
  const auto path_to = [&](const std::string& value) {
    const std::optional<PathToOutput> path = find_path_to_output(producers, value);
    for (const Node* node : path ? path->between : std::vector<const Node*>()) {
      if (node->op_type == "Transpose") want(node->inputs[0]);
    }
    return path;
  };
  std::vector<std::optional<PathToOutput>> paths;
  std::vector<std::optional<ElementSource>> sources_of_elements;
  for (const onnx_io::ValueInfo& output : graph.outputs) {
    paths.push_back(path_to(output.name));
    sources_of_elements.push_back(paths.back() ? std::nullopt
                                               : find_element_source(graph, producers, output.name));
    if (sources_of_elements.back()) std::ranges::for_each(sources_of_elements.back()->needed, want);
  }
  std::unordered_map<const Node*, PathToOutput> paths_below;
  for (const Node& node : graph.nodes) {
    if (!op_of(node) || node.inputs.empty()) continue;
    const std::optional<PathToOutput> path = path_to(node.inputs[0]);
    if (path && path->output == 0) paths_below.emplace(&node, *path);
  }
  const Values values = capture(model, names, inputs, rerun);

  std::vector<Subject> subjects, subjects_alone;
  std::unordered_map<const Node*, std::size_t> by_node;
  for (const Node& node : graph.nodes) {
    const std::optional<Op> op = op_of(node);
    if (!op) continue;
    Subject& subject = subjects.emplace_back();
    subject.node = &node;
    subject.layer.op = *op;
    subject.from_openvino_ir = model.from_openvino_ir;
    subject.label = label_of(model.opset_imports, node);
    const auto named =
        std::ranges::find_if(node.outputs, [](const std::string& name) { return !name.empty(); });
    subject.name = !node.name.empty() || named == node.outputs.end() ? node.name : *named;
    LayerReader(node, values, subject).read();
    if (const auto path = paths_below.find(&node); path != paths_below.end()) {
      const Subject& next = subjects[by_node.at(path->second.from)];
      if (layers_below(next) < most_below)
        subject.below = std::make_shared<const Below>(Below{next, turns_of(path->second, values)});
    }
    if (const auto before = sources.find(node.inputs[0]); before != sources.end())
      subject.fed_by = subjects[by_node.at(before->second)].label;
    by_node.emplace(&node, subjects.size() - 1);
    std::vector<SourceElements> elements_of_outputs;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (paths[i] && paths[i]->from == &node && !subject.graph_outputs[paths[i]->output]) {
        subject.graph_outputs[paths[i]->output] =
            GraphOutput{i, turns_of(*paths[i], values), paths[i]->between.empty()};
      }
      if (!sources_of_elements[i] || sources_of_elements[i]->from != &node) continue;
      const ElementSource& source = *sources_of_elements[i];
      const auto elements = source_elements(model, source, graph.outputs[i].name, values, rerun);
      if (!elements || elements->empty()) continue;
      elements_of_outputs.push_back(
          {i, source.output, values.at(source.needed.back()).tensor().shape(), *elements});
      add_source_elements(subject, elements_of_outputs.back());
    }
    for (std::optional<Subject>& alone : seen_alone(subject, elements_of_outputs)) {
      if (alone) subjects_alone.push_back(*std::move(alone));
    }
  }
  subjects.insert(subjects.end(), subjects_alone.begin(), subjects_alone.end());
  return subjects;
}

Tensor rounded(const std::vector<double>& values, const Shape& shape, DType dtype) {
  Tensor out(dtype, shape);
  dispatch(Floats{}, dtype, [&]<typename T>() {
    T* to = out.mutable_data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
  });
  return out;
}

}  // namespace grurun::trial::diagnosis
