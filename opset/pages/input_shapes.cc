#include "opset/pages/input_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "opset/schema/signature.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

constexpr auto stated_shapes = std::to_array<InputShapes>({
    {"AffineGrid", 20, "[N,2,3] [4] | [N,3,4] [5]"},
    {"Attention", 23,
     "[batch,q_heads,q,d] [batch,kv_heads,k,d] [batch,kv_heads,k,v] - [batch,kv_heads,past,d] "
     "[batch,kv_heads,past,v] | [batch,q,q_hidden] [batch,k,k_hidden] [batch,k,v_hidden] - "
     "[batch,kv_heads,past,d] [batch,kv_heads,past,v]"},
    {"CenterCropPad", 18, "- list"},
    {"Compress", 9, "- [n]"},
    {"Conv", 1, "[N,C,+] [M,C/group,+] [M]"},
    {"ConvInteger", 10, "[N,C,+] [M,C/group,+] one [M]?"},
    {"ConvTranspose", 1, "[N,C,+] [C,M/group,+] [M]"},
    {"DeformConv", 19, "[N,C,+] [oC,C/group,+] [N,offsets,+] [oC] [N,masks,+]"},
    {"DequantizeLinear", 10, "- one one"},
    {"DequantizeLinear", 13, "- [...] [...] | - one one"},
    {"DFT", 17, "[batch,*,1] one | [batch,*,2] one"},
    {"DFT", 20, "[batch,*,1] one one | [batch,*,2] one one"},
    {"Expand", 8, "- list"},
    {"GatherElements", 11, "[+] [+]"},
    {"GridSample", 16, "[N,C,H,W] [N,H_out,W_out,2]"},
    {"GridSample", 20, "[N,C,+] [N,+,r]"},
    {"GroupNormalization", 21, "[N,C,*] [C] [C]"},
    {"InstanceNormalization", 1, "[N,C,*] [C] [C]"},
    {"MaxUnpool", 9, "[...] [...]"},
    {"NonMaxSuppression", 10, "[num_batches,spatial,4] [num_batches,num_classes,spatial] one one one"},
    {"Pad", 11, "- list"},
    {"Pad", 18, "- list - list"},
    {"QLinearConv", 10, "[N,C,+] one one [M,C/group,+] [M]? [M]? one one [M]"},
    {"QLinearMatMul", 10, "- - - - - - one one"},
    {"QuantizeLinear", 10, "- one one"},
    {"QuantizeLinear", 13, "- [...] [...] | - one one"},
    {"ReduceL1", 18, "- list"},
    {"ReduceL2", 18, "- list"},
    {"ReduceLogSum", 18, "- list"},
    {"ReduceLogSumExp", 18, "- list"},
    {"ReduceMax", 18, "- list"},
    {"ReduceMean", 18, "- list"},
    {"ReduceMin", 18, "- list"},
    {"ReduceProd", 18, "- list"},
    {"ReduceSum", 13, "- list"},
    {"ReduceSumSquare", 18, "- list"},
    {"Reshape", 5, "- list"},
    {"Resize", 10, "- list"},
    {"Resize", 11, "- list list list"},
    {"RotaryEmbedding", 23,
     "[batch,heads,seq,head] [positions,r] [positions,r] [ids,seq]! | [batch,seq,hidden] [positions,r] "
     "[positions,r] [ids,seq]! | [batch,heads,seq,head] [batch,seq,r] [batch,seq,r] none | "
     "[batch,seq,hidden] [batch,seq,r] [batch,seq,r] none"},
    {"Scatter", 9, "[+] [+] [+]"},
    {"Scatter", 9, "- [...] [...]"},
    {"ScatterElements", 11, "[+] [+] [+]"},
    {"ScatterElements", 11, "- [...] [...]"},
    {"Slice", 10, "- list list list list"},
    {"SoftmaxCrossEntropyLoss", 12, "[N,C,...] [N,...] [C]"},
    {"Squeeze", 13, "- list"},
    {"STFT", 17, "[batch_size,signal_length,1] [] [n] [] | [batch_size,signal_length,2] [] [n] []"},
    {"Unsqueeze", 13, "- list"},
    {"Upsample", 9, "- list"},
});

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + separator.size());
  }
  return parts;
}

bool is_number(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_axes(std::string_view word) {
  return word == "+" || word == "..." || word == "*";
}

// The names in the words before, as far as they are known.
struct Bound {
  std::map<std::string_view, std::int64_t> sizes;
  std::optional<int> count;   // of +
  std::optional<Sizes> same;  // of ...

  bool bind(std::string_view name, const Dim& dim) {
    if (!dim.value) return true;
    if (is_number(name)) return std::to_string(*dim.value) == name;
    return sizes.try_emplace(name, *dim.value).first->second == *dim.value;
  }

  bool bind_axes(std::string_view word, const SymbolicShape& shape, int begin, int end) {
    if (word == "+") {
      if (!count) count = end - begin;
      return *count == end - begin;
    }
    if (word == "*") return true;
    if (!same) same.emplace(static_cast<std::size_t>(end - begin));
    if (same->size() != static_cast<std::size_t>(end - begin)) return false;
    for (int axis = begin; axis < end; ++axis) {
      Size& size = (*same)[static_cast<std::size_t>(axis - begin)];
      if (!size) size = size_of(&shape, axis);
      const Size here = size_of(&shape, axis);
      if (here && here != size) return false;
    }
    return true;
  }

  // "[N,...,2]", with the sizes that are bound: "[3,?,?,2]".
  std::string filled(const std::vector<std::string_view>& dims, bool with_sizes) const {
    std::string text;
    const auto add = [&](const std::string& dim) { text += (text.empty() ? "" : ",") + dim; };
    for (const std::string_view dim : dims) {
      const auto size = sizes.find(dim);
      if (with_sizes && dim == "+" && count) {
        for (int i = 0; i < *count; ++i) add("?");
      } else if (with_sizes && dim == "..." && same) {
        for (const auto& each : *same) add(each ? std::to_string(*each) : "?");
      } else if (is_axes(dim)) {
        add("...");
      } else {
        add(with_sizes && size != sizes.end() ? std::to_string(size->second) : std::string(dim));
      }
    }
    return "[" + text + "]";
  }
};

std::vector<std::string_view> dims_of(std::string_view word) {
  return split(word.substr(1, word.find(']') - 1), ",");
}

bool fits_dims(std::string_view word, const SymbolicShape& shape, Bound& bound) {
  const std::vector<std::string_view> dims = dims_of(word);
  const auto axes = std::ranges::find_if(dims, is_axes);
  const int before = static_cast<int>(axes - dims.begin());
  const int behind = axes == dims.end() ? 0 : static_cast<int>(dims.end() - axes) - 1;
  const int rank = rank_of(shape);
  if (axes == dims.end() ? rank != before : rank < before + behind) return false;
  for (int i = 0; i < before; ++i) {
    if (!bound.bind(dims[static_cast<std::size_t>(i)], shape[static_cast<std::size_t>(i)])) return false;
  }
  for (int i = 1; i <= behind; ++i) {
    if (!bound.bind(dims[dims.size() - static_cast<std::size_t>(i)],
                    shape[static_cast<std::size_t>(rank - i)]))
      return false;
  }
  return axes == dims.end() || bound.bind_axes(*axes, shape, before, rank - behind);
}

bool is_one(const SymbolicShape& shape) {
  return rank_of(shape) == 0 || (rank_of(shape) == 1 && size_of(&shape, 0).value_or(1) == 1);
}

bool fits_word(std::string_view word, const SymbolicShape& shape, Bound& bound) {
  if (word == "-") return true;
  if (word == "none") return false;
  if (word == "list") return rank_of(shape) <= 1;
  if (word == "one") return is_one(shape);
  return (word.ends_with('?') && is_one(shape)) || fits_dims(word, shape, bound);
}

// One of the alternatives, up to the first input that does not fit.
struct Attempt {
  std::size_t fitting = 0;
  std::string wanted;  // of the input that does not fit; empty: all fit
};

std::string described(std::string_view word, const Bound& bound) {
  if (word == "list") return "a list";
  if (word == "one") return "a scalar";
  if (word == "none") return "left out";
  const std::string stated = bound.filled(dims_of(word), false), here = bound.filled(dims_of(word), true);
  return stated + (here == stated ? "" : ", here " + here) + (word.ends_with('?') ? ", or a scalar" : "");
}

Attempt attempt(const std::vector<std::string_view>& words, const NodeFacts& facts) {
  Bound bound;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const SymbolicShape* shape = facts.shape(i);
    const Bound before = bound;
    const bool fits = shape == nullptr ? facts.has_input(i) || !words[i].ends_with('!')
                                       : fits_word(words[i], *shape, bound);
    if (!fits) return {i, described(words[i], before)};
  }
  return {words.size(), ""};
}

void check_row(const InputShapes& row, const NodeFacts& facts) {
  Attempt best;
  for (const std::string_view shapes : split(row.shapes, " | ")) {
    const Attempt tried = attempt(split(shapes, " "), facts);
    if (tried.wanted.empty()) return;
    const bool known = best.wanted.find(tried.wanted) != std::string::npos;
    if (best.wanted.empty() || tried.fitting > best.fitting) {
      best = tried;
    } else if (tried.fitting == best.fitting && !known) {
      best.wanted += " or " + tried.wanted;
    }
  }
  const SymbolicShape* shape = facts.shape(best.fitting);
  const Signature* signature = find_signature(facts.op_type(), facts.domain(), facts.since_version());
  fail_invalid("input {} is {}; {}-{} takes {}", signature->inputs[best.fitting].name,
               shape == nullptr ? "left out" : to_string(*shape), facts.op_type(), facts.since_version(),
               best.wanted);
}

}  // namespace

std::span<const InputShapes> all_input_shapes() {
  return stated_shapes;
}

void check_input_shapes(const NodeFacts& facts) {
  int since = 0;
  for (const InputShapes& row : stated_shapes) {
    if (row.op_type == facts.op_type() && row.since <= facts.since_version())
      since = std::max(since, row.since);
  }
  for (const InputShapes& row : stated_shapes) {
    if (row.op_type == facts.op_type() && row.since == since) check_row(row, facts);
  }
}

}  // namespace grurun::opset
