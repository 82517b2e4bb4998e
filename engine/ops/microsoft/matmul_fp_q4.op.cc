// MatMulFpQ4 (com.microsoft 1): Y = A * B for A [..., K] and B [K, N] of 4-bit codes in blocks along a
// column.
//
// B_shape holds K and N. B is a list of bytes: for each column, block by block, the step, a float, then with
// blk_quant_type 1 the zero point, a byte, then the codes. Blocks have 32 elements, 64 with blk_quant_type 2,
// and in each 32 of them byte i of 16 holds elements i and i + 16, the first in its low bits. The zero point
// is 8 where there is none.
#include <algorithm>
#include <cstring>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/matrix_product.h"

namespace grurun::engine {

namespace {

struct BlockForm {
  std::int64_t elements;
  bool has_zero_point;

  std::int64_t head() const { return has_zero_point ? 5 : 4; }
  std::int64_t bytes() const { return head() + elements / 2; }
};

// B [K, N], transposed.
Tensor unpacked(const BlockForm& form, const Tensor& bytes, std::int64_t K, std::int64_t N) {
  const std::int64_t blocks = (K + form.elements - 1) / form.elements;
  const std::int64_t wanted = checked_mul(checked_mul(blocks, form.bytes()), N);
  if (bytes.rank() != 1 || bytes.size() != wanted) refuse();
  Tensor made(DType::float32, Shape{N, K});
  float* to = made.mutable_data<float>();
  const std::uint8_t* at = bytes.data<std::uint8_t>();
  for (std::int64_t n = 0; n < N; ++n, to += K) {
    for (std::int64_t b = 0; b < blocks; ++b, at += form.bytes()) {
      float step = 0;
      std::memcpy(&step, at, 4);
      const int zero = form.has_zero_point ? at[4] : 8;
      for (std::int64_t i = 0; i < std::min(form.elements, K - b * form.elements); ++i) {
        const int byte = at[form.head() + i / 32 * 16 + i % 16];
        const int code = i % 32 < 16 ? byte & 15 : byte >> 4;
        to[b * form.elements + i] = step * static_cast<float>(code - zero);
      }
    }
  }
  return made;
}

RunFunction prepare_matmul_fp_q4(PrepareContext& node) {
  const std::int64_t type = node.int_attribute("blk_quant_type", 1);
  if (type < 0 || type > 2) refuse();
  const BlockForm form{type == 2 ? 64 : 32, type == 1};
  return [form](RunContext& run) {
    const Tensor& A = run.tensor(0);
    const auto sizes = integer_list(run.tensor(2));
    if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1) refuse();
    if (A.rank() < 1 || A.dim(A.rank() - 1) != sizes[0]) refuse();
    const Tensor B = unpacked(form, run.tensor(1), sizes[0], sizes[1]);
    std::vector<std::int64_t> dims(A.shape().dims().begin(), A.shape().dims().end());
    dims.back() = sizes[1];
    Tensor& Y = run.output(0, DType::float32, Shape(dims));
    kernels::gemm<float>(A.size() / sizes[0], sizes[1], sizes[0], 1.0f, {A.data<float>(), sizes[0]},
                         {B.data<float>(), sizes[0], true}, 0.0f, Y.mutable_data<float>(), sizes[1]);
  };
}

}  // namespace

std::vector<OpRow> op_rows_matmul_fp_q4() {
  return {{"com.microsoft", "MatMulFpQ4", {1}, prepare_matmul_fp_q4}};
}

}  // namespace grurun::engine
