#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

// Unit squares along a line, at these begins: squares half an element apart have an IOU of 1/3.
Tensor squares(const std::vector<double>& begins) {
  std::vector<double> corners;
  for (const double x : begins) corners.insert(corners.end(), {0, x, 1, x + 1});
  return make<float>({1, static_cast<std::int64_t>(begins.size()), 4}, corners);
}

Tensor scores(const std::vector<double>& values) {
  return make<float>({1, 1, static_cast<std::int64_t>(values.size())}, values);
}

Tensor count(double value) {
  return vec<std::int64_t>({value});
}
Tensor threshold(double value) {
  return vec<float>({value});
}

// The boxes selected of batch 0, class 0.
Tensor selected(const std::vector<double>& boxes) {
  std::vector<double> rows;
  for (const double box : boxes) rows.insert(rows.end(), {0, 0, box});
  return make<std::int64_t>({static_cast<std::int64_t>(boxes.size()), 3}, rows);
}

OpRowCase row(std::string name, std::vector<Value> inputs, const std::vector<double>& boxes) {
  return {std::move(name), "NonMaxSuppression", 11, std::move(inputs), {}, {selected(boxes)}};
}

TEST(NonMaxSuppression, Selection) {
  const Tensor three = squares({0, 0.5, 3}), rising = scores({0.1, 0.2, 0.3});
  const Tensor third = threshold(1.0 / 3);
  check_rows({
      row("best first, overlap removed", {three, rising, count(9), threshold(0.3)}, {2, 1}),
      row("an IOU of the threshold is kept", {three, rising, count(9), third}, {2, 1, 0}),
      row("the threshold is 0 by default: any overlap", {squares({0, 0.999, 1}), rising, count(9)}, {2, 0}),
      row("a suppressed box suppresses none", {squares({0, 0.5, 1}), scores({3, 2, 1}), count(9)}, {0, 2}),
      row("a number of boxes", {three, rising, count(1), third}, {2}),
      row("none by default", {three, rising}, {}),
      row("none for a negative number", {three, rising, count(-1)}, {}),
      row("scores below the threshold are removed, equal ones kept",
          {three, rising, count(9), third, threshold(0.2)}, {2, 1}),
      row("of equal scores the first", {squares({0, 2, 0}), scores({1, 1, 1}), count(9)}, {0, 1}),
      row("NaN comes last", {squares({0, 2, 4}), scores({std::nan(""), 1, 2}), count(9)}, {2, 1, 0}),
      row("and below any threshold",
          {squares({0, 2, 4}), scores({std::nan(""), 1, 2}), count(9), third, threshold(-100)}, {2, 1}),
      row("boxes without area never overlap",
          {make<float>({1, 2, 4}, {0, 0, 0, 1, 0, 0, 0, 1}), scores({1, 2}), count(9)}, {1, 0}),
      row("corners in any order",
          {make<float>({1, 2, 4}, {1, 1, 0, 0, 0, 1, 1, 0}), scores({1, 2}), count(9)}, {1}),
      row("no box", {squares({}), scores({}), count(9)}, {}),
  });
}

// Three of every four squares overlap the fourth by half: so many that they are put in order and compared in
// several parts.
TEST(NonMaxSuppression, ManyBoxes) {
  std::vector<double> begins, falling, rising, first_of_four, last_of_four;
  for (int i = 0; i < 1000; ++i) {
    begins.push_back(i / 4 * 3 + 0.1 * (i % 4));
    falling.push_back(i < 300 ? 2000 - i : std::nan(""));
    rising.push_back(i);
    if (i % 4 == 0) first_of_four.push_back(i);
    if (i % 4 == 0) last_of_four.insert(last_of_four.begin(), i + 3);
  }
  const Tensor boxes = squares(begins), half = threshold(0.5);
  std::vector<double> seventy(first_of_four.begin(), first_of_four.begin() + 70);
  check_rows({
      row("all", {boxes, scores(falling), count(1000), half}, first_of_four),
      row("some of them", {boxes, scores(falling), count(70), half}, seventy),
      row("from the end", {boxes, scores(rising), count(1000), half}, last_of_four),
  });
}

TEST(NonMaxSuppression, BatchesClassesAndFormat) {
  check_rows({
      {"batch, class, box",
       "NonMaxSuppression",
       10,
       {make<float>({2, 1, 4}, {0, 0, 1, 1, 0, 0, 1, 1}), make<float>({2, 2, 1}, {1, 1, 0, 1}), count(1),
        threshold(0.5), threshold(0.5)},
       {},
       {make<std::int64_t>({3, 3}, {0, 0, 0, 0, 1, 0, 1, 1, 0})}},
      {"center, width, height: apart along x, not along y",
       "NonMaxSuppression",
       11,
       {make<float>({1, 3, 4}, {0, 0, 2, 1, 2, 0, 2, 1, 0, 0.5, 2, 1}), scores({3, 2, 1}), count(9)},
       {attr("center_point_box", 1)},
       {selected({0, 1})}},
      {"scalars without a dimension",
       "NonMaxSuppression",
       11,
       {squares({0}), scores({1}), make<std::int64_t>({}, {1}), make<float>({}, {0.5}), make<float>({}, {0})},
       {},
       {selected({0})}},
  });
}

TEST(NonMaxSuppression, Errors) {
  const ErrorKind invalid = ErrorKind::invalid_model;
  check_errors({
      {"boxes",
       "NonMaxSuppression",
       11,
       {make<float>({1, 4}, {0, 0, 1, 1}), scores({1})},
       {},
       invalid,
       "takes [num_batches,spatial,4]"},
      {"scores",
       "NonMaxSuppression",
       11,
       {squares({0}), scores({1, 2})},
       {},
       invalid,
       "here [1,num_classes,1]"},
      {"threshold above 1",
       "NonMaxSuppression",
       11,
       {squares({0}), scores({1}), count(1), threshold(1.5)},
       {},
       invalid,
       "input iou_threshold holds 1.5, but must lie in [0, 1]"},
      {"no scalar",
       "NonMaxSuppression",
       11,
       {squares({0}), scores({1}), vec<std::int64_t>({1, 2})},
       {},
       invalid,
       "max_output_boxes_per_class is [2]; NonMaxSuppression-11 takes a scalar"},
      {"format",
       "NonMaxSuppression",
       10,
       {squares({0}), scores({1})},
       {attr("center_point_box", 2)},
       invalid,
       "center_point_box"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
