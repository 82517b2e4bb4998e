// The parts that diff_schemas puts together.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "opset/diff/schema_diff.h"

namespace grurun::opset {

class SchemaChanges {
 public:
  void add(std::string part, std::string name, ChangeKind kind, std::string what, bool breaking,
           std::string reason) {
    changes_.push_back(
        {std::move(part), std::move(name), kind, std::move(what), breaking, std::move(reason)});
  }
  /// What a list has gained, and what it has lost: a node that has such a thing is invalid, which `lost`
  /// says.
  void add_choices(const std::string& part, const std::string& name, std::span<const std::string> before,
                   std::span<const std::string> after, const std::string& lost);
  std::vector<SchemaChange> take() { return std::move(changes_); }

 private:
  std::vector<SchemaChange> changes_;
};

/// Those of `all` that are not in the other list.
std::vector<std::string> missing_from(std::span<const std::string> all, std::span<const std::string> in);

/// Attributes that come, go, or change their type, default or named values.
void diff_attributes(const SchemaInfo& from, const SchemaInfo& to, SchemaChanges& changes);

/// Inputs and outputs, their type constraints, and which of them must be of one type.
void diff_parameters(const SchemaInfo& from, const SchemaInfo& to, SchemaChanges& changes);

}  // namespace grurun::opset
