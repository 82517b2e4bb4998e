#include "trial/bisecting/oddities.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "onnx_io/models/walk.h"
#include "tensor/dispatch.h"
#include "trial/intermediates.h"
#include "trial/precise.h"

namespace grurun::trial {
namespace {

bool is_float_tensor(const Value& value) {
  return value.is_tensor() && Floats::set.contains(value.tensor().dtype());
}

/// The largest finite number of float16.
constexpr double largest_float16 = 65504;

bool is_odd(Oddity oddity, double element, double smallest_normal) {
  switch (oddity) {
    case Oddity::nan:
      return std::isnan(element);
    case Oddity::inf:
      return std::isinf(element);
    case Oddity::overflow_float16:
      return std::isfinite(element) && std::fabs(element) > largest_float16;
    case Oddity::denormal:
      return element != 0 && std::fabs(element) < smallest_normal;
  }
  return false;
}

double smallest_normal_of(DType dtype) {
  if (dtype == DType::float16) return 0x1p-14;
  return dtype == DType::float64 ? std::numeric_limits<double>::min()
                                 : static_cast<double>(std::numeric_limits<float>::min());
}

/// Places of the odd elements: how many, and the first.
struct Places {
  std::int64_t count = 0, first = -1;
};

Places odd_places(Oddity oddity, const Value& value) {
  Places places;
  if (!is_float_tensor(value)) return places;
  const double smallest = smallest_normal_of(value.tensor().dtype());
  const std::vector<double> elements = doubles_of(value.tensor());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!is_odd(oddity, elements[i], smallest)) continue;
    if (places.count++ == 0) places.first = static_cast<std::int64_t>(i);
  }
  return places;
}

std::vector<std::int64_t> index_of(std::int64_t place, const Shape& shape) {
  std::vector<std::int64_t> index(shape.rank());
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    index[axis] = place % shape[axis];
    place /= shape[axis];
  }
  return index;
}

/// Whatever the sign of a NaN.
std::string element_text(double element) {
  return std::isnan(element) ? "nan" : fmt::format("{:g}", element);
}

OddityInput describe_input(const std::string& name, const Value& value, const Value& odd,
                           std::int64_t place) {
  OddityInput out{name, value.describe(), "", ""};
  if (!is_float_tensor(value)) return out;
  const std::vector<double> elements = doubles_of(value.tensor());
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double each : elements) {
    if (!std::isfinite(each)) continue;
    low = std::min(low, each);
    high = std::max(high, each);
  }
  if (low <= high) out.range = fmt::format("from {:g} to {:g}", low, high);
  if (value.tensor().shape() == odd.tensor().shape())
    out.at_place = element_text(elements[static_cast<std::size_t>(place)]);
  return out;
}

FoundOddity found_in(Oddity oddity, std::string label, const std::string& name, const Value& value) {
  const Places places = odd_places(oddity, value);
  FoundOddity found{std::move(label), name, value.describe(), places.count, {}, "", {}, true, {}};
  if (places.count == 0) return found;
  found.index = index_of(places.first, value.tensor().shape());
  found.element = element_text(doubles_of(value.tensor())[static_cast<std::size_t>(places.first)]);
  return found;
}

/// What a Constant holds.
Value value_of_constant(const onnx_io::Node& node) {
  for (const onnx_io::Attribute& attribute : node.attributes) {
    if (!attribute.tensors.empty()) return attribute.tensors[0];
    if (attribute.name == "value_float") return Tensor::scalar(attribute.f);
    if (attribute.name == "value_floats")
      return Tensor::from(Shape{std::ssize(attribute.floats)}, attribute.floats);
  }
  return {};
}

/// What nodes of a model are given, that no node makes.
class Given {
 public:
  Given(Oddity oddity, const onnx_io::Model& model, const std::vector<Value>& inputs) : oddity_(oddity) {
    std::set<std::string> fed;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string& name = model.graph.inputs[i].name;
      if (inputs[i].empty()) continue;
      fed.insert(name);
      add("input", name, inputs[i]);
    }
    walk(model.graph, fed);
    in_main_graph_ = false;
    for (const onnx_io::Function& function : model.functions) walk(function.nodes);
  }

  std::vector<FoundOddity> found;
  std::unordered_set<std::string> names;  // of those in the main graph

 private:
  void add(const char* kind, const std::string& name, const Value& value) {
    if (odd_places(oddity_, value).count == 0) return;
    found.push_back(found_in(oddity_, fmt::format("{} '{}'", kind, name), name, value));
    found.back().is_made = false;
    if (in_main_graph_) names.insert(name);
  }

  void walk(const onnx_io::Graph& graph, const std::set<std::string>& fed) {
    std::set<std::string> read;
    for (const onnx_io::Node& node : graph.nodes)
      for (const onnx_io::Read& each : onnx_io::reads_of(node)) read.emplace(each.name);
    for (const onnx_io::ValueInfo& output : graph.outputs) read.insert(output.name);
    for (const onnx_io::Initializer& initializer : graph.initializers) {
      if (!fed.contains(initializer.name) && read.contains(initializer.name))
        add("weight", initializer.name, initializer.tensor);
    }
    walk(graph.nodes);
  }

  void walk(const std::vector<onnx_io::Node>& nodes) {
    for (const onnx_io::Node& node : nodes) {
      if (is_constant(node) && !node.outputs.empty())
        add("constant", node.outputs[0], value_of_constant(node));
      const bool was_main = std::exchange(in_main_graph_, false);
      onnx_io::for_each_body(node,
                             [&](const onnx_io::Graph& body, const onnx_io::Attribute&) { walk(body, {}); });
      in_main_graph_ = was_main;
    }
  }

  Oddity oddity_;
  bool in_main_graph_ = true;
};

struct OddValue {
  std::size_t node;  // as MadeValue::node
  std::string path;  // of its scope
  std::string name;
  const onnx_io::Node* maker;
};

/// What a node reads, by names with the paths of the scopes that define them.
std::set<std::string> full_names(const Scope& reader, const onnx_io::Node& node) {
  std::set<std::string> names;
  for (const onnx_io::Read& read : onnx_io::reads_of(node)) {
    const std::string name(read.name);
    const Scope* scope = &reader;
    while (scope->outer != nullptr && !defines(*scope->graph, name)) scope = scope->outer;
    names.insert(scope->path + name);
  }
  return names;
}

/// Whether the node reads a constant of a body that holds such a number.
bool reads_odd_constant(Oddity oddity, const Scope& reader, const onnx_io::Node& node) {
  const auto is_odd_constant = [&](const std::string& name) {
    const Scope* scope = &reader;
    while (scope->outer != nullptr && !defines(*scope->graph, name)) scope = scope->outer;
    const onnx_io::Node* maker = maker_of(*scope->graph, name);
    if (maker != nullptr) {
      const onnx_io::Attribute* value = is_constant(*maker) ? maker->find_attribute("value") : nullptr;
      return value != nullptr && !value->tensors.empty() && odd_places(oddity, value->tensors[0]).count > 0;
    }
    const auto found = std::ranges::find(scope->graph->initializers, name, &onnx_io::Initializer::name);
    return found != scope->graph->initializers.end() && odd_places(oddity, found->tensor).count > 0;
  };
  return std::ranges::any_of(onnx_io::reads_of(node), [&](const onnx_io::Read& read) {
    return is_odd_constant(std::string(read.name));
  });
}

/// Values that some nodes read: of the run, those that are fed, and initializers.
std::map<std::string, Value> values_read(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                         const std::set<std::string>& wanted, const Rerun& rerun) {
  std::map<std::string, Value> values;
  for (const onnx_io::Initializer& initializer : model.graph.initializers) {
    if (wanted.contains(initializer.name)) values[initializer.name] = initializer.tensor;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = model.graph.inputs[i].name;
    if (wanted.contains(name) && !inputs[i].empty()) values[name] = inputs[i];
  }
  run_seeing_values(model, inputs, rerun, [&](const MadeValue& made) {
    if (wanted.contains(made.name)) values[made.name] = made.value;
  });
  return values;
}

}  // namespace

std::optional<FoundOddity> find_oddity(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                       Oddity oddity, const Rerun& rerun) {
  Given all(oddity, model, inputs);
  std::unordered_set<std::string>& odd = all.names;
  std::vector<FoundOddity>& given = all.found;
  std::vector<OddValue> made_odd;
  run_seeing_values(model, inputs, rerun, [&](const MadeValue& made) {
    if (odd_places(oddity, made.value).count == 0) return;
    odd.insert(made.name);
    if (made.maker != nullptr) made_odd.push_back({made.node, made.scope.path, made.name, made.maker});
  });
  // What calls of functions make is seen last.
  std::ranges::stable_sort(made_odd, {}, &OddValue::node);
  Scopes scopes(model);
  for (const auto& [index, path, name, maker] : made_odd) {
    const Scope& scope = *scopes.find(path, name.substr(path.size()), maker);
    if (scope.outer != nullptr && reads_odd_constant(oddity, scope, *maker)) continue;
    const std::set<std::string> reads = full_names(scope, *maker);
    if (std::ranges::any_of(reads, [&](const std::string& read) { return odd.contains(read); })) continue;
    // What a node with bodies returns, nodes in them have made.
    std::set<std::string> wanted = reads;
    wanted.insert(name);
    const std::map<std::string, Value> values = values_read(model, inputs, wanted, rerun);
    const Value& value = values.at(name);
    const std::int64_t place = odd_places(oddity, value).first;
    FoundOddity found = found_in(oddity, label_of(model, *maker, path), name, value);
    for (const std::string& read : reads) {
      if (const auto known = values.find(read); known != values.end())
        found.inputs.push_back(describe_input(read, known->second, value, place));
    }
    found.given = std::move(given);
    return found;
  }
  if (given.empty()) return std::nullopt;
  FoundOddity found = given.front();
  found.given = std::move(given);
  return found;
}

}  // namespace grurun::trial
