#include "engine/kernels/vec/vec_pool.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecPool : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecPool);

float folded(Fold fold, float so_far, float next) {
  if (fold == Fold::sum) return so_far + next;
  return so_far >= next || std::isnan(so_far) ? so_far : next;
}

float start(Fold fold) {
  return fold == Fold::sum ? 0 : -std::numeric_limits<float>::infinity();
}

/// Normal numbers, with an infinity or a NaN among those of some lengths.
std::vector<float> elements(int64_t count) {
  static std::mt19937 draw(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& v : x) v = normal(draw);
  if (count > 20 && count % 3 == 0) x[20] = -std::numeric_limits<float>::infinity();
  if (count > 9 && count % 3 == 1) x[9] = std::nanf("");
  if (count > 11 && count % 3 == 2) x[10] = 0.0f, x[11] = -0.0f;
  return x;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_P(VecPool, EveryBitIsThatOfTheDefinition) {
  for (const Fold fold : {Fold::sum, Fold::max}) {
    for (const int64_t taps : {0, 1, 2, 3, 5}) {
      for (const int64_t step : {1, 3, 50}) {
        for (const int64_t n : {0, 1, 2, 7, 16, 33, 70}) {
          const auto x = elements(taps == 0 ? 0 : n + (taps - 1) * step);
          std::vector<float> y(static_cast<std::size_t>(n)), expected(y.size(), start(fold));
          for (int64_t i = 0; i < n; ++i) {
            float& value = expected[static_cast<std::size_t>(i)];
            for (int64_t j = 0; j < taps; ++j)
              value = folded(fold, value, x[static_cast<std::size_t>(i + j * step)]);
          }
          vec_fold(fold, x.data(), step, taps, y.data(), n);
          ASSERT_TRUE(same_bits(y, expected)) << "taps " << taps << " step " << step << " n " << n;
        }
      }
    }
  }
}

/// Rows that end where memory that may be read does.
void check_rows(Fold fold, int64_t rows, const RowWindows& w) {
  const auto x = elements(rows * w.width);
  std::vector<float> y(static_cast<std::size_t>(rows * w.n)), expected(y.size(), start(fold));
  for (int64_t i = 0; i < rows * w.n; ++i) {
    for (int64_t j = 0; j < w.taps; ++j) {
      const int64_t at = i % w.n * w.stride - w.pad + j * w.dilation;
      float& value = expected[static_cast<std::size_t>(i)];
      if (at >= 0 && at < w.width)
        value = folded(fold, value, x[static_cast<std::size_t>(i / w.n * w.width + at)]);
    }
  }
  vec_fold_rows(fold, x.data(), rows, w, y.data());
  ASSERT_TRUE(same_bits(y, expected))
      << "rows " << rows << " width " << w.width << " pad " << w.pad << " taps " << w.taps << " dilation "
      << w.dilation << " stride " << w.stride;
}

TEST_P(VecPool, RowsLeaveOutWhatIsOutside) {
  for (const Fold fold : {Fold::sum, Fold::max}) {
    for (const int64_t stride : {1, 2}) {
      for (const int64_t taps : {1, 2, 3, 4, 5}) {
        for (const int64_t dilation : {1, 3}) {
          for (const int64_t pad : {0, 1, 4, 20}) {
            for (const int64_t width : {1, 7, 16, 33, 34, 67, 112}) {
              const int64_t n = (width + 2 * pad - (taps - 1) * dilation - 1) / stride + 1;
              for (const int64_t rows : {0, 1, 3}) {
                if (n > 0) check_rows(fold, rows, {width, pad, taps, dilation, stride, n});
              }
            }
          }
        }
      }
    }
  }
}

TEST_P(VecPool, DoublesAreFoldedAlike) {
  const auto take = [](Fold fold, double so_far, double next) {
    if (fold == Fold::sum) return so_far + next;
    return so_far >= next || std::isnan(so_far) ? so_far : next;
  };
  const auto same = [](double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; };
  for (const Fold fold : {Fold::sum, Fold::max}) {
    const double first = start(fold);
    for (const int64_t taps : {1, 2, 3, 5}) {
      for (const int64_t width : {9, 31, 66}) {
        const std::vector<float> narrow = elements(2 * width);
        std::vector<double> x(narrow.begin(), narrow.end());
        for (double& v : x) v *= 1 + 0x1p-40;
        for (const int64_t stride : {1, 2}) {
          const RowWindows w{width, 1, taps, 1, stride, (width + 1 - taps) / stride + 1};
          std::vector<double> y(static_cast<std::size_t>(2 * w.n));
          vec_fold_rows(fold, x.data(), 2, w, y.data());
          for (int64_t i = 0; i < 2 * w.n; ++i) {
            double expected = first;
            for (int64_t j = 0; j < taps; ++j) {
              const int64_t at = i % w.n * stride - 1 + j;
              if (at >= 0 && at < width)
                expected = take(fold, expected, x[static_cast<std::size_t>(i / w.n * width + at)]);
            }
            ASSERT_TRUE(same(y[static_cast<std::size_t>(i)], expected)) << taps << " " << width << " " << i;
          }
        }
        std::vector<double> y(static_cast<std::size_t>(width));
        vec_fold(fold, x.data(), width / taps, taps, y.data(), width);
        for (int64_t i = 0; i < width; ++i) {
          double expected = first;
          for (int64_t j = 0; j < taps; ++j)
            expected = take(fold, expected, x[static_cast<std::size_t>(i + j * (width / taps))]);
          ASSERT_TRUE(same(y[static_cast<std::size_t>(i)], expected)) << taps << " " << width << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace grurun::kernels
