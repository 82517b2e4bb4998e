#include <gtest/gtest.h>

#include <cmath>

#include "engine/ops/shared/cast.h"
#include "tests/engine/graph/model_building.h"
#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

constexpr const char* domain = "ai.onnx.preview";

struct Sizes {
  std::int64_t batch = 2, q_heads = 4, kv_heads = 2, q_length = 3, kv_length = 5, head = 2, v_head = 3;
};

Tensor filled(Shape shape, double phase) {
  Tensor out(DType::float64, std::move(shape));
  for (std::int64_t i = 0; i < out.size(); ++i)
    out.mutable_data<double>()[i] = std::sin(phase + static_cast<double>(i));
  return out;
}

struct Inputs {
  Tensor Q, K, V;

  explicit Inputs(const Sizes& s = {})
      : Q(filled({s.batch, s.q_heads, s.q_length, s.head}, 1)),
        K(filled({s.batch, s.kv_heads, s.kv_length, s.head}, 2)),
        V(filled({s.batch, s.kv_heads, s.kv_length, s.v_head}, 3)) {}

  std::vector<Value> as(DType dtype) const {
    return {cast_tensor(Q, dtype), cast_tensor(K, dtype), cast_tensor(V, dtype)};
  }
};

/// The equations of the page, with score + bias * key index as score_mod and factor * prob as prob_mod.
Tensor by_the_page(const Sizes& s, double scale, double bias = 0, double factor = 1) {
  const Inputs in(s);
  Tensor Y(DType::float64, Shape{s.batch, s.q_heads, s.q_length, s.v_head});
  double* y = Y.mutable_data<double>();
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.q_heads; ++h) {
      const std::int64_t shared = b * s.kv_heads + h / (s.q_heads / s.kv_heads);
      for (std::int64_t l = 0; l < s.q_length; ++l) {
        const double* q = in.Q.data<double>() + ((b * s.q_heads + h) * s.q_length + l) * s.head;
        std::vector<double> p(static_cast<std::size_t>(s.kv_length));
        double sum = 0;
        for (std::int64_t k = 0; k < s.kv_length; ++k) {
          double score = 0;
          for (std::int64_t e = 0; e < s.head; ++e)
            score += q[e] * in.K.data<double>()[(shared * s.kv_length + k) * s.head + e];
          sum += p[static_cast<std::size_t>(k)] = std::exp(score * scale + bias * static_cast<double>(k));
        }
        for (std::int64_t v = 0; v < s.v_head; ++v) {
          *y = 0;
          for (std::int64_t k = 0; k < s.kv_length; ++k)
            *y += factor * p[static_cast<std::size_t>(k)] / sum *
                  in.V.data<double>()[(shared * s.kv_length + k) * s.v_head + v];
          ++y;
        }
      }
    }
  }
  return Y;
}

void expect_near(const Tensor& got, const Tensor& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  const Tensor wide = cast_tensor(got, DType::float64);
  for (std::int64_t i = 0; i < wide.size(); ++i)
    EXPECT_NEAR(wide.data<double>()[i], expected.data<double>()[i], tolerance) << what << " at " << i;
}

Tensor attend(std::vector<Value> inputs, Attributes attributes = {}) {
  onnx_io::Model made = one_node_model(OneNode{.op = "FlexAttention",
                                               .domain = domain,
                                               .opset = 1,
                                               .inputs = inputs,
                                               .attributes = std::move(attributes)});
  made.opset_imports[""] = 21;  // for the modifiers
  return run(made, std::move(inputs))[0].tensor();
}

double tolerance(DType dtype) {
  return dtype == DType::float64   ? 1e-14
         : dtype == DType::float32 ? 1e-6
         : dtype == DType::float16 ? 4e-3
                                   : 3e-2;
}

constexpr DType float_types[] = {DType::float16, DType::bfloat16, DType::float32, DType::float64};

TEST(FlexAttention, EveryTypeAndPrecision) {
  const double scale = 1 / std::sqrt(2.0);
  const Tensor expected = by_the_page({}, scale);
  for (const DType dtype : float_types) {
    const Tensor Y = attend(Inputs().as(dtype));
    EXPECT_EQ(Y.dtype(), dtype);
    // The factor 1 / sqrt(head_size) is a float.
    expect_near(Y, expected, std::max(tolerance(dtype), 1e-7), dtype_name(dtype));
    for (const DType precision : float_types) {
      const Tensor rough =
          attend(Inputs().as(dtype), {attr("softmax_precision", static_cast<int>(precision))});
      EXPECT_EQ(rough.dtype(), dtype);
      expect_near(rough, expected, std::max({tolerance(dtype), tolerance(precision), 1e-7}),
                  std::string(dtype_name(dtype)) + " in " + dtype_name(precision));
    }
  }
}

TEST(FlexAttention, HeadsAndScale) {
  for (const Sizes& sizes :
       {Sizes{.q_heads = 2, .kv_heads = 2}, Sizes{.q_heads = 3, .kv_heads = 1},
        Sizes{.q_heads = 6, .kv_heads = 3, .head = 4}, Sizes{.q_length = 1, .kv_length = 1}}) {
    for (const float scale : {0.25f, 4.0f, -1.0f, 0.0f}) {
      const Tensor Y = attend(Inputs(sizes).as(DType::float64), {attr("scale", scale)});
      expect_near(Y, by_the_page(sizes, static_cast<double>(scale)), 1e-14, "scale " + std::to_string(scale));
    }
  }
  EXPECT_EQ(attend(Inputs({.q_length = 0}).as(DType::float32)).shape(), (Shape{2, 4, 0, 3}));
  EXPECT_EQ(attend(Inputs({.batch = 0}).as(DType::float32)).shape(), (Shape{0, 4, 3, 3}));
  const Tensor without_keys = attend(Inputs({.kv_length = 0}).as(DType::float32));
  for (const float y : without_keys.span<float>()) EXPECT_EQ(y, 0);
}

onnx_io::Model modified_model(const onnx_io::Graph& score_mod, const onnx_io::Graph& prob_mod) {
  auto made = model(
      graph({"Q", "K", "V", "bias", "factor"},
            {node("FlexAttention", {"Q", "K", "V"}, {"Y"},
                  {attr("score_mod", score_mod), attr("prob_mod", prob_mod), attr("scale", 0.5f)}, domain)},
            {"Y"}));
  made.opset_imports[domain] = 1;
  return made;
}

TEST(FlexAttention, ModifiersSeeNamesFromOutside) {
  // Scores plus bias [kv_sequence_length], probabilities times factor, both values of the main graph.
  const auto made = modified_model(graph({"s"}, {node("Add", {"s", "bias"}, {"t"})}, {"t"}),
                                   graph({"p"}, {node("Mul", {"factor", "p"}, {"q"})}, {"q"}));
  std::vector<Value> inputs = Inputs().as(DType::float32);
  inputs.emplace_back(floats({0, 0.3f, 0.6f, 0.9f, 1.2f}));
  inputs.emplace_back(Tensor::scalar(2.0f));
  expect_near(run(made, inputs)[0].tensor(), by_the_page({}, 0.5, 0.3, 2), 1e-6, "both");
}

TEST(FlexAttention, ModifiersWorkInTheSoftmaxPrecision) {
  const auto halved = graph({"p"}, {node("Add", {"p", "p"}, {"q"})}, {"q"});
  for (const DType precision : float_types) {
    const Tensor Y =
        attend(Inputs().as(DType::float16), {attr("softmax_precision", static_cast<int>(precision)),
                                             attr("prob_mod", halved), attr("scale", 1.0f)});
    expect_near(Y, by_the_page({}, 1, 0, 2), 2 * std::max(tolerance(precision), 4e-3), dtype_name(precision));
  }
}

TEST(FlexAttention, MaskedRowsAreNotNumbers) {
  const auto masked = graph({"s"}, {node("Log", {"zero"}, {"low"}), node("Add", {"s", "low"}, {"t"})}, {"t"});
  auto body = masked;
  body.initializers.push_back({"zero", Tensor::scalar(0.0f)});
  const Tensor Y = attend(Inputs().as(DType::float32), {attr("score_mod", body)});
  for (const float y : Y.span<float>()) EXPECT_TRUE(std::isnan(y));
}

TEST(FlexAttention, Refused) {
  const auto refused = [](const Inputs& inputs, Attributes attributes, const std::string& text) {
    const auto [kind, message] = error_of([&] { attend(inputs.as(DType::float32), std::move(attributes)); });
    EXPECT_EQ(kind, ErrorKind::invalid_model) << message;
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  const Inputs good;
  Inputs inputs;
  inputs.Q = filled({4, 3, 2}, 0);
  refused(inputs, {}, "input Q is [4,3,2]; FlexAttention-1 takes [batch,q_heads,q,head]");
  inputs = good;
  inputs.K = filled({2, 2, 5, 3}, 0);
  refused(inputs, {},
          "input K is [2,2,5,3]; FlexAttention-1 takes [batch,kv_heads,kv,head], here [2,kv_heads,kv,2]");
  inputs = good;
  inputs.V = filled({2, 2, 4, 3}, 0);
  refused(inputs, {}, "input V is [2,2,4,3]; FlexAttention-1 takes [batch,kv_heads,kv,v], here [2,2,5,v]");
  refused(Inputs({.q_heads = 3}), {}, "heads of Q cannot share");
  refused(Inputs({.kv_heads = 0}), {}, "heads of Q cannot share");
  refused(good, {attr("softmax_precision", 7)},
          "softmax_precision is 7, but FlexAttention-1 knows 1, 10, 11, 16");
  refused(good, {attr("score_mod", graph({"s"}, {node("Shape", {"s"}, {"t"})}, {"t"}))},
          "score_mod must return float");
  refused(good, {attr("prob_mod", graph({"s", "u"}, {node("Add", {"s", "u"}, {"t"})}, {"t"}))},
          "1 inputs and 1 outputs");
}

}  // namespace
}  // namespace grurun::engine::testing
