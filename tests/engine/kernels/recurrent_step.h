// Steps of recurrent layers with drawn numbers, for tests of their kernels.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/gates/recurrent.h"
#include "engine/kernels/gates/recurrent_scalar.h"
#include "tests/sample.h"

namespace grurun::kernels {

struct Sizes {
  int64_t rows, input_size, hidden_size;
};

inline constexpr Sizes cell_sizes[] = {{1, 1, 1},    {1, 3, 16},   {2, 5, 15},   {3, 40, 17}, {1, 16, 64},
                                       {5, 7, 48},   {1, 20, 80},  {8, 12, 100}, {9, 2, 130}, {17, 30, 33},
                                       {33, 9, 112}, {1, 50, 150}, {16, 5, 140}, {33, 9, 130}};

inline constexpr ActivationKind kinds[] = {
    ActivationKind::relu,        ActivationKind::tanh,         ActivationKind::sigmoid,
    ActivationKind::affine,      ActivationKind::leaky_relu,   ActivationKind::thresholded_relu,
    ActivationKind::scaled_tanh, ActivationKind::hard_sigmoid, ActivationKind::elu,
    ActivationKind::softsign,    ActivationKind::softplus};

struct Variant {
  std::string name;
  CellKind kind;
  std::array<Activation, 3> functions;
  float clip = no_clip;
  bool biased = true, peepholes = false, input_forget = false, clip_cell_state = true;
};

inline std::vector<Variant> variants() {
  const Activation sigmoid{ActivationKind::sigmoid}, tanh{ActivationKind::tanh};
  std::vector<Variant> all = {
      {"rnn", CellKind::rnn, {tanh}},
      {"rnn_clip", CellKind::rnn, {tanh}, 0.2f},
      {"lstm", CellKind::lstm, {sigmoid, tanh, tanh}},
      {"lstm_unbiased", CellKind::lstm, {sigmoid, tanh, tanh}, no_clip, false},
      {"lstm_peepholes", CellKind::lstm, {sigmoid, tanh, tanh}, no_clip, true, true},
      {"lstm_coupled", CellKind::lstm, {sigmoid, tanh, tanh}, no_clip, true, true, true},
      {"lstm_clip", CellKind::lstm, {sigmoid, tanh, tanh}, 0.3f, true, true},
      {"lstm_clip_of_gates", CellKind::lstm, {sigmoid, tanh, tanh}, 0.3f, true, true, false, false},
      {"gru_reset_after", CellKind::gru_reset_after, {sigmoid, tanh}},
      {"gru_reset_after_unbiased", CellKind::gru_reset_after, {sigmoid, tanh}, no_clip, false},
      {"gru_reset_after_clip", CellKind::gru_reset_after, {sigmoid, tanh}, 0.2f},
      {"gru_update_and_reset", CellKind::gru_update_and_reset, {sigmoid, tanh}},
      {"gru_update_and_reset_clip", CellKind::gru_update_and_reset, {sigmoid, tanh}, 0.2f},
      {"gru_candidate", CellKind::gru_candidate, {sigmoid, tanh}},
      {"gru_candidate_clip", CellKind::gru_candidate, {sigmoid, tanh}, 0.2f},
  };
  int i = 0;
  for (const ActivationKind kind : kinds) {
    const Activation function{kind, 0.75f, 0.5f};
    const auto name = "function_" + std::to_string(i++);
    all.push_back({"rnn_" + name, CellKind::rnn, {function}});
    all.push_back({"lstm_" + name, CellKind::lstm, {function, function, function}, 1.5f, true, true});
    all.push_back({"gru_" + name, CellKind::gru_reset_after, {function, function}});
  }
  return all;
}

/// Gates and states of one step, in T. The numbers are the same for every T; Rounded holds them exactly.
template <class T, class Rounded = T>
class Step {
 public:
  Step(const Variant& variant, const Sizes& sizes, bool projected)
      : sizes_(sizes), gates_(gates_of(variant.kind)) {
    const int64_t rows = sizes.rows, hidden = sizes.hidden_size;
    const auto scale = 1 / std::sqrt(static_cast<float>(hidden));
    W_ = packed(sizes.input_size, scale, true);
    R_ = packed(hidden, scale, variant.biased && variant.kind == CellKind::gru_reset_after);
    const int64_t padded = R_.padded_size();
    P_ = padded_numbers(3);
    A_ = numbers(rows * hidden, 1);
    H_ = numbers(rows * hidden, 1);
    X_ = numbers(rows * sizes.input_size, 1);
    C_ = padded_numbers(rows);
    z_ = padded_numbers(rows);
    reset_ = padded_numbers(rows);
    projected_.assign(static_cast<size_t>(rows * R_.width()), T(0));
    const std::vector<T> starts = numbers(rows * gates_ * hidden, 1);
    for (size_t i = 0; i < starts.size(); ++i) {
      const auto at = static_cast<int64_t>(i) % (gates_ * hidden),
                 row = static_cast<int64_t>(i) / (gates_ * hidden);
      projected_[static_cast<size_t>(row * R_.width() + panel_column(R_, at / hidden, at % hidden))] =
          starts[i];
    }
    out_.assign(static_cast<size_t>(rows * ld_out()), T(7));
    cell_ = {.kind = variant.kind,
             .W = &W_,
             .R = &R_,
             .P = variant.peepholes ? P_.data() : nullptr,
             .functions = variant.functions,
             .clip = variant.clip,
             .clip_cell_state = variant.clip_cell_state,
             .input_forget = variant.input_forget};
    step_ = {.rows = rows,
             .A = {A_.data(), hidden},
             .projected = {projected ? projected_.data() : nullptr, R_.width()},
             .X = {X_.data(), sizes.input_size},
             .H = {H_.data(), hidden},
             .out = {out_.data(), ld_out()},
             .C = {C_.data(), padded},
             .z = {z_.data(), padded},
             .reset = {reset_.data(), padded}};
  }

  Step(const Step&) = delete;

  int64_t panels() const { return R_.panels(); }
  void run(PanelRange range) { cell_step(cell_, step_, range); }
  void run() { run({0, panels()}); }
  void define() { cell_step_scalar(cell_, step_); }
  void clear_A() { std::fill(A_.begin(), A_.end(), T(0)); }
  void leave_out_A() { step_.A = {}; }
  void arrange() {
    W_.arrange(sizes_.rows);
    R_.arrange(sizes_.rows);
  }

  /// Everything that a step may write, padding left out.
  std::vector<double> results() const {
    std::vector<double> all;
    const auto add = [&](const std::vector<T>& from, int64_t ld) {
      for (int64_t row = 0; row < sizes_.rows; ++row) {
        all.insert(all.end(), from.begin() + row * ld, from.begin() + row * ld + sizes_.hidden_size);
      }
    };
    add(out_, ld_out());
    for (const auto* state : {&C_, &z_, &reset_}) add(*state, R_.padded_size());
    return all;
  }

  bool wrote_beyond_a_row() const {
    for (int64_t row = 0; row < sizes_.rows; ++row) {
      if (out_[static_cast<size_t>((row + 1) * ld_out() - 1)] != T(7)) return true;
    }
    return false;
  }

 private:
  static int64_t gates_of(CellKind kind) {
    switch (kind) {
      case CellKind::lstm:
        return lstm_gates;
      case CellKind::gru_reset_after:
        return gru_gates;
      case CellKind::gru_update_and_reset:
        return 2;
      default:
        return 1;
    }
  }

  int64_t ld_out() const { return sizes_.hidden_size + 1; }

  std::vector<T> numbers(int64_t count, float scale) {
    std::uniform_real_distribution<double> draw(-scale, scale);
    std::vector<T> all(static_cast<size_t>(count));
    for (T& number : all) number = static_cast<T>(static_cast<Rounded>(draw(generator_)));
    return all;
  }

  std::vector<T> padded_numbers(int64_t rows) {
    const int64_t hidden = sizes_.hidden_size, padded = R_.padded_size();
    const std::vector<T> dense = numbers(rows * hidden, 1);
    std::vector<T> all(static_cast<size_t>(rows * padded), T(0));
    for (int64_t row = 0; row < rows; ++row) {
      std::copy_n(dense.begin() + row * hidden, hidden, all.begin() + row * padded);
    }
    return all;
  }

  GatePanels<T> packed(int64_t K, float scale, bool biased) {
    const int64_t rows = gates_ * sizes_.hidden_size;
    const std::vector<T> weights = numbers(rows * K, scale), bias = numbers(rows, scale);
    return pack_gates<T>(gates_, sizes_.hidden_size, K, weights.data(), biased ? bias.data() : nullptr);
  }

  const Sizes sizes_;
  const int64_t gates_;
  std::mt19937 generator_{5};
  GatePanels<T> W_, R_;
  std::vector<T> P_, A_, H_, X_, projected_, C_, z_, reset_, out_;
  Cell<T> cell_;
  CellStep<T> step_;
};

inline std::string describe(const Variant& variant, const Sizes& sizes, bool projected) {
  return variant.name + ", rows " + std::to_string(sizes.rows) + ", input_size " +
         std::to_string(sizes.input_size) + ", hidden_size " + std::to_string(sizes.hidden_size) +
         (projected ? ", projected" : "");
}

/// NaN is as good as any other.
inline std::vector<uint32_t> bits_of(const std::vector<float>& numbers) {
  std::vector<uint32_t> bits;
  for (const float number : numbers)
    bits.push_back(std::isnan(number) ? ~0u : std::bit_cast<uint32_t>(number));
  return bits;
}

template <class Body>
void for_each_case(Body body) {
  Sample sample(5);
  for (const Variant& variant : variants()) {
    for (const Sizes& sizes : cell_sizes) {
      // What a function computes does not depend on sizes.
      if (variant.name.find("function") != std::string::npos && sizes.rows % 8 != 0) continue;
      for (const bool projected : {false, true}) {
        if (!sample.takes_next()) continue;
        SCOPED_TRACE(describe(variant, sizes, projected));
        body(variant, sizes, projected);
      }
    }
  }
}

}  // namespace grurun::kernels
