#include "opset/pages/input_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/error.h"

namespace grurun::opset {

namespace {

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
  return split_words(word.substr(1, word.find(']') - 1), ",");
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
  std::string wanted;       // of the input that does not fit; empty: all fit
  bool leaves_out = false;  // that input: who gives it means another alternative

  auto order() const { return std::pair(!leaves_out, fitting); }
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
    if (!fits) return {i, described(words[i], before), words[i] == "none"};
  }
  return {words.size(), ""};
}

void check_shapes(std::string_view stated, const NodeFacts& facts) {
  Attempt best;
  for (const std::string_view shapes : split_words(stated, " | ")) {
    const Attempt tried = attempt(split_words(shapes, " "), facts);
    if (tried.wanted.empty()) return;
    const bool known = best.wanted.find(tried.wanted) != std::string::npos;
    if (best.wanted.empty() || tried.order() > best.order()) {
      best = tried;
    } else if (tried.order() == best.order() && !known) {
      best.wanted += " or " + tried.wanted;
    }
  }
  const SymbolicShape* shape = facts.shape(best.fitting);
  fail_invalid("{} is {}; {}-{} takes {}", input_label(input_name(facts, best.fitting)),
               shape == nullptr ? "left out" : to_string(*shape), facts.op_type(), facts.since_version(),
               best.wanted);
}

}  // namespace

std::vector<StatedShapes> stated_shapes(const Page& page) {
  std::vector<StatedShapes> all;
  for (const std::string_view entry : split_words(page.shapes, "; ")) {
    const std::size_t space = entry.find(' ');
    int since = 0;
    std::from_chars(entry.data() + 1, entry.data() + space, since);
    all.push_back({since, entry.substr(space + 1)});
  }
  return all;
}

void check_input_shapes(const Page& page, const NodeFacts& facts) {
  const std::vector<StatedShapes> all = stated_shapes(page);
  int now = 0;
  for (const StatedShapes& stated : all)
    if (stated.since <= facts.since_version()) now = std::max(now, stated.since);
  for (const StatedShapes& stated : all)
    if (stated.since == now) check_shapes(stated.shapes, facts);
}

}  // namespace grurun::opset
