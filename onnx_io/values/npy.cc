#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "onnx_io/utf8.h"
#include "onnx_io/values/npy_header.h"
#include "onnx_io/values/stored_elements.h"
#include "onnx_io/values/value_formats.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

// Elements of 6, 4 and 2 bits take a byte each in numpy too; ml_dtypes leaves the high bits of it zero, but
// accepts a sign that was extended.
void require_small_codes(Tensor* tensor) {
  const int bits = dtype_file_bits(tensor->dtype());
  const bool is_signed = tensor->dtype() == DType::int4 || tensor->dtype() == DType::int2;
  const int sign = is_signed ? 1 << (bits - 1) : 0;
  auto* const codes = static_cast<std::int8_t*>(tensor->mutable_raw());
  for (std::int64_t i = 0; i < tensor->size(); ++i) {
    const int code = is_signed ? codes[i] : static_cast<std::uint8_t>(codes[i]);
    if (code < -sign || code >= 1 << bits)
      fail_invalid("{} is no code of a {}", code, dtype_name(tensor->dtype()));
    codes[i] = static_cast<std::int8_t>(((code & ((1 << bits) - 1)) ^ sign) - sign);
  }
}

void swap_bytes(Tensor* tensor) {
  const std::size_t width = dtype_size(tensor->dtype()) / (is_complex(tensor->dtype()) ? 2 : 1);
  auto* const bytes = static_cast<std::byte*>(tensor->mutable_raw());
  for (std::size_t at = 0; at < tensor->byte_size(); at += width)
    std::reverse(bytes + at, bytes + at + width);
}

std::string string_item(const std::byte* item, const NpyDType& type) {
  std::string out;
  if (type.kind == NpyDType::Kind::bytes) {
    out.assign(reinterpret_cast<const char*>(item), type.item_size);
  } else {
    for (std::size_t at = 0; at < type.item_size; at += 4) {
      std::uint32_t code = 0;
      std::memcpy(&code, item + at, 4);
      if (type.swap) code = __builtin_bswap32(code);
      if (!append_utf8(code, &out)) fail_invalid("{:#x} in a string is no Unicode character", code);
    }
  }
  out.erase(out.find_last_not_of('\0') + 1);
  return out;
}

Tensor read_elements(const NpyHeader& header, const Shape& shape, const Bytes& data) {
  const DType dtype = header.type.dtype;
  if (dtype == DType::string) {
    Tensor out(dtype, shape);
    auto* const strings = out.mutable_data<std::string>();
    for (std::int64_t i = 0; i < out.size(); ++i) {
      strings[i] = string_item(data.data + static_cast<std::size_t>(i) * header.type.item_size, header.type);
    }
    return out;
  }
  const std::size_t alignment = std::min<std::size_t>(dtype_size(dtype), alignof(double));
  const bool aligned = reinterpret_cast<std::uintptr_t>(data.data) % alignment == 0;
  Tensor out;
  if (data.owner && aligned) {
    out = Tensor::borrow(dtype, shape, data.data, data.owner);
  } else {
    out = Tensor(dtype, shape);
    if (data.size > 0) std::memcpy(out.mutable_raw(), data.data, data.size);
  }
  if (header.type.swap) swap_bytes(&out);
  if (dtype == DType::boolean) {
    const auto* const codes = static_cast<const std::uint8_t*>(out.raw());
    if (std::any_of(codes, codes + out.size(), [](std::uint8_t code) { return code > 1; })) {
      fail_invalid("a bool that is neither 0 nor 1");
    }
  }
  if (dtype_file_bits(dtype) < 8) require_small_codes(&out);
  return out;
}

// Column-major elements in row-major order: shape is the array's own, the elements lie as its transpose
// would.
template <typename Element>
void transpose(const Element* from, Element* to, const Shape& shape) {
  const std::size_t rank = shape.rank();
  std::vector<std::int64_t> strides(rank, 1);
  for (std::size_t i = 1; i < rank; ++i) strides[i] = strides[i - 1] * shape[i - 1];
  std::vector<std::int64_t> index(rank, 0);
  std::int64_t at = 0;
  const std::int64_t count = shape.element_count();
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = from[at];
    for (std::size_t axis = rank; axis-- > 0;) {
      at += strides[axis];
      if (++index[axis] < shape[axis]) break;
      at -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

Tensor to_row_major(const Tensor& from) {
  Tensor out(from.dtype(), from.shape());
  void* const to = out.mutable_raw();
  const auto run = [&](auto zero) {
    using Element = decltype(zero);
    transpose(static_cast<const Element*>(from.raw()), static_cast<Element*>(to), from.shape());
  };
  switch (from.dtype() == DType::string ? 0 : dtype_size(from.dtype())) {
    case 0:
      run(std::string());
      break;
    case 1:
      run(std::uint8_t{});
      break;
    case 2:
      run(std::uint16_t{});
      break;
    case 4:
      run(std::uint32_t{});
      break;
    case 8:
      run(std::uint64_t{});
      break;
    default:
      run(Complex128{});
  }
  return out;
}

// numpy strings drop the NULs at their end, so one that ends in NUL cannot be kept.
void write_strings(const Tensor& tensor, NpyFile* file) {
  std::vector<std::u32string> wide;
  bool utf8 = true;
  std::size_t width = 1;
  std::size_t bytes_width = 1;
  for (const std::string& element : tensor.span<std::string>()) {
    if (element.ends_with('\0'))
      fail_unsupported("a string that ends in NUL, which .npy cannot hold; write .pb or .json");
    bytes_width = std::max(bytes_width, element.size());
    std::optional<std::u32string> decoded = utf8 ? decode_utf8(element) : std::nullopt;
    utf8 = decoded.has_value();
    if (!utf8) continue;
    width = std::max(width, decoded->size());
    wide.push_back(std::move(*decoded));
  }
  const std::size_t item = utf8 ? 4 * width : bytes_width;
  const std::int64_t total = checked_mul(tensor.size(), static_cast<std::int64_t>(item));
  file->header =
      npy_header(utf8 ? fmt::format("<U{}", width) : fmt::format("|S{}", bytes_width), tensor.shape());
  file->converted.assign(static_cast<std::size_t>(total), '\0');
  char* to = file->converted.data();
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.size()); ++i, to += item) {
    if (utf8) {
      std::memcpy(to, wide[i].data(), 4 * wide[i].size());
    } else {
      const std::string& element = tensor.data<std::string>()[i];
      std::memcpy(to, element.data(), element.size());
    }
  }
}

}  // namespace

Tensor parse_npy(const Bytes& file, DType expected) {
  const NpyHeader header = parse_npy_header(file.text(), expected);
  const auto item = static_cast<std::int64_t>(header.type.item_size);
  const std::size_t held = file.size - header.data_offset;
  std::int64_t needed = 0;
  // A string's size is the file's own.
  if (__builtin_mul_overflow(stored_elements(header.shape.dims()), item, &needed))
    fail_invalid("{} elements of {} bytes each are more than any memory holds", header.shape.to_string(),
                 item);
  if (std::cmp_not_equal(held, needed)) {
    fail_invalid("{} bytes of data, but {} elements of {} bytes each take {}", held, header.shape.to_string(),
                 item, needed);
  }
  const Bytes data{file.data + header.data_offset, held, file.owner};
  const Tensor elements = read_elements(header, header.shape, data);
  return header.fortran_order && elements.rank() > 1 && elements.size() > 0 ? to_row_major(elements)
                                                                            : elements;
}

NpyFile npy_content(const Tensor& tensor) {
  NpyFile file;
  if (tensor.dtype() == DType::string) {
    write_strings(tensor, &file);
    return file;
  }
  file.header = npy_header(npy_descr(tensor.dtype()), tensor.shape());
  file.in_place = {static_cast<const char*>(tensor.raw()), tensor.byte_size()};
  if (dtype_file_bits(tensor.dtype()) < 8) {
    const char mask = static_cast<char>((1 << dtype_file_bits(tensor.dtype())) - 1);
    file.converted.assign(file.in_place);
    for (char& code : file.converted) code = static_cast<char>(code & mask);
  }
  return file;
}

}  // namespace grurun::onnx_io
