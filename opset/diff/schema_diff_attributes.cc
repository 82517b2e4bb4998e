#include <fmt/format.h>

#include <cctype>

#include "onnx_io/models/attribute_text.h"
#include "opset/diff/meaning_changes.h"
#include "opset/diff/schema_changes.h"
#include "opset/pages/attribute_values.h"
#include "opset/schema/attribute_faults.h"

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::AttributeType;

std::string presence(const AttributeInfo& attribute) {
  if (attribute.required) return "required";
  return attribute.default_value ? "default " + onnx_io::attribute_text(*attribute.default_value)
                                 : "optional";
}

class AttributeDiff {
 public:
  AttributeDiff(const SchemaInfo& from, const SchemaInfo& to, SchemaChanges& changes)
      : from_(from), to_(to), changes_(changes) {}

  void compare() {
    for (const AttributeInfo& attribute : from_.attributes) {
      if (const AttributeInfo* found = find_attribute(to_, attribute.name)) {
        compare_attribute(attribute, *found);
      } else {
        changes_.add("attribute", attribute.name, ChangeKind::removed, describe(attribute), true,
                     "a node that has it is invalid");
      }
    }
    for (const AttributeInfo& attribute : to_.attributes) {
      if (find_attribute(from_, attribute.name) != nullptr) continue;
      const char* other = default_changes_meaning(to_.name, attribute.name);
      changes_.add("attribute", attribute.name, ChangeKind::added, describe(attribute),
                   attribute.required || other != nullptr,
                   attribute.required        ? "a node without it is invalid"
                   : other != nullptr        ? other
                   : attribute.default_value ? "a node without it has its default"
                                             : "a node need not have it");
    }
  }

 private:
  static std::string describe(const AttributeInfo& attribute) {
    return fmt::format("{}, {}", onnx_io::attribute_type_name(attribute.type), presence(attribute));
  }

  void compare_attribute(const AttributeInfo& before, const AttributeInfo& after) {
    if (before.type != after.type) {
      changes_.add("attribute", after.name, ChangeKind::changed,
                   fmt::format("{} -> {}", onnx_io::attribute_type_name(before.type),
                               onnx_io::attribute_type_name(after.type)),
                   true, "a node that has it is invalid");
    }
    compare_values(before, after);
    const std::string old_presence = presence(before);
    const std::string new_presence = presence(after);
    if (old_presence == new_presence) return;
    const std::string what = fmt::format("{} -> {}", old_presence, new_presence);
    if (after.required) {
      changes_.add("attribute", after.name, ChangeKind::changed, what, true, "a node without it is invalid");
    } else if (before.required) {
      changes_.add("attribute", after.name, ChangeKind::changed, what, false, "every node has it");
    } else if (names_as_default(before, after)) {
      changes_.add("attribute", after.name, ChangeKind::changed, what, false,
                   fmt::format("the text of {} names {} as the default; the schema misspelt it", label(from_),
                               after.default_value->s));
    } else if (names_as_default(after, before)) {
      changes_.add("attribute", after.name, ChangeKind::changed, what, false,
                   fmt::format("the text of {} names {} as the default; the schema misspells it", label(to_),
                               before.default_value->s));
    } else {
      changes_.add("attribute", after.name, ChangeKind::changed, what, true,
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

  // Choices that the texts list; without a list there is nothing to compare.
  void compare_values(const AttributeInfo& before, const AttributeInfo& after) {
    const auto listed_before = listed_values(from_.domain, from_.name, before.name, from_.since_version);
    const auto listed_after = listed_values(to_.domain, to_.name, after.name, to_.since_version);
    if (listed_before.empty() || listed_after.empty()) return;
    changes_.add_choices("attribute", after.name, listed_before, listed_after,
                         "a node with such a value is invalid");
  }

  static std::string label(const SchemaInfo& schema) {
    return fmt::format("version {}", schema.since_version);
  }

  const SchemaInfo& from_;
  const SchemaInfo& to_;
  SchemaChanges& changes_;
};

}  // namespace

void diff_attributes(const SchemaInfo& from, const SchemaInfo& to, SchemaChanges& changes) {
  AttributeDiff(from, to, changes).compare();
}

}  // namespace grurun::opset
