// What the standard says of an operator that a plan needs to know: made at build time from ONNX's registry
// (generate/write_signatures.cc), because filling the registry is most of what starting on a small model
// costs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "opset/schema/parameter_types.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

struct SignatureInput {
  const char* name;
  ParameterKind kind;
  bool homogeneous;    // variadic only
  const char* type;    // "T" or a type, "tensor(int64)"
  bool is_constraint;  // type is the name of a type constraint
  ParameterTypes types;
};

struct SignatureOutput {
  const char* name;
  ParameterKind kind;
  ParameterTypes types;
};

struct SignatureAttribute {
  const char* name;
  onnx_io::AttributeType type;
  bool required;
};

struct Signature {
  int since_version;
  int min_input;
  int max_input;
  int min_output;
  int max_output;
  bool has_function_body;
  bool deprecated;
  std::span<const SignatureInput> inputs;
  std::span<const SignatureOutput> outputs;
  std::span<const SignatureAttribute> attributes;
};

/// All versions of one operator.
struct Signatures {
  std::string_view domain;
  std::string_view op_type;
  bool experimental = false;  // no release defines it for good: see experimental.h
  int newest_opset = 0;       // of its domain; the last that knows it where that is known to be an older one
  std::span<const Signature> versions;  // oldest first; empty when the registry does not know the operator
};

struct DomainRow {
  std::string_view domain;
  int newest_opset;
};

std::span<const Signatures> signature_table();  // sorted by domain and op_type
std::span<const DomainRow> domain_table();      // sorted

/// The reference stays valid until the process ends. A domain may be spelt "" or "ai.onnx".
const Signatures& signatures(const std::string& op_type, const std::string& domain);

/// The newest version with since_version <= opset_version; nullptr when there is none, or when opset_version
/// is newer than the newest known.
const Signature* find_signature(const std::string& op_type, const std::string& domain,
                                std::int64_t opset_version);

}  // namespace grurun::opset
