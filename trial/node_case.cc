#include "trial/node_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "onnx_io/models/write_model.h"
#include "opset/pages/page.h"
#include "opset/schema/added/listed_schemas.h"
#include "tensor/error.h"
#include "tensor/near_match.h"
#include "trial/data_set.h"
#include "trial/node_recipes.h"
#include "trial/node_sizes.h"
#include "trial/trial.h"

namespace grurun::trial {

namespace {

using opset::ParameterInfo;
using opset::ParameterKind;
using opset::SchemaInfo;

constexpr std::size_t variadic_count = 2;

/// "a=1 b=2" at each blank, and at the first mark in each.
std::vector<std::pair<std::string, std::string>> entries_of(std::string_view text, char mark) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string_view entry : opset::split_words(text, " ")) {
    const std::size_t at = entry.find(mark);
    if (at < entry.size()) out.emplace_back(entry.substr(0, at), entry.substr(at + 1));
  }
  return out;
}

Shape shape_of_text(const std::string& text) {
  Shape shape;
  for (std::size_t i = 1; i + 1 < text.size();) {
    const std::size_t end = text.find_first_of(",]", i);
    shape.push_back(std::stoll(text.substr(i, end - i)));
    i = end + 1;
  }
  return shape;
}

/// The schemas of a domain, those that are not ONNX's, too.
std::vector<const SchemaInfo*> schemas_in(const std::string& domain) {
  std::vector<const SchemaInfo*> found =
      opset::newest_opset(domain) ? opset::all_schemas() : opset::added_schemas();
  std::erase_if(found, [&](const SchemaInfo* each) { return each->domain != domain; });
  return found;
}

/// The newest opset of a domain; of one that is not ONNX's, the last version of an operator.
std::optional<std::int64_t> newest_version(const std::string& domain) {
  if (auto newest = opset::newest_opset(domain)) return newest;
  std::optional<std::int64_t> newest;
  for (const SchemaInfo* each : schemas_in(domain))
    newest = std::max<std::int64_t>(newest.value_or(0), each->since_version);
  return newest;
}

/// The lowest IR version whose models may import an opset of ai.onnx (onnx/docs/Versioning.md).
std::int64_t ir_version_of(std::int64_t opset) {
  constexpr std::pair<std::int64_t, std::int64_t> last_opsets[] = {
      {8, 3}, {9, 4}, {10, 5}, {11, 6}, {14, 7}, {18, 8}, {20, 9}, {22, 10}, {23, 11}, {24, 12}};
  for (const auto& [last, version] : last_opsets)
    if (opset <= last) return version;
  return 13;
}

class NodeMaking {
 public:
  explicit NodeMaking(NodeRequest request) : request_(std::move(request)) {
    find_schema();
    add_recipe();
    make_node();
    make_inputs();
  }

  NodeCase make() {
    std::optional<Error> first;
    const int most = static_cast<int>(std::min<std::size_t>(most_outputs(), 8));
    for (int outputs = request_.outputs ? 0 : most;
         outputs >= std::max(schema_->min_output, 1) || request_.outputs; --outputs) {
      set_outputs(request_.outputs ? *request_.outputs : static_cast<std::size_t>(outputs));
      for (const InputShapes& shapes : likely_shapes(node_, schema_->since_version, fixed_)) {
        try {
          return attempt(shapes);
        } catch (const Error& error) {
          if (error.kind() == ErrorKind::internal || error.kind() == ErrorKind::limit) throw;
          if (!first) first = error;
        }
      }
      if (request_.outputs) break;
    }
    fail_usage("no case of {} can be made: {}; tell more with --attr, --input-shapes, --value and --type",
               label(), first ? first->message() : "it has no outputs");
  }

 private:
  struct Input {
    std::string name;
    const ParameterInfo* parameter;
    ValueType type;
  };

  std::string label() const {
    return fmt::format("{}-{}", onnx_io::qualified_name(schema_->domain, schema_->name),
                       schema_->since_version);
  }

  void find_schema() {
    const auto newest = newest_version(request_.domain);
    if (!newest) fail_usage("there is no domain '{}'", request_.domain);
    opset_ = request_.opset.value_or(*newest);
    if (opset_ < 1 || opset_ > *newest)
      fail_usage("--opset {}: {} has versions 1 to {}", opset_, onnx_io::shown_domain(request_.domain),
                 *newest);
    schema_ = opset::find_schema(request_.op_type, request_.domain, opset_);
    if (schema_ == nullptr) {
      std::set<std::string> known;
      for (const SchemaInfo* each : schemas_in(request_.domain)) known.insert(each->name);
      const std::vector<std::string> names(known.begin(), known.end());
      fail_usage("{} has no operator '{}' in version {}{}", onnx_io::shown_domain(request_.domain),
                 request_.op_type, opset_, did_you_mean(near_matches(request_.op_type, names)));
    }
    if (schema_->deprecated) fail_usage("{} is deprecated in version {}", request_.op_type, opset_);
  }

  bool has_attribute(const std::string& name) const {
    return std::ranges::any_of(schema_->attributes, [&](const auto& info) { return info.name == name; });
  }

  /// What the request leaves open.
  void add_recipe() {
    const bool is_standard = request_.domain.empty() || request_.domain == "ai.onnx.ml";
    const NodeRecipe* const recipe = is_standard ? find_recipe(request_.op_type) : nullptr;
    if (recipe == nullptr) return;
    for (const auto& [name, text] : entries_of(recipe->attributes, '='))
      if (has_attribute(name)) request_.attributes.emplace(name, text);
    for (const auto& [name, text] : entries_of(recipe->shapes, ':'))
      recipe_shapes_.emplace(name, shape_of_text(text));
    if (request_.shapes.empty())
      for (const auto& [name, text] : entries_of(recipe->values, '=')) recipe_values_.emplace(name, text);
    for (const auto& [name, text] : entries_of(recipe->types, '=')) recipe_types_.emplace(name, text);
    for (const auto& [name, text] : entries_of(recipe->ranges, ':')) {
      const std::size_t colon = text.find(':');
      recipe_ranges_.push_back({name, std::stold(text.substr(0, colon)), std::stold(text.substr(colon + 1))});
    }
    if (recipe->outputs > 0 && !request_.outputs)
      request_.outputs = static_cast<std::size_t>(recipe->outputs);
  }

  void make_node() {
    node_.op_type = schema_->name;
    node_.domain = schema_->domain;
    const auto is_recurrent = has_attribute("hidden_size");
    if (is_recurrent) request_.attributes.emplace("hidden_size", "4");
    for (const opset::AttributeInfo& info : schema_->attributes) {
      const auto given = request_.attributes.find(info.name);
      if (given != request_.attributes.end()) {
        node_.attributes.push_back(parse_attribute(info, given->second));
        request_.attributes.erase(given);
      } else if (info.required && info.type == onnx_io::AttributeType::graph) {
        fail_unsupported("{} has a body, '{}', which no flag can give", label(), info.name);
      } else if (info.required) {
        fail_usage("{} needs the attribute '{}': give it with --attr {}=...", label(), info.name, info.name);
      }
    }
    if (request_.attributes.empty()) return;
    std::vector<std::string> names;
    for (const opset::AttributeInfo& info : schema_->attributes) names.push_back(info.name);
    const std::string& name = request_.attributes.begin()->first;
    fail_usage("--attr: {} has no attribute '{}'{}", label(), name, did_you_mean(near_matches(name, names)));
  }

  bool is_mentioned(const std::string& name) const {
    return request_.shapes.contains(name) || request_.values.contains(name) ||
           request_.types.contains(name) || request_.optional_inputs.contains(name);
  }

  bool is_in_recipe(const std::string& name) const {
    return recipe_shapes_.contains(name) || recipe_values_.contains(name);
  }

  std::vector<std::string> names_of(const ParameterInfo& parameter) const {
    if (parameter.kind != ParameterKind::variadic) return {parameter.name};
    std::size_t count = std::max<std::size_t>(static_cast<std::size_t>(parameter.min_arity), variadic_count);
    for (std::size_t i = count; i < 64; ++i)
      if (is_mentioned(fmt::format("{}_{}", parameter.name, i))) count = i + 1;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}_{}", parameter.name, i));
    return names;
  }

  void make_inputs() {
    std::set<std::string> known;
    std::size_t needed = 0;
    for (const ParameterInfo& parameter : schema_->inputs) {
      const bool is_optional = parameter.kind == ParameterKind::optional;
      for (const std::string& name : names_of(parameter)) {
        known.insert(name);
        const bool is_given = !is_optional || is_mentioned(name) || is_in_recipe(name);
        inputs_.push_back(
            {is_given ? name : "", &parameter, is_given ? type_of(name, parameter) : ValueType()});
        if (is_given) needed = inputs_.size();
      }
    }
    inputs_.resize(needed);
    for (const std::string& name : request_.optional_inputs) require_input(name, known);
    for (const auto& [name, shape] : request_.shapes) require_input(name, known);
    for (const auto& [name, text] : request_.values) require_input(name, known);
    for (const Input& input : inputs_) {
      node_.inputs.push_back(input.name);
      fixed_.push_back(shape_given(input.name));
    }
  }

  void require_input(const std::string& name, const std::set<std::string>& known) const {
    if (known.contains(name)) return;
    fail_usage("{} has no input '{}'; its inputs are {}", label(), name,
               quoted_list({known.begin(), known.end()}));
  }

  std::optional<Shape> shape_given(const std::string& name) const {
    if (const auto found = request_.shapes.find(name); found != request_.shapes.end()) return found->second;
    if (request_.values.contains(name)) return std::nullopt;
    if (const auto found = recipe_shapes_.find(name); found != recipe_shapes_.end()) return found->second;
    return std::nullopt;
  }

  ValueType type_of(const std::string& name, const ParameterInfo& parameter) const {
    const auto types = schema_->types_of(parameter);
    for (const auto* map : {&request_.types, &recipe_types_}) {
      for (const std::string& key : {name, parameter.type_str}) {
        const auto found = map->find(key);
        if (found == map->end()) continue;
        const DType dtype = parse_dtype(found->second);
        const std::string text =
            dtype == DType::undefined ? found->second : ValueType::tensor(dtype).to_string();
        if (std::ranges::count(types, text) > 0) return *parse_value_type(text);
        if (map == &request_.types)
          fail_usage("--type {}={}: {} takes {}", key, found->second, label(), fmt::join(types, ", "));
      }
    }
    for (const char* preferred : {"tensor(float)", "tensor(int64)", "tensor(bool)", "tensor(string)",
                                  "seq(tensor(float))", "tensor(uint8)"})
      if (std::ranges::count(types, preferred) > 0) return *parse_value_type(preferred);
    if (types.empty()) fail_usage("{}: nothing is known of the type of input '{}'", label(), name);
    const auto first = parse_value_type(types.front());
    if (!first) fail_unsupported("{}: an input of type {} cannot be made", label(), types.front());
    return *first;
  }

  std::size_t most_outputs() const {
    std::size_t count = 0;
    for (const ParameterInfo& output : schema_->outputs)
      count += output.kind == ParameterKind::variadic
                   ? std::max<std::size_t>(1, static_cast<std::size_t>(output.min_arity))
                   : 1;
    return count;
  }

  void set_outputs(std::size_t count) {
    node_.outputs.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const ParameterInfo* const output = opset::parameter_at(schema_->outputs, i);
      if (output == nullptr)
        fail_usage("{} has {} outputs at most, not {}", label(), schema_->max_output, count);
      node_.outputs.push_back(output->kind == ParameterKind::variadic ? fmt::format("{}_{}", output->name, i)
                                                                      : output->name);
    }
    // As the standard's own names may be those of inputs.
    for (std::string& name : node_.outputs)
      if (std::ranges::count(node_.inputs, name) > 0) name += "_out";
  }

  const std::string* text_of(const std::string& name) const {
    for (const auto* map : {&request_.values, &recipe_values_})
      if (const auto found = map->find(name); found != map->end()) return &found->second;
    return nullptr;
  }

  NodeCase attempt(const InputShapes& shapes) const {
    NodeCase out{label(), {}, {}};
    onnx_io::Model model;
    model.ir_version = ir_version_of(request_.domain.empty() ? opset_ : 18);
    model.opset_imports[request_.domain] = opset_;
    model.graph.name = node_.op_type;
    model.graph.nodes.push_back(node_);
    for (std::size_t i = 0; i < inputs_.size(); ++i) add_input(inputs_[i], shapes[i], model, out.part.inputs);
    RandomSettings settings = request_.random;
    for (const NamedRange& range : recipe_ranges_)
      if (std::ranges::count(node_.inputs, range.name) > 0 && !text_of(range.name))
        settings.ranges.push_back(range);
    const std::vector<Slot> slots = input_slots(model.graph);
    out.drawn = fill_random(model.graph, slots, settings, out.part.inputs);
    for (const std::string& name : node_.outputs) model.graph.outputs.push_back({name, {}});
    // Types of outputs are known when it has run; then all rules judge it.
    const std::vector<Value> made = run_again(model, out.part.inputs, {settings.seed, {}});
    for (std::size_t i = 0; i < made.size(); ++i) model.graph.outputs[i].type = made[i].type();
    out.part.expected = run_checked(model, out.part.inputs);
    out.part.model = std::move(model);
    return out;
  }

  void add_input(const Input& input, const std::optional<Shape>& shape, onnx_io::Model& model,
                 std::vector<Value>& values) const {
    if (input.name.empty()) return;
    ValueType type = input.type;
    Value value;
    const std::string* const text = text_of(input.name);
    if (text != nullptr && type.kind == ValueType::Kind::tensor) {
      value = parse_elements(input.name, type.elem, shape_given(input.name), *text);
      type.shape = symbolic(value.tensor().shape());
    } else {
      set_shape(type, shape.value_or(Shape{}));
    }
    model.graph.inputs.push_back({input.name, type});
    values.push_back(std::move(value));
  }

  static void set_shape(ValueType& type, const Shape& shape) {
    if (type.kind == ValueType::Kind::tensor) type.shape = symbolic(shape);
    if (type.element == nullptr) return;
    ValueType element = *type.element;
    set_shape(element, shape);
    type.element = std::make_shared<const ValueType>(std::move(element));
  }

  std::vector<Value> run_checked(const onnx_io::Model& model, const std::vector<Value>& inputs) const {
    const onnx_io::Model file = onnx_io::reread(model);
    TrialOptions options;
    options.depth = CheckDepth::everything;
    options.seed = request_.random.seed;
    options.diagnose = false;
    Trial trial(file, std::move(options));
    return trial.run({"", inputs, {}}).outputs;
  }

  NodeRequest request_;
  const SchemaInfo* schema_ = nullptr;
  std::int64_t opset_ = 0;
  onnx_io::Node node_;
  std::vector<Input> inputs_;
  InputShapes fixed_;
  std::map<std::string, Shape> recipe_shapes_;
  std::map<std::string, std::string> recipe_values_, recipe_types_;
  std::vector<NamedRange> recipe_ranges_;
};

}  // namespace

NodeCase make_node_case(const NodeRequest& request) {
  return NodeMaking(request).make();
}

}  // namespace grurun::trial
