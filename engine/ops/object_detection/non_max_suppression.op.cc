// NonMaxSuppression (ai.onnx 10, 11, which says in more places what 10 says too).
//
// boxes [num_batches, spatial_dimension, 4], scores [num_batches, num_classes, spatial_dimension] ->
// selected_indices [num_selected, 3] of (batch, class, box): for each batch and class, boxes by falling score
// (the first of equals first), without those whose score is below score_threshold and those whose
// intersection over union with a box selected before is above iou_threshold, at most
// max_output_boxes_per_class. Left out, that is 0 and nothing is selected. A NaN score is below any other.
// Boxes are two opposite corners (y1, x1, y2, x2), or with center_point_box (x, y, width, height).
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "engine/graph/op_context.h"
#include "tensor/tensor.h"

namespace grurun::engine {

namespace {

struct Box {
  float left, right, top, bottom;

  float area() const { return (right - left) * (bottom - top); }
};

Box read_box(const float* b, bool center_point_box) {
  if (center_point_box) {
    const float half_width = b[2] / 2, half_height = b[3] / 2;
    return {b[0] - half_width, b[0] + half_width, b[1] - half_height, b[1] + half_height};
  }
  return {std::min(b[1], b[3]), std::max(b[1], b[3]), std::min(b[0], b[2]), std::max(b[0], b[2])};
}

// Intersection over union above the threshold; boxes without area never overlap.
bool overlaps(const Box& a, const Box& b, float iou_threshold) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0 && height > 0)) return false;
  const float common = width * height;
  const float both = a.area() + b.area() - common;
  if (!(common > 0 && a.area() > 0 && b.area() > 0 && both > 0)) return false;
  return common / both > iou_threshold;
}

// The scalar input, or nothing where it is omitted or empty.
template <typename T>
std::optional<T> scalar(RunContext& run, std::size_t index, const char* name) {
  const Tensor* tensor = run.optional_tensor(index);
  if (!tensor || tensor->size() == 0) return std::nullopt;
  if (tensor->size() != 1)
    fail_invalid("{} must be a scalar, but has shape {}", name, tensor->shape().to_string());
  return tensor->data<T>()[0];
}

struct Limits {
  std::int64_t boxes_per_class;
  float iou_threshold;
  std::optional<float> score_threshold;
};

Limits read_limits(RunContext& run) {
  Limits limits{};
  limits.boxes_per_class = scalar<std::int64_t>(run, 2, "max_output_boxes_per_class").value_or(0);
  limits.iou_threshold = scalar<float>(run, 3, "iou_threshold").value_or(0.0f);
  if (!(limits.iou_threshold >= 0 && limits.iou_threshold <= 1))
    fail_invalid("iou_threshold is {}, but must be from 0 to 1", limits.iou_threshold);
  limits.score_threshold = scalar<float>(run, 4, "score_threshold");
  return limits;
}

// Indices of the boxes that may be selected, best first.
std::vector<std::int64_t> candidates(const float* scores, std::int64_t count,
                                     const std::optional<float>& threshold) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!threshold || scores[i] >= *threshold) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return scores[a] > scores[b] || (std::isnan(scores[b]) && !std::isnan(scores[a]));
  });
  return order;
}

void suppress(RunContext& run, const std::vector<Box>& boxes, const std::vector<std::int64_t>& order,
              const Limits& limits, std::vector<std::int64_t>& selected) {
  constexpr std::size_t comparisons_per_check = 1 << 20;
  std::size_t comparisons = 0;
  for (const std::int64_t box : order) {
    if (static_cast<std::int64_t>(selected.size()) >= limits.boxes_per_class) return;
    const bool suppressed = std::ranges::any_of(selected, [&](std::int64_t other) {
      return overlaps(boxes[static_cast<std::size_t>(box)], boxes[static_cast<std::size_t>(other)],
                      limits.iou_threshold);
    });
    comparisons += selected.size();
    if (comparisons > comparisons_per_check) {
      run.check_limits();
      comparisons = 0;
    }
    if (!suppressed) selected.push_back(box);
  }
}

void check_shapes(const Shape& boxes, const Shape& scores) {
  if (boxes.rank() != 3 || boxes[2] != 4)
    fail_invalid("boxes must be [num_batches,spatial_dimension,4], but has shape {}", boxes.to_string());
  if (scores.rank() != 3 || scores[0] != boxes[0] || scores[2] != boxes[1]) {
    fail_invalid("scores must be [{},num_classes,{}] to fit boxes, but has shape {}", boxes[0], boxes[1],
                 scores.to_string());
  }
}

RunFunction prepare_non_max_suppression(PrepareContext& node) {
  const bool center = node.flag_attribute("center_point_box", false);
  return [center](RunContext& run) {
    const Tensor& boxes = run.tensor(0);
    const Tensor& scores = run.tensor(1);
    check_shapes(boxes.shape(), scores.shape());
    const Limits limits = read_limits(run);
    const std::int64_t batches = boxes.dim(0), classes = scores.dim(1), count = boxes.dim(1);
    std::vector<std::int64_t> indices, selected;
    std::vector<Box> of_batch(static_cast<std::size_t>(count));
    for (std::int64_t n = 0; limits.boxes_per_class > 0 && n < batches; ++n) {
      for (std::int64_t i = 0; i < count; ++i)
        of_batch[static_cast<std::size_t>(i)] = read_box(boxes.data<float>() + (n * count + i) * 4, center);
      for (std::int64_t c = 0; c < classes; ++c) {
        run.check_limits();
        selected.clear();
        const float* of_class = scores.data<float>() + (n * classes + c) * count;
        suppress(run, of_batch, candidates(of_class, count, limits.score_threshold), limits, selected);
        for (const std::int64_t box : selected) indices.insert(indices.end(), {n, c, box});
      }
    }
    run.set_output(0, Tensor::from(Shape{static_cast<std::int64_t>(indices.size() / 3), 3}, indices));
  };
}

}  // namespace

std::vector<OpRow> op_rows_non_max_suppression() {
  return {{"", "NonMaxSuppression", {10, 11}, prepare_non_max_suppression}};
}

}  // namespace grurun::engine
