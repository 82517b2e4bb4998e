// A layer of DynamicQuantizeLSTM for tests: its inputs by chance, its equations, and its node.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/engine/one_node.h"

namespace grurun::engine::testing {

using FloatValues = std::vector<float>;
using Bytes = std::vector<int>;

struct QuantizedCase {
  std::string what;
  std::string direction = "forward";
  std::vector<std::int32_t> lengths = {};  // empty: left out
  bool is_signed = true, by_column = false, B = true, P = false, initial = true, input_forget = false;
  float clip = INFINITY;
  bool constant = true;                       // weights are initializers
  std::vector<std::string> activations = {};  // of one direction
};

/// Inputs as the operator takes them: X [steps, batch, input], W [D, input, columns] and so on.
struct QuantizedProblem {
  static constexpr int steps = 4, batch = 2, input = 3, hidden = 3, columns = 4 * hidden;

  QuantizedCase c;
  int directions;
  FloatValues X, B, P, initial_h, initial_c, W_scale, R_scale;
  Bytes W, R, W_zero_point, R_zero_point;

  QuantizedProblem(QuantizedCase given, std::uint64_t seed);

  int length(int row) const { return c.lengths.empty() ? steps : c.lengths[static_cast<std::size_t>(row)]; }
};

struct QuantizedResult {
  FloatValues Y, Y_h, Y_c;
  double margin = 1;  // the least distance of a quotient from a tie
};

/// By the equations, element by element.
QuantizedResult compute(const QuantizedProblem& problem);

OneNode quantized_node(const QuantizedProblem& problem);

}  // namespace grurun::engine::testing
