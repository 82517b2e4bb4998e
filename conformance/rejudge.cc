#include "conformance/rejudge.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "conformance/run_case.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"

namespace grurun::conformance {

namespace {

using trial::AccuracyRule;
using trial::Comparison;
using trial::ElementPair;

/// An element from the text that a comparison prints of it.
template <typename T>
T parse_element(const std::string& text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return text;
  } else if constexpr (std::is_same_v<T, bool>) {
    return text == "true";
  } else if constexpr (std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>) {
    char* end = nullptr;
    const double real = std::strtod(text.c_str(), &end);
    const double imaginary = std::strtod(end, nullptr);
    return T(static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::strtod(text.c_str(), nullptr);
  } else if constexpr (std::is_same_v<T, float>) {
    return std::strtof(text.c_str(), nullptr);
  } else if constexpr (std::is_same_v<T, Float8E8M0>) {
    const float value = std::strtof(text.c_str(), nullptr);
    return Float8E8M0::from_bits(!std::isfinite(value) ? std::uint8_t{0xff}
                                                       : static_cast<std::uint8_t>(std::ilogb(value) + 127));
  } else if constexpr (std::is_integral_v<T>) {
    T value{};
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  } else if constexpr (requires { T::bit_count; }) {
    return T(static_cast<int>(std::strtol(text.c_str(), nullptr, 10)));
  } else {
    return T(std::strtof(text.c_str(), nullptr));
  }
}

Tensor elements_of(DType type, const std::vector<ElementPair>& pairs, std::string ElementPair::*side) {
  Tensor out(type, Shape{static_cast<std::int64_t>(pairs.size())});
  dispatch(AllTypes{}, type, [&]<typename T>() {
    T* elements = out.mutable_data<T>();
    for (std::size_t i = 0; i < pairs.size(); ++i) elements[i] = parse_element<T>(pairs[i].*side);
  });
  return out;
}

/// Where an element of the list of kept ones stood.
void put_back(const Comparison& kept, std::optional<ElementPair>& pair) {
  if (!pair) return;
  pair = kept.differing.at(static_cast<std::size_t>(pair->index.at(0)));
}

class Again {
 public:
  Again(const Comparison& old, trial::Tolerance tolerance, const AccuracyRule* rule)
      : old_(old), tolerance_(tolerance), rule_(rule), next_(old) {
    if (rule_ != nullptr) tolerance_ = tolerance_under(*rule_, tolerance_);
    next_.tolerance = tolerance_;
    next_.rule.reset();
    if (rule_ != nullptr) next_.rule = *rule_;
    next_.first.reset();
    next_.worst.reset();
    next_.errors.differing = next_.errors.non_finite = 0;
  }

  Comparison judged() {
    const bool is_complete = static_cast<std::int64_t>(old_.differing.size()) == old_.unequal;
    const bool needs_elements =
        rule_ != nullptr && rule_->judges_elements() && (rule_->max_ulp || rule_->differing);
    if (needs_elements && !is_complete && !is_within_ulp())
      fail_usage(
          "{} of {} elements that are not equal were kept; {} needs them all: run with --values differing=N",
          old_.differing.size(), old_.unequal, rule_->place);
    if (!old_.differing.empty()) count_kept();
    if (!is_complete && !needs_elements) {
      const bool passes = old_.headroom.least_atol(tolerance_.rtol) <= tolerance_.atol;
      if (passes) next_.errors.differing = 0;
      if (!passes && next_.errors.differing == 0) keep_old_numbers();
    }
    if (!is_complete && needs_elements) next_.errors.differing = 0;
    const double share = rule_ != nullptr && rule_->differing ? *rule_->differing : 0;
    const bool may_differ =
        (rule_ != nullptr && !rule_->judges_elements()) ||
        static_cast<double>(next_.errors.differing) <= share * static_cast<double>(old_.errors.total);
    next_.ok = may_differ && next_.errors.non_finite == 0 && next_.misses().empty();
    return std::move(next_);
  }

 private:
  /// Without a tolerance and a floor, the largest distance says enough.
  bool is_within_ulp() const {
    return rule_->max_ulp && !rule_->has_tolerance() && !old_.headroom.is_hopeless() && old_.errors.max_ulp &&
           *old_.errors.max_ulp <= *rule_->max_ulp;
  }

  void count_kept() {
    AccuracyRule each;  // what a rule asks of single elements
    trial::Tolerances tolerances{{tolerance_.rtol, tolerance_.atol}, {}};
    const DType type = element_type(old_.expected_type);
    if (rule_ != nullptr) {
      each = *rule_;
      each.differing.reset();
      each.cosine.reset();
      each.snr.reset();
      each.tolerance = {};
      if (rule_->uses_tolerance()) each.tolerance = {tolerance_.rtol, tolerance_.atol};
      tolerances.rule = [&each](DType) { return &each; };
    }
    const Comparison found =
        compare_values(elements_of(type, old_.differing, &ElementPair::actual),
                       elements_of(type, old_.differing, &ElementPair::expected), tolerances);
    next_.errors.differing = found.errors.differing;
    next_.errors.non_finite = found.errors.non_finite;
    next_.first = found.first;
    next_.worst = found.worst;
    put_back(old_, next_.first);
    put_back(old_, next_.worst);
  }

  /// What is beyond the tolerance is not among those kept.
  void keep_old_numbers() {
    next_.errors.differing = std::max<std::int64_t>(old_.errors.differing, 1);
    next_.errors.non_finite = old_.errors.non_finite;
    next_.first = old_.first;
    next_.worst = old_.worst;
  }

  const Comparison& old_;
  trial::Tolerance tolerance_;
  const AccuracyRule* rule_;
  Comparison next_;
};

void rejudge_output(const Case& test, const CaseResult& result, const Rejudging& rejudging,
                    OutputResult& output) {
  const Comparison& old = output.comparison;
  if (output.random || !old.structure.empty()) return;
  // What a rule had said is not what the output has without it.
  trial::Tolerance tolerance = old.rule ? trial::default_tolerance : old.tolerance;
  tolerance.rtol = rejudging.tolerance.rtol.value_or(tolerance.rtol);
  tolerance.atol = rejudging.tolerance.atol.value_or(tolerance.atol);
  const AccuracyRule* rule =
      rejudging.policy == nullptr
          ? nullptr
          : rejudging.policy->find(test, result.operators, output.name, element_type(old.expected_type));
  output.comparison = Again(old, tolerance, rule).judged();
}

}  // namespace

DType element_type(const std::string& described) {
  const std::size_t close = described.find(')');
  const std::size_t open = described.rfind('(', close);
  if (close == described.npos || open == described.npos) return DType::undefined;
  return parse_dtype(described.substr(open + 1, close - open - 1));
}

void rejudge(SuiteResult& result, const Rejudging& rejudging) {
  std::set<std::string> used;
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    CaseOutcome& outcome = result.outcomes[i];
    if (!outcome.ran) continue;
    CaseResult& ended = outcome.result;
    const bool is_judged =
        !ended.outputs.empty() &&
        (is_good(ended.verdict) || ended.verdict == Verdict::differs || ended.verdict == Verdict::random);
    for (OutputResult& output : ended.outputs)
      if (is_judged)
        with_context([&] { return fmt::format("{}, output '{}'", result.cases[i].full_name(), output.name); },
                     [&] { rejudge_output(result.cases[i], ended, rejudging, output); });
    add_used_rules(ended, used);
    if (!is_judged) continue;
    const bool differs =
        std::ranges::any_of(ended.outputs, [](const OutputResult& output) { return !output.comparison.ok; });
    if (ended.verdict == Verdict::known_wrong && differs) continue;  // its expected values are wrong, still
    const bool allows_random = ended.verdict == Verdict::passed_not_comparable;
    ended.verdict = Verdict::passed;
    ended.message.clear();
    for (const OutputResult& output : ended.outputs) judge_output(output, ended);
    judge_random(allows_random, ended);
    if (!differs) ended.findings.clear();
  }
  for (CaseOutcome& outcome : result.outcomes)
    outcome.unexpected = outcome.ran && is_unexpected(outcome.result, outcome.expectation);
  if (rejudging.policy != nullptr) result.unused_rules = unused_rules(*rejudging.policy, used);
}

}  // namespace grurun::conformance
