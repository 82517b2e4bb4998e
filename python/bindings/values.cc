#include "python/bindings/values.h"

#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <utility>

#include "tensor/dispatch.h"
#include "tensor/error.h"

namespace nb = nanobind;

namespace grurun::python {
namespace {

nb::object helper(const char* name) {
  return nb::module_::import_("grurun._arrays").attr(name);
}

// DLPack's codes of element types that take a byte each, from 10 on.
constexpr DType dlpack_bytes[] = {DType::float8e4m3fn, DType::float8e4m3fnuz, DType::float8e5m2,
                                  DType::float8e5m2fnuz, DType::float8e8m0};

DType dtype_of_dlpack(const nb::dlpack::dtype& dtype) {
  if (dtype.lanes != 1) return DType::undefined;
  const auto sized = [&](DType one, DType two, DType four, DType eight) {
    switch (dtype.bits) {
      case 8:
        return one;
      case 16:
        return two;
      case 32:
        return four;
      case 64:
        return eight;
      default:
        return DType::undefined;
    }
  };
  constexpr DType none = DType::undefined;
  switch (dtype.code) {
    case 0:
      return sized(DType::int8, DType::int16, DType::int32, DType::int64);
    case 1:
      return sized(DType::uint8, DType::uint16, DType::uint32, DType::uint64);
    case 2:
      return sized(none, DType::float16, DType::float32, DType::float64);
    case 4:
      return sized(none, DType::bfloat16, none, none);
    case 5:
      return dtype.bits == 128 ? DType::complex128 : sized(none, none, none, DType::complex64);
    case 6:
      return sized(DType::boolean, none, none, none);
    default:
      return dtype.code >= 10 && dtype.code < 15 ? sized(dlpack_bytes[dtype.code - 10], none, none, none)
                                                 : none;
  }
}

nb::dlpack::dtype numpy_dtype(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * dtype_size(dtype));
  if (dtype == DType::boolean) return {6, bits, 1};
  if (is_complex(dtype)) return {5, bits, 1};
  const bool is_numpys = dtype == DType::float16 || dtype == DType::float32 || dtype == DType::float64;
  if (is_numpys) return {2, bits, 1};
  const bool is_signed =
      dtype == DType::int8 || dtype == DType::int16 || dtype == DType::int32 || dtype == DType::int64;
  // Others are seen as unsigned numbers first, and then under their own type.
  return {static_cast<std::uint8_t>(is_signed ? 0 : 1), bits, 1};
}

bool is_of_ml_dtypes(DType dtype) {
  return SmallFloats::set.contains(dtype) || SmallInts::set.contains(dtype) || dtype == DType::bfloat16;
}

// ml_dtypes keeps signed numbers of 4 and 2 bits without the bits above; here these repeat the sign.
bool is_signed_small(DType dtype) {
  return dtype == DType::int4 || dtype == DType::int2;
}

void change_signs(Tensor& tensor, bool extend) {
  const int unused = 8 - dtype_file_bits(tensor.dtype());
  auto* bytes = static_cast<std::uint8_t*>(tensor.mutable_raw());
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const auto high = static_cast<std::uint8_t>(bytes[i] << unused);
    bytes[i] = extend ? static_cast<std::uint8_t>(static_cast<std::int8_t>(high) >> unused)
                      : static_cast<std::uint8_t>(high >> unused);
  }
}

Tensor borrow(const Array& array, DType dtype, Kept& kept) {
  std::vector<std::int64_t> dims(array.ndim());
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<std::int64_t>(array.shape(i));
  Shape shape(dims);
  if (shape.element_count() == 0) return {dtype, std::move(shape)};
  const auto address = reinterpret_cast<std::uintptr_t>(array.data());
  // Without an owner: nobody may write there, and `kept` outlives every reader.
  Tensor tensor = Tensor::borrow(dtype, std::move(shape), array.data(),
                                 std::shared_ptr<const void>(std::shared_ptr<const void>(), array.data()));
  const std::size_t width = dtype_size(dtype);
  if (is_signed_small(dtype)) {
    change_signs(tensor, true);
  } else if (address % (is_complex(dtype) ? width / 2 : width) != 0) {
    tensor.mutable_raw();  // its own copy, aligned
  } else {
    kept.push_back(array);
  }
  return tensor;
}

Tensor string_tensor(nb::handle elements, nb::handle shape) {
  std::vector<std::int64_t> dims;
  for (nb::handle dim : shape) dims.push_back(nb::cast<std::int64_t>(dim));
  Tensor tensor(DType::string, Shape(dims));
  auto* to = tensor.mutable_data<std::string>();
  for (nb::handle element : elements) {
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(element.ptr(), &data, &size) != 0) throw nb::python_error();
    (to++)->assign(data, static_cast<std::size_t>(size));
  }
  return tensor;
}

// Of what nobody can be asked for memory: numbers, text, lists, types that DLPack does not have.
Tensor tensor_by_numpy(nb::handle object, DType declared, Kept& kept) {
  const nb::object plain = helper("plain")(object, declared == DType::undefined ? "" : dtype_name(declared));
  const auto name = nb::cast<std::string>(plain[1]);
  if (name == "string") return string_tensor(plain[0], plain[2]);
  Array array;
  if (!nb::try_cast(plain[0], array)) fail_internal("an array of numpy's was not understood");
  return borrow(array, parse_dtype(name), kept);
}

bool hands_out_memory(nb::handle object) {
  PyObject* const it = object.ptr();
  return !PyList_Check(it) && !PyTuple_Check(it) && !PyUnicode_Check(it) && !PyBytes_Check(it) &&
         !PyLong_Check(it) && !PyFloat_Check(it);
}

Tensor to_tensor(nb::handle object, DType declared, Kept& kept) {
  if (hands_out_memory(object)) {
    Array array;
    if (nb::try_cast(object, array)) {
      const DType dtype = dtype_of_dlpack(array.dtype());
      if (dtype != DType::undefined) return borrow(array, dtype, kept);
    }
  }
  return tensor_by_numpy(object, declared, kept);
}

bool is_list(nb::handle object) {
  return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
}

[[noreturn]] void fail_kind(nb::handle object, const ValueType& declared) {
  fail_usage("{} takes {}, not an object of the type {}", declared.to_string(),
             declared.kind == ValueType::Kind::map ? "a dict" : "a list",
             from_text(object.type().attr("__name__")));
}

Value to_sequence(nb::handle object, const ValueType& declared, Kept& kept) {
  if (!is_list(object)) fail_kind(object, declared);
  const ValueType unknown;
  Sequence sequence;
  if (declared.element) sequence.element = *declared.element;
  for (nb::handle item : object)
    sequence.items.push_back(to_value(item, declared.element ? *declared.element : unknown, kept));
  if (!declared.element && !sequence.items.empty()) sequence.element = sequence.items.front().type();
  return sequence;
}

Value to_map(nb::handle object, const ValueType& declared, Kept& kept) {
  if (!PyDict_Check(object.ptr())) fail_kind(object, declared);
  const ValueType unknown;
  const auto dict = nb::borrow<nb::dict>(object);
  Map map;
  map.keys = tensor_by_numpy(dict.keys(), declared.elem, kept);
  for (auto [key, item] : dict)
    map.values.push_back(to_value(item, declared.element ? *declared.element : unknown, kept));
  if (declared.element) {
    map.value_type = *declared.element;
  } else if (!map.values.empty()) {
    map.value_type = map.values.front().type();
  }
  return map;
}

Value to_optional(nb::handle object, const ValueType& declared, Kept& kept) {
  Optional optional;
  if (declared.element) optional.element = *declared.element;
  if (!object.is_none()) {
    Value item = to_value(object, optional.element, kept);
    if (!declared.element) optional.element = item.type();
    optional.item = std::make_shared<const Value>(std::move(item));
  }
  return optional;
}

ValueType::Kind kind_of(nb::handle object) {
  if (PyDict_Check(object.ptr())) return ValueType::Kind::map;
  if (!is_list(object)) return ValueType::Kind::tensor;
  return nb::cast<bool>(helper("is_sequence")(object)) ? ValueType::Kind::sequence : ValueType::Kind::tensor;
}

nb::object strings_to_python(const Tensor& tensor) {
  nb::list elements;
  for (const std::string& text : tensor.span<std::string>()) elements.append(to_text(text));
  nb::list shape;
  for (const std::int64_t dim : tensor.shape()) shape.append(dim);
  return helper("strings")(elements, shape);
}

nb::object tensor_to_python(Tensor tensor) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::string) return strings_to_python(tensor);
  std::vector<std::size_t> shape;
  for (const std::int64_t dim : tensor.shape()) shape.push_back(static_cast<std::size_t>(dim));
  if (is_signed_small(dtype)) change_signs(tensor, false);
  void* const data = tensor.mutable_raw();  // a copy where anybody else has it
  auto owned = std::make_unique<Tensor>(std::move(tensor));
  const nb::capsule owner(owned.get(), [](void* held) noexcept { delete static_cast<Tensor*>(held); });
  (void)owned.release();
  nb::ndarray<nb::numpy> array(data, shape.size(), shape.data(), owner, nullptr, numpy_dtype(dtype));
  nb::object object = array.cast();
  return is_of_ml_dtypes(dtype) ? helper("seen_as")(object, dtype_name(dtype)) : object;
}

// A map's values are numbers, as those of its keys.
nb::object element_or_array(Value value) {
  const bool is_scalar = value.is_tensor() && value.tensor().rank() == 0;
  nb::object object = to_python(std::move(value));
  return is_scalar ? nb::object(object[nb::tuple()]) : object;
}

nb::object map_to_python(const Map& map) {
  nb::dict dict;
  const nb::object keys = tensor_to_python(map.keys).attr("tolist")();
  std::size_t i = 0;
  for (nb::handle key : keys) dict[key] = element_or_array(map.values.at(i++));
  return dict;
}

}  // namespace

Value to_value(nb::handle object, const ValueType& declared, Kept& kept) {
  using Kind = ValueType::Kind;
  if (declared.kind == Kind::optional) return to_optional(object, declared, kept);
  if (object.is_none()) return {};
  const Kind kind = declared.kind == Kind::unknown ? kind_of(object) : declared.kind;
  if (kind == Kind::sequence) return to_sequence(object, declared, kept);
  if (kind == Kind::map) return to_map(object, declared, kept);
  return to_tensor(object, declared.elem, kept);
}

nb::object to_python(Value value) {
  if (value.is_tensor()) return tensor_to_python(value.take_tensor());
  if (value.is_map()) return map_to_python(value.map());
  if (value.is_optional()) {
    const std::shared_ptr<const Value> item = value.optional().item;
    return item ? to_python(*item) : nb::none();
  }
  if (!value.is_sequence()) return nb::none();
  nb::list list;
  for (Value& item : value.take_sequence().items) list.append(to_python(std::move(item)));
  return list;
}

nb::str to_text(std::string_view text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(decoded);
}

std::string from_text(nb::handle text) {
  Py_ssize_t size = 0;
  if (PyUnicode_Check(text.ptr())) {
    if (const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size))
      return {data, static_cast<std::size_t>(size)};
    PyErr_Clear();
  }
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  char* data = nullptr;
  if (!bytes.is_valid() || PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace grurun::python
