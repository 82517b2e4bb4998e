#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "opset/diff/schema_changes.h"

namespace grurun::opset {

namespace {

const char* kind_text(ParameterKind kind) {
  return kind == ParameterKind::single ? "required" : kind_name(kind);
}

class ParameterDiff {
 public:
  ParameterDiff(const SchemaInfo& from, const SchemaInfo& to, SchemaChanges& changes)
      : from_(from), to_(to), changes_(changes) {}

  void compare() {
    compare_parameters("input", from_.inputs, to_.inputs);
    compare_parameters("output", from_.outputs, to_.outputs);
    compare_constraints();
    compare_bindings();
  }

 private:
  void compare_parameters(const char* side, const std::vector<ParameterInfo>& before,
                          const std::vector<ParameterInfo>& after) {
    const bool input = side == std::string_view("input");
    for (std::size_t i = 0; i < before.size() || i < after.size(); ++i) {
      if (i >= after.size()) {
        changes_.add(side, before[i].name, ChangeKind::removed, describe(before[i]), true,
                     input ? "a node that gives it is invalid" : "a node that names it is invalid");
      } else if (i >= before.size()) {
        const bool needed = after[i].kind == ParameterKind::single ||
                            (after[i].kind == ParameterKind::variadic && after[i].min_arity > 0);
        // Trailing outputs may be left out where the schema's least number of them allows it.
        const bool breaking = needed && (input || to_.min_output > static_cast<int>(i));
        changes_.add(side, after[i].name, ChangeKind::added, describe(after[i]), breaking,
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
      changes_.add(side, after.name, ChangeKind::changed,
                   fmt::format("name {} -> {}", before.name, after.name), false,
                   "position counts, not the name");
    }
    compare_presence(side, before, after);
    if (before.type_str == after.type_str) return;  // its constraint tells
    add_types(side, after.name, from_.types_of(before), to_.types_of(after));
  }

  void compare_presence(const char* side, const ParameterInfo& before, const ParameterInfo& after) {
    if (before.kind != after.kind) {
      const bool narrower = after.kind == ParameterKind::single || before.kind == ParameterKind::variadic ||
                            (after.kind == ParameterKind::variadic && after.min_arity > 1);
      changes_.add(
          side, after.name, ChangeKind::changed,
          fmt::format("{} -> {}", kind_text(before.kind), kind_text(after.kind)), narrower,
          narrower ? "a node may have left it out, or given more of it" : "what nodes have stays valid");
      return;
    }
    if (after.kind != ParameterKind::variadic) return;
    if (before.min_arity != after.min_arity) {
      changes_.add(
          side, after.name, ChangeKind::changed,
          fmt::format("at least {} -> {}", before.min_arity, after.min_arity),
          after.min_arity > before.min_arity,
          after.min_arity > before.min_arity ? "a node may have fewer" : "what nodes have stays valid");
    }
    if (before.homogeneous != after.homogeneous) {
      changes_.add(side, after.name, ChangeKind::changed,
                   after.homogeneous ? "types must be equal" : "types may differ", after.homogeneous,
                   after.homogeneous ? "a node may have several" : "what nodes have stays valid");
    }
  }

  void add_types(const char* part, const std::string& name, std::span<const std::string> before,
                 std::span<const std::string> after) {
    changes_.add_choices(part, name, before, after, "a node with such a type is invalid");
  }

  void compare_constraints() {
    for (const TypeConstraintInfo& before : from_.type_constraints) {
      const auto after = std::ranges::find(to_.type_constraints, before.name, &TypeConstraintInfo::name);
      if (after == to_.type_constraints.end()) {
        changes_.add("type constraint", before.name, ChangeKind::removed,
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
      changes_.add("type constraint", after.name, ChangeKind::added,
                   fmt::format("{}", fmt::join(after.types, ", ")), false,
                   "the inputs and outputs that have it say what they took before");
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
      changes_.add("type constraint", before.name, ChangeKind::changed,
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
    changes_.add(
        place.side, parameter(to_, place).name, ChangeKind::changed,
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

  const SchemaInfo& from_;
  const SchemaInfo& to_;
  SchemaChanges& changes_;
};

}  // namespace

void diff_parameters(const SchemaInfo& from, const SchemaInfo& to, SchemaChanges& changes) {
  ParameterDiff(from, to, changes).compare();
}

}  // namespace grurun::opset
