#include "python/bindings/values.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
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

// The letters are those of Python's module struct, in this machine's byte order and sizes.
DType dtype_of_buffer(const char* format, Py_ssize_t width) {
  const std::string_view letters = format == nullptr ? "B" : format;
  constexpr std::string_view codes[] = {"bhilq", "BHILQ", "efd"};
  const auto bits = static_cast<std::uint8_t>(8 * width);
  if (letters == "?") return dtype_of_dlpack({6, bits, 1});
  if (letters == "Zf" || letters == "Zd") return dtype_of_dlpack({5, bits, 1});
  if (letters.size() != 1) return DType::undefined;
  for (std::uint8_t code = 0; code < std::size(codes); ++code)
    if (codes[code].find(letters[0]) != std::string_view::npos) return dtype_of_dlpack({code, bits, 1});
  return DType::undefined;
}

// Looked up once: the GIL, not a guard of C++'s, is held meanwhile.
nb::handle numpys(DType dtype) {
  static std::array<PyObject*, dtype_count> dtypes;
  PyObject*& found = dtypes.at(static_cast<std::size_t>(dtype));
  if (found == nullptr) found = helper("dtype_named")(dtype_name(dtype)).release().ptr();
  return found;
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

// What the memory is of goes to keep() where the tensor reads it in place.
template <typename Keep>
Tensor borrow(DType dtype, Shape shape, const void* data, const Keep& keep) {
  if (shape.element_count() == 0) return {dtype, std::move(shape)};
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  // Without an owner: nobody may write there, and what is kept outlives every reader.
  Tensor tensor = Tensor::borrow(dtype, std::move(shape), data,
                                 std::shared_ptr<const void>(std::shared_ptr<const void>(), data));
  const std::size_t width = dtype_size(dtype);
  if (is_signed_small(dtype)) {
    change_signs(tensor, true);
  } else if (address % (is_complex(dtype) ? width / 2 : width) != 0) {
    tensor.mutable_raw();  // its own copy, aligned
  } else {
    keep();
  }
  return tensor;
}

Tensor borrow(const Array& array, DType dtype, Kept& kept) {
  std::vector<std::int64_t> dims(array.ndim());
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<std::int64_t>(array.shape(i));
  return borrow(dtype, Shape(dims), array.data(), [&] { kept.keep(array); });
}

// Undefined where the object has no buffer that lies row by row, or one of other elements.
Tensor borrow_buffer(nb::handle object, Kept& kept) {
  Py_buffer buffer;
  if (!PyObject_CheckBuffer(object.ptr()) ||
      PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return {};
  }
  const DType dtype = dtype_of_buffer(buffer.format, buffer.itemsize);
  Tensor tensor;
  bool is_kept = false;
  if (dtype != DType::undefined) {
    static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
    const std::vector<std::int64_t> dims(buffer.shape, buffer.shape + buffer.ndim);
    tensor = borrow(dtype, Shape(dims), buffer.buf, [&] {
      kept.keep(buffer);
      is_kept = true;
    });
  }
  if (!is_kept) PyBuffer_Release(&buffer);
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
    if (Tensor tensor = borrow_buffer(object, kept); tensor.defined()) return tensor;
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

// skl2onnx declares the numbers of a map as tensors of shape [1]; dicts hold numbers.
Value number_as_declared(Value value, const ValueType& declared) {
  const bool is_number = value.is_tensor() && value.tensor().rank() == 0;
  if (!is_number || !declared.shape ||
      !std::all_of(declared.shape->begin(), declared.shape->end(),
                   [](const Dim& dim) { return dim.value == 1; }))
    return value;
  return value.tensor().reshaped(Shape(std::vector<std::int64_t>(declared.shape->size(), 1)));
}

Value to_map(nb::handle object, const ValueType& declared, Kept& kept) {
  if (!PyDict_Check(object.ptr())) fail_kind(object, declared);
  const ValueType unknown;
  const auto dict = nb::borrow<nb::dict>(object);
  Map map;
  map.keys = tensor_by_numpy(dict.keys(), declared.elem, kept);
  const ValueType& item_type = declared.element ? *declared.element : unknown;
  for (auto [key, item] : dict)
    map.values.push_back(number_as_declared(to_value(item, item_type, kept), item_type));
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

// What an array of numpy's reads and writes, and gives free.
class Memory {
 public:
  explicit Memory(Tensor tensor) : tensor_(std::move(tensor)) {
    (void)tensor_.mutable_raw();  // a copy where anybody else has it
  }

  static int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    static char nothing;
    const Tensor& tensor = nb::inst_ptr<Memory>(self)->tensor_;
    void* const data = tensor.size() == 0 ? &nothing : const_cast<void*>(tensor.raw());
    return PyBuffer_FillInfo(view, self, data, static_cast<Py_ssize_t>(tensor.byte_size()), 0, flags);
  }

 private:
  Tensor tensor_;
};

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
  if (is_signed_small(dtype)) change_signs(tensor, false);
  const Shape shape = tensor.shape();
  const nb::object dims = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.rank())));
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    PyObject* const dim = PyLong_FromSsize_t(shape[i]);
    if (dim == nullptr || PyTuple_SetItem(dims.ptr(), static_cast<Py_ssize_t>(i), dim) != 0)
      throw nb::python_error();
  }
  static PyObject* type = nullptr;
  if (type == nullptr) type = nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  return nb::handle(type)(dims, numpys(dtype), nb::cast(Memory(std::move(tensor))));
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

void define_memory(nb::module_& module) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&Memory::get_buffer)},
                                {0, nullptr}};
  nb::class_<Memory>(module, "Memory", nb::type_slots(slots));
}

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
