#include "trial/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_map>

#include "tensor/dispatch.h"
#include "trial/compare_elements.h"

namespace grurun::trial {

namespace {

/// Walks two values side by side; at each pair of tensors of one type and shape calls on_tensors.
class Walk {
 public:
  using OnTensors = std::function<void(const Tensor&, const Tensor&, const std::string& where)>;

  Walk(Comparison& result, OnTensors on_tensors) : result_(result), on_tensors_(std::move(on_tensors)) {}

  void values(const Value& actual, const Value& expected, const std::string& where) {
    if (actual.is_tensor() && expected.is_tensor()) return tensors(actual.tensor(), expected.tensor(), where);
    if (actual.is_sequence() && expected.is_sequence())
      return sequences(actual.sequence(), expected.sequence(), where);
    if (actual.is_optional() && expected.is_optional())
      return optionals(actual.optional(), expected.optional(), where);
    if (actual.is_map() && expected.is_map()) return maps(actual.map(), expected.map(), where);
    if (!(actual.empty() && expected.empty())) mismatch(where, actual.describe(), expected.describe());
  }

 private:
  void tensors(const Tensor& actual, const Tensor& expected, const std::string& where) {
    if (actual.dtype() != expected.dtype())
      return mismatch(where, fmt::format("element type {}", dtype_name(actual.dtype())),
                      dtype_name(expected.dtype()));
    if (!(actual.shape() == expected.shape()))
      return mismatch(where, fmt::format("shape {}", actual.shape().to_string()),
                      expected.shape().to_string());
    on_tensors_(actual, expected, where);
  }

  void sequences(const Sequence& actual, const Sequence& expected, const std::string& where) {
    if (actual.items.size() != expected.items.size())
      return mismatch(where, fmt::format("a sequence of {} items", actual.items.size()),
                      fmt::format("{}", expected.items.size()));
    // The type of what an empty sequence could hold is part of it; files do not always say.
    if (actual.items.empty()) element_types(actual.element, expected.element, where);
    for (std::size_t i = 0; i < actual.items.size(); ++i)
      values(actual.items[i], expected.items[i], fmt::format("{}[{}]", where, i));
  }

  void optionals(const Optional& actual, const Optional& expected, const std::string& where) {
    const auto has = [](const Optional& optional) { return optional.item && !optional.item->empty(); };
    if (has(actual) != has(expected))
      return mismatch(where, has(actual) ? "an optional with a value" : "an empty optional",
                      has(expected) ? "one with a value" : "an empty one");
    if (has(actual)) return values(*actual.item, *expected.item, where + ".value");
    element_types(actual.element, expected.element, where);
  }

  void maps(const Map& actual, const Map& expected, const std::string& where) {
    if (actual.keys.dtype() != expected.keys.dtype())
      return mismatch(where, fmt::format("key type {}", dtype_name(actual.keys.dtype())),
                      dtype_name(expected.keys.dtype()));
    if (actual.values.size() != expected.values.size())
      return mismatch(where, fmt::format("a map of {} entries", actual.values.size()),
                      fmt::format("{}", expected.values.size()));
    std::unordered_map<std::string, std::size_t> positions;
    for (std::size_t i = 0; i < actual.values.size(); ++i) positions.emplace(key_text(actual.keys, i), i);
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      const std::string key = key_text(expected.keys, i);
      const auto found = positions.find(key);
      if (found == positions.end())
        mismatch(where, fmt::format("no entry for key {}", key), "one");
      else
        values(actual.values[found->second], expected.values[i], fmt::format("{}[{}]", where, key));
    }
  }

  static std::string key_text(const Tensor& keys, std::size_t at) {
    if (keys.dtype() == DType::string) return fmt::format("\"{}\"", keys.data<std::string>()[at]);
    return dispatch(Integers{}, keys.dtype(),
                    [&]<typename Key>() { return fmt::format("{}", keys.data<Key>()[at]); });
  }

  void element_types(const ValueType& actual, const ValueType& expected, const std::string& where) {
    const bool known = actual.kind != ValueType::Kind::unknown && expected.kind != ValueType::Kind::unknown;
    if (known && actual.to_string() != expected.to_string())
      mismatch(where, "items of type " + actual.to_string(), expected.to_string());
  }

  void mismatch(const std::string& where, const std::string& actual, const std::string& expected) {
    result_.ok = false;
    if (!result_.structure.empty()) return;  // the first says enough
    result_.structure =
        fmt::format("{}{}{}, expected {}", where, where.empty() ? "" : ": ", actual, expected);
  }

  Comparison& result_;
  OnTensors on_tensors_;
};

Comparison start(const Value& actual, const Value& expected) {
  Comparison result;
  result.actual_type = actual.describe();
  result.expected_type = expected.describe();
  return result;
}

std::string place(const ElementPair& pair) {
  return fmt::format("{}[{}]", pair.where, fmt::join(pair.index, ","));
}

std::string values_of(const ElementPair& pair) {
  return fmt::format("{}: {}, expected {}", place(pair), pair.actual, pair.expected);
}

/// Whether so many elements of a tensor may be beyond what is asked of each.
bool may_differ(const AccuracyRule* rule, std::int64_t differing, std::int64_t total) {
  if (rule == nullptr) return false;
  if (!rule->judges_elements()) return true;
  return rule->differing && static_cast<double>(differing) <= *rule->differing * static_cast<double>(total);
}

std::string criteria_text(const Comparison& comparison) {
  const std::string tolerance =
      fmt::format("rtol {:g}, atol {:g}", comparison.tolerance.rtol, comparison.tolerance.atol);
  if (!comparison.rule) return tolerance;
  const AccuracyRule& rule = *comparison.rule;
  std::string out = rule.uses_tolerance() ? tolerance : "";
  if (rule.max_ulp) out += fmt::format("{}{} ulp", out.empty() ? "" : ", ", *rule.max_ulp);
  if (rule.max_ulp && rule.ulp_floor > 0) out += fmt::format(" (as at {:g} below it)", rule.ulp_floor);
  return fmt::format("{} by {}", out, rule.place);
}

}  // namespace

double Energies::cosine() const {
  if (error == 0) return 1;  // and not what rounding makes of it
  const double lengths = std::sqrt(actual) * std::sqrt(expected);
  return lengths == 0 ? 0 : std::clamp(both / lengths, -1.0, 1.0);
}

double Energies::snr() const {
  if (error == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(expected / error);
}

std::string Comparison::misses() const {
  if (!rule) return {};
  std::string out;
  const auto below = [&](const char* name, double reached, const std::optional<double>& wanted,
                         const char* unit) {
    if (!wanted || reached >= *wanted) return;
    out += fmt::format("{}{} {:.6g}{}, below {:g} of {}", out.empty() ? "" : "; ", name, reached, unit,
                       *wanted, rule->place);
  };
  below("cosine", energies.cosine(), rule->cosine, "");
  below("signal-to-noise ratio", energies.snr(), rule->snr, " dB");
  if (rule->differing &&
      static_cast<double>(errors.differing) > *rule->differing * static_cast<double>(errors.total))
    out += fmt::format("{}more than {:g}% of the elements", out.empty() ? "" : "; ", 100 * *rule->differing);
  return out;
}

Comparison compare_values(const Value& actual, const Value& expected, const Tolerances& tolerances) {
  Comparison result = start(actual, expected);
  double worst_score = 0;
  Walk walk(result, [&](const Tensor& a, const Tensor& b, const std::string& where) {
    const AccuracyRule* rule = tolerances.rule ? tolerances.rule(a.dtype()) : nullptr;
    result.tolerance = tolerances(a.dtype());
    if (rule != nullptr) {
      result.tolerance = tolerance_under(*rule, result.tolerance);
      result.rule = *rule;
    }
    const std::int64_t before = result.errors.differing;
    compare_elements(a, b, {result.tolerance, rule, tolerances.keep_differing}, where, result, worst_score);
    if (result.errors.differing > before && !may_differ(rule, result.errors.differing - before, a.size()))
      result.ok = false;
  });
  walk.values(actual, expected, "");
  if (result.errors.non_finite > 0) result.ok = false;
  if (result.rule && !result.misses().empty()) result.ok = false;
  return result;
}

Comparison compare_types(const Value& actual, const Value& expected) {
  Comparison result = start(actual, expected);
  Walk walk(result, [](const Tensor&, const Tensor&, const std::string&) {});
  walk.values(actual, expected, "");
  return result;
}

std::string describe(const Comparison& comparison) {
  const ElementErrors& errors = comparison.errors;
  if (!comparison.structure.empty()) return comparison.structure;
  std::string measures = fmt::format("max abs {:.4g}, max rel {:.4g}", errors.max_abs, errors.max_rel);
  if (errors.max_ulp) measures += fmt::format(", max ulp {}", *errors.max_ulp);
  const std::string criteria = criteria_text(comparison);
  if (comparison.ok && errors.differing == 0)
    return fmt::format("{} elements equal within {} ({})", errors.total, criteria, measures);
  std::string line =
      fmt::format("{} of {} elements differ beyond {}", errors.differing, errors.total, criteria);
  if (errors.non_finite > 0) line += fmt::format(", {} of them by NaN or infinity", errors.non_finite);
  const double atol = comparison.headroom.least_atol(comparison.tolerance.rtol);
  const double rtol = comparison.headroom.least_rtol(comparison.tolerance.atol);
  const bool is_by_tolerance = std::isfinite(atol) && !(comparison.rule && comparison.rule->max_ulp);
  if (is_by_tolerance) measures += fmt::format("; atol {:.4g}", atol);
  if (is_by_tolerance && std::isfinite(rtol)) measures += fmt::format(" or rtol {:.4g}", rtol);
  if (is_by_tolerance) measures += " would pass";
  line += fmt::format(" ({})", measures);
  if (const std::string misses = comparison.misses(); !misses.empty()) line += ": " + misses;
  if (comparison.ok) return line + ", as it may";
  if (comparison.first) line += "; first at " + values_of(*comparison.first);
  if (comparison.worst && comparison.first && place(*comparison.worst) != place(*comparison.first))
    line += "; worst at " + values_of(*comparison.worst);
  return line;
}

}  // namespace grurun::trial
