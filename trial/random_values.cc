#include "trial/random_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "onnx_io/values/max_rank.h"
#include "tensor/error.h"
#include "trial/input_rules.h"
#include "trial/random_tensor.h"

namespace grurun::trial {
namespace {

constexpr int sequence_items = 2;
constexpr std::int64_t map_items = 3;
constexpr std::int64_t most_tensors = 1000;  // of one value

// FNV-1a over the name, so that an input's values depend on the seed and its name alone.
std::uint64_t seed_of(const std::string& name, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash ^ RandomBits(seed).next();
}

// The tensor that a type is made of, through sequences, optionals and maps.
const ValueType& innermost(const ValueType& type) {
  return type.element ? innermost(*type.element) : type;
}

// That a random value of the type holds, or most_tensors + 1.
std::int64_t tensors_in(const ValueType& type) {
  if (!type.element) return 1;
  const std::int64_t items = type.kind == ValueType::Kind::sequence ? sequence_items
                             : type.kind == ValueType::Kind::map    ? map_items
                                                                    : 1;
  return std::min(items * tensors_in(*type.element), most_tensors + 1);
}

const Tensor* innermost(const Value& value) {
  if (value.is_tensor()) return &value.tensor();
  if (value.is_optional()) return value.optional().item ? innermost(*value.optional().item) : nullptr;
  if (value.is_sequence() && !value.sequence().items.empty()) return innermost(value.sequence().items[0]);
  return nullptr;
}

class Filler {
 public:
  Filler(const onnx_io::Graph& graph, const std::vector<Slot>& slots, const RandomSettings& settings,
         std::vector<Value>& values)
      : rules_(graph), slots_(slots), settings_(settings), values_(values) {}

  std::vector<std::string> fill() {
    check_names();
    bind_dimensions();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (wanted(i)) shapes_[slots_[i].name] = shape_of(slots_[i]);
      if (const Tensor* given = innermost(values_[i])) shapes_[slots_[i].name] = given->shape();
    }
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (wanted(i)) lines.push_back(fill_one(i));
    }
    return lines;
  }

 private:
  bool wanted(std::size_t i) const { return values_[i].empty() && !slots_[i].initialized; }

  const Shape* given_shape(const std::string& name) const {
    const auto found = settings_.shapes.find(name);
    return found == settings_.shapes.end() ? nullptr : &found->second;
  }

  void check_input(const std::string& flag, const std::string& name) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      names.push_back(slots_[i].name);
      if (slots_[i].name != name) continue;
      if (wanted(i)) return;
      fail_usage("{}: input '{}' {}", flag, name,
                 values_[i].empty() ? "has an initializer and is never filled; " + settings_.names.inputs +
                                          " gives it another value"
                                    : std::string("is read from a file, not filled"));
    }
    fail_usage("{}: the model has no input '{}'; its inputs are {}", flag, name, quoted_list(names));
  }

  void check_names() const {
    for (const auto& [name, shape] : settings_.shapes) check_input(settings_.names.shapes, name);
    for (const NamedRange& range : settings_.ranges) {
      if (!range.name.empty()) check_input(settings_.names.ranges, range.name);
    }
    require_dimensions(settings_.dimensions, slots_, settings_.names.dimensions);
  }

  // A name stands for one size in the whole graph, so what a file or a setting shows of it holds elsewhere
  // too.
  // Given values that fit each other or the model in nothing are the executor's to refuse.
  void bind_dimensions() {
    dimensions_ = settings_.dimensions;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (const Shape* shape = given_shape(slots_[i].name)) bind(slots_[i], *shape);
    }
    for (const auto& [name, size] : dimensions_) set_.insert(name);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Tensor* given = innermost(values_[i]);
      const std::optional<SymbolicShape>& declared = innermost(slots_[i].type).shape;
      if (given == nullptr || !declared || declared->size() != given->rank()) continue;
      for (std::size_t d = 0; d < declared->size(); ++d) {
        if (!(*declared)[d].name.empty()) bind_given(slots_[i], (*declared)[d].name, given->dim(d));
      }
    }
  }

  void bind_given(const Slot& slot, const std::string& dimension, std::int64_t size) {
    const auto [known, added] = dimensions_.emplace(dimension, size);
    if (known->second == size || !set_.contains(dimension)) return;
    fail_usage("dimension '{}' is set to {}, but is {} in the file for input '{}'", dimension, known->second,
               size, slot.name);
  }

  void bind(const Slot& slot, const Shape& shape) {
    const std::optional<SymbolicShape>& declared = innermost(slot.type).shape;
    if (!declared) return;
    bool fits = declared->size() == shape.rank();
    for (std::size_t d = 0; fits && d < shape.rank(); ++d) {
      const Dim& dim = (*declared)[d];
      if (dim.value) {
        fits = *dim.value == shape[d];
      } else if (!dim.name.empty()) {
        const auto [known, added] = dimensions_.emplace(dim.name, shape[d]);
        if (added || known->second == shape[d]) continue;
        fail_usage("{} {}:{}: dimension '{}' is {} here, but is set to {} elsewhere", settings_.names.shapes,
                   slot.name, shape.to_string(), dim.name, shape[d], known->second);
      }
    }
    if (fits) return;
    fail_usage("{} {}:{} does not fit the declared {}", settings_.names.shapes, slot.name, shape.to_string(),
               to_string(*declared));
  }

  /// Models leave types out, and give tensors the element type 0, which is none.
  void require_type(const Slot& slot) const {
    const ValueType& type = innermost(slot.type);
    const std::string& inputs = settings_.names.inputs;
    if (type.kind == ValueType::Kind::unknown)
      fail_usage("input '{}' declares no type and cannot be filled at random; give it with {}", slot.name,
                 inputs);
    if (type.shape && type.shape->size() > onnx_io::max_rank)
      fail_unsupported("input '{}' has {} dimensions; up to {} are filled at random", slot.name,
                       type.shape->size(), onnx_io::max_rank);
    if (tensors_in(slot.type) > most_tensors)
      fail(ErrorKind::limit, "input '{}' is a {}, nested too deep to be filled at random; give it with {}",
           slot.name, slot.type.to_string(), inputs);
    if (type.kind == ValueType::Kind::tensor && type.elem == DType::undefined)
      fail_usage("input '{}' declares no element type and cannot be filled at random; give it with {}",
                 slot.name, inputs);
    if (type.kind != ValueType::Kind::tensor)
      fail_usage("input '{}' is a {}, which cannot be filled at random; give it with {}", slot.name,
                 slot.type.to_string(), inputs);
  }

  Shape shape_of(const Slot& slot) const {
    require_type(slot);
    if (const Shape* shape = given_shape(slot.name)) return *shape;
    const ValueType& type = innermost(slot.type);
    if (!type.shape) {
      // A map's values have no shape in ONNX's own operators: they are single numbers.
      if (slot.type.kind == ValueType::Kind::map) return {};
      fail_usage("input '{}' declares no shape; give it as {} {}:[d0,d1,...]", slot.name,
                 settings_.names.shapes, slot.name);
    }
    Shape shape;
    for (const Dim& dim : *type.shape) {
      const auto known = dimensions_.find(dim.name);
      if (!dim.value && known == dimensions_.end()) fail_unknown(slot, *type.shape, shape.rank());
      shape.push_back(dim.value ? *dim.value : known->second);
    }
    return shape;
  }

  [[noreturn]] void fail_unknown(const Slot& slot, const SymbolicShape& declared, std::size_t at) const {
    const std::string& name = declared[at].name;
    if (name.empty()) {
      fail_usage("input '{}' {}: dimension {} is unknown; give the shape as {} {}:[d0,d1,...]", slot.name,
                 to_string(declared), at, settings_.names.shapes, slot.name);
    }
    // All that are missing at once, so that one more try is enough.
    std::string all = settings_.names.dimensions + " " + name + "=N";
    std::vector<std::string> told = {name};
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (!wanted(i) || given_shape(slots_[i].name) != nullptr) continue;
      for (const Dim& dim : innermost(slots_[i].type).shape.value_or(SymbolicShape{})) {
        if (dim.name.empty() || dimensions_.contains(dim.name) || std::ranges::count(told, dim.name))
          continue;
        all += "," + dim.name + "=N";
        told.push_back(dim.name);
      }
    }
    fail_usage("input '{}' {}: dimension '{}' is unknown; give its size as {}", slot.name,
               to_string(declared), name, all);
  }

  Range range_of(const Slot& slot, DType dtype) const {
    std::optional<Range> general;
    for (const NamedRange& range : settings_.ranges) {
      if (range.name == slot.name) {
        if (dtype == DType::string)
          fail_usage("{}: input '{}' holds strings, not numbers", settings_.names.ranges, slot.name);
        return {range.low, range.high};
      }
      if (range.name.empty() && dtype != DType::boolean) general = Range{range.low, range.high};
    }
    // A range for all inputs is not meant for what counts or indexes: there the node's own rule holds.
    if (const std::optional<Range> rule = rules_.range_of(slot.name, shapes_)) return *rule;
    return general.value_or(default_range(dtype));
  }

  Tensor draw(const Slot& slot, DType dtype, const Shape& shape, Range range, RandomBits& bits) const {
    std::optional<Tensor> tensor = random_tensor(dtype, shape, range, bits);
    if (tensor) return std::move(*tensor);
    fail_usage("{} {:g}:{:g} holds no {} for input '{}'", settings_.names.ranges, range.low, range.high,
               dtype_name(dtype), slot.name);
  }

  Value make(const Slot& slot, const ValueType& type, const Shape& shape, Range range,
             RandomBits& bits) const {
    const auto element = [&] { return make(slot, *type.element, shape, range, bits); };
    switch (type.kind) {
      case ValueType::Kind::sequence: {
        Sequence sequence{*type.element, {}};
        for (int i = 0; i < sequence_items; ++i) sequence.items.push_back(element());
        return sequence;
      }
      case ValueType::Kind::optional:
        return Optional{*type.element, std::make_shared<const Value>(element())};
      case ValueType::Kind::map: {
        Map map{*type.element, map_keys(type.elem), {}};
        for (std::int64_t i = 0; i < map_items; ++i) map.values.push_back(element());
        return map;
      }
      default:
        return draw(slot, type.elem, shape, range, bits);
    }
  }

  Tensor map_keys(DType dtype) const {
    if (dtype == DType::string)
      return Tensor::from<std::string>({map_items}, std::vector<std::string>{"a", "b", "c"});
    if (dtype == DType::int64)
      return Tensor::from<std::int64_t>({map_items}, std::vector<std::int64_t>{0, 1, 2});
    fail_usage("a map with {} keys cannot be filled at random; give it with {}", dtype_name(dtype),
               settings_.names.inputs);
  }

  std::string fill_one(std::size_t i) {
    const Slot& slot = slots_[i];
    const DType dtype = innermost(slot.type).elem;
    const Shape& shape = shapes_.at(slot.name);
    const Range range = range_of(slot, dtype);
    RandomBits bits(seed_of(slot.name, settings_.seed));
    values_[i] = make(slot, slot.type, shape, range, bits);
    return fmt::format("{}: {}, {}", slot.name, values_[i].describe(), describe_draw(dtype, range));
  }

  const InputRules rules_;
  const std::vector<Slot>& slots_;
  const RandomSettings& settings_;
  std::vector<Value>& values_;
  std::map<std::string, std::int64_t> dimensions_;
  std::set<std::string> set_;  // those of dimensions_ that the settings tell
  std::map<std::string, Shape> shapes_;
};

}  // namespace

void require_dimensions(const std::map<std::string, std::int64_t>& sizes, const std::vector<Slot>& inputs,
                        const std::string& called) {
  if (sizes.empty()) return;
  std::vector<std::string> known;
  for (const Slot& slot : inputs) {
    const ValueType& type = innermost(slot.type);
    for (const Dim& dim : type.shape.value_or(SymbolicShape{})) {
      if (!dim.name.empty() && !std::ranges::count(known, dim.name)) known.push_back(dim.name);
    }
  }
  for (const auto& [name, size] : sizes) {
    if (std::ranges::count(known, name)) continue;
    fail_usage("{}: no input has a dimension '{}'; the named dimensions are {}", called, name,
               quoted_list(known));
  }
}

std::vector<std::string> fill_random(const onnx_io::Graph& graph, const std::vector<Slot>& slots,
                                     const RandomSettings& settings, std::vector<Value>& values) {
  return Filler(graph, slots, settings, values).fill();
}

}  // namespace grurun::trial
