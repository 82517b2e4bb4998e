#include "trial/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <unordered_set>

#include "onnx_io/models/walk.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "trial/precise.h"

namespace grurun::trial {
namespace {

bool is_float_tensor(const Value& value) {
  return value.is_tensor() && Floats::set.contains(value.tensor().dtype());
}

/// A value of the reference as one of the model's element type.
Value narrowed_to(const Value& value, DType dtype) {
  if (!is_float_tensor(value) || !Floats::set.contains(dtype) || value.tensor().dtype() == dtype)
    return value;
  const std::vector<double> wide = doubles_of(value.tensor());
  Tensor narrow(dtype, value.tensor().shape());
  dispatch(Floats{}, dtype, [&]<typename T>() {
    std::ranges::transform(wide, narrow.mutable_data<T>(), [](double each) { return static_cast<T>(each); });
  });
  return narrow;
}

Comparison compare(const Value& actual, const Value& expected, const Tolerances& tolerances) {
  const bool other_float = is_float_tensor(actual) && is_float_tensor(expected) &&
                           actual.tensor().dtype() != expected.tensor().dtype();
  if (!other_float) return compare_values(actual, expected, tolerances);
  // The model's own type says how far off is too far.
  Tolerances of_type = tolerances;
  const Tolerance chosen = tolerances(actual.tensor().dtype());
  of_type.flag = {chosen.rtol, chosen.atol};
  return compare_values(widened(actual), widened(expected), of_type);
}

/// One node of a model, to be run by itself.
class LoneNode {
 public:
  LoneNode(const onnx_io::Model& model, const onnx_io::InitializerIndex& initializers,
           const onnx_io::Producers& producers, std::size_t index) {
    const onnx_io::Node& node = model.graph.nodes[index];
    model_.ir_version = model.ir_version;
    model_.opset_imports = model.opset_imports;
    model_.functions = model.functions;
    model_.from_openvino_ir = model.from_openvino_ir;
    std::set<std::string> names;
    for (const onnx_io::Read& read : onnx_io::reads_of(node)) names.emplace(read.name);
    for (const std::string& name : names) {
      const onnx_io::Node* maker = producers.node(name);
      if (maker != nullptr && is_constant(*maker)) {
        model_.graph.nodes.push_back(*maker);
      } else if (const auto found = initializers.find(name);
                 maker == nullptr && found != initializers.end()) {
        model_.graph.initializers.push_back({name, *found->second});
      } else {
        model_.graph.inputs.push_back({name, {}});
      }
    }
    model_.graph.nodes.push_back(node);
    for (const std::string& name : node.outputs) {
      if (!name.empty()) model_.graph.outputs.push_back({name, {}});
    }
  }

  const onnx_io::Graph& graph() const { return model_.graph; }
  std::vector<Value> run(std::vector<Value> inputs, const Rerun& rerun) const {
    return run_again(model_, std::move(inputs), rerun);
  }

 private:
  onnx_io::Model model_;
};

class Bisecting {
 public:
  Bisecting(const onnx_io::Model& model, const std::vector<Value>& inputs, const ValuesByName& reference,
            const BisectOptions& options)
      : model_(model),
        reference_(reference),
        options_(options),
        initializers_(onnx_io::index_initializers(model.graph)),
        producers_(model.graph.nodes) {
    for (std::size_t i = 0; i < inputs.size() && i < model.graph.inputs.size(); ++i) {
      if (inputs[i].empty()) continue;
      given_[model.graph.inputs[i].name] = inputs[i];
      initializers_.erase(model.graph.inputs[i].name);  // what is fed takes its place
    }
  }

  Bisection run(const std::vector<Value>& inputs) {
    run_seeing_values(model_, inputs, options_.rerun, [&](const MadeValue& made) { see(made); });
    if (result_.compared == 0) {
      fail_usage("--against: no value of the reference has the name of one of the model's {}",
                 result_.absent);
    }
    std::ranges::stable_sort(result_.differences, {}, &ValueDifference::node);
    for (ValueDifference& difference : result_.differences) {
      run_alone(difference);
      if (difference.is_made_here() && !options_.all) break;
    }
    return std::move(result_);
  }

 private:
  void see(const MadeValue& made) {
    if (made.value.is_tensor()) types_[made.name] = made.value.tensor().dtype();
    const auto found = reference_.find(made.name);
    if (found == reference_.end()) {
      ++result_.absent;
      return;
    }
    ++result_.compared;
    Comparison comparison = compare(made.value, found->second, options_.tolerances);
    if (comparison.ok) return;
    const onnx_io::Node& node = model_.graph.nodes[made.node];
    result_.differences.push_back(
        {made.node, label_of(model_, node), made.name, std::move(comparison), std::nullopt, ""});
  }

  void run_alone(ValueDifference& difference) {
    const LoneNode lone(model_, initializers_, producers_, difference.node);
    std::vector<Value> inputs;
    for (const onnx_io::ValueInfo& input : lone.graph().inputs) {
      if (const auto given = given_.find(input.name); given != given_.end()) {
        inputs.push_back(given->second);
        continue;
      }
      const auto found = reference_.find(input.name);
      if (found == reference_.end()) {
        difference.not_alone = fmt::format("the reference has no value '{}'", input.name);
        return;
      }
      const auto type = types_.find(input.name);
      inputs.push_back(type == types_.end() ? found->second : narrowed_to(found->second, type->second));
    }
    try {
      const std::vector<Value> outputs = lone.run(std::move(inputs), options_.rerun);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (lone.graph().outputs[i].name == difference.value)
          difference.alone = compare(outputs[i], reference_.at(difference.value), options_.tolerances);
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::limit || error.kind() == ErrorKind::internal) throw;
      difference.not_alone = error.what();
    }
  }

  const onnx_io::Model& model_;
  const ValuesByName& reference_;
  const BisectOptions& options_;
  onnx_io::InitializerIndex initializers_;
  const onnx_io::Producers producers_;
  ValuesByName given_;
  std::unordered_map<std::string, DType> types_;
  Bisection result_;
};

}  // namespace

Value as_declared(const Value& value, const ValueType& type) {
  return type.kind == ValueType::Kind::tensor ? narrowed_to(value, type.elem) : value;
}

Bisection bisect(const onnx_io::Model& model, const std::vector<Value>& inputs, const ValuesByName& reference,
                 const BisectOptions& options) {
  return Bisecting(model, inputs, reference, options).run(inputs);
}

namespace {

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
    out.at_place = fmt::format("{:g}", elements[static_cast<std::size_t>(place)]);
  return out;
}

/// Values that some nodes read: of the run, those that are fed, and initializers.
ValuesByName values_read(const onnx_io::Model& model, const std::vector<Value>& inputs,
                         const std::set<std::string>& wanted, const Rerun& rerun) {
  ValuesByName values;
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
  std::unordered_set<std::string> odd;
  const auto note = [&](const std::string& name, const Value& value) {
    if (odd_places(oddity, value).count > 0) odd.insert(name);
  };
  for (const onnx_io::Initializer& initializer : model.graph.initializers)
    note(initializer.name, initializer.tensor);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].empty()) note(model.graph.inputs[i].name, inputs[i]);
  }
  for (const onnx_io::Node& node : model.graph.nodes) {
    const onnx_io::Attribute* value = is_constant(node) ? node.find_attribute("value") : nullptr;
    if (value != nullptr && !value->tensors.empty()) note(node.outputs.at(0), value->tensors[0]);
  }
  std::map<std::size_t, std::string> made_odd;  // by node, its first odd value
  run_seeing_values(model, inputs, rerun, [&](const MadeValue& made) {
    if (odd_places(oddity, made.value).count == 0) return;
    odd.insert(made.name);
    made_odd.emplace(made.node, made.name);
  });
  for (const auto& [index, name] : made_odd) {
    const onnx_io::Node& node = model.graph.nodes[index];
    std::set<std::string> reads;
    for (const onnx_io::Read& read : onnx_io::reads_of(node)) reads.emplace(read.name);
    if (std::ranges::any_of(reads, [&](const std::string& read) { return odd.contains(read); })) continue;
    std::set<std::string> wanted = reads;
    wanted.insert(name);
    const ValuesByName values = values_read(model, inputs, wanted, rerun);
    const Value& value = values.at(name);
    const Places places = odd_places(oddity, value);
    FoundOddity found{label_of(model, node),
                      name,
                      value.describe(),
                      places.count,
                      index_of(places.first, value.tensor().shape()),
                      "",
                      {}};
    found.element = fmt::format("{:g}", doubles_of(value.tensor())[static_cast<std::size_t>(places.first)]);
    for (const std::string& read : reads) {
      if (const auto given = values.find(read); given != values.end())
        found.inputs.push_back(describe_input(read, given->second, value, places.first));
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace grurun::trial
