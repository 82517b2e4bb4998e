#include <fmt/format.h>

#include <numeric>

#include "opset/schema/added/microsoft.h"

namespace grurun::opset {

namespace {

// The operand as MatMul takes it. transBatch moves axis 0 behind the batch axes, trans swaps the last two;
// vectors stay.
std::string arranged(const BodyNode& node, const std::string& name, const char* trans,
                     const char* trans_batch) {
  const bool swaps = node.integer(trans) != 0,
             moves = trans_batch != nullptr && node.integer(trans_batch) != 0;
  if (!swaps && !moves) return fmt::format("{0}_ = Identity({0}) ", name);
  const std::size_t rank = node.rank(name);
  std::vector<std::int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (moves && rank > 2) {
    perm.erase(perm.begin());
    perm.insert(perm.end() - 1, 0);
  }
  if (swaps && rank >= 2) std::swap(perm[rank - 1], perm[rank - 2]);
  return fmt::format("{0}_ = Transpose <perm: ints = {1}> ({0}) ", name, list_text(perm));
}

std::string product_of(const BodyNode& node, bool batches) {
  std::string nodes = arranged(node, "A", "transA", batches ? "transBatchA" : nullptr) +
                      arranged(node, "B", "transB", batches ? "transBatchB" : nullptr);
  if (node.number("alpha") == 1) return nodes + "Y = MatMul(A_, B_)";
  return nodes +
         "product = MatMul(A_, B_) factor = Constant <value_float: float = @alpha> () "
         "alpha = CastLike(factor, A) Y = Mul(product, alpha)";
}

std::string fused_matmul_body(const BodyNode& node) {
  return product_of(node, true);
}

std::string transpose_matmul_body(const BodyNode& node) {
  return product_of(node, false);
}

std::string fused_gemm_body(const BodyNode& node) {
  std::vector<float> parameters;
  const std::string activation = node.text("activation");
  if (node.gives("activation_alpha")) parameters.push_back(node.number("activation_alpha"));
  if (node.gives("activation_beta")) parameters.push_back(node.number("activation_beta"));
  if (node.gives("activation_gamma")) parameters.push_back(node.number("activation_gamma"));
  return fmt::format(
             "sum = Gemm <alpha: float = @alpha, beta: float = @beta, transA: int = @transA, transB: int = "
             "@transB> (A, B{}) ",
             node.has("C") ? ", C" : "") +
         activation_nodes(activation, parameters, "sum", "Y");
}

std::string matmul_integer16_body(const BodyNode&) {
  return "a = Cast <to = 6> (A) b = Cast <to = 6> (B) Y = MatMul(a, b)";
}

constexpr AddedOperator matmul_rows[] = {
    {"FusedGemm", "Y = activation(Gemm(A, B, C)).",
     "activation: string; activation_alpha: float; activation_beta: float; activation_gamma: float; "
     "alpha: float = 1; beta: float = 1; transA: int = 0; transB: int = 0",
     "A: T; B: T; C: T?", "Y: T", "T: float16, float, double, uint32, uint64, int32, int64", fused_gemm_body},
    {"FusedMatMul",
     "Y = alpha * MatMul(A, B). transA swaps the last two axes of A, transBatchA moves its first axis behind "
     "the "
     "other batch axes before; likewise for B.",
     "alpha: float = 1; transA: int = 0; transB: int = 0; transBatchA: int = 0; transBatchB: int = 0",
     "A: T; B: T", "Y: T", "T: float16, float, double, bfloat16", fused_matmul_body},
    {"MatMulInteger16", "Y = MatMul(A, B), computed in 32 bits.", "", "A: T1; B: T2", "Y: T3",
     "T1: int16; T2: int16; T3: int32", matmul_integer16_body},
    {"TransposeMatMul",
     "Y = alpha * MatMul(A, B), the last two axes of A and B swapped as transA and transB say.",
     "alpha: float = 1; transA: int = 0; transB: int = 0", "A: T; B: T", "Y: T",
     "T: float16, float, double, bfloat16", transpose_matmul_body},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_matmul_schemas() {
  return schemas_of(matmul_rows, "com.microsoft");
}

}  // namespace grurun::opset
