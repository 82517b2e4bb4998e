// Which values of two models are to be the same: of a model and its float16, quantized, optimized or
// converted version.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/value_store.h"

namespace grurun::trial {

class GraphSources;

/// Values of two graphs that belong together, and those of the bodies of nodes that do.
class Pairing {
 public:
  /// By name first. Then by structure: a node is paired with one of the same operator that reads the partners
  /// of what it reads, and constants where it does, from the inputs on and from the outputs back; of several
  /// with the one whose attributes and constants are the most alike. Casts between floating types, Identity,
  /// QuantizeLinear and DequantizeLinear are seen through: what they make has the partner of what they are
  /// given. An operator on quantized values is one with that on floats that it stands for (float_form), and
  /// with the Relu or Clip behind, where its own model has none.
  Pairing(const onnx_io::Graph& ours, const onnx_io::Graph& theirs);
  ~Pairing();
  Pairing(Pairing&& other) noexcept;
  Pairing& operator=(Pairing&& other) noexcept;

  /// The name of the value in the other model, "loop/3/h" of bodies; nullopt: none that is known.
  std::optional<std::string> partner(const std::string& ours) const;
  /// Whether two makers of other operators have the same name for it, which may mean another value.
  bool is_doubtful(const std::string& ours) const { return doubtful_.contains(ours); }

  /// What the other model makes, which pair_by_numbers needs to know; in any order.
  void note_theirs(const std::string& name, const Value& value);
  /// Finds the value among theirs without a partner that is the same but for small errors: of the same shape,
  /// and of a cosine of 0.99 or more. nullopt: none.
  std::optional<std::string> pair_by_numbers(const std::string& name, const Value& ours,
                                             const ValueStore& theirs);

  std::size_t by_structure() const;
  std::size_t by_numbers() const { return by_numbers_; }

 private:
  struct Bodies;

  /// Of two bodies; outer: what is paired around them.
  Pairing(const GraphSources& ours, const GraphSources& theirs, const Pairing& outer);

  void pair_all(const GraphSources& ours, const GraphSources& theirs);
  void pair_inputs(const GraphSources& ours, const GraphSources& theirs);
  void pair_names(const GraphSources& ours, const GraphSources& theirs);
  bool pair_forward(const GraphSources& ours, const GraphSources& theirs);
  bool pair_backward(const GraphSources& ours, const GraphSources& theirs);
  void pair_seen_through(const GraphSources& ours, const GraphSources& theirs);
  void pair_bodies(const GraphSources& ours, const GraphSources& theirs);
  bool add(const std::string& ours, const std::string& theirs);
  /// The partner in this graph or in those around it.
  const std::string* known_partner(const std::string& ours) const;

  struct Numbers {
    std::string name;
    Shape shape;
    double norm;
  };

  const Pairing* outer_ = nullptr;  // while bodies are paired
  std::unordered_map<std::string, std::string> partners_;
  std::unordered_set<std::string> taken_, doubtful_;
  std::vector<Bodies> bodies_;
  std::vector<Numbers> numbers_;
  std::size_t by_structure_ = 0, by_numbers_ = 0;
};

/// The other model with the model's names for the values that are paired with its own; bodies keep theirs.
onnx_io::Model with_names_of(const onnx_io::Model& model, const onnx_io::Model& other);

}  // namespace grurun::trial
