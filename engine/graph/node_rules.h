// What a node means before it is planned: its exact version, its attributes inside a function, what its
// schema demands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/graph/op_registry.h"
#include "engine/graph/plan.h"
#include "engine/graph/scope.h"
#include "onnx_io/models/model.h"
#include "opset/schema/signature.h"

namespace grurun::engine {

/// "GRU-14", "com.example.Foo-1"; without the number when since_version is 0.
std::string op_label(const onnx_io::Node& node, int since_version);

/// "node 'path/gru_1' (GRU-14)"; a node without a name is called by its first output.
std::string node_label(const onnx_io::Node& node, const std::string& path, int since_version);

/// The opset version under which the node's domain is read in this scope. Throws Error(invalid_model) when
/// opset_import does not name the domain, Error(unsupported) when the version is newer than the newest known.
std::int64_t imported_version(const onnx_io::Node& node, const Scope& scope);

/// The since_version of the schema, or of the operator tables for domains outside the standard.
/// Throws Error(invalid_model) when a domain of the standard has no such operator in that opset,
/// Error(unsupported) when no table has one of another domain.
int resolved_version(const onnx_io::Node& node, std::int64_t opset_version);

/// The node with attribute references replaced by the calling node's attributes; references to attributes
/// that the caller leaves out, and that have no default, go. nullopt: nothing to replace.
std::optional<onnx_io::Node> resolve_references(const onnx_io::Node& node, const Scope& scope);

/// What the standard and the kernel admit for the first count inputs.
std::vector<InputRule> input_rules(const opset::Signature& signature, const OpRow& row, std::size_t count);

/// What a run is to check of the inputs in these slots. constants: by input its value, if that is known now,
/// else nullptr.
std::vector<TypeCheck> type_checks(const std::vector<InputRule>& rules, const std::vector<int>& slots,
                                   const std::vector<const Value*>& constants);

/// Throws Error(invalid_model) when the node has fewer or more inputs or outputs than the standard states, or
/// omits a required one.
void check_counts(const onnx_io::Node& node, const opset::Signature& signature);

/// Throws Error(invalid_model) for an attribute that this version does not have or that is given twice, for a
/// required one that is missing, and for one that names a type which the version does not make.
void check_attributes(const onnx_io::Node& node, const opset::Signature& signature);

}  // namespace grurun::engine
