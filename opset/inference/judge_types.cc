#include "opset/inference/judge_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "opset/findings/rule_error.h"
#include "opset/recurrent/recurrent_form.h"
#include "opset/recurrent/recurrent_rules.h"

namespace grurun::opset {

namespace {

// Schemas write "map(int64, float)" for what a value's type spells "map(int64,tensor(float))".
std::string spelled_out(std::string type) {
  std::erase(type, ' ');
  const std::size_t comma = type.find(',');
  if (comma == std::string::npos || type.compare(comma + 1, 7, "tensor(") == 0) return type;
  type.insert(comma + 1, "tensor(");
  type.insert(type.find(')', comma), ")");
  return type;
}

bool admits(std::span<const std::string> types, const std::string& type) {
  const auto is_type = [&](const std::string& each) { return spelled_out(each) == spelled_out(type); };
  return std::ranges::find(types, type) != types.end() || std::ranges::any_of(types, is_type);
}

std::string list_types(std::span<const std::string> types) {
  std::vector<std::string_view> names(types.begin(), types.end());
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_recurrent(const SchemaInfo& schema) {
  return find_recurrent_form(schema.name, schema.domain) != nullptr;
}

const RuleInfo& admitted_rule(const SchemaInfo& schema, const ParameterInfo& parameter) {
  if (is_recurrent(schema)) {
    return recurrent_rule(schema.name,
                          parameter.type_str == "T1" ? RecurrentRule::type_T1 : RecurrentRule::type_T);
  }
  const bool old_constant = schema.name == "Constant" && schema.since_version == 1;
  return rule_info(old_constant ? Rule::constant_type : Rule::type_admitted);
}

// "; GRU-22 admits it: import opset 22 or newer", "; Cast it" where one type of tensor is admitted, or
// nothing.
std::string type_hint(const SchemaInfo& schema, bool input, std::size_t index, const std::string& type) {
  const std::vector<const SchemaInfo*> versions = schema_versions(schema.name, &schema.domain);
  for (auto at = versions.rbegin(); at != versions.rend(); ++at) {
    const SchemaInfo& newer = **at;
    if (newer.since_version <= schema.since_version) continue;
    const ParameterInfo* parameter = parameter_at(input ? newer.inputs : newer.outputs, index);
    if (parameter == nullptr || !admits(newer.types_of(*parameter), type)) continue;
    return fmt::format("; {}-{} admits it: import opset {} or newer", schema.name, newer.since_version,
                       newer.since_version);
  }
  const ParameterInfo* own = parameter_at(input ? schema.inputs : schema.outputs, index);
  const auto admitted = own == nullptr ? std::span<const std::string>() : schema.types_of(*own);
  const bool can_cast =
      input && admitted.size() == 1 && type.starts_with("tensor(") && admitted[0].starts_with("tensor(");
  return can_cast ? "; Cast it" : "";
}

// "input X", and "input" of one that is named so.
std::string labelled(const std::string& side, const std::string& name) {
  return name == side ? side : side + " " + name;
}

class TypeJudge {
 public:
  explicit TypeJudge(const SchemaInfo& schema) : schema_(schema) {}

  void judge(bool input, std::size_t index, const std::string* type) {
    const ParameterInfo* parameter = parameter_at(input ? schema_.inputs : schema_.outputs, index);
    if (parameter == nullptr || type == nullptr) return;
    const std::string name = labelled(input ? "input" : "output", parameter->name);
    const auto admitted = schema_.types_of(*parameter);
    if (!admits(admitted, *type)) {
      add(admitted_rule(schema_, *parameter),
          fmt::format("{} is {}; {}-{} admits {}{}", name, *type, schema_.name, schema_.since_version,
                      list_types(admitted), type_hint(schema_, input, index, *type)));
      return;
    }
    if (parameter->kind == ParameterKind::variadic && !parameter->homogeneous) return;
    const auto [first, added] = bound_.try_emplace(parameter->type_str, Bound{type, name});
    if (added || *first->second.type == *type) return;
    add(is_recurrent(schema_) ? recurrent_rule(schema_.name, RecurrentRule::same_type)
                              : rule_info(Rule::type_bound),
        fmt::format("{} is {}, but {} is {}; both are {} of {}-{} and must be the same", name, *type,
                    first->second.parameter, *first->second.type, parameter->type_str, schema_.name,
                    schema_.since_version));
  }

  std::vector<TypeViolation> violations;

 private:
  struct Bound {
    const std::string* type;
    std::string parameter;
  };

  void add(const RuleInfo& rule, std::string message) { violations.push_back({&rule, std::move(message)}); }

  const SchemaInfo& schema_;
  std::unordered_map<std::string_view, Bound> bound_;  // by the constraint
};

}  // namespace

std::vector<TypeViolation> judge_types(const SchemaInfo& schema, const Spellings& inputs,
                                       const Spellings& outputs) {
  TypeJudge judge(schema);
  for (std::size_t i = 0; i < inputs.size(); ++i) judge.judge(true, i, inputs[i]);
  for (std::size_t i = 0; i < outputs.size(); ++i) judge.judge(false, i, outputs[i]);
  return std::move(judge.violations);
}

void require_types(const SchemaInfo& schema, const Spellings& inputs, const Spellings& outputs) {
  for (const TypeViolation& found : judge_types(schema, inputs, outputs)) {
    if (found.rule->severity == Severity::error) throw RuleError(found.message, found.rule->code);
  }
}

}  // namespace grurun::opset
