// GatherPacked (com.microsoft 1): rows of a table whose numbers are packed in blocks.
//
// data [rows, bytes] of uint8, indices of any shape -> output [indices..., K], of output_dtype. An index that
// is no row's takes row 0. packed_type is a number of GGML's tensor types: F32 0, F16 1, Q4_0 2, Q5_0 6, Q8_0
// 8, Q5_K 13, Q6_K 14, IQ2_XXS 16, IQ2_XS 17, IQ3_XXS 18, IQ4_NL 20, IQ2_S 22, IQ4_XS 23, BF16 30 and
// Q2_0 42. d, the step of a block, is a float16.
#include <bit>
#include <cstring>

#include "engine/graph/op_context.h"
#include "engine/ops/microsoft/packed_codebooks.h"
#include "engine/ops/shared/float_compute.h"
#include "opset/pages/microsoft_rules.h"

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

// A point of eight or four numbers, whose signs are the bits of `signs`.
void read_point_of_8(int point, int signs, float step, float* y) {
  constexpr float levels[4] = {8, 25, 43, 0};
  for (int i = 0; i < 8; ++i) y[i] = (signs >> i & 1 ? -step : step) * levels[point >> (2 * i) & 3];
}
void read_point_of_4(int point, int signs, float step, float* y) {
  constexpr float levels[8] = {4, 12, 20, 28, 36, 44, 52, 62};
  for (int i = 0; i < 4; ++i) y[i] = (signs >> i & 1 ? -step : step) * levels[point >> (3 * i) & 7];
}

// Of eight signs seven are stored: an even number of them is negative.
int with_eighth_sign(std::uint32_t seven) {
  seven &= 127;
  return static_cast<int>(seven | (std::popcount(seven) % 2 << 7));
}

std::uint32_t word_bits(Bytes at) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, 4);
  return bits;
}

float odd_step(float d, std::uint32_t scale) {
  return d * (0.5f + static_cast<float>(scale));
}

// Eight parts of 32: four points, their signs and the step's 4 bits.
void read_iq2_xxs(Bytes at, float* y) {
  const float d = half(at) * 0.25f;
  for (Bytes part = at + 2; part < at + 66; part += 8) {
    const std::uint32_t rest = word_bits(part + 4);
    for (int i = 0; i < 4; ++i, y += 8)
      read_point_of_8(codebook_2xxs[part[i]], with_eighth_sign(rest >> (7 * i)), odd_step(d, rest >> 28), y);
  }
}

// Points of 9 bits below their signs; two steps of 4 bits for each 32.
void read_iq2_xs(Bytes at, float* y) {
  const float d = half(at) * 0.25f;
  for (int i = 0; i < 32; ++i, y += 8) {
    const std::uint32_t code = at[2 + 2 * i] | static_cast<std::uint32_t>(at[3 + 2 * i]) << 8;
    const std::uint32_t scale = at[66 + i / 4] >> (i % 4 / 2 * 4) & 15;
    read_point_of_8(codebook_2xs[code & 511], with_eighth_sign(code >> 9), odd_step(d, scale), y);
  }
}

// The same with points of 10 bits, whose high 2 lie apart, and all signs.
void read_iq2_s(Bytes at, float* y) {
  const float d = half(at) * 0.25f;
  for (int i = 0; i < 32; ++i, y += 8) {
    const int point = at[2 + i] | (at[66 + i / 4] >> (2 * (i % 4)) & 3) << 8;
    const std::uint32_t scale = at[74 + i / 4] >> (i % 4 / 2 * 4) & 15;
    read_point_of_8(codebook_2s[point], at[34 + i], odd_step(d, scale), y);
  }
}

// Eight parts of 32, of eight points; their signs and steps stand behind all points.
void read_iq3_xxs(Bytes at, float* y) {
  const float d = half(at) * 0.5f;
  for (int i = 0; i < 64; ++i, y += 4) {
    const std::uint32_t rest = word_bits(at + 66 + i / 8 * 4);
    const int signs = with_eighth_sign(rest >> (i % 8 / 2 * 7)) >> (i % 2 * 4);
    read_point_of_4(codebook_3xxs[at[2 + i]], signs, odd_step(d, rest >> 28), y);
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
  std::int64_t id;
  void (*read)(Bytes, float*);  // a block
};

constexpr PackedType packed_types[] = {
    {0, read_f32},     {1, read_f16},    {2, read_q4_0},     {6, read_q5_0},    {8, read_q8_0},
    {13, read_q5_k},   {14, read_q6_k},  {16, read_iq2_xxs}, {17, read_iq2_xs}, {18, read_iq3_xxs},
    {20, read_iq4_nl}, {22, read_iq2_s}, {23, read_iq4_xs},  {30, read_bf16},   {42, read_q2_0},
};

struct PackedBlocks {
  opset::PackedBlock of;
  void (*read)(Bytes, float*);
};

PackedBlocks packed_blocks(std::int64_t id) {
  const opset::PackedBlock* block = opset::find_packed_block(id);
  for (const PackedType& type : packed_types)
    if (type.id == id && block != nullptr) return {*block, type.read};
  fail_unsupported("GatherPacked with packed_type {}: its format is not known here", id);
}

std::int64_t row_at(const Tensor& indices, std::int64_t i, std::int64_t rows) {
  const std::int64_t index =
      indices.dtype() == DType::int32 ? indices.data<std::int32_t>()[i] : indices.data<std::int64_t>()[i];
  return index < 0 || index >= rows ? 0 : index;
}

void gather(const PackedBlocks& type, std::int64_t K, DType dtype, RunContext& run) {
  const Tensor &data = run.tensor(0), &indices = run.tensor(1);
  if (data.rank() != 2) refuse();
  const std::int64_t blocks = K / type.of.elements, bytes = checked_mul(blocks, type.of.bytes);
  if (data.dim(1) != bytes) refuse();
  if (data.dim(0) == 0 && indices.size() > 0) refuse();
  std::vector<std::int64_t> dims(indices.shape().dims().begin(), indices.shape().dims().end());
  dims.push_back(K);
  Tensor made(DType::float32, Shape(dims));
  float* y = made.mutable_data<float>();
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    Bytes at = data.data<std::uint8_t>() + row_at(indices, i, data.dim(0)) * bytes;
    for (std::int64_t b = 0; b < blocks; ++b, at += type.of.bytes, y += type.of.elements) type.read(at, y);
  }
  run.set_output(0, narrowed(made, dtype));
}

RunFunction prepare_gather_packed(PrepareContext& node) {
  const PackedBlocks type = packed_blocks(node.int_attribute("packed_type"));
  const std::int64_t K = node.int_attribute("K");
  if (K < 1) refuse();
  if (K % type.of.elements != 0) refuse();
  const std::int64_t to = node.int_attribute("output_dtype", 16);
  const DType dtype = to == 1 ? DType::float32 : to == 10 ? DType::float16 : DType::bfloat16;
  if (to != 1 && to != 10 && to != 16) refuse();
  return [type, K, dtype](RunContext& run) { gather(type, K, dtype, run); };
}

}  // namespace

std::vector<OpRow> op_rows_gather_packed() {
  return {{"com.microsoft", "GatherPacked", {1}, prepare_gather_packed}};
}

}  // namespace grurun::engine
