// Pad against its definition, element by element.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

constexpr double filler = -1;

// Where on an axis of this length `place` finds its element; -1 where that is the filler.
std::int64_t found_at(std::int64_t place, std::int64_t length, const std::string& mode) {
  if (place >= 0 && place < length) return place;
  if (mode == "constant") return -1;
  if (mode == "edge") return place < 0 ? 0 : length - 1;
  if (mode == "reflect" && length == 1) return 0;
  // Step by step: back from the border it ran over, or in at the other one.
  const std::int64_t beyond = place < 0 ? place + length : place - length;
  if (mode == "wrap") return found_at(beyond, length, mode);
  return found_at(place < 0 ? -place : 2 * (length - 1) - place, length, mode);
}

// output[i] = data[i - begin] where that is an element, what mode says elsewhere; pads as Pad lists them.
Tensor by_definition(const Tensor& data, const std::vector<double>& pads, const std::string& mode) {
  const std::size_t rank = data.rank();
  Shape shape = data.shape();
  for (std::size_t d = 0; d < rank; ++d) shape[d] += static_cast<std::int64_t>(pads[d] + pads[d + rank]);
  std::vector<double> values;
  for (std::int64_t n = 0; n < shape.element_count(); ++n) {
    std::int64_t left = n, at = 0, stride = 1;
    bool inside = true;
    for (std::size_t d = rank; d-- > 0; left /= shape[d], stride *= data.dim(d)) {
      const std::int64_t place =
          found_at(left % shape[d] - static_cast<std::int64_t>(pads[d]), data.dim(d), mode);
      inside = inside && place >= 0;
      at += place * stride;
    }
    values.push_back(inside ? static_cast<double>(data.data<float>()[at]) : filler);
  }
  return make<float>(shape, values);
}

OpRowCase padded(const Shape& shape, const std::vector<double>& pads, const char* mode = "constant") {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  std::iota(values.begin(), values.end(), 1.0);
  const Tensor data = make<float>(shape, values);
  std::string name = mode + (" " + shape.to_string()) + " by";
  for (const double pad : pads) name += " " + std::to_string(static_cast<int>(pad));
  return {name,
          "Pad",
          19,
          {data, vec<std::int64_t>(pads), make<float>({}, {filler})},
          {attr("mode", mode)},
          {by_definition(data, pads, mode)}};
}

TEST(Pad, AddsAndRemovesOnEveryAxis) {
  std::vector<OpRowCase> rows = {
      padded({3}, {0, 0}),
      padded({3}, {-2, 4}),
      padded({2}, {3, -4}),                       // nothing of the input is left
      padded({2, 3}, {0, 1, 0, 2}),               // the last axis alone
      padded({2, 3}, {1, 0, 2, 0}),               // whole rows
      padded({2, 0, 3}, {0, 2, 0, 0, 0, 1}),      // an input without elements
      padded({2, 3}, {-1, 0, -1, 0}),             // an output without elements
      padded({40, 60, 50}, {1, 0, -1, 2, 1, 3}),  // shared out among threads
      padded({3, 4, 5, 2}, {0, -1, 2, 0, 1, 0, 1, 0}),
      padded({2}, {3, -4}, "edge"),
      padded({40, 60, 50}, {1, 0, -1, 2, 1, 3}, "reflect"),
  };
  std::mt19937 random(7);
  std::uniform_int_distribution<int> length(1, 4), pad(-2, 3), axes(1, 4);
  for (int i = 0; i < 100; ++i) {
    Shape shape;
    for (int rank = axes(random); rank > 0; --rank) shape.push_back(length(random));
    std::vector<double> pads(2 * shape.rank());
    for (double& count : pads) count = pad(random);
    bool fits = true;
    for (std::size_t d = 0; d < shape.rank(); ++d)
      fits = fits && static_cast<double>(shape[d]) + pads[d] + pads[d + shape.rank()] >= 0;
    for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
      if (fits) rows.push_back(padded(shape, pads, mode));
    }
  }
  check_rows(rows);
}

TEST(Pad, Strings) {
  check_rows({{"words",
               "Pad",
               13,
               {words({"a", "b"}), vec<std::int64_t>({1, 2}), words({"-"})},
               {},
               {words({"-", "a", "b", "-", "-"})}}});
}

}  // namespace
}  // namespace grurun::engine::testing
