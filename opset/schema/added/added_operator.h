// Operators that are not ONNX's, in words: a row gives the schema and, where the operator is a composition,
// the nodes of ai.onnx that it is made of. A plan inlines them, so that the standard's kernels compute them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/defs/schema.h"

namespace grurun::opset {

/// The opset of ai.onnx that bodies are written for.
inline constexpr int body_opset = 25;

/// The body depends on the type or shape of an input that is not known; it is built when it is.
struct UnknownType {};

/// What a body may ask of the node that it is built for. Inputs and outputs go by their names in the schema.
class BodyNode {
 public:
  BodyNode(const onnx::FunctionBodyBuildContext& context, const onnx::OpSchema& schema)
      : context_(context), schema_(schema) {}

  bool has(std::string_view input) const;
  bool wants(std::string_view output) const;

  /// How many inputs the node has; those left out count where others follow.
  int input_count() const;

  bool gives(const char* attribute) const;
  /// What the node gives, else the schema's default, else 0 or nothing.
  std::int64_t integer(const char* attribute) const;
  float number(const char* attribute) const;
  std::string text(const char* attribute) const;
  std::vector<std::int64_t> integers(const char* attribute) const;
  std::vector<float> numbers(const char* attribute) const;

  /// Of an input that is given; UnknownType where it is not known.
  std::size_t rank(std::string_view input) const;
  std::int64_t dim(std::string_view input, std::size_t axis) const;
  /// A number of TensorProto.DataType.
  int dtype(std::string_view input) const;

  /// Counts an input as read that is without effect here; why belongs in a comment at the call.
  void accept_input(std::string_view input) const { accepted_.emplace(input); }

  /// Error(unsupported) for an attribute that the node gives, with another value than its default, and that
  /// the body neither asked for nor refers to, and for an input that it does not read.
  void require_all_used(const onnx::FunctionProto& body) const;

 private:
  int index_of(std::string_view input) const;
  const onnx::TypeProto::Tensor& type(std::string_view input) const;
  const onnx::AttributeProto* find(const char* attribute) const;

  const onnx::FunctionBodyBuildContext& context_;
  const onnx::OpSchema& schema_;
  mutable std::set<std::string> asked_;     // attributes
  mutable std::set<std::string> accepted_;  // inputs
};

struct AddedOperator {
  const char* name;
  const char* doc;
  /// "num_heads: int!; scale: float; unidirectional: int = 0": required behind !, else optional.
  const char* attributes;
  /// "X: T; bias: T?; inputs: T...": optional behind ?, the last one variadic behind dots.
  const char* inputs;
  const char* outputs;
  /// "T: float, double; M: int32"
  const char* types;
  /// The nodes as onnx/defs/parser reads them, over the parameters' names; "name_0", "name_1" ... of a
  /// variadic input.
  std::string (*body)(const BodyNode& node);
  /// Where the body depends on shapes; else types and shapes follow from the body.
  void (*infer)(onnx::InferenceContext& context) = nullptr;
};

/// Schemas of version 1 in the domain; the rows stay. file: what OpSchema::file says.
std::vector<onnx::OpSchema> schemas_of(std::span<const AddedOperator> rows, const char* domain,
                                       const char* file = "");

/// "[2, 3]" of 2 and 3.
std::string list_text(const std::vector<std::int64_t>& numbers);

}  // namespace grurun::opset
