// What values turn out to be when a model runs, against what it declares and what inference found.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx_io/models/model.h"
#include "opset/check/check.h"
#include "tensor/value.h"

namespace grurun::opset {

/// Watches the values of a main graph. A name of a dimension means one size in the whole run: the first value
/// that is seen with it binds it.
class ActualTypes {
 public:
  /// inferred may be empty. graph must outlive this.
  ActualTypes(const onnx_io::Graph& graph, std::map<std::string, ValueType> inferred);

  /// Whether a value of this name is compared with anything.
  bool watches(const std::string& name) const { return declared_.contains(name) || inferred_.contains(name); }

  /// The first time that a name is seen counts. Only tensors have a shape to compare.
  void see(const std::string& name, const Value& value);

  const std::vector<Finding>& findings() const { return findings_; }

 private:
  struct Bound {
    std::int64_t size;
    std::string by;  // the value that bound it
  };

  /// What contradicts the type, or nothing.
  std::string contradiction(const ValueType& type, const std::string& name, const Value& value);

  std::unordered_map<std::string, const ValueType*> declared_;
  std::map<std::string, ValueType> inferred_;
  std::unordered_map<std::string, Bound> bound_;
  std::unordered_set<std::string> seen_;
  std::vector<Finding> findings_;
};

}  // namespace grurun::opset
