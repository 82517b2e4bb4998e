// Every instruction set computes what recurrent_scalar.h says, whatever the sizes.
#include "engine/kernels/recurrent.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/recurrent_scalar.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

// Of max(1, |y|), in units in the last place of the type; the sums here have up to 150 terms of about 1/10.
// It is the bound that docs/performance.md states.
constexpr double kUlps = 16;

template <class T>
constexpr double kUlp = std::numeric_limits<T>::epsilon();

struct Sizes {
  int64_t rows, input_size, hidden_size;
};

constexpr Sizes kSizes[] = {{1, 1, 1},    {1, 3, 16},   {2, 5, 15},   {3, 40, 17}, {1, 16, 64},
                            {5, 7, 48},   {1, 20, 80},  {8, 12, 100}, {9, 2, 130}, {17, 30, 33},
                            {33, 9, 112}, {1, 50, 150}, {16, 5, 140}, {33, 9, 130}};

constexpr ActivationKind kKinds[] = {
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

std::vector<Variant> variants() {
  const Activation sigmoid{ActivationKind::sigmoid}, tanh{ActivationKind::tanh};
  std::vector<Variant> all = {
      {"rnn", CellKind::rnn, {tanh}},
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
      {"gru_candidate", CellKind::gru_candidate, {sigmoid, tanh}},
  };
  int i = 0;
  for (const ActivationKind kind : kKinds) {
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

std::string describe(const Variant& variant, const Sizes& sizes, bool projected) {
  return variant.name + ", rows " + std::to_string(sizes.rows) + ", input_size " +
         std::to_string(sizes.input_size) + ", hidden_size " + std::to_string(sizes.hidden_size) +
         (projected ? ", projected" : "");
}

/// NaN is as good as any other.
std::vector<uint32_t> bits_of(const std::vector<float>& numbers) {
  std::vector<uint32_t> bits;
  for (const float number : numbers)
    bits.push_back(std::isnan(number) ? ~0u : std::bit_cast<uint32_t>(number));
  return bits;
}

template <class Body>
void for_each_case(Body body) {
  for (const Variant& variant : variants()) {
    for (const Sizes& sizes : kSizes) {
      // What a function computes does not depend on sizes.
      if (variant.name.find("function") != std::string::npos && sizes.rows % 8 != 0) continue;
      for (const bool projected : {false, true}) {
        SCOPED_TRACE(describe(variant, sizes, projected));
        body(variant, sizes, projected);
      }
    }
  }
}

class RecurrentStep : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(RecurrentStep);

template <class T, class Rounded = T>
void expect_defined_results() {
  double worst = 0;
  for_each_case([&](const Variant& variant, const Sizes& sizes, bool projected) {
    // Padded rows of float and double differ, and what is drawn with them: the definition is of the same
    // type.
    Step<T, Rounded> step(variant, sizes, projected), definition(variant, sizes, projected);
    step.run();
    definition.define();
    EXPECT_FALSE(step.wrote_beyond_a_row());
    const std::vector<double> got = step.results(), want = definition.results();
    for (size_t i = 0; i < got.size(); ++i) {
      const double ulps = std::fabs(got[i] - want[i]) / (kUlp<T> * std::max(1.0, std::fabs(want[i])));
      worst = std::max(worst, ulps);
      ASSERT_LE(ulps, kUlps) << "element " << i << ": " << got[i] << ", by definition " << want[i];
    }
  });
  testing::Test::RecordProperty("worst_ulps", std::to_string(worst));
}

TEST_P(RecurrentStep, FloatsAreAsDefined) {
  expect_defined_results<float>();
}

TEST_P(RecurrentStep, DoublesAreAsDefined) {
  expect_defined_results<double>();
  expect_defined_results<double, float>();
}

TEST_P(RecurrentStep, TheOrderOfPanelsDoesNotMatter) {
  for_each_case([&](const Variant& variant, const Sizes& sizes, bool projected) {
    Step<float> whole(variant, sizes, projected), parts(variant, sizes, projected);
    whole.run();
    const int64_t middle = parts.panels() / 2;
    parts.run({middle, parts.panels(), true});
    parts.run({0, middle, true});
    EXPECT_EQ(whole.results(), parts.results());
  });
}

TEST_P(RecurrentStep, WithoutAItIsZero) {
  for_each_case([&](const Variant& variant, const Sizes& sizes, bool projected) {
    Step<float> zeros(variant, sizes, projected), none(variant, sizes, projected);
    zeros.clear_A();
    zeros.run();
    none.leave_out_A();
    none.run();
    EXPECT_EQ(zeros.results(), none.results());
  });
}

class CompactWeights : public EveryTarget {
 protected:
  CompactWeights() { set_most_compact_rows(kMostRows); }
  ~CompactWeights() override { set_most_compact_rows(-1); }

  static constexpr int64_t kMostRows = 8;
  static bool there_are_some() { return simd_target() == "avx512" || simd_target() == "amx"; }
};
GRURUN_FOR_EVERY_TARGET(CompactWeights);

TEST_P(CompactWeights, StepsAreTheSameInEveryBit) {
  for_each_case([&](const Variant& variant, const Sizes& sizes, bool projected) {
    Step<float> plain(variant, sizes, projected), compact(variant, sizes, projected);
    plain.run();
    compact.arrange();
    compact.run();
    EXPECT_EQ(plain.results(), compact.results());
  });
}

TEST_P(CompactWeights, ProductsAreTheSameInEveryBit) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> draw(-0.1f, 0.1f);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  // Panels of 1, 2, 3 and 4 vectors; K with rows after the last group and without.
  for (const int64_t hidden : {9, 80, 130, 60}) {
    for (const int64_t K : {8, 64, 77}) {
      std::vector<float> weights(static_cast<size_t>(2 * hidden * K)), X(static_cast<size_t>(9 * K));
      for (auto* all : {&weights, &X}) {
        for (float& number : *all) number = draw(generator);
      }
      // What is not compact, in some groups, so that others lie between them.
      if (K > 8) {
        weights[static_cast<size_t>(K + 20)] = 1e-20f;
        weights[static_cast<size_t>(3 * K + 40)] = infinity;
        weights[static_cast<size_t>((hidden + 1) * K)] = 3e30f;
      }
      weights[5] = -0.0f;
      const auto panels = [&] { return pack_gates<float>(2, hidden, K, weights.data(), nullptr); };
      const auto plain = panels();
      auto compact = panels();
      EXPECT_EQ(compact.wants_arranging(1), there_are_some());
      compact.arrange(1);
      EXPECT_EQ(compact.compact() != nullptr, there_are_some());
      EXPECT_FALSE(compact.wants_arranging(kMostRows));
      for (const float x : {0.5f, 1e30f, -infinity, 1e-42f}) {
        X[static_cast<size_t>(K - 2)] = x;
        for (int64_t rows = 1; rows <= kMostRows; ++rows) {
          SCOPED_TRACE(fmt::format("hidden_size {}, K {}, x {}, {} rows", hidden, K, x, rows));
          const auto product = [&](const GatePanels<float>& by) {
            std::vector<float> out(static_cast<size_t>(rows * by.width()), 7.0f);
            project({rows, {X.data(), K}, &by, {out.data(), by.width()}}, {0, by.panels()});
            return bits_of(out);
          };
          ASSERT_EQ(product(plain), product(compact));
        }
      }
      EXPECT_EQ(compact.wants_arranging(kMostRows + 1), there_are_some());
      compact.arrange(kMostRows + 1);
      EXPECT_EQ(compact.compact(), nullptr);
      EXPECT_FALSE(compact.wants_arranging(1));
      const auto bytes = static_cast<size_t>(K * plain.width()) * sizeof(float);
      EXPECT_EQ(std::memcmp(plain.panel(0), compact.panel(0), bytes), 0);
    }
  }
}

TEST_P(RecurrentStep, DoublesThatFloat32HoldsAreReadFromIt) {
  constexpr int64_t gates = gru_gates, hidden = 70, K = 90;
  std::mt19937 generator(11);
  std::uniform_real_distribution<float> draw(-1, 1);
  std::vector<double> weights(gates * hidden * K), X(9 * K);
  for (auto* all : {&weights, &X}) {
    for (double& number : *all) number = static_cast<double>(draw(generator));
  }
  const auto narrow = pack_gates<double>(gates, hidden, K, weights.data(), nullptr);
  const bool wide_vectors = simd_target() != "sse4" && simd_target() != "scalar" && simd_target() != "neon";
  EXPECT_EQ(narrow.narrow_panel(0) != nullptr, wide_vectors);
  // One weight that float32 does not hold, and all are read as float64: only its own unit may change.
  weights.back() += 0x1p-40;
  const auto wide = pack_gates<double>(gates, hidden, K, weights.data(), nullptr);
  EXPECT_EQ(wide.narrow_panel(0), nullptr);
  const int64_t other = panel_column(narrow, gates - 1, hidden - 1);
  for (int64_t rows = 1; rows <= 9; ++rows) {
    std::vector<double> from_narrow(static_cast<size_t>(rows * narrow.width()), 7.0), from_wide = from_narrow;
    project({rows, {X.data(), K}, &narrow, {from_narrow.data(), narrow.width()}}, {0, narrow.panels()});
    project({rows, {X.data(), K}, &wide, {from_wide.data(), wide.width()}}, {0, wide.panels()});
    for (int64_t i = 0; i < rows * narrow.width(); ++i) {
      if (i % narrow.width() == other) continue;
      ASSERT_EQ(from_narrow[static_cast<size_t>(i)], from_wide[static_cast<size_t>(i)])
          << rows << " rows, " << i;
    }
    EXPECT_NE(from_narrow[static_cast<size_t>(other)], from_wide[static_cast<size_t>(other)]);
  }
}

TEST(GatePanelsFinite, TellsInfinityAndNaN) {
  std::vector<double> rows(2 * 20 * 3, 1e300);
  EXPECT_TRUE(pack_gates<double>(2, 20, 3, rows.data(), nullptr).finite());
  rows.back() = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(pack_gates<double>(2, 20, 3, rows.data(), nullptr).finite());
  std::vector<float> floats(2 * 20 * 3, 3e38f);  // too large for tiles
  EXPECT_TRUE(pack_gates<float>(2, 20, 3, floats.data(), nullptr).finite());
  floats.front() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(pack_gates<float>(2, 20, 3, floats.data(), nullptr).finite());
}

TEST_P(RecurrentStep, NanReachesItsOwnRowOnly) {
  const Variant variant = variants()[1];
  Step<float> clean(variant, {4, 3, 20}, false);
  clean.run();
  std::vector<float> H(4 * 20, 0.25f);
  H[2 * 20 + 5] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> weights(static_cast<size_t>(lstm_gates * 20 * 20), 0.125f);
  const auto R = pack_gates<float>(lstm_gates, 20, 20, weights.data(), nullptr);
  const std::vector<float> projected(static_cast<size_t>(4 * R.width()), 0.5f);
  std::vector<float> C(static_cast<size_t>(4 * R.padded_size()), 0.5f), out(4 * 20);
  const Cell<float> cell{.kind = CellKind::lstm, .W = &R, .R = &R, .functions = variant.functions};
  cell_step(cell,
            {.rows = 4,
             .A = {H.data(), 20},
             .projected = {projected.data(), R.width()},
             .X = {},
             .H = {H.data(), 20},
             .out = {out.data(), 20},
             .C = {C.data(), R.padded_size()},
             .z = {},
             .reset = {}},
            {0, R.panels()});
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(std::isnan(out[i]), i / 20 == 2) << i;
}

TEST_P(RecurrentStep, ProjectionsAreAsDefined) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> draw(-1, 1);
  for (const Sizes& sizes : kSizes) {
    for (const int64_t gates : {1, 2, 3, 4}) {
      for (const bool biased : {false, true}) {
        SCOPED_TRACE(std::to_string(gates) + " gates, hidden_size " + std::to_string(sizes.hidden_size));
        const int64_t K = sizes.input_size;
        std::vector<float> weights(static_cast<size_t>(gates * sizes.hidden_size * K)),
            X(static_cast<size_t>(sizes.rows * K)), bias(static_cast<size_t>(gates * sizes.hidden_size));
        for (auto* all : {&weights, &X, &bias}) {
          for (float& number : *all) number = draw(generator);
        }
        const auto W =
            pack_gates<float>(gates, sizes.hidden_size, K, weights.data(), biased ? bias.data() : nullptr);
        std::vector<float> to(static_cast<size_t>(sizes.rows * W.width()), 7.0f);
        project({sizes.rows, {X.data(), K}, &W, {to.data(), W.width()}}, {0, W.panels()});
        for (int64_t row = 0; row < sizes.rows; ++row) {
          for (int64_t column = 0; column < gates * sizes.hidden_size; ++column) {
            double want = biased ? bias[static_cast<size_t>(column)] : 0, sum = 1;
            for (int64_t k = 0; k < K; ++k) {
              const double term = static_cast<double>(X[static_cast<size_t>(row * K + k)]) *
                                  static_cast<double>(weights[static_cast<size_t>(column * K + k)]);
              want += term;
              sum += std::fabs(term);
            }
            const int64_t at = panel_column(W, column / sizes.hidden_size, column % sizes.hidden_size);
            const double got = to[static_cast<size_t>(row * W.width() + at)];
            ASSERT_LE(std::fabs(got - want), 4 * kUlp<float> * sum) << "row " << row << ", column " << column;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace grurun::kernels
