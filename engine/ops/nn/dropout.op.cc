// Dropout (ai.onnx 1, 6, 7, 10, 12, 13, 22).
//
// Inference: output is data; the mask, where named, is all true (all one of data's type before version 10).
// Training: each element is kept with probability 1 - ratio and scaled by 1 / (1 - ratio), else 0; mask says
// which are kept. Versions 1 and 6 train unless is_test is 1 (and do not scale back in the mask); 7 and 10
// never train; since 12 the input training_mode says so, and ratio is an input (default 0.5), with the
// attribute seed.
//
// The text names no generator. With a seed from 0 to 2^32 - 1 the elements kept are those that the example
// beside it keeps, ONNX's reference evaluator too: numpy's RandomState(seed).uniform(0, 1, shape) >= ratio.
#include <limits>
#include <optional>
#include <random>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/float_compute.h"
#include "engine/ops/shared/random.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

Tensor mask_of(DType dtype, const Shape& shape, const std::vector<bool>& kept) {
  Tensor mask(dtype, shape);
  dispatch(Join<Floats, TypeList<bool>>{}, dtype, [&]<typename T>() {
    T* to = mask.mutable_data<T>();
    for (const bool keep : kept) *to++ = static_cast<T>(static_cast<float>(keep));
  });
  return mask;
}

double fraction(double ratio) {
  if (!(ratio >= 0 && ratio < 1)) refuse();
  return ratio;
}

std::vector<bool> draw_kept(std::size_t elements, double ratio, std::optional<std::int64_t> seed,
                            RunContext& run) {
  std::vector<bool> kept(elements);
  if (seed && *seed >= 0 && *seed <= std::numeric_limits<std::uint32_t>::max()) {
    std::mt19937 numpy(static_cast<std::uint32_t>(*seed));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const std::uint64_t upper = numpy() >> 5, lower = numpy() >> 6;  // 27 and 26 bits
      kept[i] = static_cast<double>((upper << 26) + lower) * 0x1p-53 >= ratio;
    }
    return kept;
  }
  Random random(seed ? static_cast<std::uint64_t>(*seed) : run.random_seed());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = random.uniform() >= ratio;
  return kept;
}

void dropout(RunContext& run, double ratio, std::optional<std::int64_t> seed, DType mask_type) {
  const Tensor& data = run.tensor(0);
  const std::vector<bool> kept = draw_kept(static_cast<std::size_t>(data.size()), ratio, seed, run);
  Tensor& out = run.output(0, data.dtype(), data.shape());
  dispatch(Join<Floats, TypeList<Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>>{}, data.dtype(),
           [&]<typename T>() {
             const double scale = 1 / (1 - ratio);
             const T* from = data.data<T>();
             T* to = out.mutable_data<T>();
             for (std::size_t i = 0; i < kept.size(); ++i) {
               to[i] = kept[i] ? static_cast<T>(static_cast<double>(from[i]) * scale) : static_cast<T>(0.0);
             }
           });
  if (run.has_output(1)) run.set_output(1, mask_of(mask_type, data.shape(), kept));
}

void pass_through(RunContext& run, DType mask_type) {
  Tensor data = run.take_tensor(0);
  if (run.has_output(1)) {
    run.set_output(
        1, mask_of(mask_type, data.shape(), std::vector<bool>(static_cast<std::size_t>(data.size()), true)));
  }
  run.set_output(0, std::move(data));
}

double ratio_input(RunContext& run) {
  const Tensor* ratio = run.optional_tensor(1);
  if (ratio == nullptr) return 0.5;
  if (ratio->rank() != 0) refuse();
  return dispatch(Join<Floats, Float8s>{}, ratio->dtype(),
                  [&]<typename T>() { return fraction(static_cast<double>(*ratio->data<T>())); });
}

RunFunction prepare_dropout(PrepareContext& node) {
  const auto seed = node.optional_int("seed");
  return [seed](RunContext& run) {
    const double ratio = ratio_input(run);
    bool training = false;
    if (const Tensor* mode = run.optional_tensor(2)) {
      if (mode->rank() != 0) refuse();
      training = *mode->data<bool>();
    }
    if (!training || ratio == 0) return pass_through(run, DType::boolean);
    dropout(run, ratio, seed, DType::boolean);
  };
}

RunFunction prepare_attributes(PrepareContext& node) {
  const int version = node.since_version();
  const double ratio = fraction(static_cast<double>(node.float_attribute("ratio", 0.5f)));
  const bool training = version <= 6 && node.int_attribute("is_test", 0) == 0;
  const bool bool_mask = version >= 10;
  return [=](RunContext& run) {
    const DType mask_type = bool_mask ? DType::boolean : run.tensor(0).dtype();
    if (!training || ratio == 0) return pass_through(run, mask_type);
    dropout(run, ratio, std::nullopt, mask_type);
  };
}

}  // namespace

std::vector<OpRow> op_rows_dropout() {
  return {{"", "Dropout", {1, 6, 7, 10}, prepare_attributes}, {"", "Dropout", {12, 13, 22}, prepare_dropout}};
}

}  // namespace grurun::engine
