// The kernels one by one, on one thread.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "bench/count.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/integer/integer_panels.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_convert.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/kernels/vec/vec_reduce.h"

namespace grurun::kernels {
namespace {

std::vector<float> uniform(int64_t n) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> draw(-1, 1);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = draw(generator);
  return values;
}

// M, N, K: with and without B rearranged before.
struct Product {
  int64_t M, N, K;

  explicit Product(const benchmark::State& state) : M(state.range(0)), N(state.range(1)), K(state.range(2)) {}
  double flops() const { return 2.0 * static_cast<double>(M * N * K); }
  double bytes() const { return 4.0 * static_cast<double>(M * K + K * N + M * N); }
};

void packed_gemm(benchmark::State& state) {
  const Product p(state);
  const std::vector<float> A = uniform(p.M * p.K), B = uniform(p.K * p.N);
  std::vector<float> C(static_cast<size_t>(p.M * p.N));
  const PackedB<float> packed = pack_b<float>(p.K, p.N, {B.data(), p.N});
  for (auto _ : state) {
    gemm_packed<float>(p.M, {A.data(), p.K}, packed, C.data(), p.N);
    benchmark::ClobberMemory();
  }
  count(state, p.flops(), p.bytes());
}

void plain_gemm(benchmark::State& state) {
  const Product p(state);
  const std::vector<float> A = uniform(p.M * p.K), B = uniform(p.K * p.N);
  std::vector<float> C(static_cast<size_t>(p.M * p.N));
  for (auto _ : state) {
    gemm<float>(p.M, p.N, p.K, 1, {A.data(), p.K}, {B.data(), p.N}, 0, C.data(), p.N);
    benchmark::ClobberMemory();
  }
  count(state, p.flops(), p.bytes());
}

// Items are products of two numbers.
void integer_product(benchmark::State& state) {
  const Product p(state);
  const std::vector<uint8_t> A(static_cast<size_t>(p.M * p.K), 200);
  const std::vector<int8_t> B(static_cast<size_t>(p.K * p.N), -77);
  std::vector<int64_t> columns(static_cast<size_t>(p.N));
  std::iota(columns.begin(), columns.end(), 0);
  const int8_t zero_of_B = 0;
  const uint8_t zero_of_A = 120;
  const IntegerPanels panels(B.data(), p.K, p.N, columns, &zero_of_B, 0);
  std::vector<int32_t> C(static_cast<size_t>(p.M * p.N));
  for (auto _ : state) {
    const IntegerRows rows(A.data(), p.M, &zero_of_A, 0, panels);
    multiply_integers(rows, 0, p.M, panels, 0, panels.panels(), C.data(), p.N);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * p.M * p.N * p.K);
}

#define GRURUN_SIZES           \
  ArgNames({"M", "N", "K"})    \
      ->Args({1, 768, 256})    \
      ->Args({32, 1536, 512})  \
      ->Args({64, 3072, 1024}) \
      ->Args({256, 256, 256})
BENCHMARK(packed_gemm)->GRURUN_SIZES;
BENCHMARK(plain_gemm)->GRURUN_SIZES;
BENCHMARK(integer_product)->GRURUN_SIZES;
#undef GRURUN_SIZES

// Lengths of arrays: within the first cache, and far beyond all of them.
constexpr int64_t short_array = 2048, long_array = 1 << 24;

using Map = void (*)(const float*, float*, int64_t);

void map(benchmark::State& state, Map function) {
  const int64_t n = state.range(0);
  const std::vector<float> x = uniform(n);
  std::vector<float> y(x.size());
  for (auto _ : state) {
    function(x.data(), y.data(), n);
    benchmark::ClobberMemory();
  }
  count(state, 0, 8.0 * static_cast<double>(n));
}
BENCHMARK_CAPTURE(map, exp, vec_exp)->Arg(short_array)->Arg(long_array);
BENCHMARK_CAPTURE(map, log, vec_log)->Arg(short_array);
BENCHMARK_CAPTURE(map, tanh, vec_tanh)->Arg(short_array);
BENCHMARK_CAPTURE(map, sigmoid, vec_sigmoid)->Arg(short_array);
BENCHMARK_CAPTURE(map, softplus, vec_softplus)->Arg(short_array);
BENCHMARK_CAPTURE(map, erf, vec_erf)->Arg(short_array);

using Binary = void (*)(const float*, const float*, float*, int64_t);

void arithmetic(benchmark::State& state, Binary function) {
  const int64_t n = state.range(0);
  const std::vector<float> a = uniform(n), b = uniform(n);
  std::vector<float> y(a.size());
  for (auto _ : state) {
    function(a.data(), b.data(), y.data(), n);
    benchmark::ClobberMemory();
  }
  count(state, static_cast<double>(n), 12.0 * static_cast<double>(n));
}
BENCHMARK_CAPTURE(arithmetic, add, vec_add<float>)->Arg(short_array)->Arg(long_array);
BENCHMARK_CAPTURE(arithmetic, div, vec_div<float>)->Arg(short_array);

template <class Function>
void reduce(benchmark::State& state, Function function) {
  const int64_t n = state.range(0);
  const std::vector<float> x = uniform(n);
  for (auto _ : state) benchmark::DoNotOptimize(function(x.data(), n));
  count(state, static_cast<double>(n), 4.0 * static_cast<double>(n));
}
const auto sum = [](const float* x, int64_t n) { return reduce_sum(x, n); };
const auto max = [](const float* x, int64_t n) { return reduce_max(x, n); };
BENCHMARK_CAPTURE(reduce, sum, sum)->Arg(short_array)->Arg(long_array);
BENCHMARK_CAPTURE(reduce, max, max)->Arg(short_array);

template <class T>
void convert(benchmark::State& state) {
  const int64_t n = state.range(0);
  const std::vector<float> x = uniform(n);
  std::vector<T> y(x.size());
  for (auto _ : state) {
    vec_convert(x.data(), y.data(), n);
    benchmark::ClobberMemory();
  }
  count(state, 0, 6.0 * static_cast<double>(n));
}
BENCHMARK(convert<Float16>)->Name("convert/float16")->Arg(short_array);
BENCHMARK(convert<BFloat16>)->Name("convert/bfloat16")->Arg(short_array);

}  // namespace
}  // namespace grurun::kernels
