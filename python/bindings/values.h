// Python's objects as values of a model, and back: numpy arrays and whatever hands out its memory as DLPack
// or a buffer, lists, dicts and None.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/value.h"

namespace grurun::python {

using Array = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

/// What hands out the memory that tensors borrow: to be kept until nothing reads these any more. The GIL is
/// held when it ends.
class Kept {
 public:
  Kept() = default;
  ~Kept() {
    for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  void keep(Array array) { arrays_.push_back(std::move(array)); }
  void keep(const Py_buffer& buffer) { buffers_.push_back(buffer); }

 private:
  std::vector<Array> arrays_;
  std::vector<Py_buffer> buffers_;
};

/// The class that to_python needs, of what owns the memory of arrays.
void define_memory(nanobind::module_& module);

/// The value that an input of this type takes; of an unknown kind what the object itself is. Tensors borrow
/// the memory of arrays that lie row by row, aligned, in this machine's byte order, and have an element type
/// that takes the same bytes here; other arrays are copied. None is no value, of an optional the empty one.
/// Throws Error(usage) for what is none of these.
Value to_value(nanobind::handle object, const ValueType& declared, Kept& kept);

/// A tensor becomes an array that owns its memory, or a copy where others share that; a sequence a list, a
/// map a dict, an optional what it holds or None.
nanobind::object to_python(Value value);

/// Text of a model, whose bytes need not be UTF-8, as Python's file names are: each other byte is a
/// surrogate.
nanobind::str to_text(std::string_view text);
/// The reverse. Throws Python's TypeError for what is no str.
std::string from_text(nanobind::handle text);

}  // namespace grurun::python
