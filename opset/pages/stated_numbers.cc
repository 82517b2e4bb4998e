#include "opset/pages/stated_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "tensor/error.h"

namespace grurun::opset {

namespace {

struct StatedNumbers {
  std::string name;
  int since = 1;
  Size fallback;
  std::string_view interval;  // "[-r,r)"
  bool once = false;
  int from_end_since = 0;  // the later version that takes negative ones, too; 0: none
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

std::vector<StatedNumbers> numbers_of(const Page& page, int since_version) {
  std::vector<StatedNumbers> now;
  for (const std::string_view entry : split_words(page.numbers, "; ")) {
    StatedNumbers stated = parsed_numbers(entry);
    if (stated.since > since_version) {
      const auto earlier = std::ranges::find(now, stated.name, &StatedNumbers::name);
      if (earlier != now.end() && earlier->interval.starts_with("[0") && stated.interval.starts_with("[-"))
        earlier->from_end_since = stated.since;
      continue;
    }
    std::erase_if(now, [&](const StatedNumbers& before) { return before.name == stated.name; });
    now.push_back(std::move(stated));
  }
  return now;
}

}  // namespace

void fail_from_end(const NodeFacts& facts, const std::string& found, const char* what, int since) {
  fail_invalid(
      "{}, but {}-{} takes non-negative {} only; negative ones count from the end since version {}: "
      "import opset {} or newer",
      found, facts.op_type(), facts.since_version(), what, since, since);
}

namespace {

class NumberJudge {
 public:
  // axis: along which n is counted.
  NumberJudge(const StatedNumbers& stated, const NodeFacts& facts, std::int64_t axis)
      : stated_(stated), facts_(facts) {
    if (const SymbolicShape* shape = facts.shape(0)) {
      rank_ = rank_of(*shape);
      along_ = size_of(shape, static_cast<int>(axis < 0 ? axis + *rank_ : axis));
    }
    const std::size_t comma = stated.interval.find(',');
    const std::string_view high = stated.interval.substr(comma + 1, stated.interval.size() - comma - 2);
    low_ = bound(stated.interval.substr(1, comma - 1));
    unlimited_ = high == "inf";
    high_ = unlimited_ ? std::numeric_limits<std::int64_t>::max() : bound(high);
    closed_ = stated.interval.ends_with(']');
  }

  void judge() {
    if (!low_) return;
    if (const onnx_io::Attribute* attribute = facts_.attribute(stated_.name.c_str())) {
      if (attribute->type == onnx_io::AttributeType::int_) return require(attribute->i, false);
      if (attribute->type == onnx_io::AttributeType::float_) return require(attribute->f, false);
      require_no_more_than_rank(std::ssize(attribute->ints));
      for (const std::int64_t number : attribute->ints) require(number, true);
      return;
    }
    for (std::size_t i = 0; i < facts_.input_count(); ++i) {
      if (facts_.has_input(i) && input_name(facts_, i) == stated_.name) return judge_input(i);
    }
    if (stated_.fallback) require(*stated_.fallback, false);
  }

 private:
  // A number, or one by r, R or n: "-r-1".
  Size bound(std::string_view text) const {
    const std::size_t letter = text.find_first_of("rRn");
    if (letter == text.npos) return written_number(text);
    Size size = text[letter] == 'n' ? along_ : rank_;
    if (text[letter] == 'R' && size) size = std::max<std::int64_t>(*size, 1);
    std::string_view offset = text.substr(letter + 1);
    if (offset.starts_with('+')) offset.remove_prefix(1);
    return size ? Size((letter == 0 ? *size : -*size) + written_number(offset)) : size;
  }

  void judge_input(std::size_t i) {
    of_input_ = true;
    if (const SymbolicShape* shape = facts_.shape(i))
      require_no_more_than_rank(shape->empty() ? Size(1) : size_of(shape, 0));
    const auto each = [&](const auto& numbers) {
      for (const auto number : numbers) require(number, facts_.value(i)->rank() > 0);
    };
    if (const auto integers = integers_in(facts_, i)) return each(*integers);
    if (const auto numbers = numbers_in(facts_, i)) each(*numbers);
  }

  // Of axes that are each named once, whichever they are.
  void require_no_more_than_rank(const Size& count) const {
    if (!stated_.once || !rank_ || !count || *count <= std::max<std::int64_t>(*rank_, 1)) return;
    if (stated_.interval.find_first_of("rR") == stated_.interval.npos) return;
    fail_invalid("{} has {} entries, but names each axis once, and the input {} has {}", named(), *count,
                 to_string(*facts_.shape(0)), *rank_);
  }

  template <typename T>
  void require(T number, bool in_list) {
    const auto low = static_cast<T>(*low_);
    if (stated_.from_end_since > 0 && number < T{0}) tell_negative(fmt::format("{}", number));
    if (!high_) return;
    const auto high = static_cast<T>(*high_);
    const bool is_below = unlimited_ ? std::isfinite(static_cast<double>(number))
                          : closed_  ? number <= high
                                     : number < high;
    if (!(number >= low && is_below)) tell(fmt::format("{}", number), in_list);
    if (!stated_.once) return;
    const auto place = static_cast<std::int64_t>(number < 0 ? number - low : number);
    if (!seen_.insert(place).second) fail_invalid("{} names axis {} twice", named(), place);
  }

  std::string named() const {
    return of_input_ ? input_label(stated_.name) : fmt::format("attribute {}", stated_.name);
  }

  [[noreturn]] void tell_negative(const std::string& number) const {
    const bool axes = stated_.interval.find('r') != stated_.interval.npos;
    fail_from_end(facts_, fmt::format("{} {} {}", named(), axes ? "names axis" : "holds", number),
                  axes ? "axes" : "numbers", stated_.from_end_since);
  }

  [[noreturn]] void tell(const std::string& number, bool in_list) const {
    const bool axes = stated_.interval.find_first_of("rR") != stated_.interval.npos;
    const char* verb = axes ? "names axis" : in_list ? "holds" : "is";
    const std::string begin = fmt::format("{} {} {}, but must", named(), verb, number);
    if (unlimited_) fail_invalid("{} {} {}", begin, in_list ? "hold numbers from" : "be at least", *low_);
    std::string interval(stated_.interval);
    std::ranges::replace(interval, 'R',
                         'r');  // what is stated; a scalar's axis is a form that is taken all the same
    interval.insert(interval.find(',') + 1, " ");
    if (axes)
      fail_invalid("{} lie in {} of the input {}, whose rank r is {}", begin, interval,
                   to_string(*facts_.shape(0)), *rank_);
    if (interval.find('n') != interval.npos)
      fail_invalid("{} lie in {}, where n is {}, the size of the input {} along axis", begin, interval,
                   *along_, to_string(*facts_.shape(0)));
    fail_invalid("{} lie in {}", begin, interval);
  }

  const StatedNumbers& stated_;
  const NodeFacts& facts_;
  bool of_input_ = false;
  Size rank_, along_, low_, high_;
  bool unlimited_ = false, closed_ = false;
  std::set<std::int64_t> seen_;
};

}  // namespace

void check_numbers(const Page& page, const NodeFacts& facts) {
  if (page.numbers.empty()) return;
  const std::vector<StatedNumbers> stated = numbers_of(page, facts.since_version());
  const auto axis = std::ranges::find(stated, "axis", &StatedNumbers::name);
  const std::int64_t fallback = axis == stated.end() ? 0 : axis->fallback.value_or(0);
  for (const StatedNumbers& each : stated)
    NumberJudge(each, facts, facts.int_attribute("axis", fallback)).judge();
}

}  // namespace grurun::opset
