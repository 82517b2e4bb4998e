// GatherPacked (com.microsoft 1): rows of a table whose numbers are packed in blocks.
//
// data [rows, bytes] of uint8, indices of any shape -> output [indices..., K], of output_dtype. An index that
// is no row's takes row 0. packed_type is a number of GGML's tensor types: F32 0, F16 1, Q4_0 2, Q5_0 6, Q8_0
// 8, Q5_K 13, Q6_K 14, IQ4_NL 20, IQ4_XS 23, BF16 30 and Q2_0 42. d, the step of a block, is a float16.
#include <bit>
#include <cstring>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

using Bytes = const std::uint8_t*;

float half(Bytes at) {
  Float16 number;
  std::memcpy(&number, at, 2);
  return static_cast<float>(number);
}

int low(int byte) {
  return byte & 15;
}
int high(int byte) {
  return byte >> 4;
}

constexpr float nonlinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// Byte i of 16 holds elements i and i + 16.
template <typename Number>
void read_halves(Bytes codes, float* y, const Number& number) {
  for (int i = 0; i < 16; ++i) {
    y[i] = number(low(codes[i]), i);
    y[i + 16] = number(high(codes[i]), i + 16);
  }
}

void read_q4_0(Bytes at, float* y) {
  const float d = half(at);
  read_halves(at + 2, y, [d](int code, int) { return d * static_cast<float>(code - 8); });
}

void read_q5_0(Bytes at, float* y) {
  const float d = half(at);
  std::uint32_t fifth = 0;
  std::memcpy(&fifth, at + 2, 4);
  read_halves(at + 6, y, [d, fifth](int code, int i) {
    return d * static_cast<float>((code | static_cast<int>((fifth >> i) & 1) << 4) - 16);
  });
}

void read_q8_0(Bytes at, float* y) {
  const float d = half(at);
  for (int i = 0; i < 32; ++i) y[i] = d * static_cast<float>(static_cast<std::int8_t>(at[2 + i]));
}

// Four codes in a byte, the lowest bits first.
void read_q2_0(Bytes at, float* y) {
  const float d = half(at);
  for (int i = 0; i < 64; ++i) y[i] = d * static_cast<float>((at[2 + i / 4] >> (2 * (i % 4)) & 3) - 1);
}

void read_iq4_nl(Bytes at, float* y) {
  const float d = half(at);
  read_halves(at + 2, y, [d](int code, int) { return d * nonlinear[code]; });
}

// Eight parts of 32, whose steps have 6 bits: 4 behind the high 2 of all.
void read_iq4_xs(Bytes at, float* y) {
  const float d = half(at);
  const int highs = at[2] | at[3] << 8;
  for (int part = 0; part < 8; ++part) {
    const int lows = part % 2 == 0 ? low(at[4 + part / 2]) : high(at[4 + part / 2]);
    const float step = d * static_cast<float>((lows | (highs >> (2 * part) & 3) << 4) - 32);
    read_halves(at + 8 + 16 * part, y + 32 * part, [step](int code, int) { return step * nonlinear[code]; });
  }
}

// Steps and offsets of eight parts of 32, of 6 bits each, in 12 bytes; the fifth bits of the codes by parts.
void read_q5_k(Bytes at, float* y) {
  const float d = half(at), least = half(at + 2);
  const Bytes scales = at + 4, fifth = at + 16, codes = at + 48;
  for (int part = 0; part < 8; ++part) {
    int step = scales[part] & 63, offset = scales[part < 4 ? part + 4 : part] & 63;
    if (part >= 4) {
      step = low(scales[part + 4]) | (scales[part - 4] >> 6) << 4;
      offset = high(scales[part + 4]) | (scales[part] >> 6) << 4;
    }
    for (int i = 0; i < 32; ++i) {
      const int byte = codes[part / 2 * 32 + i];
      const int code = (part % 2 == 0 ? low(byte) : high(byte)) | (fifth[i] >> part & 1) << 4;
      *y++ = d * static_cast<float>(step) * static_cast<float>(code) - least * static_cast<float>(offset);
    }
  }
}

// Sixteen parts of 16, whose steps are int8; of a code of 6 bits the low 4 and the high 2 lie apart.
void read_q6_k(Bytes at, float* y) {
  const float d = half(at + 208);
  for (int i = 0; i < 256; ++i) {
    const int side = i / 128, quarter = i % 128 / 32, place = i % 32;
    const int byte = at[side * 64 + (quarter % 2) * 32 + place];
    const int lows = quarter < 2 ? low(byte) : high(byte);
    const int code = (lows | (at[128 + side * 32 + place] >> (2 * quarter) & 3) << 4) - 32;
    y[i] = d * static_cast<float>(static_cast<std::int8_t>(at[192 + i / 16])) * static_cast<float>(code);
  }
}

void read_f32(Bytes at, float* y) {
  std::memcpy(y, at, 4);
}
void read_f16(Bytes at, float* y) {
  *y = half(at);
}
void read_bf16(Bytes at, float* y) {
  BFloat16 number;
  std::memcpy(&number, at, 2);
  *y = static_cast<float>(number);
}

struct PackedType {
  std::int64_t id, elements, bytes;  // of a block
  void (*read)(Bytes, float*);
};

constexpr PackedType packed_types[] = {
    {0, 1, 4, read_f32},       {1, 1, 2, read_f16},       {2, 32, 18, read_q4_0},
    {6, 32, 22, read_q5_0},    {8, 32, 34, read_q8_0},    {13, 256, 176, read_q5_k},
    {14, 256, 210, read_q6_k}, {20, 32, 18, read_iq4_nl}, {23, 256, 136, read_iq4_xs},
    {30, 1, 2, read_bf16},     {42, 64, 18, read_q2_0},
};

const PackedType& packed_type(std::int64_t id) {
  for (const PackedType& type : packed_types)
    if (type.id == id) return type;
  fail_unsupported("GatherPacked with packed_type {}: its format is not known here", id);
}

std::int64_t row_at(const Tensor& indices, std::int64_t i, std::int64_t rows) {
  const std::int64_t index =
      indices.dtype() == DType::int32 ? indices.data<std::int32_t>()[i] : indices.data<std::int64_t>()[i];
  return index < 0 || index >= rows ? 0 : index;
}

void gather(const PackedType& type, std::int64_t K, DType dtype, RunContext& run) {
  const Tensor &data = run.tensor(0), &indices = run.tensor(1);
  if (data.rank() != 2) refuse();
  const std::int64_t blocks = K / type.elements, bytes = checked_mul(blocks, type.bytes);
  if (data.dim(1) != bytes)
    fail_invalid("a row of data has {} bytes, but {} elements take {}", data.dim(1), K, bytes);
  if (data.dim(0) == 0 && indices.size() > 0) fail_invalid("data has no row");
  std::vector<std::int64_t> dims(indices.shape().dims().begin(), indices.shape().dims().end());
  dims.push_back(K);
  Tensor made(DType::float32, Shape(dims));
  float* y = made.mutable_data<float>();
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    Bytes at = data.data<std::uint8_t>() + row_at(indices, i, data.dim(0)) * bytes;
    for (std::int64_t b = 0; b < blocks; ++b, at += type.bytes, y += type.elements) type.read(at, y);
  }
  run.set_output(0, narrowed(made, dtype));
}

RunFunction prepare_gather_packed(PrepareContext& node) {
  const PackedType& type = packed_type(node.int_attribute("packed_type"));
  const std::int64_t K = node.int_attribute("K");
  if (K < 1) refuse();
  if (K % type.elements != 0)
    fail_invalid("K is {}, but blocks of the type have {} elements", K, type.elements);
  const std::int64_t to = node.int_attribute("output_dtype", 16);
  const DType dtype = to == 1 ? DType::float32 : to == 10 ? DType::float16 : DType::bfloat16;
  if (to != 1 && to != 10 && to != 16) refuse();
  return [&type, K, dtype](RunContext& run) { gather(type, K, dtype, run); };
}

}  // namespace

std::vector<OpRow> op_rows_gather_packed() {
  return {{"com.microsoft", "GatherPacked", {1}, prepare_gather_packed}};
}

}  // namespace grurun::engine
