// Exact versions: which schema a node means under the opset its model imports, through ONNX's schema
// registry.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/dtype.h"
#include "tensor/value_type.h"

namespace grurun::opset {

struct AttributeInfo {
  std::string name;
  std::string description;
  onnx_io::AttributeType type;
  bool required;
  std::optional<onnx_io::Attribute> default_value;
};

enum class ParameterKind { single, optional, variadic };

/// "single", "optional", "variadic".
const char* kind_name(ParameterKind kind);

struct ParameterInfo {
  std::string name;
  std::string description;
  std::string type_str;  // "T" (a constraint's name) or a type, "tensor(int64)"
  ParameterKind kind;
  bool homogeneous;  // variadic only
  int min_arity;     // variadic only
};

/// That of input (or output) number index: the last variadic one repeats. nullptr: there is none.
const ParameterInfo* parameter_at(const std::vector<ParameterInfo>& parameters, std::size_t index);

struct TypeConstraintInfo {
  std::string name;
  std::string description;
  std::vector<std::string> types;  // "tensor(float)", "seq(tensor(int64))", ...
};

/// One schema: an operator as one version of the standard defines it.
struct SchemaInfo {
  std::string domain;
  std::string name;
  int since_version;
  bool deprecated;
  bool experimental;
  bool has_function_body;
  bool has_shape_inference;
  std::string doc;
  std::vector<AttributeInfo> attributes;
  std::vector<ParameterInfo> inputs;
  std::vector<ParameterInfo> outputs;
  std::vector<TypeConstraintInfo> type_constraints;
  int min_input;
  int max_input;
  int min_output;
  int max_output;

  /// The types of a parameter's constraint, or the one that it states itself.
  std::span<const std::string> types_of(const ParameterInfo& parameter) const;

  /// Element types of tensor(...) that input (or output) number index may have. Empty where no tensor may
  /// stand.
  DTypeSet input_dtypes(std::size_t index) const;
  DTypeSet output_dtypes(std::size_t index) const;
};

/// The newest schema with since_version <= opset_version; nullptr when the registry knows none, or when
/// opset_version is newer than newest_opset(domain). A deprecated schema is returned as such. The pointer
/// stays valid and equal for the same schema until the process ends.
const SchemaInfo* find_schema(const std::string& op_type, const std::string& domain,
                              std::int64_t opset_version);

/// since_version only, without building SchemaInfo: what the plan needs for every node. nullopt when
/// find_schema has none.
std::optional<int> since_version(const std::string& op_type, const std::string& domain,
                                 std::int64_t opset_version);

/// All versions of an operator, newest first; every domain is searched when domain is nullptr.
std::vector<const SchemaInfo*> schema_versions(const std::string& op_type,
                                               const std::string* domain = nullptr);

/// Every schema of every domain and version, by domain and name, newest first; without the experimental ones
/// of early releases (experimental.h), which are found by name only.
std::vector<const SchemaInfo*> all_schemas();

/// The newest opset version that the registry has for a domain; nullopt for an unknown domain.
std::optional<std::int64_t> newest_opset(const std::string& domain);

/// Domains with a known operator set, "" first.
std::vector<std::string> known_domains();

/// The schema's function body for this node, or nullopt when there is none. A body that does not depend on
/// types needs no input_types; one that does is built for them (input_types[i] of an omitted input has kind
/// unknown). Of several bodies it is the newest that opset_version allows, and it imports the opset it was
/// written for, which may be older than opset_version. Inputs and outputs are named as the schema's
/// parameters, in order; attributes with a default in the schema are in attribute_defaults, the others in
/// attributes.
std::optional<onnx_io::Function> function_body(const onnx_io::Node& node, std::int64_t opset_version,
                                               const std::vector<ValueType>& input_types);

/// True when the schema's function body is built from the input types, so that they must be known.
bool function_body_needs_types(const std::string& op_type, const std::string& domain,
                               std::int64_t opset_version);

}  // namespace grurun::opset
