#include "trial/diagnosis/extent.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace grurun::trial::diagnosis {
namespace {

/// Multiplications that computing all that is looked at may take: some tens of milliseconds.
constexpr double most_cost = 5e7;
/// Steps after the first difference tell causes apart.
constexpr std::int64_t steps_after = 8;
constexpr std::int64_t everything = 1'000'000'000;

std::vector<std::int64_t> in_order(std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

Extent::Extent(const Layer& layer, bool has_Y, const std::vector<RowDifference>& differences)
    : stated_(in_order(layer.batch_size)), exchanged_(in_order(layer.seq_length)) {
  const double steps = most_cost / (step_cost(layer) * static_cast<double>(layer.num_directions));
  // Layouts may turn out to be exchanged: batch and time are then each other's.
  const auto longest = static_cast<double>(std::max(layer.seq_length, layer.batch_size));
  most_rows_ = static_cast<std::int64_t>(
      std::clamp(steps / std::max(longest, 1.0), 1.0, static_cast<double>(everything)));
  most_steps_ =
      has_Y ? static_cast<std::int64_t>(std::clamp(steps, 8.0, static_cast<double>(everything))) : everything;
  if (is_all(layer) || differences.empty()) return;

  const auto row_of = [&](auto found) { return found - differences.begin(); };
  const auto first = std::ranges::min_element(differences, {}, &RowDifference::first_step);
  if (first->none()) return;
  const auto same = std::ranges::find_if(differences, &RowDifference::none);
  if (same != differences.end()) look_at(layer, row_of(same), 0);
  look_at(layer, row_of(std::ranges::max_element(differences, {}, &RowDifference::worst)), 0);
  look_at(layer, row_of(first), first->first_step);
}

std::span<const std::int64_t> Extent::rows(const Layer& layer) const {
  const auto count = static_cast<std::size_t>(layer.batch_size);
  const auto& all = count == stated_.size() ? stated_ : exchanged_;
  return std::span(all).first(std::min(count, static_cast<std::size_t>(most_rows_)));
}

bool Extent::is_all(const Layer& layer) const {
  return most_rows_ >= layer.batch_size && most_steps_ >= layer.seq_length;
}

void Extent::look_at_all() {
  most_rows_ = most_steps_ = everything;
}

void Extent::look_at(const Layer& layer, std::int64_t row, std::int64_t step) {
  look_first(static_cast<std::size_t>(layer.batch_size) == stated_.size() ? stated_ : exchanged_, row);
  if (step >= most_steps_) most_steps_ = step + 1 + steps_after;
}

void Extent::look_first(std::vector<std::int64_t>& rows, std::int64_t row) {
  const auto at = std::ranges::find(rows, row);
  // What was looked at before still is.
  if (at - rows.begin() >= most_rows_) ++most_rows_;
  std::rotate(rows.begin(), at, at + 1);
}

std::string Extent::text(const Layer& layer) const {
  const auto seen = static_cast<std::int64_t>(rows(layer).size());
  std::string out;
  if (seen < layer.batch_size) out = fmt::format("{} of {} rows", seen, layer.batch_size);
  if (const std::int64_t some = steps(layer.seq_length); some < layer.seq_length) {
    out += fmt::format("{}the first {} of {} steps", out.empty() ? "" : " and ", some, layer.seq_length);
  }
  return out;
}

}  // namespace grurun::trial::diagnosis
