// BatchNormalization (ai.onnx 1, 6, 7, 9, 14, 15).
//
//   Y = (X - mean) / sqrt(var + epsilon) * scale + B, by channel (axis 1; axis 0 of a list of one axis)
//
// Inference: mean and var are the inputs. Training: they are those of the batch (var biased), and the running
// values follow as
//   running = input * momentum + batch * (1 - momentum)
// Versions 1 and 6 train unless is_test is 1; 7 and 9 train when more than one output is named; 14 and 15
// when training_mode is 1. The older training outputs are Y, mean, var, saved_mean, saved_var; 14 and 15 have
// Y, running_mean, running_var. spatial = 0 (versions 1, 6, 7) takes the statistics by element [C, D1...Dn]
// instead of by channel. 16-bit floats are computed in float, all in double where one input is of it.
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_normalize.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/chain_step.h"
#include "engine/ops/shared/float_compute.h"
#include "engine/ops/shared/float_pieces.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

struct Attributes {
  float epsilon, momentum;
  bool training, spatial;
};

// X as [batch, groups, inner]: a group has one mean and one variance.
struct Layout {
  std::int64_t batch, groups, inner;
  Shape statistics;
};

// From version 9 on X of one axis has "size N in which case C is assumed to be 1"; earlier texts have no such
// X, whose elements then are channels.
Layout layout(const Shape& x, bool spatial, int version) {
  const std::size_t channel = x.rank() > 1 ? 1 : 0;
  if (x.rank() == 0) refuse();
  if (x.rank() == 1 && version >= 9) return {x[0], 1, 1, Shape{1}};
  if (spatial) {
    return {x.count(0, channel), x[channel], x.count(channel + 1, x.rank()), Shape{x[channel]}};
  }
  return {x.count(0, channel), x.count(channel, x.rank()), 1, Shape(x.dims().subspan(channel))};
}

template <typename C>
struct Statistics {
  ScratchVector<C> mean, var;
};

template <typename C>
Statistics<C> of_batch(const Layout& shape, const C* x) {
  const double count = static_cast<double>(shape.batch * shape.inner);
  Statistics<C> out{ScratchVector<C>(static_cast<std::size_t>(shape.groups)),
                    ScratchVector<C>(static_cast<std::size_t>(shape.groups))};
  for (std::int64_t g = 0; g < shape.groups; ++g) {
    double sum = 0, squares = 0;
    const auto each = [&](auto&& body) {
      for (std::int64_t b = 0; b < shape.batch; ++b) {
        const C* row = x + (b * shape.groups + g) * shape.inner;
        for (std::int64_t i = 0; i < shape.inner; ++i) body(static_cast<double>(row[i]));
      }
    };
    each([&](double value) { sum += value; });
    const double mean = sum / count;
    each([&](double value) { squares += (value - mean) * (value - mean); });
    out.mean[static_cast<std::size_t>(g)] = static_cast<C>(mean);
    out.var[static_cast<std::size_t>(g)] = static_cast<C>(squares / count);
  }
  return out;
}

template <typename C>
void channel_factors(const C* scale, const C* var, float epsilon, C* factors, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) factors[i] = scale[i] / std::sqrt(var[i] + static_cast<C>(epsilon));
}

// T is C or a 16-bit float.
template <typename T, typename C>
void normalize(const Layout& shape, const T* x, const C* scale, const C* bias, const Statistics<C>& with,
               float epsilon, T* y) {
  if (shape.groups == 0 || shape.inner == 0) return;
  ScratchVector<C> factors(with.var.size());
  channel_factors(scale, with.var.data(), epsilon, factors.data(), shape.groups);
  const C *mean = with.mean.data(), *factor = factors.data();
  if (shape.inner == 1) {  // a row of channels
    kernels::parallel_for(shape.batch, 1 + 16384 / shape.groups, [&](std::int64_t begin, std::int64_t end) {
      PieceReader<T> reader(x);
      PieceWriter<T> writer(y);
      for (std::int64_t row = begin; row < end; ++row) {
        const C* const from = reader.read(row * shape.groups, shape.groups);
        C* const to = writer.begin(row * shape.groups, shape.groups);
#pragma GCC ivdep
        for (std::int64_t g = 0; g < shape.groups; ++g) to[g] = (from[g] - mean[g]) * factor[g] + bias[g];
        writer.end();
      }
    });
    return;
  }
  kernels::parallel_for(
      shape.batch * shape.groups, 1 + 16384 / shape.inner, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t g = row % shape.groups, at = row * shape.inner;
          kernels::vec_standardize(x + at, mean[g], factor[g], bias[g], y + at, shape.inner);
        }
      });
}

template <typename C>
Tensor running(const Tensor& old, std::span<const C> batch, float momentum, const Shape& shape) {
  const Tensor wide = cast_tensor(old, dtype_of<C>);
  Tensor out(dtype_of<C>, shape);
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const C kept = wide.data<C>()[i] * static_cast<C>(momentum);
    out.mutable_data<C>()[i] = kept + batch[static_cast<std::size_t>(i)] * (C(1) - static_cast<C>(momentum));
  }
  return out;
}

template <typename C>
void batch_normalization(RunContext& run, const Attributes& attributes, const Layout& shape) {
  const DType dtype = run.tensor(0).dtype();
  Tensor x = run.take_tensor(0);
  const Tensor scale = cast_tensor(run.tensor(1), dtype_of<C>),
               bias = cast_tensor(run.tensor(2), dtype_of<C>);
  const Tensor mean = cast_tensor(run.tensor(3), dtype_of<C>), var = cast_tensor(run.tensor(4), dtype_of<C>);
  Statistics<C> with;
  if (attributes.training) {
    with = of_batch<C>(shape, cast_tensor(x, dtype_of<C>).template data<C>());
  } else {
    with = {{mean.span<C>().begin(), mean.span<C>().end()}, {var.span<C>().begin(), var.span<C>().end()}};
  }
  // In double, whatever is not: 16-bit floats are converted as they are read only where they become float.
  if (std::is_same_v<C, double>) x = cast_tensor(x, DType::float64);
  const void* const elements = x.raw();
  Tensor y = x.unique() ? std::move(x) : Tensor(x.dtype(), x.shape());
  const auto apply = [&]<typename T>() {
    normalize<T, C>(shape, static_cast<const T*>(elements), scale.data<C>(), bias.data<C>(), with,
                    attributes.epsilon, y.mutable_data<T>());
  };
  if constexpr (std::is_same_v<C, double>) {
    apply.template operator()<double>();
  } else {
    dispatch(TypeList<float, Float16, BFloat16>{}, y.dtype(), apply);
  }
  run.set_output(0, narrowed(y, dtype));
  if (!attributes.training) return;
  const auto set = [&](std::size_t index, const Tensor& tensor, DType dtype) {
    if (run.has_output(index)) run.set_output(index, narrowed(tensor, dtype));
  };
  const DType statistics = run.tensor(3).dtype();
  set(1, running<C>(run.tensor(3), with.mean, attributes.momentum, shape.statistics), statistics);
  set(2, running<C>(run.tensor(4), with.var, attributes.momentum, shape.statistics), run.tensor(4).dtype());
  set(3, Tensor::from(shape.statistics, std::span<const C>(with.mean)), statistics);
  set(4, Tensor::from(shape.statistics, std::span<const C>(with.var)), statistics);
}

bool trains(PrepareContext& node) {
  const int version = node.since_version();
  if (version <= 6) return node.int_attribute("is_test", 0) == 0;
  if (version <= 9) return node.output_count() > 1;
  return node.int_attribute("training_mode", 0) != 0;
}

// What inference does by channel, where it is known beforehand and in float.
std::optional<ChannelStep> channel_step(PrepareContext& node, const Attributes& attributes) {
  if (attributes.training || !attributes.spatial) return std::nullopt;
  std::array<const Tensor*, 5> given{};
  for (std::size_t i = 1; i < given.size(); ++i) {
    given[i] = node.constant_input(i);
    if (given[i] == nullptr || given[i]->dtype() != DType::float32 || given[i]->rank() != 1 ||
        given[i]->size() != given[1]->size()) {
      return std::nullopt;
    }
  }
  ChannelStep step{*given[3], Tensor(DType::float32, given[1]->shape()), *given[2]};
  channel_factors(given[1]->data<float>(), given[4]->data<float>(), attributes.epsilon,
                  step.factor.mutable_data<float>(), step.factor.size());
  return step;
}

RunFunction prepare_batch_normalization(PrepareContext& node) {
  const int version = node.since_version();
  Attributes attributes;
  attributes.epsilon = node.float_attribute("epsilon", 1e-5f);
  attributes.momentum = node.float_attribute("momentum", 0.9f);
  attributes.training = trains(node);
  attributes.spatial = version > 7 || node.int_attribute("spatial", 1) != 0;
  const std::size_t outputs = node.output_count();
  if (version < 14 && outputs != 1 && outputs != 5) refuse();
  if (attributes.training ? version >= 14 && outputs != 3 : outputs > 1) refuse();
  RunFunction alone = [attributes, version](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Layout shape = layout(x.shape(), attributes.spatial, version);
    for (std::size_t i = 1; i < 5; ++i)
      if (!(run.tensor(i).shape() == shape.statistics)) refuse();
    if (attributes.training && (shape.batch == 0 || shape.inner == 0)) refuse();
    bool is_double = false;  // the five need not have one type
    for (std::size_t i = 0; i < 5; ++i) is_double = is_double || run.tensor(i).dtype() == DType::float64;
    if (is_double) return batch_normalization<double>(run, attributes, shape);
    batch_normalization<float>(run, attributes, shape);
  };
  auto by_channel = channel_step(node, attributes);
  return by_channel ? chain_part(std::move(alone), *std::move(by_channel)) : alone;
}

}  // namespace

std::vector<OpRow> op_rows_batch_normalization() {
  return {{"", "BatchNormalization", {1, 6, 7, 9, 14, 15}, prepare_batch_normalization}};
}

}  // namespace grurun::engine
