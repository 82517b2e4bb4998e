// What versions of an operator mean differently by their texts, where their schemas are alike.
#pragma once

#include <span>
#include <string_view>

namespace grurun::opset {

/// From the version since on. A reason says why a node that keeps still may break in that direction; an empty
/// one, that it does not.
struct MeaningChange {
  std::string_view domain;
  std::string_view op_type;
  int since;
  std::string_view part;  // as SchemaChange
  std::string_view name;
  std::string_view before;
  std::string_view after;
  std::string_view up;    // to since or a later version
  std::string_view down;  // to a version before it
};

std::span<const MeaningChange> all_meaning_changes();

/// The reason for which a node without an attribute that the version to adds, and the version from does not
/// have, means something else by its default; nullptr for none.
const char* default_changes_meaning(std::string_view op_type, std::string_view attribute);

}  // namespace grurun::opset
