#include <fmt/format.h>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

// The pool holds n-grams of 1, 2, 3 ... tokens one behind the other; ngram_counts says where each begins.
std::optional<std::string> ngram_pool(const onnx_io::Node& node, int) {
  const onnx_io::Attribute none{};
  const auto list = [&](const char* name) -> const onnx_io::Attribute& {
    const onnx_io::Attribute* found = node.find_attribute(name);
    return found == nullptr ? none : *found;
  };
  for (const onnx_io::Attribute& attribute : node.attributes)
    if (!attribute.ref_attr_name.empty()) return std::nullopt;
  const std::int64_t least = list("min_gram_length").i, most = list("max_gram_length").i;
  if (most < least)
    return fmt::format("max_gram_length is {}, below min_gram_length, which is {}", most, least);
  const std::size_t count = list("ngram_indexes").ints.size(), weights = list("weights").floats.size();
  if (count == 0) return "ngram_indexes is empty";
  if (weights != 0 && weights != count)
    return fmt::format("{} weights for {} ngram_indexes: each n-gram has one of each", weights, count);
  const std::size_t numbers = list("pool_int64s").ints.size(), strings = list("pool_strings").strings.size();
  if ((numbers == 0) == (strings == 0))
    return "one of pool_int64s and pool_strings must be given, and not both";
  const auto tokens = static_cast<std::int64_t>(numbers + strings);
  const std::vector<std::int64_t>& starts = list("ngram_counts").ints;
  std::size_t grams = 0;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const std::int64_t end = k + 1 < starts.size() ? starts[k + 1] : tokens;
    if ((k == 0 && starts[k] != 0) || end < starts[k] || end > tokens)
      return fmt::format("ngram_counts must start at 0 and rise to at most the {} tokens of the pool",
                         tokens);
    const auto length = static_cast<std::size_t>(end - starts[k]);
    if (length % (k + 1) != 0)
      return fmt::format("the pool has {} tokens for n-grams of {}, which is no multiple", length, k + 1);
    grams += length / (k + 1);
  }
  if (grams != count)
    return fmt::format("the pool has {} n-grams, but ngram_indexes {}: they must be as many", grams, count);
  return std::nullopt;
}

void check_tokens(const NodeFacts& facts) {
  const DType dtype = facts.dtype(0);
  const bool strings =
      facts.attribute("pool_strings") != nullptr && !facts.attribute("pool_strings")->strings.empty();
  if (dtype != DType::undefined && (dtype == DType::string) != strings)
    fail_invalid("X is {}, but the pool holds {}", dtype_name(dtype), strings ? "strings" : "integers");
}

}  // namespace grurun::opset
