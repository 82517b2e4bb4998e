// A bias that the model lacks, halves of it that were added up, and peepholes.
#include <fmt/format.h>

#include <algorithm>

#include "trial/diagnosis/attempt.h"

namespace grurun::trial::diagnosis {
namespace {

constexpr int few_starts = 3;
constexpr int many_starts = 40;  // a large layer has no time for all of them

std::vector<double> zeros(std::int64_t count) {
  return std::vector<double>(static_cast<std::size_t>(count), 0.0);
}

/// Part of an array, from an offset, replaced.
void overwrite(Array& array, std::int64_t offset, std::vector<double>::const_iterator from,
               std::int64_t count) {
  std::vector<double> values = *array;
  std::copy_n(from, count, values.begin() + offset);
  array = make_array(std::move(values));
}

/// One direction's bias, or the half of it that the model lacks, put into a candidate.
class LostBias {
 public:
  LostBias(const Attempt& attempt, std::int64_t direction)
      : attempt_(attempt), layer_(attempt.start.layer), d_(direction) {}

  bool is_whole() const { return has_Wb_ && has_Rb_; }
  const char* id() const { return has_Wb_ ? "Rb-missing" : has_Rb_ ? "Wb-missing" : "B-missing"; }
  const char* what() const { return has_Wb_ ? "an Rb" : has_Rb_ ? "a Wb" : "a bias"; }

  /// The numbers that were fitted; nullopt where none make it agree.
  std::optional<std::vector<double>> put_into(Candidate& c) const {
    const std::int64_t H = layer_.hidden_size, rows = layer_.rows();
    // Only under linear_before_reset do the halves of h's bias tell themselves apart.
    const bool two_halves = layer_.op == Op::gru && layer_.linear_before_reset && !has_Wb_ && !has_Rb_;
    const std::int64_t count = rows + (two_halves ? H : 0);
    const FitOptions options{many_starts, attempt_.units_are_apart()};
    if (!options.by_unit && count > most_parameters) return std::nullopt;
    const bool into_Rb = has_Wb_ || two_halves;
    std::vector<double> bias = zeros(count);
    const auto put = [&](Layer& l, const std::vector<double>& at) {
      overwrite(into_Rb ? l.Rb : l.Wb, d_ * rows, at.begin(), rows);
      if (two_halves) overwrite(l.Wb, d_ * rows + 2 * H, at.begin() + rows, H);
    };
    return fit(attempt_, c, d_, bias, options, put) ? std::optional(bias) : std::nullopt;
  }

 private:
  bool has(const Array& half) const {
    if (!half) return false;
    const auto begin = half->begin() + d_ * layer_.rows();
    return std::any_of(begin, begin + layer_.rows(), [](double value) { return value != 0; });
  }

  const Attempt& attempt_;
  const Layer& layer_;
  const std::int64_t d_;
  const bool has_Wb_ = has(layer_.Wb), has_Rb_ = has(layer_.Rb);
};

}  // namespace

std::optional<Inference> infer_bias(const Attempt& attempt) {
  const Layer& layer = attempt.start.layer;
  const std::int64_t D = layer.num_directions;
  Candidate c = attempt.start;
  for (Array* half : {&c.layer.Wb, &c.layer.Rb}) {
    if (!*half) *half = make_array(zeros(D * layer.rows()));
  }
  std::vector<double> all;
  std::string of_direction;
  std::optional<LostBias> lost;
  for (std::int64_t d = 0; d < D; ++d) {
    const LostBias of_d(attempt, d);
    if (of_d.is_whole()) continue;
    const auto bias = of_d.put_into(c);
    if (!bias) return std::nullopt;
    all.insert(all.end(), bias->begin(), bias->end());
    const bool reversed = layer.reversed[static_cast<std::size_t>(d)];
    of_direction = D == 1 || lost ? ""
                   : reversed     ? " in the backward direction"
                                  : " in the forward direction";
    if (!lost) lost.emplace(of_d);
  }
  if (!lost || !attempt.fits(c)) return std::nullopt;
  return Inference{lost->id(),
                   fmt::format("{} that the model lacks{}, found by fitting: [{}]", lost->what(),
                               of_direction, numbers_text(all)),
                   std::move(c), static_cast<std::int64_t>(all.size())};
}

// Under linear_before_reset Rbh is multiplied by r, so that the sum of the halves is not enough.
std::optional<Inference> infer_summed_bias(const Attempt& attempt) {
  const Layer& layer = attempt.start.layer;
  const std::int64_t H = layer.hidden_size, rows = layer.rows(), D = layer.num_directions;
  const bool has_bias = !is_zero(layer.Wb) || !is_zero(layer.Rb);
  if (layer.op != Op::gru || !layer.linear_before_reset || !has_bias) return std::nullopt;
  const FitOptions options{few_starts, attempt.units_are_apart()};
  if (!options.by_unit && H > most_parameters) return std::nullopt;

  std::vector<double> sum(layer.Wb->size());
  std::ranges::transform(*layer.Wb, *layer.Rb, sum.begin(), std::plus<>());
  Candidate c = attempt.start;
  std::vector<double> all;
  for (std::int64_t d = 0; d < D; ++d) {
    const std::int64_t at_h = d * rows + 2 * H;
    std::vector<double> Rbh = zeros(H);
    const auto put = [&](Layer& l, const std::vector<double>& at) {
      overwrite(l.Rb, at_h, at.begin(), H);
      std::vector<double> Wbh(at.size());
      std::transform(at.begin(), at.end(), sum.begin() + at_h, Wbh.begin(),
                     [](double Rb, double S) { return S - Rb; });
      overwrite(l.Wb, at_h, Wbh.begin(), H);
    };
    if (!fit(attempt, c, d, Rbh, options, put)) return std::nullopt;
    all.insert(all.end(), Rbh.begin(), Rbh.end());
  }
  if (!attempt.fits(c)) return std::nullopt;
  return Inference{
      "bias-summed",
      fmt::format("Wbh and Rbh apart: B holds their sum, Rbh found by fitting is [{}]", numbers_text(all)),
      std::move(c), D * H};
}

std::optional<Inference> infer_peepholes(const Attempt& attempt) {
  const Layer& layer = attempt.start.layer;
  const std::int64_t count = 3 * layer.hidden_size, D = layer.num_directions;
  const FitOptions options{few_starts, attempt.units_are_apart()};
  if (layer.op != Op::lstm || layer.P || (!options.by_unit && count > most_parameters)) return std::nullopt;
  Candidate c = attempt.start;
  c.layer.P = make_array(zeros(D * count));
  for (std::int64_t d = 0; d < D; ++d) {
    std::vector<double> P = zeros(count);
    const auto put = [&](Layer& l, const std::vector<double>& at) {
      overwrite(l.P, d * count, at.begin(), count);
    };
    if (!fit(attempt, c, d, P, options, put)) return std::nullopt;
  }
  if (!attempt.fits(c)) return std::nullopt;
  const std::string text =
      fmt::format("peepholes that the model lacks, found by fitting: [{}]", numbers_text(*c.layer.P));
  return Inference{"P-missing", text, std::move(c), D * count};
}

}  // namespace grurun::trial::diagnosis
