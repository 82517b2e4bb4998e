// Which values of two models are to be the same: of a model and its float16, quantized, optimized or
// converted version.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/value_store.h"

namespace grurun::trial {

/// Values of the main graphs that belong together.
class Pairing {
 public:
  /// By name first. Then by structure: a node is paired with one of the same operator that reads the partners
  /// of what it reads, and constants where it does, from the inputs on and from the outputs back; of several
  /// with the one whose attributes and constants are the most alike. Casts between floating types, Identity
  /// and pairs of QuantizeLinear and DequantizeLinear are seen through: what they make has the partner of
  /// what they are given.
  Pairing(const onnx_io::Graph& ours, const onnx_io::Graph& theirs);

  /// The name of the value in the other model; nullptr: none that is known.
  const std::string* partner(const std::string& ours) const;
  /// Whether two makers of other operators have the same name for it, which may mean another value.
  bool is_doubtful(const std::string& ours) const { return doubtful_.contains(ours); }

  /// What the other model makes, which pair_by_numbers needs to know; in any order.
  void note_theirs(const std::string& name, const Value& value);
  /// Finds the value among theirs without a partner that is the same but for small errors: of the same shape,
  /// and of a cosine of 0.99 or more. nullptr: none.
  const std::string* pair_by_numbers(const std::string& name, const Value& ours, const ValueStore& theirs);

  std::size_t by_structure() const { return by_structure_; }
  std::size_t by_numbers() const { return by_numbers_; }

 private:
  void pair_names(const onnx_io::Graph& ours, const onnx_io::Graph& theirs);
  bool pair_forward(const onnx_io::Graph& ours, const onnx_io::Graph& theirs);
  bool pair_backward(const onnx_io::Graph& ours, const onnx_io::Graph& theirs);
  void pair_seen_through(const onnx_io::Graph& ours, const onnx_io::Graph& theirs);
  bool add(const std::string& ours, const std::string& theirs);

  struct Numbers {
    std::string name;
    Shape shape;
    double norm;
  };

  std::unordered_map<std::string, std::string> partners_;
  std::unordered_set<std::string> taken_, doubtful_;
  std::vector<Numbers> numbers_;
  std::size_t by_structure_ = 0, by_numbers_ = 0;
};

}  // namespace grurun::trial
