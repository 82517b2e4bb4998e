#include "opset/schema/attribute_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "opset/findings/labels.h"
#include "opset/schema/near_match.h"

namespace grurun::opset {

namespace {

using onnx_io::Attribute;

// "; GRU-14 has it: import opset 14 or newer", "; did you mean 'clip'?", or nothing: about an attribute that
// the schema does not have.
std::string attribute_hint(const SchemaInfo& schema, const std::string& name) {
  std::string newer;
  std::string older;
  for (const SchemaInfo* version : schema_versions(schema.name, &schema.domain)) {  // newest first
    if (find_attribute(*version, name) == nullptr) continue;
    if (version->since_version > schema.since_version) {
      newer = fmt::format("; {}-{} has it: import opset {} or newer", schema.name, version->since_version,
                          version->since_version);
    } else if (older.empty()) {
      older = fmt::format("; the last version that had it is {}-{}", schema.name, version->since_version);
    }
  }
  if (!newer.empty()) return newer;
  // Of versions that have the input, the first.
  const auto takes = [&](const SchemaInfo* version) {
    return std::ranges::find(version->inputs, name, &ParameterInfo::name) != version->inputs.end();
  };
  if (takes(&schema)) {
    const auto versions = schema_versions(schema.name, &schema.domain);
    const auto first = std::ranges::find_if(versions.rbegin(), versions.rend(), takes);
    return fmt::format("; it is an input since {}-{}", schema.name, (*first)->since_version);
  }
  if (!older.empty()) return older;
  std::vector<std::string> names;
  for (const AttributeInfo& attribute : schema.attributes) names.push_back(attribute.name);
  return did_you_mean(near_matches(name, names));
}

std::string op_of(const SchemaInfo& schema) {
  return op_label(schema.domain, schema.name, schema.since_version);
}

}  // namespace

const AttributeInfo* find_attribute(const SchemaInfo& schema, const std::string& name) {
  const auto found = std::ranges::find(schema.attributes, name, &AttributeInfo::name);
  return found == schema.attributes.end() ? nullptr : &*found;
}

bool is_internal_attribute(const std::string& name) {
  return name.starts_with("__");
}

std::vector<AttributeFault> judge_attributes(const SchemaInfo& schema,
                                             const std::vector<Attribute>& attributes) {
  using Kind = AttributeFault::Kind;
  std::vector<AttributeFault> faults;
  std::unordered_set<std::string_view> seen;
  for (const Attribute& attribute : attributes) {
    const std::string& name = attribute.name;
    if (!seen.insert(name).second) {
      faults.push_back({Kind::given_twice, name, fmt::format("attribute '{}' is given twice", name)});
      continue;
    }
    const AttributeInfo* known = find_attribute(schema, name);
    if (known == nullptr) {
      if (is_internal_attribute(name)) continue;
      faults.push_back(
          {Kind::unknown, name,
           fmt::format("{} has no attribute '{}'{}", op_of(schema), name, attribute_hint(schema, name))});
    } else if (attribute.type != known->type) {
      faults.push_back({Kind::wrong_type, name,
                        fmt::format("attribute '{}' is {}, {} wants {}", name,
                                    onnx_io::attribute_type_name(attribute.type), op_of(schema),
                                    onnx_io::attribute_type_name(known->type))});
    }
  }
  return faults;
}

}  // namespace grurun::opset
