// RandomUniform, RandomUniformLike, RandomNormal, RandomNormalLike (ai.onnx 1, 22).
//
//   RandomUniform: each element is drawn from [low, high), low 0 and high 1 by default
//   RandomNormal: each element is drawn with mean `mean`, by default 0, and standard deviation `scale`, by
//   default 1
//
// The shape is the attribute `shape`, or the input's (Like). The element type is the attribute dtype, else
// float, or the input's (Like); bfloat16 since version 22. A value is drawn in double and rounded once, so
// that a narrow range of a narrow type may reach high.
#include "engine/ops/shared/random.h"

#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/dtype_attribute.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

enum class Law { uniform, normal };

struct Distribution {
  Law law;
  double first;   // low or mean
  double second;  // high or scale
  std::optional<float> seed;

  Tensor draw(DType dtype, const Shape& shape, RunContext& run) const {
    Random random = node_random(seed, run);
    Tensor out(dtype, shape);
    dispatch(Floats{}, dtype, [&]<typename T>() {
      T* to = out.mutable_data<T>();
      for (std::int64_t i = 0; i < out.size(); ++i) {
        // Not low + u * (high - low): the difference of two floats may be infinite.
        const double u = law == Law::uniform ? random.uniform_as<T>() : random.normal();
        to[i] = static_cast<T>(law == Law::uniform ? (1 - u) * first + u * second : first + u * second);
      }
    });
    return out;
  }
};

DTypeSet output_types(const PrepareContext& node) {
  const DTypeSet first{DType::float16, DType::float32, DType::float64};
  return node.since_version() >= 22 ? first | DTypeSet(DType::bfloat16) : first;
}

Distribution read_distribution(PrepareContext& node, Law law) {
  const char* const names[2] = {law == Law::uniform ? "low" : "mean", law == Law::uniform ? "high" : "scale"};
  const float first = node.float_attribute(names[0], 0);
  const float second = node.float_attribute(names[1], 1);
  return {law, static_cast<double>(first), static_cast<double>(second), node.optional_float("seed")};
}

template <Law law>
RunFunction prepare_random(PrepareContext& node) {
  const Distribution distribution = read_distribution(node, law);
  const DType dtype = dtype_attribute(node, "dtype", output_types(node)).value_or(DType::float32);
  const Shape shape(node.ints_attribute("shape"));
  return [=](RunContext& run) { run.set_output(0, distribution.draw(dtype, shape, run)); };
}

template <Law law>
RunFunction prepare_like(PrepareContext& node) {
  const Distribution distribution = read_distribution(node, law);
  const DTypeSet admitted = output_types(node);
  const auto stated = dtype_attribute(node, "dtype", admitted);
  return [=](RunContext& run) {
    const Tensor& like = run.tensor(0);
    const DType dtype = stated.value_or(like.dtype());
    if (!admitted.contains(dtype)) refuse();
    run.set_output(0, distribution.draw(dtype, like.shape(), run));
  };
}

}  // namespace

std::vector<OpRow> op_rows_random() {
  return {{"", "RandomUniform", {1, 22}, prepare_random<Law::uniform>},
          {"", "RandomNormal", {1, 22}, prepare_random<Law::normal>},
          {"", "RandomUniformLike", {1, 22}, prepare_like<Law::uniform>},
          {"", "RandomNormalLike", {1, 22}, prepare_like<Law::normal>}};
}

}  // namespace grurun::engine
