#include "opset/pages/einsum_equation.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "tensor/error.h"

namespace grurun::opset {

namespace {

// A term as written: letters and where, if anywhere, "..." stands among them.
struct EinsumTerm {
  Labels letters;
  std::optional<std::size_t> ellipsis;
};

EinsumTerm parse_term(std::string_view text, const std::string& equation) {
  EinsumTerm term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      term.letters.push_back(c);
    } else if (text.substr(i, 3) == "..." && !term.ellipsis) {
      term.ellipsis = term.letters.size();
      i += 2;
    } else {
      fail_invalid("equation '{}': unexpected '{}' in a term", equation, c);
    }
  }
  return term;
}

Labels labels_of(const EinsumTerm& term, std::size_t ellipsis_rank) {
  Labels labels = term.letters;
  if (!term.ellipsis) return labels;
  Labels dots;
  for (std::size_t i = 0; i < ellipsis_rank; ++i)
    dots.push_back(first_ellipsis_label + static_cast<Label>(i));
  labels.insert(labels.begin() + static_cast<std::ptrdiff_t>(*term.ellipsis), dots.begin(), dots.end());
  return labels;
}

ScratchVector<EinsumTerm> parse_inputs(std::string_view text, const std::string& equation) {
  ScratchVector<EinsumTerm> terms;
  for (std::size_t start = 0;;) {
    const std::size_t comma = text.find(',', start);
    const std::size_t length = comma == std::string_view::npos ? comma : comma - start;
    terms.push_back(parse_term(text.substr(start, length), equation));
    if (comma == std::string_view::npos) return terms;
    start = comma + 1;
  }
}

// All occurrences of "..." stand for as many dimensions.
std::size_t ellipsis_rank_of(const ScratchVector<EinsumTerm>& terms, std::span<const std::size_t> ranks,
                             const std::string& equation) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::size_t letters = terms[i].letters.size();
    if (terms[i].ellipsis ? letters > ranks[i] : letters != ranks[i]) {
      fail_invalid("equation '{}': term {} does not fit an operand of rank {}", equation, i, ranks[i]);
    }
    if (!terms[i].ellipsis) continue;
    if (found && *found != ranks[i] - letters) {
      fail_invalid("equation '{}': '...' stands for {} dimensions in one operand, for {} in another",
                   equation, *found, ranks[i] - letters);
    }
    found = ranks[i] - letters;
  }
  return found.value_or(0);
}

// Without "->": the dimensions of "...", then the letters that appear exactly once, in ASCII order.
EinsumTerm implicit_output(const ScratchVector<EinsumTerm>& inputs) {
  ScratchMap<Label, int> occurrences;
  EinsumTerm output;
  for (const EinsumTerm& term : inputs) {
    if (term.ellipsis) output.ellipsis = 0;
    for (const Label letter : term.letters) ++occurrences[letter];
  }
  for (const auto& [letter, count] : occurrences) {
    if (count == 1) output.letters.push_back(letter);
  }
  return output;
}

void check_output(const EinsumTerm& output, const ScratchVector<EinsumTerm>& inputs,
                  const std::string& equation) {
  bool has_ellipsis = false;
  for (const EinsumTerm& term : inputs) has_ellipsis = has_ellipsis || term.ellipsis;
  if (output.ellipsis && !has_ellipsis)
    fail_invalid("equation '{}': '...' appears in the output alone", equation);
  for (std::size_t i = 0; i < output.letters.size(); ++i) {
    const Label letter = output.letters[i];
    const auto holds = [letter](const EinsumTerm& term) {
      return std::ranges::count(term.letters, letter) > 0;
    };
    if (std::ranges::count(output.letters, letter) > 1 || std::ranges::none_of(inputs, holds)) {
      fail_invalid("equation '{}': output index '{}' must appear once there and in an input", equation,
                   static_cast<char>(letter));
    }
  }
}

}  // namespace

EinsumEquation parse_einsum(const std::string& equation, std::span<const std::size_t> ranks) {
  ScratchVector<char> characters(equation.begin(), equation.end());
  std::erase(characters, ' ');
  const std::string_view text(characters.data(), characters.size());
  const std::size_t arrow = text.find("->");
  const ScratchVector<EinsumTerm> inputs = parse_inputs(text.substr(0, arrow), equation);
  if (inputs.size() != ranks.size()) {
    fail_invalid("equation '{}' has {} terms for {} inputs", equation, inputs.size(), ranks.size());
  }
  const std::size_t ellipsis_rank = ellipsis_rank_of(inputs, ranks, equation);
  const EinsumTerm output = arrow == std::string_view::npos ? implicit_output(inputs)
                                                            : parse_term(text.substr(arrow + 2), equation);
  check_output(output, inputs, equation);
  EinsumEquation parsed;
  for (const EinsumTerm& term : inputs) parsed.inputs.push_back(labels_of(term, ellipsis_rank));
  parsed.output = labels_of(output, ellipsis_rank);
  return parsed;
}

}  // namespace grurun::opset
