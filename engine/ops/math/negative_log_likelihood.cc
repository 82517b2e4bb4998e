#include "engine/ops/math/negative_log_likelihood.h"

#include "engine/graph/refusal.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "engine/ops/shared/float_compute.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using Reduction = NegativeLogLikelihood::Reduction;

void check_shapes(const Tensor& log_prob, const Tensor& target, const Tensor* weight) {
  const Shape& shape = log_prob.shape();
  if (shape.rank() < 2) refuse();
  Shape samples = shape;
  samples.erase(1);
  if (!(target.shape() == samples)) refuse();
  if (weight != nullptr && !(weight->shape() == Shape{shape[1]})) refuse();
}

/// Losses and weights of all samples, in C.
template <typename C, typename T, typename Index>
void sample_losses(const NegativeLogLikelihood& rule, const Tensor& log_prob, const Tensor& target,
                   const C* class_weights, C* losses, C* weights) {
  const T* from = log_prob.data<T>();
  const Index* classes = target.data<Index>();
  const std::int64_t count = log_prob.dim(1), inner = log_prob.shape().count(2, log_prob.rank());
  kernels::parallel_for(target.size(), 8192, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto c = static_cast<std::int64_t>(classes[i]);
      if (rule.ignore_index && c == *rule.ignore_index) {
        losses[i] = weights[i] = 0;
        continue;
      }
      if (c < 0 || c >= count) refuse();
      weights[i] = class_weights == nullptr ? C(1) : class_weights[c];
      losses[i] = -static_cast<C>(from[(i / inner * count + c) * inner + i % inner]) * weights[i];
    }
  });
}

}  // namespace

NegativeLogLikelihood NegativeLogLikelihood::read(PrepareContext& node) {
  NegativeLogLikelihood out;
  const std::string reduction = node.string_attribute("reduction", "mean");
  if (reduction == "none") {
    out.reduction = Reduction::none;
  } else if (reduction == "sum") {
    out.reduction = Reduction::sum;
  }
  out.ignore_index = node.optional_int("ignore_index");
  return out;
}

Tensor NegativeLogLikelihood::loss(const Tensor& log_prob, const Tensor& target, const Tensor* weight) const {
  check_shapes(log_prob, target, weight);
  return compute_in_float(log_prob.dtype(), [&]<typename C>() {
    const Tensor class_weights = weight == nullptr ? Tensor() : widened<C>(*weight);
    const C* by_class = weight == nullptr ? nullptr : class_weights.data<C>();
    Tensor losses(dtype_of<C>, target.shape()), weights(dtype_of<C>, target.shape());
    C *l = losses.mutable_data<C>(), *w = weights.mutable_data<C>();
    dispatch(Floats{}, log_prob.dtype(), [&]<typename T>() {
      target.dtype() == DType::int32
          ? sample_losses<C, T, std::int32_t>(*this, log_prob, target, by_class, l, w)
          : sample_losses<C, T, std::int64_t>(*this, log_prob, target, by_class, l, w);
    });
    if (reduction == Reduction::none) return losses;
    double sum = kernels::reduce_sum(l, losses.size());
    if (reduction == Reduction::mean) sum /= kernels::reduce_sum(w, weights.size());
    return Tensor::scalar(static_cast<C>(sum));
  });
}

}  // namespace grurun::engine
