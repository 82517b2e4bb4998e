// Numbers that a model makes and should not: the first node that makes one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/trial.h"

namespace grurun::trial {

/// What numbers are looked for.
enum class Oddity : std::uint8_t { nan, inf, overflow_float16, denormal };

/// What a node was given, where an oddity was found.
struct OddityInput {
  std::string name;
  std::string type;      // "tensor(float) [2,3]"
  std::string range;     // "from -3 to 7", of the finite elements; empty: none
  std::string at_place;  // its element at the oddity's place, where it has that shape; else empty
};

struct FoundOddity {
  std::string label;  // of the node; "weight 'w'", "input 'x'", "constant 'c'" of what is given
  std::string value;
  std::string type;                 // of the value
  std::int64_t count = 0;           // elements that are odd
  std::vector<std::int64_t> index;  // of the first
  std::string element;
  std::vector<OddityInput> inputs;
  bool is_made = true;             // by a node; else it is one of `given`, the first
  std::vector<FoundOddity> given;  // inputs, weights and constants that hold such a number
};

/// The first node that makes such a number from inputs that hold none; without one, the first input, weight
/// or constant that holds one and that a node reads. nullopt: there is none.
std::optional<FoundOddity> find_oddity(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                       Oddity oddity, const Rerun& rerun);

}  // namespace grurun::trial
