#include "conformance/known_wrong.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "conformance/sha256.h"
#include "trial/data_set_names.h"

namespace grurun::conformance {

namespace {

namespace fs = std::filesystem;

constexpr KnownWrongRule rules[] = {
    {"adam-epsilon",
     "Adam-1: 'H_sqrt = Sqrt(H_new) + epsilon', where the attribute epsilon is 1e-6 unless given",
     "the model does not give epsilon, but the expected values were computed with 0.01; onnx 1.22 gives it"},
    {"attention-3d",
     "Attention-23: 3D inputs have shape (batch_size, q_sequence_length, q_hidden_size), 'q_hidden_size = "
     "q_num_heads * "
     "head_size'; multi-headed attention is that of arxiv.org/pdf/1706.03762",
     "the data of onnx 1.18 cut heads out of [sequence, hidden] taken as one row, so that a head of one time "
     "step holds values of "
     "another"},
    {"attention-gqa",
     "Attention-23: 'Group-query Attention (GQA): Described in the paper https://arxiv.org/pdf/2305.13245', "
     "where neighbouring "
     "query heads share a key and value head",
     "the data of onnx 1.18 and 1.19.0 share them round robin: query head h takes key head h modulo "
     "kv_num_heads"},
    {"attention-mask-after-softcap",
     "Attention-23 and 24 as corrected by onnx 1.22: softcap comes before the mask is added, and "
     "qk_matmul_output_mode 1 is 'the "
     "output after the softcap operation (before mask addition)', 2 'includes the attention mask and "
     "softcap'",
     "the data of onnx 1.18 to 1.21 add the mask before softcap, with mode 1 for the sum and 2 for what "
     "softcap makes of it"},
    {"averagepool-ceil-mode",
     "AveragePool-19: 'The output of each pooling window is divided by the number of elements (exclude pad "
     "when attribute "
     "count_include_pad is zero)'",
     "windows that ceil_mode lets run past the end of the input, where there is no pad, are divided by the "
     "whole kernel's size"},
    {"bfloat16-as-uint16",
     "TensorProto.data_type is the element type of a tensor, BFLOAT16 = 16; the graph declares "
     "tensor(bfloat16)",
     "the data file declares UINT16 for a bfloat16 tensor"},
    {"cast-string-pointers",
     "onnx.proto: 'Each element of string_data is a UTF-8 encoded Unicode string'; dims [3, 4] make 12 of "
     "them",
     "the data file holds three strings, which are the memory of pointers"},
    {"col2im-pads",
     "Col2Im-18: 'rearranges column blocks back into a multidimensional image'; 10 and 14 fall on [0,0,0,4]",
     "the data of onnx 1.13 have 14 there, without the 10"},
    {"convtranspose-same-lower",
     "ConvTranspose-11, auto_pad: 'In case the padding is an odd number, the extra padding is added at the "
     "end for SAME_UPPER "
     "and at the beginning for SAME_LOWER'",
     "the expected values have it at the end for SAME_LOWER; onnx 1.10 has the same values for SAME_UPPER"},
    {"dft-two-answers",
     "the case of onnx 1.17 and 1.19 to 1.23 has the same model and input and expects a transform in "
     "float32, whose rounding "
     "leaves up to 1.9e-6 where the sum is 0",
     "these expect a transform in double, 1e-15 there; no result is within rtol 1e-3 and atol 1e-7 of both, "
     "and the newest "
     "release is followed"},
    {"lpnormalization-zero",
     "LpNormalization-22 as completed by onnx 1.21: 'When the Lp norm is zero (i.e., all elements along the "
     "axis are zero), the "
     "output is defined to be zero'",
     "the expected values are NaN there"},
    {"mod-fmod-missing",
     "Mod-10: 'If the input type is floating point, then `fmod` attribute must be set to 1'",
     "the model leaves fmod 0 for double, and the expected values have the divisor's sign"},
    {"momentum-swapped", "Momentum-1: input 0 is 'R', 'The learning rate.', input 1 is 'T', 'Update count'",
     "the expected values of onnx 1.7 take R for T and T for R"},
    {"qlinearmatmul-wrapped",
     "QLinearMatMul-10 and 21: 'The quantization formula is y = saturate((x / y_scale) + y_zero_point)'",
     "the expected int8 values were wrapped around, not saturated"},
    {"resize-nearest-mode",
     "Resize-11, nearest_mode: 'round_prefer_floor (default, as known as round half down)'",
     "the models of onnx 1.6 leave nearest_mode out, but the expected values are those of floor, ceil or "
     "round_prefer_ceil, as the cases' names say"},
    {"sequence-insert-front",
     "SequenceInsert-11: 'inserts 'tensor' into 'input_sequence' at 'position''; the position given is 0",
     "the expected sequence has the tensor at its end"},
    {"shrink-rank", "IR: a graph input's type states its shape; the model declares x and y as [1, 5]",
     "the data files hold tensors of shape [5]"},
    {"softplus-add-1", "Add-1: an operand is broadcast only where the attribute broadcast is 1",
     "the model imports opset 1 and adds a scalar to a tensor without it"},
    {"unique-sorted",
     "Unique-11, example 1: input_X = [2, 1, 1, 3, 4, 3], attribute_sorted = 0, output_Y = [2, 1, 3, 4]",
     "the expected Y is sorted, against inverse_indices, which give back X from the unsorted one only"},
};

bool is_expected_file(const fs::path& path) {
  return path.extension() == ".pb" && trial::file_number(path.filename().string(), trial::output_prefix);
}

}  // namespace

std::span<const KnownWrongRule> known_wrong_rules() {
  return rules;
}

std::string case_digest(const Case& test) {
  std::vector<fs::path> files;
  for (const std::string& folder : test.data_sets) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (is_expected_file(entry.path())) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  files.insert(files.begin(), test.model);
  std::string listing;
  for (const fs::path& file : files) {
    const bool model = &file == files.data();
    const fs::path name = model ? file.filename() : file.parent_path().filename() / file.filename();
    listing += fmt::format("{}  {}\n", sha256_of_file(file.string()), name.string());
  }
  return sha256_of(listing);
}

const KnownWrongRule* find_known_wrong(const Case& test) {
  if (test.flat || !test.problem.empty()) return nullptr;
  std::string digest;
  try {
    digest = case_digest(test);
  } catch (const std::exception&) {
    return nullptr;  // a file that cannot be read is what the case is judged for
  }
  const auto cases = known_wrong_cases();
  const auto found = std::ranges::lower_bound(cases, std::string_view(digest), {}, &KnownWrongCase::digest);
  if (found == cases.end() || found->digest != digest) return nullptr;
  return std::ranges::find(rules, std::string_view(found->rule), &KnownWrongRule::id);
}

}  // namespace grurun::conformance
