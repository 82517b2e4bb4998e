#include <functional>
#include <limits>

#include "engine/ops/shared/cast.h"
#include "tensor/dispatch.h"
#include "tensor/splitmix.h"
#include "tests/engine/ops/bodies/body_table.h"

namespace grurun::engine::testing {

BodyInputs::BodyInputs(const opset::SchemaInfo& schema, std::int64_t opset,
                       std::map<std::string, std::string> types)
    : schema_(schema), opset_(opset), types_(std::move(types)), state_(static_cast<std::uint64_t>(opset)) {
  std::string name = schema.name;
  for (const auto& [constraint, type] : types_) name += type;
  for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
}

const std::string& BodyInputs::type(const std::string& constraint) const {
  return types_.at(constraint);
}

DType BodyInputs::dtype(const std::string& constraint) const {
  ValueType type = parse_value_type(types_.at(constraint)).value();
  while (type.element != nullptr) type = ValueType(*type.element);
  return type.elem;
}

std::uint64_t BodyInputs::bits() {
  return splitmix(state_);
}

double BodyInputs::unit() {
  return unit_of(bits());
}

Tensor BodyInputs::uniform(DType dtype, const Shape& shape, double low, double high) {
  Tensor out(DType::float64, shape);
  double* to = out.mutable_data<double>();
  const bool whole = is_integer(dtype) || dtype == DType::boolean;
  for (std::int64_t i = 0; i < out.size(); ++i) {
    to[i] = whole ? std::floor(low + unit() * (high - low + 1)) : low + unit() * (high - low);
  }
  return cast_tensor(out, dtype);
}

Tensor BodyInputs::with_specials(DType dtype, const Shape& shape, double low, double high) {
  if (!is_floating(dtype)) return uniform(dtype, shape, low, high);
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double specials[] = {0.0, -0.0, inf, -inf, std::numeric_limits<double>::quiet_NaN()};
  Tensor out = cast_tensor(uniform(dtype, shape, low, high), DType::float64);
  double* to = out.mutable_data<double>();
  for (std::int64_t i = 0; i < std::min<std::int64_t>(out.size(), std::size(specials)); ++i)
    to[i] = specials[i];
  return cast_tensor(out, dtype);
}

Tensor BodyInputs::any(DType dtype, const Shape& shape) {
  Tensor out(dtype, shape);
  if (dtype == DType::string) {
    std::string* to = out.mutable_data<std::string>();
    for (std::int64_t i = 0; i < out.size(); ++i) to[i] = std::to_string(bits() % 1000);
  } else if (dtype == DType::boolean) {
    bool* to = out.mutable_data<bool>();
    for (std::int64_t i = 0; i < out.size(); ++i) to[i] = (bits() & 1) != 0;
  } else if (is_complex(dtype)) {
    dispatch(Complexes{}, dtype, [&]<typename T>() {
      using Part = typename T::value_type;
      T* to = out.mutable_data<T>();
      for (std::int64_t i = 0; i < out.size(); ++i)
        to[i] = T(static_cast<Part>(unit()), static_cast<Part>(unit()));
    });
  } else if (is_integer(dtype) && dtype_size(dtype) * 8 == static_cast<std::size_t>(dtype_file_bits(dtype))) {
    auto* to = static_cast<unsigned char*>(out.mutable_raw());
    for (std::size_t i = 0; i < out.byte_size(); ++i) to[i] = static_cast<unsigned char>(bits());
  } else {
    return uniform(dtype, shape, -3, 3);
  }
  return out;
}

}  // namespace grurun::engine::testing
