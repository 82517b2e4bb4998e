#include "conformance/reduce/smaller.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "onnx_io/models/walk.h"
#include "tensor/dispatch.h"
#include "trial/precise.h"
#include "trial/random_tensor.h"

namespace grurun::conformance {

namespace {

using onnx_io::Attribute;
using onnx_io::Graph;
using onnx_io::Node;

/// Lists of so many integers are shapes, axes and the like, not data.
constexpr std::int64_t most_of_shape = 16;

std::int64_t new_size(std::int64_t size, const Resize& resize) {
  if (size == resize.from) return resize.to;
  const bool is_multiple = resize.multiples && size > resize.from && size % resize.from == 0;
  return is_multiple ? size / resize.from * resize.to : size;
}

Shape new_shape(const Shape& shape, const Resize& resize) {
  Shape out;
  for (std::size_t i = 0; i < shape.rank(); ++i) out.push_back(new_size(shape[i], resize));
  return out;
}

Tensor resized_tensor(const Tensor& tensor, const Resize& resize) {
  Tensor out = leading_part(tensor, new_shape(tensor.shape(), resize));
  if (!resize.numbers || out.dtype() != DType::int64 || out.size() > most_of_shape) return out;
  std::int64_t* const numbers = out.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < out.size(); ++i) numbers[i] = new_size(numbers[i], resize);
  return out;
}

/// What is declared of values that get other sizes.
void forget_shapes(std::vector<onnx_io::ValueInfo>& infos) {
  for (onnx_io::ValueInfo& info : infos) info.type.shape.reset();
}

void resize_nodes(std::vector<Node>& nodes, const Resize& resize) {
  for (Node& node : nodes) {
    onnx_io::rewrite_bodies(node, [&](Graph body) {
      forget_shapes(body.inputs);
      forget_shapes(body.outputs);
      body.value_info.clear();
      for (onnx_io::Initializer& each : body.initializers) each.tensor = resized_tensor(each.tensor, resize);
      resize_nodes(body.nodes, resize);
      return body;
    });
    for (Attribute& attribute : node.attributes) {
      for (Tensor& tensor : attribute.tensors) tensor = resized_tensor(tensor, resize);
      if (!resize.numbers) continue;
      if (attribute.type == onnx_io::AttributeType::int_) attribute.i = new_size(attribute.i, resize);
      for (std::int64_t& number : attribute.ints) number = new_size(number, resize);
    }
  }
}

void resize_model(onnx_io::Model& model, const Resize& resize) {
  for (onnx_io::Initializer& initializer : model.graph.initializers)
    initializer.tensor = resized_tensor(initializer.tensor, resize);
  resize_nodes(model.graph.nodes, resize);
}

Value resized_value(const Value& value, const Resize& resize) {
  return value.is_tensor() ? Value(resized_tensor(value.tensor(), resize)) : value;
}

using NameMap = std::map<std::string, std::string>;

class Renaming {
 public:
  std::string operator()(const std::string& name, const char* kind) {
    if (name.empty()) return name;
    const auto [found, added] = names_.emplace(name, "");
    if (added) found->second = fmt::format("{}{}", kind, names_.size());
    return found->second;
  }

  void rename(Graph& graph) {
    graph.name = "graph";
    for (onnx_io::ValueInfo& input : graph.inputs) input = renamed_info(input, "x");
    for (onnx_io::Initializer& initializer : graph.initializers)
      initializer.name = (*this)(initializer.name, "w");
    rename(graph.nodes);
    for (onnx_io::ValueInfo& output : graph.outputs) output = renamed_info(output, "v");
    graph.value_info.clear();
  }

  void rename(onnx_io::Model& model) {
    model.producer_name.clear();
    model.producer_version.clear();
    rename(model.graph);
    for (onnx_io::Function& function : model.functions) {
      for (std::string& name : function.inputs) name = (*this)(name, "x");
      for (std::string& name : function.outputs) name = (*this)(name, "v");
      rename(function.nodes);
    }
  }

 private:
  onnx_io::ValueInfo renamed_info(onnx_io::ValueInfo info, const char* kind) {
    info.name = (*this)(info.name, kind);
    SymbolicShape shape = info.type.shape.value_or(SymbolicShape{});
    for (Dim& dim : shape) dim.name = dim.name.empty() ? "" : (*this)(dim.name, "n");
    if (info.type.shape) info.type.shape = shape;
    return info;
  }

  void rename(std::vector<Node>& nodes) {
    for (Node& node : nodes) {
      node.name.clear();
      for (std::string& name : node.inputs) name = (*this)(name, "v");
      for (std::string& name : node.outputs) name = (*this)(name, "v");
      onnx_io::rewrite_bodies(node, [&](Graph body) {
        rename(body);
        return body;
      });
    }
  }

  NameMap names_;
};

/// Numbers between the least and the greatest of those that are there; others than floats stay.
Tensor random_like(const Tensor& tensor, std::uint64_t seed) {
  if (!Floats::set.contains(tensor.dtype()) || tensor.size() == 0) return tensor;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double number : trial::doubles_of(tensor)) {
    if (!(number >= std::numeric_limits<double>::lowest() && number <= std::numeric_limits<double>::max()))
      return tensor;
    low = std::min(low, number);
    high = std::max(high, number);
  }
  trial::RandomBits bits(seed);
  const auto made = trial::random_tensor(tensor.dtype(), tensor.shape(), {low, high}, bits);
  return made ? *made : tensor;
}

void randomize(onnx_io::Model& model, const std::string& name, std::uint64_t seed) {
  for (onnx_io::Initializer& initializer : model.graph.initializers)
    if (initializer.name == name) initializer.tensor = random_like(initializer.tensor, seed);
}

/// How often a loop goes round at most, where a constant says so.
void add_steps(const Graph& graph, const Node& loop, std::set<std::int64_t, std::greater<>>& sizes) {
  const auto found = std::ranges::find_if(graph.initializers, [&](const onnx_io::Initializer& each) {
    return !loop.inputs.empty() && each.name == loop.inputs[0];
  });
  if (found == graph.initializers.end() || found->tensor.dtype() != DType::int64 || found->tensor.size() != 1)
    return;
  constexpr std::int64_t most = 1'000'000;  // more is another way to say that there is no end
  const std::int64_t steps = *found->tensor.data<std::int64_t>();
  if (steps > 1 && steps < most) sizes.insert(steps);
}

}  // namespace

Tensor leading_part(const Tensor& tensor, const Shape& shape) {
  if (shape == tensor.shape()) return tensor;
  Tensor out(tensor.dtype(), shape);
  dispatch_width(tensor.dtype(), [&]<typename T>() {
    const T* const from = static_cast<const T*>(tensor.raw());
    T* const to = static_cast<T*>(out.mutable_raw());
    std::vector<std::int64_t> index(shape.rank());
    for (std::int64_t i = 0; i < out.size(); ++i) {
      std::int64_t place = 0;
      for (std::size_t axis = 0; axis < shape.rank(); ++axis) place = place * tensor.dim(axis) + index[axis];
      to[i] = from[place];
      for (std::size_t axis = shape.rank(); axis-- > 0 && ++index[axis] == shape[axis];) index[axis] = 0;
    }
  });
  return out;
}

std::vector<std::int64_t> sizes_of(const Candidate& candidate) {
  std::set<std::int64_t, std::greater<>> sizes;
  const auto add = [&](const Tensor& tensor) {
    for (std::size_t axis = 0; axis < tensor.rank(); ++axis)
      if (tensor.dim(axis) > 1) sizes.insert(tensor.dim(axis));
  };
  for (const Value& value : candidate.part.inputs)
    if (value.is_tensor()) add(value.tensor());
  for (const onnx_io::Initializer& initializer : candidate.part.model.graph.initializers)
    add(initializer.tensor);
  const auto add_body = [&](const Graph& body, const Attribute&) {
    for (const onnx_io::Initializer& initializer : body.initializers) add(initializer.tensor);
  };
  onnx_io::for_each_node(candidate.part.model.graph.nodes, [&](const Node& node) {
    for (const Attribute& attribute : node.attributes)
      for (const Tensor& tensor : attribute.tensors) add(tensor);
    onnx_io::for_each_body(node, add_body);
    if (node.op_type == "Loop") add_steps(candidate.part.model.graph, node, sizes);
  });
  return {sizes.begin(), sizes.end()};
}

Candidate resized(const Candidate& candidate, const Resize& resize) {
  Candidate out = candidate;
  Resize of_inputs = resize;
  of_inputs.numbers = resize.numbers && !resize.inputs_only;
  for (std::size_t i = 0; i < out.part.inputs.size(); ++i) {
    Value& value = out.part.inputs[i];
    if (value.empty()) continue;  // an initializer gives it
    value = resized_value(value, of_inputs);
    out.part.model.graph.inputs[i].type = value.type();
  }
  out.part.model.graph.value_info.clear();
  forget_shapes(out.part.model.graph.outputs);
  if (out.other) {
    forget_shapes(out.other->graph.inputs);
    forget_shapes(out.other->graph.outputs);
  }
  if (resize.inputs_only) return out;
  resize_model(out.part.model, resize);
  if (out.other) resize_model(*out.other, resize);
  return out;
}

Candidate renamed(const Candidate& candidate) {
  Candidate out = candidate;
  Renaming rename;
  rename.rename(out.part.model);
  if (out.other) rename.rename(*out.other);
  return out;
}

Candidate with_random_numbers(const Candidate& candidate, const std::string& name, std::uint64_t seed) {
  Candidate out = candidate;
  randomize(out.part.model, name, seed);
  if (out.other) randomize(*out.other, name, seed);
  for (std::size_t i = 0; i < out.part.inputs.size(); ++i) {
    const bool is_named = out.part.model.graph.inputs[i].name == name;
    if (is_named && out.part.inputs[i].is_tensor())
      out.part.inputs[i] = random_like(out.part.inputs[i].tensor(), seed);
  }
  return out;
}

}  // namespace grurun::conformance
