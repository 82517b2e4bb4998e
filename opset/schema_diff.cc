#include "opset/schema_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "opset/meaning_changes.h"
#include "opset/named_values.h"

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::AttributeType;

const std::vector<std::string>& types_of(const SchemaInfo& schema, const ParameterInfo& parameter,
                                         std::vector<std::string>& own) {
  for (const TypeConstraintInfo& constraint : schema.type_constraints) {
    if (constraint.name == parameter.type_str) return constraint.types;
  }
  own = {parameter.type_str};
  return own;
}

std::vector<std::string> missing_from(const std::vector<std::string>& all,
                                      const std::vector<std::string>& in) {
  std::vector<std::string> missing;
  for (const std::string& name : all) {
    if (std::ranges::find(in, name) == in.end()) missing.push_back(name);
  }
  return missing;
}

const char* kind_text(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::optional:
      return "optional";
    case ParameterKind::variadic:
      return "variadic";
    case ParameterKind::single:
      break;
  }
  return "required";
}

std::string presence(const AttributeInfo& attribute) {
  if (attribute.required) return "required";
  return attribute.default_value ? "default " + value_text(*attribute.default_value) : "optional";
}

// Letters and digits of a text: what formatting leaves alone.
std::string bare(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += c;
  }
  return out;
}

class Differ {
 public:
  Differ(const SchemaInfo& from, const SchemaInfo& to) : from_(from), to_(to), diff_{&from, &to, {}, false} {}

  SchemaDiff diff() {
    compare_properties();
    compare_attributes();
    compare_parameters("input", from_.inputs, to_.inputs);
    compare_parameters("output", from_.outputs, to_.outputs);
    compare_constraints();
    compare_bindings();
    compare_meanings();
    compare_texts();
    return std::move(diff_);
  }

 private:
  void add(const char* part, const std::string& name, ChangeKind kind, std::string what, bool breaking,
           std::string reason) {
    diff_.changes.push_back({part, name, kind, std::move(what), breaking, std::move(reason)});
  }

  void compare_properties() {
    if (from_.deprecated != to_.deprecated) {
      add("operator", "deprecation", to_.deprecated ? ChangeKind::added : ChangeKind::removed, "",
          to_.deprecated,
          to_.deprecated ? "a model may not use a deprecated operator" : "the operator may be used again");
    }
    compare_flag("shape inference", from_.has_shape_inference, to_.has_shape_inference,
                 "shapes of outputs are found before a run", "shapes of outputs show at run time only");
    compare_flag("function body", from_.has_function_body, to_.has_function_body,
                 "a runtime without a kernel can run the body",
                 "a runtime needs a kernel now; the node means the same");
    if (from_.experimental != to_.experimental) {
      add("operator", "experimental", to_.experimental ? ChangeKind::added : ChangeKind::removed, "", false,
          "it says how stable the operator is");
    }
  }

  void compare_flag(const char* name, bool before, bool after, const char* gained, const char* lost) {
    if (before == after) return;
    add("operator", name, after ? ChangeKind::added : ChangeKind::removed, "", false, after ? gained : lost);
  }

  void compare_attributes() {
    for (const AttributeInfo& attribute : from_.attributes) {
      const auto found = std::ranges::find(to_.attributes, attribute.name, &AttributeInfo::name);
      if (found == to_.attributes.end()) {
        add("attribute", attribute.name, ChangeKind::removed, describe(attribute), true,
            "a node that has it is invalid");
      } else {
        compare_attribute(attribute, *found);
      }
    }
    for (const AttributeInfo& attribute : to_.attributes) {
      if (std::ranges::find(from_.attributes, attribute.name, &AttributeInfo::name) != from_.attributes.end())
        continue;
      const char* other = default_changes_meaning(to_.name, attribute.name);
      add("attribute", attribute.name, ChangeKind::added, describe(attribute),
          attribute.required || other != nullptr,
          attribute.required        ? "a node without it is invalid"
          : other != nullptr        ? other
          : attribute.default_value ? "a node without it has its default"
                                    : "a node need not have it");
    }
  }

  static std::string describe(const AttributeInfo& attribute) {
    return fmt::format("{}, {}", onnx_io::attribute_type_name(attribute.type), presence(attribute));
  }

  void compare_attribute(const AttributeInfo& before, const AttributeInfo& after) {
    if (before.type != after.type) {
      add("attribute", after.name, ChangeKind::changed,
          fmt::format("{} -> {}", onnx_io::attribute_type_name(before.type),
                      onnx_io::attribute_type_name(after.type)),
          true, "a node that has it is invalid");
    }
    add_values("attribute", after.name,
               named_values_of(from_.domain, from_.name, before.name, from_.since_version),
               named_values_of(to_.domain, to_.name, after.name, to_.since_version));
    const std::string old_presence = presence(before);
    const std::string new_presence = presence(after);
    if (old_presence == new_presence) return;
    const std::string what = fmt::format("{} -> {}", old_presence, new_presence);
    if (after.required) {
      add("attribute", after.name, ChangeKind::changed, what, true, "a node without it is invalid");
    } else if (before.required) {
      add("attribute", after.name, ChangeKind::changed, what, false, "every node has it");
    } else if (names_as_default(before, after)) {
      add("attribute", after.name, ChangeKind::changed, what, false,
          fmt::format("the text of {} names {} as the default; the schema misspelt it", label(from_),
                      after.default_value->s));
    } else if (names_as_default(after, before)) {
      add("attribute", after.name, ChangeKind::changed, what, false,
          fmt::format("the text of {} names {} as the default; the schema misspells it", label(to_),
                      before.default_value->s));
    } else {
      add("attribute", after.name, ChangeKind::changed, what, true,
          "a node without it may mean something else");
    }
  }

  // "Must be one of forward (default), ..." with another word in the schema, and that one in the other
  // version.
  static bool names_as_default(const AttributeInfo& misspelt, const AttributeInfo& right) {
    return misspelt.default_value && right.default_value && right.type == AttributeType::string &&
           misspelt.type == AttributeType::string &&
           tells_as_default(misspelt.description, right.default_value->s);
  }

  // As a word of its own: "bilinear (default)" does not tell of linear.
  static bool tells_as_default(const std::string& text, const std::string& word) {
    const std::size_t at = text.find(word + " (default)");
    return at != std::string::npos &&
           (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0);
  }

  static std::string label(const SchemaInfo& schema) {
    return fmt::format("version {}", schema.since_version);
  }

  void compare_parameters(const char* side, const std::vector<ParameterInfo>& before,
                          const std::vector<ParameterInfo>& after) {
    const bool input = side == std::string_view("input");
    for (std::size_t i = 0; i < before.size() || i < after.size(); ++i) {
      if (i >= after.size()) {
        add(side, before[i].name, ChangeKind::removed, describe(before[i]), true,
            input ? "a node that gives it is invalid" : "a node that names it is invalid");
      } else if (i >= before.size()) {
        const bool needed = after[i].kind == ParameterKind::single ||
                            (after[i].kind == ParameterKind::variadic && after[i].min_arity > 0);
        // Trailing outputs may be left out where the schema's least number of them allows it.
        const bool breaking = needed && (input || to_.min_output > static_cast<int>(i));
        add(side, after[i].name, ChangeKind::added, describe(after[i]), breaking,
            breaking ? "a node without it is invalid" : "a node need not have it");
      } else {
        compare_parameter(side, before[i], after[i]);
      }
    }
  }

  static std::string describe(const ParameterInfo& parameter) {
    return fmt::format("{}, {}", kind_text(parameter.kind), parameter.type_str);
  }

  void compare_parameter(const char* side, const ParameterInfo& before, const ParameterInfo& after) {
    if (before.name != after.name) {
      add(side, after.name, ChangeKind::changed, fmt::format("name {} -> {}", before.name, after.name), false,
          "position counts, not the name");
    }
    compare_presence(side, before, after);
    std::vector<std::string> own_before;
    std::vector<std::string> own_after;
    const auto& types_before = types_of(from_, before, own_before);
    const auto& types_after = types_of(to_, after, own_after);
    if (before.type_str == after.type_str) return;  // its constraint tells
    add_types(side, after.name, types_before, types_after);
  }

  void compare_presence(const char* side, const ParameterInfo& before, const ParameterInfo& after) {
    if (before.kind != after.kind) {
      const bool narrower = after.kind == ParameterKind::single || before.kind == ParameterKind::variadic ||
                            (after.kind == ParameterKind::variadic && after.min_arity > 1);
      add(side, after.name, ChangeKind::changed,
          fmt::format("{} -> {}", kind_text(before.kind), kind_text(after.kind)), narrower,
          narrower ? "a node may have left it out, or given more of it" : "what nodes have stays valid");
      return;
    }
    if (after.kind != ParameterKind::variadic) return;
    if (before.min_arity != after.min_arity) {
      add(side, after.name, ChangeKind::changed,
          fmt::format("at least {} -> {}", before.min_arity, after.min_arity),
          after.min_arity > before.min_arity,
          after.min_arity > before.min_arity ? "a node may have fewer" : "what nodes have stays valid");
    }
    if (before.homogeneous != after.homogeneous) {
      add(side, after.name, ChangeKind::changed,
          after.homogeneous ? "types must be equal" : "types may differ", after.homogeneous,
          after.homogeneous ? "a node may have several" : "what nodes have stays valid");
    }
  }

  void add_types(const char* part, const std::string& name, const std::vector<std::string>& before,
                 const std::vector<std::string>& after) {
    const std::vector<std::string> gone = missing_from(before, after);
    const std::vector<std::string> come = missing_from(after, before);
    if (!come.empty()) {
      add(part, name, ChangeKind::changed, fmt::format("also {}", fmt::join(come, ", ")), false,
          "what nodes have stays valid");
    }
    if (!gone.empty()) {
      add(part, name, ChangeKind::changed, fmt::format("no longer {}", fmt::join(gone, ", ")), true,
          "a node with such a type is invalid");
    }
  }

  void compare_constraints() {
    for (const TypeConstraintInfo& before : from_.type_constraints) {
      const auto after = std::ranges::find(to_.type_constraints, before.name, &TypeConstraintInfo::name);
      if (after == to_.type_constraints.end()) {
        add("type constraint", before.name, ChangeKind::removed,
            fmt::format("{}", fmt::join(before.types, ", ")), false,
            "the inputs and outputs that had it say what they take now");
      } else {
        add_constraint_types(before, *after);
      }
    }
    for (const TypeConstraintInfo& after : to_.type_constraints) {
      if (std::ranges::find(from_.type_constraints, after.name, &TypeConstraintInfo::name) !=
          from_.type_constraints.end())
        continue;
      add("type constraint", after.name, ChangeKind::added, fmt::format("{}", fmt::join(after.types, ", ")),
          false, "the inputs and outputs that have it say what they took before");
    }
  }

  // What has the constraint in both versions is judged by it; what has it in one only, by itself.
  void add_constraint_types(const TypeConstraintInfo& before, const TypeConstraintInfo& after) {
    const auto kept_by = [&](const std::vector<ParameterInfo>& a, const std::vector<ParameterInfo>& b) {
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i].type_str == before.name && b[i].type_str == before.name) return true;
      }
      return false;
    };
    if (kept_by(from_.inputs, to_.inputs) || kept_by(from_.outputs, to_.outputs)) {
      add_types("type constraint", before.name, before.types, after.types);
    } else if (!missing_from(before.types, after.types).empty() ||
               !missing_from(after.types, before.types).empty()) {
      add("type constraint", before.name, ChangeKind::changed,
          fmt::format("now {}", fmt::join(after.types, ", ")), false,
          "other inputs and outputs have it now; each says what it takes");
    }
  }

  struct Place {
    const char* side;
    std::size_t index;
  };

  // Inputs and outputs that had types of their own and must be equal now, or the reverse.
  void compare_bindings() {
    std::vector<Place> places;
    for (std::size_t i = 0; i < std::min(from_.inputs.size(), to_.inputs.size()); ++i)
      places.push_back({"input", i});
    for (std::size_t i = 0; i < std::min(from_.outputs.size(), to_.outputs.size()); ++i)
      places.push_back({"output", i});
    std::map<std::pair<std::string, std::string>, std::vector<Place>> groups;  // by both constraints
    for (const Place& place : places) {
      groups[{bound(from_, place), bound(to_, place)}].push_back(place);
    }
    for (auto a = groups.begin(); a != groups.end(); ++a) {
      for (auto b = std::next(a); b != groups.end(); ++b) compare_groups(*a, *b);
    }
  }

  using Group = std::pair<const std::pair<std::string, std::string>, std::vector<Place>>;

  void compare_groups(const Group& a, const Group& b) {
    const bool before = !a.first.first.empty() && a.first.first == b.first.first;
    const bool after = !a.first.second.empty() && a.first.second == b.first.second;
    if (before == after) return;
    const Place& place = b.second.front();
    add(place.side, parameter(to_, place).name, ChangeKind::changed,
        fmt::format("type {} {}", after ? "that of" : "apart from", parameter(to_, a.second.front()).name),
        after, after ? "a node may have two types" : "what nodes have stays valid");
  }

  static const ParameterInfo& parameter(const SchemaInfo& schema, const Place& place) {
    return place.side == std::string_view("input") ? schema.inputs[place.index] : schema.outputs[place.index];
  }

  // The constraint's name, empty for a type that is spelt out and for variadics whose types are free.
  static std::string bound(const SchemaInfo& schema, const Place& place) {
    const ParameterInfo& found = parameter(schema, place);
    if (found.kind == ParameterKind::variadic && !found.homogeneous) return "";
    const bool variable = std::ranges::find(schema.type_constraints, found.type_str,
                                            &TypeConstraintInfo::name) != schema.type_constraints.end();
    return variable ? found.type_str : "";
  }

  // Choices that the texts list; without a list there is nothing to compare.
  void add_values(const char* part, const std::string& name, const std::vector<std::string>& before,
                  const std::vector<std::string>& after) {
    if (before.empty() || after.empty()) return;
    const std::vector<std::string> gone = missing_from(before, after);
    const std::vector<std::string> come = missing_from(after, before);
    if (!come.empty()) {
      add(part, name, ChangeKind::changed, fmt::format("also {}", fmt::join(come, ", ")), false,
          "what nodes have stays valid");
    }
    if (!gone.empty()) {
      add(part, name, ChangeKind::changed, fmt::format("no longer {}", fmt::join(gone, ", ")), true,
          "a node with such a value is invalid");
    }
  }

  void compare_meanings() {
    for (const MeaningChange& change : all_meaning_changes()) {
      if (change.op_type != from_.name || change.domain != from_.domain) continue;
      const bool had = from_.since_version >= change.since;
      const bool has = to_.since_version >= change.since;
      if (had == has) continue;
      const std::string_view reason = has ? change.up : change.down;
      add(std::string(change.part).c_str(), std::string(change.name), ChangeKind::changed,
          fmt::format("{} -> {}", has ? change.before : change.after, has ? change.after : change.before),
          !reason.empty(), std::string(reason.empty() ? "what nodes have stays valid" : reason));
    }
  }

  void compare_texts() {
    bool same = bare(from_.doc) == bare(to_.doc);
    for (const AttributeInfo& before : from_.attributes) {
      const auto after = std::ranges::find(to_.attributes, before.name, &AttributeInfo::name);
      same = same && (after == to_.attributes.end() || bare(before.description) == bare(after->description));
    }
    const auto same_texts = [](const auto& before, const auto& after) {
      for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
        if (bare(before[i].description) != bare(after[i].description)) return false;
      }
      return true;
    };
    diff_.text_changed =
        !same || !same_texts(from_.inputs, to_.inputs) || !same_texts(from_.outputs, to_.outputs);
  }

  const SchemaInfo& from_;
  const SchemaInfo& to_;
  SchemaDiff diff_;
};

}  // namespace

bool SchemaDiff::breaking() const {
  return std::ranges::any_of(changes, &SchemaChange::breaking);
}

SchemaDiff diff_schemas(const SchemaInfo& from, const SchemaInfo& to) {
  return Differ(from, to).diff();
}

const char* change_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::added:
      return "added";
    case ChangeKind::removed:
      return "removed";
    case ChangeKind::changed:
      break;
  }
  return "changed";
}

std::string value_text(const Attribute& value) {
  switch (value.type) {
    case AttributeType::float_:
      return fmt::format("{}", value.f);
    case AttributeType::int_:
      return fmt::format("{}", value.i);
    case AttributeType::string:
      return "\"" + value.s + "\"";
    case AttributeType::floats:
      return fmt::format("[{}]", fmt::join(value.floats, ", "));
    case AttributeType::ints:
      return fmt::format("[{}]", fmt::join(value.ints, ", "));
    case AttributeType::strings: {
      std::string text;
      for (const std::string& item : value.strings) text += (text.empty() ? "\"" : ", \"") + item + "\"";
      return "[" + text + "]";
    }
    default:
      return onnx_io::attribute_type_name(value.type);
  }
}

}  // namespace grurun::opset
