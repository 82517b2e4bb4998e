// Imputer (ai.onnx.ml 1).
//
// Y = X [..., F] with the elements that equal the replaced value, or are NaN where it is NaN, replaced by the
// imputed value: one for all features, or one for each. Floating tensors take replaced_value_float and
// imputed_value_floats, integer tensors replaced_value_int64 and imputed_value_int64s.
#include <cmath>

#include "engine/graph/op_context.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

template <typename Value>
struct Replacement {
  std::optional<Value> replaced;
  std::vector<Value> imputed;

  /// The default of the other type may be written out.
  bool given() const { return replaced.value_or(Value{0}) != Value{0} || !imputed.empty(); }
};

template <typename T, typename Value>
T narrow(Value value) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    if (!std::in_range<std::int32_t>(value)) refuse();
  }
  return static_cast<T>(value);
}

template <typename T, typename Value>
Tensor impute(const Tensor& x, const Replacement<Value>& with) {
  const std::int64_t width = x.rank() == 0 ? 1 : x.dim(x.rank() - 1);
  const auto count = static_cast<std::int64_t>(with.imputed.size());
  if (count != 1 && count != width) refuse();
  std::vector<T> imputed;
  for (const Value value : with.imputed) imputed.push_back(narrow<T>(value));
  const Value replaced = with.replaced.value_or(Value{0});
  Tensor y(x.dtype(), x.shape());
  T* to = y.mutable_data<T>();
  std::size_t f = 0;
  for (const T value : x.span<T>()) {
    // Integers compare as int64, so a replaced value beyond int32 equals no int32 element.
    bool equal = value == static_cast<std::common_type_t<T, Value>>(replaced);
    if constexpr (std::is_floating_point_v<T>) equal |= std::isnan(replaced) && std::isnan(value);
    *to++ = equal ? imputed[f] : value;
    if (++f == imputed.size()) f = 0;
  }
  return y;
}

RunFunction prepare_imputer(PrepareContext& node) {
  const Replacement<float> floats{node.optional_float("replaced_value_float"),
                                  node.floats_attribute("imputed_value_floats")};
  const Replacement<std::int64_t> integers{node.optional_int("replaced_value_int64"),
                                           node.ints_attribute("imputed_value_int64s")};
  return [floats, integers](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const bool floating = is_floating(x.dtype());
    if (floating ? integers.given() : floats.given()) refuse();
    if (floating) {
      run.set_output(0, x.dtype() == DType::float64 ? impute<double>(x, floats) : impute<float>(x, floats));
    } else {
      run.set_output(0, x.dtype() == DType::int32 ? impute<std::int32_t>(x, integers)
                                                  : impute<std::int64_t>(x, integers));
    }
  };
}

}  // namespace

std::vector<OpRow> op_rows_imputer() {
  return {{"ai.onnx.ml", "Imputer", {1}, prepare_imputer}};
}

}  // namespace grurun::engine
