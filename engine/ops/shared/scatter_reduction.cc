#include "engine/ops/shared/scatter_reduction.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/shared/copy_elements.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

template <typename C>
C combine(C have, C update, ScatterReduction reduction) {
  if constexpr (std::is_same_v<C, bool>) {
    const bool any = reduction == ScatterReduction::add || reduction == ScatterReduction::max;
    return any ? have || update : have && update;
  } else {
    // Unsigned, so that sums and products of integers wrap.
    if constexpr (std::is_integral_v<C>) {
      using Unsigned = std::common_type_t<std::make_unsigned_t<C>, unsigned>;
      if (reduction == ScatterReduction::add) {
        return static_cast<C>(static_cast<Unsigned>(have) + static_cast<Unsigned>(update));
      }
      if (reduction == ScatterReduction::mul) {
        return static_cast<C>(static_cast<Unsigned>(have) * static_cast<Unsigned>(update));
      }
    } else {
      if (reduction == ScatterReduction::add) return have + update;
      if (reduction == ScatterReduction::mul) return have * update;
      if constexpr (std::is_floating_point_v<C>) {
        if (std::isnan(have) || std::isnan(update)) return have + update;
      }
    }
    if constexpr (requires { have < update; }) {
      return reduction == ScatterReduction::max ? std::max(have, update) : std::min(have, update);
    } else {
      fail_unsupported("max and min are not defined for complex numbers");
    }
  }
}

}  // namespace

ScatterReduction scatter_reduction(PrepareContext& node) {
  if (node.since_version() < 16) return ScatterReduction::none;
  const std::string name = node.string_attribute("reduction", "none");
  if (name == "none") return ScatterReduction::none;
  if (name == "add") return ScatterReduction::add;
  if (name == "mul") return ScatterReduction::mul;
  return name == "max" ? ScatterReduction::max : ScatterReduction::min;
}

void scatter_into(Tensor& target, std::int64_t target_at, const Tensor& updates, std::int64_t updates_at,
                  std::int64_t count, ScatterReduction reduction) {
  if (reduction == ScatterReduction::none)
    return copy_elements(target, target_at, updates, updates_at, count);
  dispatch(Join<Numbers, Complexes, TypeList<bool>>{}, target.dtype(), [&]<typename T>() {
    using C = ComputeType<T>;
    T* to = target.mutable_data<T>() + target_at;
    const T* from = updates.data<T>() + updates_at;
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<T>(combine<C>(static_cast<C>(to[i]), static_cast<C>(from[i]), reduction));
    }
  });
}

void scatter_at(Tensor& target, std::span<const std::int64_t> places, const Tensor& updates,
                std::int64_t updates_at, ScatterReduction reduction) {
  if (reduction == ScatterReduction::none) {
    return dispatch_width(target.dtype(), [&]<typename T>() {
      T* to = static_cast<T*>(target.mutable_raw());
      const T* from = static_cast<const T*>(updates.raw()) + updates_at;
      for (const std::int64_t place : places) to[place] = *from++;
    });
  }
  dispatch(Join<Numbers, Complexes, TypeList<bool>>{}, target.dtype(), [&]<typename T>() {
    using C = ComputeType<T>;
    T* to = target.mutable_data<T>();
    const T* from = updates.data<T>() + updates_at;
    for (const std::int64_t place : places) {
      to[place] = static_cast<T>(combine<C>(static_cast<C>(to[place]), static_cast<C>(*from++), reduction));
    }
  });
}

}  // namespace grurun::engine
