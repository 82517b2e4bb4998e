#include "opset/pages/stated_numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <set>

#include "tensor/error.h"

namespace grurun::opset {

namespace {

constexpr std::string_view no_limit = "inf";

struct StatedNumbers {
  std::string name;
  int since = 1;
  Size fallback;
  std::string_view interval;  // "[-r,r)"
  bool once = false;
};

std::int64_t written_number(std::string_view digits) {
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// "axis=-1@13: [-r,r) once"
StatedNumbers parsed_numbers(std::string_view entry) {
  const std::size_t colon = entry.find(": ");
  std::string_view head = entry.substr(0, colon);
  StatedNumbers out;
  out.interval = entry.substr(colon + 2);
  if (const std::size_t space = out.interval.find(' '); space != out.interval.npos) {
    out.once = true;
    out.interval = out.interval.substr(0, space);
  }
  if (const std::size_t at = head.find('@'); at != head.npos) {
    out.since = static_cast<int>(written_number(head.substr(at + 1)));
    head = head.substr(0, at);
  }
  if (const std::size_t equals = head.find('='); equals != head.npos) {
    out.fallback = written_number(head.substr(equals + 1));
    head = head.substr(0, equals);
  }
  out.name = head;
  return out;
}

class NumberJudge {
 public:
  NumberJudge(const StatedNumbers& stated, const NodeFacts& facts) : stated_(stated), facts_(facts) {
    if (const SymbolicShape* shape = facts.shape(0)) rank_ = rank_of(*shape);
    const std::size_t comma = stated.interval.find(',');
    low_ = bound(stated.interval.substr(1, comma - 1));
    high_ = bound(stated.interval.substr(comma + 1, stated.interval.size() - comma - 2));
    closed_ = stated.interval.ends_with(']');
  }

  void judge() {
    if (!low_ || !high_) return;
    if (const onnx_io::Attribute* attribute = facts_.attribute(stated_.name.c_str())) {
      kind_ = "attribute";
      if (attribute->type == onnx_io::AttributeType::int_) return require(attribute->i, false);
      for (const std::int64_t number : attribute->ints) require(number, true);
      return;
    }
    for (std::size_t i = 0; i < facts_.input_count(); ++i) {
      if (input_name(facts_, i) != stated_.name) continue;
      const Tensor* value = facts_.value(i);
      if (value != nullptr) return judge_values(*value);
      if (facts_.has_input(i)) return;
    }
    if (stated_.fallback) require(*stated_.fallback, false);
  }

 private:
  // "inf"; a number; "r", "-r-1": by r, the rank of the first input, or n, its size along the attribute axis.
  Size bound(std::string_view text) const {
    if (text == no_limit) return std::numeric_limits<std::int64_t>::max();
    const std::size_t letter = text.find_first_of("rn");
    if (letter == text.npos) return written_number(text);
    const Size size = text[letter] == 'n' ? size_along_axis() : rank_;
    if (!size) return size;
    std::string_view offset = text.substr(letter + 1);
    if (offset.starts_with('+')) offset.remove_prefix(1);
    return (letter == 0 ? *size : -*size) + written_number(offset);
  }

  Size size_along_axis() const {
    const std::int64_t axis = facts_.int_attribute("axis", 0);
    return rank_ ? size_of(facts_.shape(0), static_cast<int>(axis < 0 ? axis + *rank_ : axis)) : rank_;
  }

  void judge_values(const Tensor& value) {
    kind_ = "input";
    const auto each = [&](const auto numbers) {
      for (const auto number : numbers) require(number, numbers.size() > 1 || value.rank() > 0);
    };
    switch (value.dtype()) {
      case DType::int32:
        return each(value.span<std::int32_t>());
      case DType::int64:
        return each(value.span<std::int64_t>());
      case DType::float32:
        return each(value.span<float>());
      default:
        return;
    }
  }

  template <typename T>
  void require(T number, bool in_list) {
    const auto low = static_cast<T>(*low_), high = static_cast<T>(*high_);
    const bool fits = number >= low && (closed_ ? number <= high : number < high || is_unlimited());
    if (!fits) tell(fmt::format("{}", number), in_list);
    if (!stated_.once) return;
    const auto place = static_cast<std::int64_t>(number < 0 ? number - low : number);
    if (!seen_.insert(place).second) fail_invalid("{} {} names axis {} twice", kind_, stated_.name, place);
  }

  bool is_unlimited() const { return stated_.interval.find(no_limit) != stated_.interval.npos; }

  [[noreturn]] void tell(const std::string& number, bool in_list) const {
    const bool axes = stated_.interval.find('r') != stated_.interval.npos;
    const char* verb = axes ? "names axis" : in_list ? "holds" : "is";
    const std::string begin = fmt::format("{} {} {} {}, but must", kind_, stated_.name, verb, number);
    if (is_unlimited()) fail_invalid("{} {} {}", begin, in_list ? "hold numbers from" : "be at least", *low_);
    std::string interval(stated_.interval);
    interval.insert(interval.find(',') + 1, " ");
    if (axes)
      fail_invalid("{} lie in {} of the input {}, whose rank r is {}", begin, interval,
                   to_string(*facts_.shape(0)), *rank_);
    if (interval.find('n') != interval.npos)
      fail_invalid("{} lie in {}, where n is {}, the size along axis of the input {}", begin, interval,
                   *size_along_axis(), to_string(*facts_.shape(0)));
    fail_invalid("{} lie in {}", begin, interval);
  }

  const StatedNumbers& stated_;
  const NodeFacts& facts_;
  const char* kind_ = "attribute";
  Size rank_, low_, high_;
  bool closed_ = false;
  std::set<std::int64_t> seen_;
};

}  // namespace

void check_numbers(const Page& page, const NodeFacts& facts) {
  std::vector<StatedNumbers> now;
  for (const std::string_view entry : split_words(page.numbers, "; ")) {
    StatedNumbers stated = parsed_numbers(entry);
    if (stated.since > facts.since_version()) continue;
    std::erase_if(now, [&](const StatedNumbers& before) { return before.name == stated.name; });
    now.push_back(std::move(stated));
  }
  for (const StatedNumbers& stated : now) NumberJudge(stated, facts).judge();
}

}  // namespace grurun::opset
