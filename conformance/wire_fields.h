// How values become bytes between processes of one run, and come back.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/case.h"
#include "tensor/error.h"

namespace grurun::conformance {

template <typename Io, typename T>
void fields(Io& io, T& value);

template <typename T>
inline constexpr bool has_optional = false;
template <typename T>
inline constexpr bool has_optional<std::optional<T>> = true;
template <>
inline constexpr bool has_optional<trial::ElementErrors> = true;
template <>
inline constexpr bool has_optional<trial::ToleranceChoice> = true;

/// Of values that cross as they lie in memory. An optional does not: it has bytes that nothing set, and a
/// flag that must be 0 or 1.
template <typename T>
concept CrossesAsItIs = std::is_trivially_copyable_v<T> && !has_optional<T>;

/// Appends values as bytes.
class WireWriter {
 public:
  template <CrossesAsItIs T>
  void operator()(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes_ += text;
  }
  template <typename T>
  void operator()(const std::vector<T>& items) {
    (*this)(items.size());
    for (const T& item : items) fields(*this, item);
  }
  template <typename T>
  void operator()(const std::optional<T>& item) {
    (*this)(item.has_value());
    if (item) fields(*this, *item);
  }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Takes them back. Throws Error(internal) for bytes that no writer made.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  template <CrossesAsItIs T>
  void operator()(T& value) {
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
  }
  void operator()(Verdict& verdict) {
    std::uint8_t number = 0;
    (*this)(number);
    if (number >= verdict_count) fail_internal("a worker's answer has a verdict of number {}", number);
    verdict = static_cast<Verdict>(number);
  }
  void operator()(opset::Severity& severity) {
    int number = 0;
    (*this)(number);
    if (number < 0 || number > static_cast<int>(opset::Severity::note))
      fail_internal("a worker's answer has a severity of number {}", number);
    severity = static_cast<opset::Severity>(number);
  }
  void operator()(bool& value) {
    std::uint8_t number = 0;
    (*this)(number);
    value = number != 0;
  }
  void operator()(std::string& text) {
    std::size_t size = 0;
    (*this)(size);
    text = take(size);
  }
  template <typename T>
  void operator()(std::vector<T>& items) {
    std::size_t size = 0;
    (*this)(size);
    items.clear();
    for (std::size_t i = 0; i < size; ++i) fields(*this, items.emplace_back());
  }
  template <typename T>
  void operator()(std::optional<T>& item) {
    bool present = false;
    (*this)(present);
    if (present) fields(*this, item.emplace());
  }

  void finish() const {
    if (!bytes_.empty()) fail_internal("a worker's answer is {} bytes too long", bytes_.size());
  }

 private:
  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) fail_internal("a worker's answer is too short");
    const std::string_view out = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return out;
  }

  std::string_view bytes_;
};

inline void headroom_fields(WireWriter& io, const trial::Headroom& value) {
  io(value.points()), io(value.is_hopeless());
}

inline void headroom_fields(WireReader& io, trial::Headroom& value) {
  std::vector<trial::ElementError> points;
  bool is_hopeless = false;
  io(points), io(is_hopeless);
  value = trial::Headroom::of(std::move(points), is_hopeless);
}

// One list of fields serves both directions.
template <typename Io, typename T>
void fields(Io& io, T& value) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, CaseResult>) {
    io(value.verdict), io(value.message), io(value.seconds), io(value.operators), io(value.opsets);
    io(value.outputs), io(value.findings), io(value.warnings), io(value.left_out);
  } else if constexpr (std::is_same_v<Plain, OpsetImport>) {
    io(value.domain), io(value.version);
  } else if constexpr (std::is_same_v<Plain, OutputResult>) {
    io(value.data_set), io(value.name), io(value.random), io(value.cause), fields(io, value.comparison);
  } else if constexpr (std::is_same_v<Plain, trial::Comparison>) {
    io(value.ok), io(value.actual_type), io(value.expected_type), io(value.structure), io(value.tolerance);
    fields(io, value.errors), io(value.first), io(value.worst), io(value.rule), fields(io, value.headroom);
    io(value.ulps), io(value.energies), io(value.unequal), io(value.differing);
  } else if constexpr (std::is_same_v<Plain, trial::ElementErrors>) {
    io(value.total), io(value.differing), io(value.non_finite), io(value.max_abs), io(value.max_rel);
    io(value.max_ulp);
  } else if constexpr (std::is_same_v<Plain, trial::ToleranceChoice>) {
    io(value.rtol), io(value.atol);
  } else if constexpr (std::is_same_v<Plain, trial::AccuracyRule>) {
    fields(io, value.tolerance), io(value.max_ulp), io(value.ulp_floor), io(value.differing),
        io(value.cosine);
    io(value.snr), io(value.place), io(value.reason);
  } else if constexpr (std::is_same_v<Plain, trial::Headroom>) {
    headroom_fields(io, value);
  } else if constexpr (std::is_same_v<Plain, trial::Explanation>) {
    io(value.kind), io(value.data_set), io(value.node), io(value.hypotheses), io(value.max_ulp),
        io(value.text);
  } else if constexpr (std::is_same_v<Plain, Warning>) {
    io(value.data_set), fields(io, value.finding);
  } else if constexpr (std::is_same_v<Plain, opset::Finding>) {
    io(value.code), io(value.severity), io(value.node), io(value.op), io(value.message), io(value.section);
  } else if constexpr (std::is_same_v<Plain, trial::ElementPair>) {
    io(value.where), io(value.index), io(value.actual), io(value.expected);
  } else {
    io(value);
  }
}

}  // namespace grurun::conformance
