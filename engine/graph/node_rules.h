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
#include "opset/findings/rules.h"
#include "opset/pages/node_facts.h"
#include "opset/schema/signature.h"
#include "tensor/error.h"

namespace grurun::engine {

/// "GRU-14", "com.example.Foo-1"; without the number when since_version is 0.
std::string op_label(const onnx_io::Node& node, int since_version);

/// "node 'path/gru_1' (GRU-14)"; a node without a name is called by its first output.
std::string node_label(const onnx_io::Node& node, const std::string& path, int since_version);

/// What the standard says of the node under the opset that its scope imports; nullptr where it does not know
/// the operator.
const opset::Signature* find_signature(const onnx_io::Node& node, const Scope& scope);

/// The opset version under which the node's domain is read in this scope. Throws RuleError when opset_import
/// does not name the domain, Error(unsupported) when the version is newer than the newest known.
std::int64_t imported_version(const onnx_io::Node& node, const Scope& scope);

/// The since_version in the operator tables of what is outside the standard. Throws Error(unsupported) when
/// they have none.
int custom_version(const onnx_io::Node& node, std::int64_t opset_version);

/// The node with attribute references replaced by the calling node's attributes; references to attributes
/// that the caller leaves out, and that have no default, go. nullopt: nothing to replace.
std::optional<onnx_io::Node> resolve_references(const onnx_io::Node& node, const Scope& scope);

/// ModelProto.functions: "The (domain, name, overload) tuple must be unique across the function protos in
/// this list."
void require_unique(const std::vector<onnx_io::Function>& functions);

/// Throws RuleError for what types and the operator's page say of these facts, and notes forms.
void require_facts(const opset::NodeFacts& facts);

/// Tells the thread's FormWatch of forms that the facts show and that are taken all the same. label: of the
/// node, as node_label gives it. Throws RuleError where such forms are refused.
void note_forms(const opset::NodeFacts& facts, const std::string& label);

/// Throws RuleError instead of the Refusal with which the node's kernel has refused it: with what the
/// operator's page says of these facts. Returns where the page says nothing, where the error is another, or
/// where it came up in a node within this one. (An Error(invalid_model) of a kernel that still has words is
/// told in these where the page has none.)
void refuse_by_rule(const Error& error, const opset::NodeFacts& facts, opset::Rule otherwise);

/// What the standard and the kernel admit for the first count inputs.
std::vector<InputRule> input_rules(const opset::Signature& signature, const OpRow& row, std::size_t count);

/// What a run is to check of the inputs in these slots. constants: by input its value, if that is known now,
/// else nullptr.
std::vector<TypeCheck> type_checks(const std::vector<InputRule>& rules, const std::vector<int>& slots,
                                   const std::vector<const Value*>& constants);

/// Throws RuleError for what a check finds in the operator, its attributes, the numbers of inputs and
/// outputs and the type that an attribute chooses. signature: as find_signature gives it.
void require_rules(const onnx_io::Node& node, const Scope& scope, const opset::Signature* signature);

}  // namespace grurun::engine
