// StringNormalizer (ai.onnx 10).
//
// X [C] or [1, C] -> Y [D] or [1, D]: the elements that are no stopword, in their order, in the case that
// case_change_action names; one "" when none is left. Stop words are compared with whole elements before
// their case changes; with is_case_sensitive = 0 by their lower case. How letters change: letter_case.h.
#include <optional>
#include <unordered_set>

#include "engine/graph/op_context.h"
#include "engine/ops/text/letter_case.h"

namespace grurun::engine {

namespace {

std::optional<LetterCase> case_change(const std::string& action) {
  if (action == "NONE") return std::nullopt;
  if (action == "UPPER") return LetterCase::upper;
  return LetterCase::lower;
}

struct Normalizer {
  CaseMapping mapping;
  std::optional<LetterCase> change;
  bool case_sensitive;
  std::unordered_set<std::string> stopwords;  // in lower case unless case_sensitive

  bool drops(const std::string& word) const {
    if (stopwords.empty()) return false;
    return stopwords.contains(case_sensitive ? word : mapping.convert(word, LetterCase::lower));
  }
};

Shape shape_like(const Shape& input, std::size_t count) {
  Shape shape = input;
  shape[shape.rank() - 1] = static_cast<std::int64_t>(count);
  return shape;
}

RunFunction prepare_string_normalizer(PrepareContext& node) {
  Normalizer normalizer{CaseMapping(node.string_attribute("locale", "en_US")),
                        case_change(node.string_attribute("case_change_action", "NONE")),
                        node.int_attribute("is_case_sensitive", 0) != 0,
                        {}};
  for (const std::string& word : node.strings_attribute("stopwords")) {
    normalizer.stopwords.insert(
        normalizer.case_sensitive ? word : normalizer.mapping.convert(word, LetterCase::lower));
  }
  return [normalizer](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.rank() != 1 && (x.rank() != 2 || x.dim(0) != 1)) refuse();
    std::vector<std::string> kept;
    for (const std::string& word : x.span<std::string>()) {
      if (normalizer.drops(word)) continue;
      kept.push_back(normalizer.change ? normalizer.mapping.convert(word, *normalizer.change) : word);
    }
    if (kept.empty()) kept.emplace_back();
    run.set_output(0, Tensor::from<std::string>(shape_like(x.shape(), kept.size()), kept));
  };
}

}  // namespace

std::vector<OpRow> op_rows_string_normalizer() {
  return {{"", "StringNormalizer", {10}, prepare_string_normalizer}};
}

}  // namespace grurun::engine
