#include "trial/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "onnx_io/models/walk.h"
#include "tensor/error.h"
#include "trial/as_type.h"
#include "trial/intermediates.h"
#include "trial/precise.h"

namespace grurun::trial {

namespace {

using Sizes = std::map<std::string, std::int64_t>;

/// Sizes that a sweep gives to a dimension, the first to all that nothing is said of.
constexpr std::int64_t usual_sizes[] = {2, 1, 3, 5};

std::vector<Sizes> combinations(const std::map<std::string, std::vector<std::int64_t>>& lists) {
  std::vector<Sizes> all{{}};
  for (const auto& [name, sizes] : lists) {
    std::vector<Sizes> longer;
    for (const Sizes& each : all)
      for (const std::int64_t size : sizes) {
        longer.push_back(each);
        longer.back()[name] = size;
      }
    all = std::move(longer);
  }
  return all;
}

/// A list of integers that a node reads and nothing changes.
class Constants {
 public:
  explicit Constants(const onnx_io::Graph& graph) : initializers_(onnx_io::index_initializers(graph)) {
    for (const onnx_io::Node& node : graph.nodes) {
      const onnx_io::Attribute* const value = is_constant(node) ? node.find_attribute("value") : nullptr;
      if (value != nullptr && !value->tensors.empty())
        initializers_.emplace(node.outputs[0], &value->tensors[0]);
    }
  }

  const Tensor* find(const std::string& name) const {
    const auto found = initializers_.find(name);
    return found == initializers_.end() ? nullptr : found->second;
  }

  /// The first input that is a constant shape, or else, of any node, one of data with axes.
  std::optional<std::string> freezing_input(const onnx_io::Node& node, bool of_data) const {
    for (const std::string& name : node.inputs) {
      const Tensor* const tensor = find(name);
      if (tensor == nullptr) continue;
      const bool is_list = tensor->dtype() == DType::int64 && tensor->rank() == 1 && tensor->size() > 0;
      if (is_list || (of_data && tensor->rank() > 0)) return name;
    }
    return std::nullopt;
  }

  std::string text(const std::string& name) const {
    const Tensor& tensor = *find(name);
    std::string out = fmt::format("'{}', a {}", name, Value(tensor).describe());
    constexpr std::int64_t most = 8;
    if (tensor.dtype() != DType::int64 || tensor.size() > most) return out;
    return out + fmt::format(" of {}", fmt::join(tensor.span<std::int64_t>(), ", "));
  }

 private:
  onnx_io::InitializerIndex initializers_;
};

/// The first node that is given all it reads and makes nothing.
const onnx_io::Node* failing_node(const onnx_io::Graph& graph, const KnownValues& known,
                                  const KnownValues& fed) {
  const onnx_io::Producers producers(graph.nodes);
  for (const onnx_io::Node& node : graph.nodes) {
    const auto is_missing = [&](const std::string& name) { return !name.empty() && !known.contains(name); };
    if (is_constant(node) || !std::ranges::any_of(node.outputs, is_missing)) continue;
    const auto is_there = [&](const onnx_io::Read& read) {
      const onnx_io::Node* const maker = producers.node(read.name);
      const std::string name(read.name);
      return maker == nullptr || is_constant(*maker) || known.contains(name) || fed.contains(name);
    };
    if (std::ranges::all_of(onnx_io::reads_of(node), is_there)) return &node;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> open_dimensions(const onnx_io::Graph& graph) {
  std::vector<std::string> names;
  for (const Slot& slot : input_slots(graph)) {
    if (slot.initialized) continue;
    for (const ValueType* type = &slot.type; type != nullptr; type = type->element.get())
      for (const Dim& dim : type->shape.value_or(SymbolicShape{}))
        if (!dim.name.empty() && !std::ranges::count(names, dim.name)) names.push_back(dim.name);
  }
  return names;
}

std::vector<Sizes> swept_sizes(const std::vector<std::string>& dimensions,
                               const std::map<std::string, std::vector<std::int64_t>>& lists) {
  Sizes base;
  std::map<std::string, std::vector<std::int64_t>> sizes = lists;
  for (const std::string& name : dimensions)
    sizes.emplace(name, std::vector<std::int64_t>(std::begin(usual_sizes), std::end(usual_sizes)));
  for (const auto& [name, list] : sizes) base[name] = list.front();
  std::vector<Sizes> all{base};
  for (const auto& [name, list] : sizes)
    for (std::size_t i = 1; i < list.size(); ++i) {
      all.push_back(base);
      all.back()[name] = list[i];
    }
  return all;
}

void find_freezing(const onnx_io::Model& model, const std::vector<Value>& inputs, const std::string& output,
                   std::uint64_t seed, FrozenSize& out) {
  const Constants constants(model.graph);
  const onnx_io::Producers producers(model.graph.nodes);
  const onnx_io::Node* end = output.empty()
                                 ? failing_node(model.graph, values_as_far(model, inputs, {seed, {}}),
                                                fed_values(model.graph, inputs))
                                 : producers.node(output);
  if (end == nullptr) return;
  out.node = label_of(model, *end);
  std::deque<const onnx_io::Node*> next{end};
  std::set<const onnx_io::Node*> seen{end};
  while (!next.empty()) {
    const onnx_io::Node* const node = next.front();
    next.pop_front();
    if (const auto input = constants.freezing_input(*node, false)) {
      out.node = label_of(model, *node);
      out.constant = constants.text(*input);
      return;
    }
    for (const onnx_io::Read& read : onnx_io::reads_of(*node)) {
      const onnx_io::Node* const maker = producers.node(read.name);
      if (maker != nullptr && seen.insert(maker).second) next.push_back(maker);
    }
  }
  if (const auto input = constants.freezing_input(*end, true)) out.constant = constants.text(*input);
}

namespace {

class Generating {
 public:
  Generating(const onnx_io::Model& model, const std::vector<Value>& given, const GenerateOptions& options,
             const std::function<void(const DataSet&)>& write)
      : model_(model),
        slots_(input_slots(model.graph)),
        given_(given),
        options_(options),
        write_(write),
        trial_(model, trial_options()) {}

  Generated run() {
    require_dimensions();
    const std::vector<std::string> open = open_dimensions(model_.graph);
    for (const Sizes& sizes :
         options_.sweep ? swept_sizes(open, options_.sizes) : combinations(options_.sizes)) {
      for (int i = 0; i < options_.sets; ++i)
        if (!one(sizes, options_.random.seed + static_cast<std::uint64_t>(i))) break;
    }
    if (out_.sets.empty() && first_error_) throw *first_error_;
    return std::move(out_);
  }

 private:
  TrialOptions trial_options() const {
    TrialOptions out;
    out.seed = options_.random.seed;
    out.diagnose = false;
    return out;
  }

  void require_dimensions() const {
    Sizes named;
    for (const auto& [name, sizes] : options_.sizes) named[name] = sizes.front();
    trial::require_dimensions(named, slots_, options_.random.names.dimensions);
  }

  /// False where the model does not run at these sizes.
  bool one(const Sizes& sizes, std::uint64_t seed) {
    RandomSettings settings = options_.random;
    settings.dimensions = sizes;
    settings.seed = seed;
    DataSet set{fmt::format("test_data_set_{}", out_.sets.size()), given_, {}};
    std::vector<std::string> lines = fill_random(model_.graph, slots_, settings, set.inputs);
    try {
      set.expected = trial_.run({"", set.inputs, {}}).outputs;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::limit || error.kind() == ErrorKind::internal) throw;
      if (!first_error_) first_error_ = error;
      note_frozen(sizes, set.inputs, "", error.what());
      return false;
    }
    look_at_outputs(sizes, set);
    if (options_.precise) make_precise(set, seed);
    out_.sets.push_back({set.name, sizes, seed, std::move(lines)});
    write_(set);
    return true;
  }

  void make_precise(DataSet& set, std::uint64_t seed) const {
    const std::vector<Value> truth = run_in_double(model_, set.inputs, {seed, {}});
    for (std::size_t i = 0; i < truth.size(); ++i)
      set.expected[i] = as_type(truth[i], set.expected[i].type());
  }

  /// Of those that differ from the first combination, which ran, or else of all.
  void note_frozen(const Sizes& sizes, const std::vector<Value>& inputs, const std::string& output,
                   const std::string& message) {
    FrozenSize frozen;
    frozen.message = message;
    find_freezing(model_, inputs, output, options_.random.seed, frozen);
    for (const auto& [name, size] : sizes) {
      const bool is_changed = out_.sets.empty() || out_.sets.front().sizes.at(name) != size;
      if (!is_changed && sizes.size() > 1) continue;
      frozen.dimension = name;
      frozen.size = size;
      out_.frozen.push_back(frozen);
    }
  }

  /// An output that declares a dimension and does not follow it.
  void look_at_outputs(const Sizes& sizes, const DataSet& set) {
    for (std::size_t i = 0; i < set.expected.size(); ++i) {
      const onnx_io::ValueInfo& info = model_.graph.outputs[i];
      if (!set.expected[i].is_tensor() || !info.type.shape) continue;
      const Shape& shape = set.expected[i].tensor().shape();
      for (std::size_t axis = 0; axis < shape.rank() && axis < info.type.shape->size(); ++axis) {
        const auto named = sizes.find((*info.type.shape)[axis].name);
        if (named == sizes.end() || named->second == shape[axis]) continue;
        FrozenSize frozen{named->first, named->second, "", "",
                          fmt::format("output '{}' has shape {} and declares {}", info.name,
                                      shape.to_string(), to_string(*info.type.shape))};
        find_freezing(model_, set.inputs, info.name, options_.random.seed, frozen);
        out_.frozen.push_back(std::move(frozen));
      }
    }
  }

  const onnx_io::Model& model_;
  const std::vector<Slot> slots_;
  const std::vector<Value>& given_;
  const GenerateOptions& options_;
  const std::function<void(const DataSet&)>& write_;
  Trial trial_;
  Generated out_;
  std::optional<Error> first_error_;
};

}  // namespace

Generated generate(const onnx_io::Model& model, const std::vector<Value>& given,
                   const GenerateOptions& options, const std::function<void(const DataSet&)>& write) {
  return Generating(model, given, options, write).run();
}

}  // namespace grurun::trial
