#include "trial/weight_relation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <vector>

#include "tensor/dispatch.h"
#include "trial/as_type.h"

namespace grurun::trial {

namespace {

/// Of scaled and quantized weights: what rounding_error alone may make.
constexpr double rounding_error = 1e-5;

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (a.dtype() == DType::string) return std::ranges::equal(a.span<std::string>(), b.span<std::string>());
  return a.byte_size() == 0 || std::memcmp(a.raw(), b.raw(), a.byte_size()) == 0;
}

bool is_number(DType dtype) {
  return Numbers::set.contains(dtype);
}

Shape permuted(const Shape& shape, const std::vector<std::size_t>& order) {
  Shape out;
  for (const std::size_t axis : order) out.push_back(shape[axis]);
  return out;
}

std::vector<double> in_axis_order(const std::vector<double>& from, const Shape& shape,
                                  const std::vector<std::size_t>& order) {
  const Shape to = permuted(shape, order);
  std::vector<std::int64_t> strides(shape.rank(), 1);
  for (std::size_t axis = shape.rank(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  std::vector<double> out(from.size());
  std::vector<std::int64_t> index(to.rank());
  for (double& each : out) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < to.rank(); ++axis) place += index[axis] * strides[order[axis]];
    each = from[static_cast<std::size_t>(place)];
    for (std::size_t axis = to.rank(); axis-- > 0 && ++index[axis] == to[axis];) index[axis] = 0;
  }
  return out;
}

/// An order of the axes of a that makes b.
std::optional<std::vector<std::size_t>> find_transposition(const std::vector<double>& a, const Shape& from,
                                                           const std::vector<double>& b, const Shape& to) {
  constexpr std::size_t most_axes = 5;
  if (from.rank() != to.rank() || from.rank() < 2 || from.rank() > most_axes) return std::nullopt;
  std::vector<std::size_t> order(from.rank());
  std::iota(order.begin(), order.end(), std::size_t{0});
  while (std::ranges::next_permutation(order).found)
    if (permuted(from, order) == to && in_axis_order(a, from, order) == b) return order;
  return std::nullopt;
}

/// Which row of a stands at each row of b, where b has the rows of a in another order.
std::optional<std::vector<std::size_t>> find_row_order(const std::vector<double>& a,
                                                       const std::vector<double>& b, std::size_t rows) {
  if (rows < 2) return std::nullopt;
  const std::size_t width = a.size() / rows;
  const auto row = [&](const std::vector<double>& all, std::size_t i) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * width);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(width));
  };
  std::multimap<std::vector<double>, std::size_t> places;
  for (std::size_t i = 0; i < rows; ++i) places.emplace(row(a, i), i);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto found = places.find(row(b, i));
    if (found == places.end()) return std::nullopt;
    order.push_back(found->second);
    places.erase(found);
  }
  return order;
}

/// "blocks of 4 rows in the order 1, 0, 2": the largest blocks that keep together.
std::string order_text(const std::vector<std::size_t>& order) {
  for (std::size_t blocks = 2; blocks <= order.size(); ++blocks) {
    if (order.size() % blocks != 0) continue;
    const std::size_t size = order.size() / blocks;
    std::vector<std::size_t> of_blocks;
    bool fits = true;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i % size == 0) of_blocks.push_back(order[i] / size);
      fits = fits && order[i] == of_blocks.back() * size + i % size;
    }
    constexpr std::size_t most_told = 16;
    if (!fits) continue;
    if (blocks > most_told) return "rows in another order";
    return size == 1 ? fmt::format("rows in the order {}", fmt::join(of_blocks, ", "))
                     : fmt::format("blocks of {} rows in the order {}", size, fmt::join(of_blocks, ", "));
  }
  return "rows in another order";
}

std::optional<double> find_factor(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0, factor = 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::fabs(a[i]) > largest)) continue;
    largest = std::fabs(a[i]);
    factor = b[i] / a[i];
  }
  if (largest == 0 || !std::isfinite(factor) || factor == 0) return std::nullopt;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::fabs(b[i] - factor * a[i]) <= rounding_error * std::fabs(factor) * largest))
      return std::nullopt;
  return factor;
}

std::string difference_text(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, aa = 0, bb = 0, ab = 0;
  std::size_t unequal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == b[i])) ++unequal;
    most = std::max(most, std::fabs(a[i] - b[i]));
    aa += a[i] * a[i];
    bb += b[i] * b[i];
    ab += a[i] * b[i];
  }
  const double cosine = aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
  return fmt::format("{} of {} elements differ, by at most {:.3g}, cosine {:.6f}", unequal, a.size(), most,
                     cosine);
}

WeightRelation quantized_relation(const Tensor& a, const Tensor& b, const Quantization& by) {
  const std::vector<double> wide = numbers_of(a), made = dequantized(b, by), scales = numbers_of(by.scale);
  const auto [low, high] = std::ranges::minmax(scales);
  double most = 0;
  for (std::size_t i = 0; i < wide.size(); ++i) most = std::max(most, std::fabs(wide[i] - made[i]));
  const std::string scale = scales.size() == 1
                                ? fmt::format("scale {:g}", low)
                                : fmt::format("{} scales from {:g} to {:g}", scales.size(), low, high);
  std::string text =
      fmt::format("quantized to {}, {}: off by at most {:.3g}", dtype_name(b.dtype()), scale, most);
  if (most > high * (0.5 + rounding_error)) text += ", more than half a step";
  return {false, false, text};
}

}  // namespace

WeightRelation weight_relation(const Tensor& a, const Tensor& b,
                               const std::optional<Quantization>& quantization) {
  if (same_bits(a, b)) return {true, true, "equal"};
  if (!is_number(a.dtype()) || !is_number(b.dtype()))
    return {false, false, fmt::format("{} against {}", Value(a).describe(), Value(b).describe())};
  if (quantization && a.shape() == b.shape() && is_number(quantization->scale.dtype()) &&
      quantization->scale.size() > 0)
    return quantized_relation(a, b, *quantization);
  const std::string from = dtype_name(a.dtype()), to = dtype_name(b.dtype());
  const std::string cast = from == to ? "" : fmt::format(", cast from {} to {}", from, to);
  const Value rounded = as_dtype(Value(a), b.dtype());
  const std::vector<double> wide = numbers_of(rounded.tensor()), other = numbers_of(b);
  const auto same = [&](const std::string& text) { return WeightRelation{false, true, text + cast}; };
  if (a.size() == b.size()) {
    if (wide == other && a.shape() == b.shape())
      return {false, true, fmt::format("cast from {} to {}", from, to)};
    if (const auto order = find_transposition(wide, a.shape(), other, b.shape()))
      return same(fmt::format("transposed, perm {}", fmt::join(*order, ", ")));
    if (wide == other)
      return same(fmt::format("reshaped from {} to {}", a.shape().to_string(), b.shape().to_string()));
    if (a.shape() == b.shape()) {
      for (std::size_t axis = 0, rows = 1; axis < std::min<std::size_t>(a.rank(), 2); ++axis) {
        rows *= static_cast<std::size_t>(a.dim(axis));
        if (const auto order = find_row_order(wide, other, rows)) return same(order_text(*order));
      }
      if (const auto factor = find_factor(wide, other))
        return {false, false, fmt::format("scaled by {:g}", *factor) + cast};
      return {false, false, difference_text(wide, other) + cast};
    }
  }
  return {false, false, fmt::format("{} against {}", Value(a).describe(), Value(b).describe())};
}

}  // namespace grurun::trial
