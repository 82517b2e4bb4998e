#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/machine/parallel.h"
#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

Tensor lengths_of_keys(const std::vector<std::int64_t>& values) {
  return Tensor::from<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

// Q of zeros: every key that is seen weighs the same, so Y is the mean of V over those.
const Tensor no_query = make<float>({1, 1, 3, 1}, {0, 0, 0});
const Tensor keys = make<float>({1, 1, 3, 1}, {1, 1, 1});
const Tensor values = make<float>({1, 1, 3, 1}, {1, 2, 6});

TEST(Attention, KeysThatAQuerySees) {
  check_rows({
      {"all", "Attention", 23, {no_query, keys, values}, {}, {make<float>({1, 1, 3, 1}, {3, 3, 3})}},
      {"causal",
       "Attention",
       23,
       {no_query, keys, values},
       {attr("is_causal", 1)},
       {make<float>({1, 1, 3, 1}, {1, 1.5, 3})}},
      {"a window",
       "Attention",
       25,
       {no_query, keys, values},
       {attr("left_window_size", 0), attr("right_window_size", 1)},
       {make<float>({1, 1, 3, 1}, {1.5, 4, 6})}},
      {"the widest window",
       "Attention",
       25,
       {no_query, keys, values},
       {attr("left_window_size", std::numeric_limits<std::int64_t>::max()),
        attr("right_window_size", std::numeric_limits<std::int64_t>::max())},
       {make<float>({1, 1, 3, 1}, {3, 3, 3})}},
      {"an external cache",
       "Attention",
       24,
       {no_query, keys, values, Value(), Value(), Value(), lengths_of_keys({2})},
       {},
       {make<float>({1, 1, 3, 1}, {1.5, 1.5, 1.5})}},
      {"more queries than cached keys: the first see nothing",
       "Attention",
       24,
       {no_query, keys, values, Value(), Value(), Value(), lengths_of_keys({2})},
       {attr("is_causal", 1)},
       {make<float>({1, 1, 3, 1}, {0, 1, 1.5})}},
      {"a row without a key is zero, its probabilities too",
       "Attention",
       23,
       {no_query, keys, values, make<bool>({3, 3}, {0, 0, 0, 1, 1, 0, 0, 0, 1})},
       {attr("qk_matmul_output_mode", 3)},
       {make<float>({1, 1, 3, 1}, {0, 1.5, 6})}},
      {"a row whose keys are all hidden is zero beside others",
       "Attention",
       23,
       {no_query, keys, values, make<float>({3, 3}, {-inf, 0, 0, -inf, -inf, -inf, 0, 0, 0})},
       {},
       {make<float>({1, 1, 3, 1}, {4, 0, 3})}},
      {"a short mask hides the keys behind it",
       "Attention",
       24,
       {no_query, keys, values, make<float>({3, 2}, {0, 0, 0, -inf, -inf, 0})},
       {},
       {make<float>({1, 1, 3, 1}, {1.5, 1, 2})}},
      {"a mask of one column repeats in version 23",
       "Attention",
       23,
       {no_query, keys, values, make<bool>({3, 1}, {1, 0, 1})},
       {},
       {make<float>({1, 1, 3, 1}, {3, 0, 3})}},
      {"integers are added",
       "Attention",
       23,
       {no_query, keys, values, make<std::int32_t>({3}, {0, 100, 0})},
       {},
       {make<float>({1, 1, 3, 1}, {2, 2, 2})}},
      {"no keys at all",
       "Attention",
       23,
       {no_query, make<float>({1, 1, 0, 1}, {}), make<float>({1, 1, 0, 2}, {})},
       {},
       {make<float>({1, 1, 3, 2}, {0, 0, 0, 0, 0, 0})}},
      {"no queries",
       "Attention",
       23,
       {make<float>({1, 1, 0, 1}, {}), keys, values},
       {},
       {make<float>({1, 1, 0, 1}, {})}},
      {"no heads",
       "Attention",
       23,
       {make<float>({1, 0, 2, 1}, {}), make<float>({1, 0, 3, 1}, {}), make<float>({1, 0, 3, 1}, {})},
       {},
       {make<float>({1, 0, 2, 1}, {})}},
  });
}

TEST(Attention, HiddenKeysReachNothing) {
  const Tensor spoilt_keys = make<float>({1, 1, 3, 1}, {1, 1, nan}),
               spoilt = make<float>({1, 1, 3, 1}, {1, 2, inf});
  check_rows({
      {"behind a causal query",
       "Attention",
       23,
       {no_query, spoilt_keys, spoilt},
       {attr("is_causal", 1)},
       {make<float>({1, 1, 3, 1}, {1, 1.5, nan})}},
      {"behind a length",
       "Attention",
       24,
       {no_query, spoilt_keys, spoilt, Value(), Value(), Value(), lengths_of_keys({2})},
       {},
       {make<float>({1, 1, 3, 1}, {1.5, 1.5, 1.5})}},
      {"outside a window",
       "Attention",
       25,
       {no_query, spoilt_keys, spoilt},
       {attr("right_window_size", 0), attr("left_window_size", 0)},
       {make<float>({1, 1, 3, 1}, {1, 2, nan})}},
  });
}

TEST(Attention, TypesAndScales) {
  const double e = std::exp(1), p = e / (1 + e);
  const auto one = [](double v) { return make<double>({1, 1, 1, 1}, {v}); };
  const Tensor two_keys = make<double>({1, 1, 2, 1}, {0, 1}), two_values = make<double>({1, 1, 2, 1}, {0, 1});
  check_rows({
      {"double in double", "Attention", 23, {one(1), two_keys, two_values}, {}, {one(p)}},
      {"a negative scale",
       "Attention",
       23,
       {one(1), two_keys, two_values},
       {attr("scale", -1.0f)},
       {one(1 - p)}},
      {"a scale of 0", "Attention", 23, {one(1), two_keys, two_values}, {attr("scale", 0.0f)}, {one(.5)}},
      {"V of another type; Y is of Q's",
       "Attention",
       23,
       {make<Float16>({1, 1, 1, 1}, {0}), make<Float16>({1, 1, 2, 1}, {1, 1}),
        make<double>({1, 1, 2, 1}, {1, 4})},
       {},
       {make<Float16>({1, 1, 1, 1}, {2.5})}},
      {"the caches grow",
       "Attention",
       23,
       {make<float>({1, 1, 1, 1}, {0}), make<float>({1, 1, 1, 1}, {7}), make<float>({1, 1, 1, 1}, {8}),
        Value(), make<float>({1, 1, 2, 1}, {1, 2}), make<float>({1, 1, 2, 1}, {3, 4})},
       {},
       {make<float>({1, 1, 1, 1}, {5}), make<float>({1, 1, 3, 1}, {1, 2, 7}),
        make<float>({1, 1, 3, 1}, {3, 4, 8})}},
  });
}

TEST(Attention, BlocksAndThreadsDoNotShow) {
  // 600 queries of two heads on one head of keys take several blocks.
  Tensor Q(DType::float32, Shape{1, 2, 300, 4}), K(DType::float32, Shape{1, 1, 300, 4});
  for (Tensor* t : {&Q, &K}) {
    for (std::int64_t i = 0; i < t->size(); ++i)
      t->mutable_data<float>()[i] = static_cast<float>(i * 7919 % 101) / 101;
  }
  struct Sight {
    Attributes attributes;
    std::int64_t before, after;  // keys that a query sees beside the one at its place
  };
  const Sight sights[] = {
      {{attr("is_causal", 1)}, 300, 0},
      {{attr("left_window_size", 40), attr("right_window_size", 5)}, 40, 5},
  };
  for (const Sight& sight : sights) {
    const Tensor whole = run_node("Attention", "", 25, {Q, K, K}, sight.attributes)[0].tensor();
    kernels::set_threads(3);
    const Tensor threaded = run_node("Attention", "", 25, {Q, K, K}, sight.attributes)[0].tensor();
    kernels::set_threads(1);
    EXPECT_EQ(difference(threaded, whole), "");
    for (const std::int64_t row : {0, 1, 19, 20, 255, 256, 299}) {
      // The query alone, with the keys it sees.
      const auto part = [&](const Tensor& t, std::int64_t from, std::int64_t count) {
        std::vector<float> kept(t.data<float>() + from * 4, t.data<float>() + (from + count) * 4);
        return Tensor::from<float>({1, 1, count, 4}, kept);
      };
      const std::int64_t first = std::max<std::int64_t>(0, row - sight.before),
                         last = std::min<std::int64_t>(300, row + sight.after + 1);
      const Tensor seen = part(K, first, last - first);
      const Tensor alone = run_node("Attention", "", 25, {part(Q, 300 + row, 1), seen, seen})[0].tensor();
      EXPECT_EQ(difference(part(whole, 300 + row, 1), alone), "") << row;
    }
  }
}

// Also where the last block has few queries, whose products add in another order.
TEST(Attention, ThreadsDoNotChangeABit) {
  for (const std::int64_t queries : {17, 100, 258}) {
    Tensor Q(DType::float32, Shape{1, 1, queries, 64}), K(DType::float32, Shape{1, 1, 130, 64});
    for (Tensor* t : {&Q, &K}) {
      for (std::int64_t i = 0; i < t->size(); ++i)
        t->mutable_data<float>()[i] = static_cast<float>(i * 7919 % 101) / 101;
    }
    const Tensor once = run_node("Attention", "", 23, {Q, K, K})[0].tensor();
    for (const int threads : {2, 3, 4}) {
      kernels::set_threads(threads);
      const Tensor again = run_node("Attention", "", 23, {Q, K, K})[0].tensor();
      kernels::set_threads(1);
      EXPECT_TRUE(std::ranges::equal(again.span<float>(), once.span<float>()))
          << queries << " queries on " << threads << " threads";
    }
  }
}

TEST(Attention, Refusals) {
  const Tensor q3 = make<float>({1, 3, 2}, {0, 0, 0, 0, 0, 0});
  const Attributes two_heads = {attr("q_num_heads", 2), attr("kv_num_heads", 2)};
  const Value none;
  const auto bad = [&](const char* name, std::int64_t opset, std::vector<Value> inputs, Attributes attributes,
                       const char* text, std::size_t outputs = 1) {
    return OpErrorCase{
        name, "Attention", opset, std::move(inputs), std::move(attributes), ErrorKind::invalid_model,
        text, outputs};
  };
  check_errors({
      bad("ranks differ", 23, {no_query, q3, q3}, {}, "takes [batch,kv_heads,k,d], here [1,kv_heads,k,1]"),
      bad("rank 3 without heads", 23, {q3, q3, q3}, {}, "q_num_heads"),
      bad("rank 3 with heads that do not divide", 23, {q3, q3, q3},
          {attr("q_num_heads", 4), attr("kv_num_heads", 2)},
          "q_num_heads 4 does not divide the last size of Q, which is 2"),
      bad("rank 4 with heads in version 25", 25, {no_query, keys, values}, two_heads,
          "q_num_heads is for inputs of rank 3"),
      bad("rank 4 with other heads in version 23", 23, {no_query, keys, values}, two_heads, "has 1 heads"),
      bad("heads that do not share", 23,
          {make<float>({1, 3, 1, 1}, {0, 0, 0}), make<float>({1, 2, 1, 1}, {0, 0}),
           make<float>({1, 2, 1, 1}, {0, 0})},
          {}, "share"),
      bad("V shorter than K", 23, {no_query, keys, make<float>({1, 1, 2, 1}, {1, 1})}, {},
          "takes [batch,kv_heads,k,v], here [1,1,3,v]"),
      bad("a past of K only", 23, {no_query, keys, values, none, keys}, {}, "together"),
      bad("a past of other heads", 23,
          {no_query, keys, values, none, make<float>({1, 2, 1, 1}, {1, 1}), keys}, {},
          "takes [batch,kv_heads,past,d], here [1,1,past,1]"),
      bad("a mask too long", 24, {no_query, keys, values, make<bool>({4}, {1, 1, 1, 1})}, {},
          "attn_mask is [4], which does not broadcast to [1,1,3,3]"),
      bad("a short mask in version 23", 23, {no_query, keys, values, make<bool>({2}, {1, 1})}, {},
          "attn_mask is [2], which does not broadcast to [1,1,3,3]"),
      bad("a mask of rank 5", 23, {no_query, keys, values, make<bool>({1, 1, 1, 1, 1}, {1})}, {},
          "attn_mask"),
      bad("a length beyond K", 24, {no_query, keys, values, none, none, none, lengths_of_keys({4})}, {},
          "nonpad_kv_seqlen holds 4"),
      bad("lengths of another batch", 24, {no_query, keys, values, none, none, none, lengths_of_keys({1, 1})},
          {}, "[1]"),
      bad("lengths beside a past", 24, {no_query, keys, values, none, keys, values, lengths_of_keys({1})}, {},
          "nonpad_kv_seqlen"),
      bad("lengths beside present outputs", 25,
          {no_query, keys, values, none, none, none, lengths_of_keys({1})}, {}, "present_key", 3),
      bad("one present output", 25, {no_query, keys, values}, {}, "present_value", 2),
      bad("a window below -1", 25, {no_query, keys, values}, {attr("left_window_size", -2)},
          "left_window_size is -2"),
      bad("another mode", 23, {no_query, keys, values}, {attr("qk_matmul_output_mode", 4)},
          "qk_matmul_output_mode is 4"),
      bad("is_causal 2", 23, {no_query, keys, values}, {attr("is_causal", 2)}, "is_causal is 2"),
      bad("softmax in integers", 23, {no_query, keys, values}, {attr("softmax_precision", 6)},
          "knows 1, 10, 11, 16 [SCHEMA013]"),
  });
}

TEST(LinearAttention, Rules) {
  // One head, keys of one element, values of two; two tokens.
  const Tensor q = make<float>({1, 2, 1}, {1, 2}), k = make<float>({1, 2, 1}, {1, 3}),
               v = make<float>({1, 2, 2}, {1, 2, 3, 4});
  const Tensor half = make<float>({1, 2, 1}, {std::log(0.5), std::log(0.5)}),
               beta = make<float>({1, 2, 1}, {1, 0.5});
  const Tensor past = make<Float16>({1, 1, 1, 2}, {8, 0});
  const auto rule = [](const char* name) {
    return Attributes{attr("q_num_heads", 1), attr("kv_num_heads", 1), attr("update_rule", name)};
  };
  check_rows({
      {"linear",
       "LinearAttention",
       27,
       {q, k, v},
       rule("linear"),
       {make<float>({1, 2, 2}, {1, 2, 20, 28}), make<float>({1, 1, 1, 2}, {10, 14})}},
      {"gated, with a state of another type",
       "LinearAttention",
       27,
       {q, k, v, past, half},
       rule("gated"),
       {make<float>({1, 2, 2}, {5, 2, 23, 26}), make<Float16>({1, 1, 1, 2}, {11.5, 13})}},
      {"delta",
       "LinearAttention",
       27,
       {q, k, v, past, Value(), beta},
       rule("delta"),
       {make<float>({1, 2, 2}, {1, 2, 2, -2}), make<Float16>({1, 1, 1, 2}, {1, -1})}},
      {"gated_delta",
       "LinearAttention",
       27,
       {q, k, v, past, half, beta},
       rule("gated_delta"),
       {make<float>({1, 2, 2}, {1, 2, 5.5, 5}), make<Float16>({1, 1, 1, 2}, {2.75, 2.5})}},
      {"no tokens",
       "LinearAttention",
       27,
       {make<float>({1, 0, 1}, {}), make<float>({1, 0, 1}, {}), make<float>({1, 0, 2}, {}), past},
       rule("linear"),
       {make<float>({1, 0, 2}, {}), past}},
  });
  const auto bad = [&](const char* name, std::vector<Value> inputs, Attributes attributes, const char* text) {
    return OpErrorCase{
        name, "LinearAttention", 27, std::move(inputs), std::move(attributes), ErrorKind::invalid_model, text,
        2};
  };
  check_errors({
      bad("a missing decay", {q, k, v}, rule("gated"), "needs decay"),
      bad("a decay too many", {q, k, v, Value(), half}, rule("linear"), "no use for decay"),
      bad("a missing beta", {q, k, v, Value(), half}, rule("gated_delta"), "needs beta"),
      bad("another rule", {q, k, v}, rule("fast"), "update_rule is 'fast'"),
      bad("keys of another size", {q, v, v}, rule("linear"), "its last size must be 1"),
      bad("values of other tokens", {q, k, make<float>({1, 1, 2}, {1, 2})}, rule("linear"),
          "input value is [1,1,2]; LinearAttention-27 takes [B,T,v], here [1,2,v]"),
      bad("heads that do not divide", {q, k, v},
          {attr("q_num_heads", 3), attr("kv_num_heads", 2), attr("update_rule", "linear")},
          "q_num_heads is 3, but must be a multiple of kv_num_heads, which is 2"),
      bad("a width that is no multiple", {q, k, v},
          {attr("q_num_heads", 2), attr("kv_num_heads", 2), attr("update_rule", "linear")},
          "its last size does not divide by its 2 heads"),
      bad("a state of another shape", {q, k, v, make<float>({1, 1, 2, 1}, {0, 0})}, rule("linear"),
          "past_state is [1,1,2,1], but must be [1,1,1,2]"),
  });
}

}  // namespace
}  // namespace grurun::engine::testing
