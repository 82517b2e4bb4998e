// WordConvEmbedding (com.microsoft 1): words from their characters.
//
//   Y[w, m] = the largest over places p of Tanh(B[m] + sum over k, e of W[m, 0, k, e] * C[Sequence[w, p + k],
//   e])
//
// Sequence [words, characters], W [embedding_size, 1, conv_window_size, char_embedding_size], B
// [embedding_size], C [codes, char_embedding_size], Y [words, embedding_size]. A word has as many characters
// as codes above 0, none where the first is not; what lies behind counts as 0, but for a word shorter than
// the window, which takes in what fills the window. A word without characters gives 0.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/gemm/gemm.h"

namespace grurun::engine {

namespace {

struct StatedSizes {
  std::optional<std::int64_t> embedding, window, character;
};

struct WordSizes {
  std::int64_t characters, filters, window, embedding, codes;
};

std::int64_t word_length(const std::int32_t* codes, std::int64_t characters) {
  if (characters == 0 || codes[0] <= 0) return 0;
  return std::count_if(codes, codes + characters, [](std::int32_t code) { return code > 0; });
}

void embed_word(const WordSizes& sizes, const std::int32_t* codes, const float* W, const float* B,
                const float* C, std::vector<float>& rows, std::vector<float>& sums, float* y) {
  std::fill_n(y, sizes.filters, 0.0f);
  const std::int64_t length = word_length(codes, sizes.characters);
  if (length == 0) return;
  const std::int64_t seen = std::max(length, sizes.window), places = seen - sizes.window + 1;
  rows.clear();
  for (std::int64_t i = 0; i < seen; ++i) {
    if (codes[i] < 0 || codes[i] >= sizes.codes)
      fail_invalid("Sequence holds the character {}, but C has {}", codes[i], sizes.codes);
    const float* row = C + codes[i] * sizes.embedding;
    rows.insert(rows.end(), row, row + sizes.embedding);
  }
  sums.resize(static_cast<std::size_t>(places * sizes.filters));
  const std::int64_t taps = sizes.window * sizes.embedding;
  kernels::gemm<float>(places, sizes.filters, taps, 1.0f, {rows.data(), sizes.embedding}, {W, taps, true},
                       0.0f, sums.data(), sizes.filters);
  for (std::int64_t m = 0; m < sizes.filters; ++m) {
    float best = sums[static_cast<std::size_t>(m)];
    for (std::int64_t p = 1; p < places; ++p)
      best = std::max(best, sums[static_cast<std::size_t>(p * sizes.filters + m)]);
    y[m] = std::tanh(best + B[m]);  // Tanh ascends
  }
}

void embed_words(const StatedSizes& stated, RunContext& run) {
  const Tensor &sequence = run.tensor(0), &W = run.tensor(1), &B = run.tensor(2), &C = run.tensor(3);
  const bool ranks = sequence.rank() == 2 && W.rank() == 4 && B.rank() == 1 && C.rank() == 2;
  if (!ranks || W.dim(1) != 1 || B.dim(0) != W.dim(0) || C.dim(1) != W.dim(3)) refuse();
  const WordSizes sizes{sequence.dim(1), W.dim(0), W.dim(2), W.dim(3), C.dim(0)};
  const auto require = [](const std::optional<std::int64_t>& wanted, std::int64_t size) {
    if (wanted && *wanted != size) refuse();
  };
  require(stated.embedding, sizes.filters);
  require(stated.window, sizes.window);
  require(stated.character, sizes.embedding);
  if (sizes.window > sizes.characters) {
    refuse();
  }
  float* y = run.output(0, DType::float32, {sequence.dim(0), sizes.filters}).mutable_data<float>();
  std::vector<float> rows, sums;
  for (std::int64_t w = 0; w < sequence.dim(0); ++w) {
    run.check_limits();
    embed_word(sizes, sequence.data<std::int32_t>() + w * sizes.characters, W.data<float>(), B.data<float>(),
               C.data<float>(), rows, sums, y + w * sizes.filters);
  }
}

RunFunction prepare_word_conv_embedding(PrepareContext& node) {
  const StatedSizes stated{node.optional_int("embedding_size"), node.optional_int("conv_window_size"),
                           node.optional_int("char_embedding_size")};
  return [stated](RunContext& run) { embed_words(stated, run); };
}

}  // namespace

std::vector<OpRow> op_rows_word_conv_embedding() {
  return {{"com.microsoft", "WordConvEmbedding", {1}, prepare_word_conv_embedding}};
}

}  // namespace grurun::engine
