// NonMaxSuppression (ai.onnx 10, 11, which says in more places what 10 says too).
//
// boxes [num_batches, spatial_dimension, 4], scores [num_batches, num_classes, spatial_dimension] ->
// selected_indices [num_selected, 3] of (batch, class, box): for each batch and class, boxes by falling score
// (the first of equals first), without those whose score is below score_threshold and those whose
// intersection over union with a box selected before is above iou_threshold, at most
// max_output_boxes_per_class. Left out, that is 0 and nothing is selected. A NaN score is below any other.
// Boxes are two opposite corners (y1, x1, y2, x2), or with center_point_box (x, y, width, height).
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "engine/graph/op_context.h"
#include "tensor/memory/scratch.h"
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

// Boxes selected so far, coordinate by coordinate: a block of them is compared in vectors, and without
// branches.
class Selection {
 public:
  void clear() {
    count_ = 0;
    for (ScratchVector<float>& part : parts_) part.clear();
  }
  void add(const Box& box) {
    if (count_ % block == 0) {
      // Boxes without area, which overlap nothing.
      for (ScratchVector<float>& part : parts_) part.resize(count_ + block, 0.0f);
    }
    const float values[] = {box.left, box.right, box.top, box.bottom, box.area()};
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i][count_] = values[i];
    ++count_;
  }
  bool any_overlaps(const Box& box, float iou_threshold) const {
    for (std::size_t first = 0; first < count_; first += block) {
      if (block_overlaps(box, first, iou_threshold)) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t block = 16;

  // Intersection over union above the threshold; boxes without area never overlap.
  bool block_overlaps(const Box& box, std::size_t first, float iou_threshold) const {
    const float* const left = parts_[0].data() + first;
    const float* const right = parts_[1].data() + first;
    const float* const top = parts_[2].data() + first;
    const float* const bottom = parts_[3].data() + first;
    const float* const area = parts_[4].data() + first;
    const float own_area = box.area();
    int any = 0;
    for (std::size_t i = 0; i < block; ++i) {
      const float width = std::min(box.right, right[i]) - std::max(box.left, left[i]);
      const float height = std::min(box.bottom, bottom[i]) - std::max(box.top, top[i]);
      const float common = width * height, both = own_area + area[i] - common;
      any |= (width > 0) & (height > 0) & (common > 0) & (own_area > 0) & (area[i] > 0) & (both > 0) &
             (common / both > iou_threshold);
    }
    return any != 0;
  }

  std::array<ScratchVector<float>, 5> parts_;  // left, right, top, bottom, area
  std::size_t count_ = 0;
};

// The scalar input, or nothing where it is omitted.
template <typename T>
std::optional<T> scalar(RunContext& run, std::size_t index) {
  const Tensor* tensor = run.optional_tensor(index);
  if (tensor == nullptr) return std::nullopt;
  if (tensor->size() != 1 || tensor->rank() > 1) refuse();
  return tensor->data<T>()[0];
}

struct Limits {
  std::int64_t boxes_per_class;
  float iou_threshold;
  std::optional<float> score_threshold;
};

Limits read_limits(RunContext& run) {
  Limits limits{};
  limits.boxes_per_class = scalar<std::int64_t>(run, 2).value_or(0);
  limits.iou_threshold = scalar<float>(run, 3).value_or(0.0f);
  if (!(limits.iou_threshold >= 0 && limits.iou_threshold <= 1)) refuse();
  limits.score_threshold = scalar<float>(run, 4);
  return limits;
}

struct Candidate {
  float score;
  std::int64_t box;
};

// The boxes that may be selected, best first. They are put in order as far as is asked for: most are not.
class Candidates {
 public:
  /// first_asked: how many are put in order at first.
  Candidates(const float* scores, std::int64_t count, const std::optional<float>& threshold,
             std::int64_t first_asked)
      : chunk_(std::clamp<std::int64_t>(first_asked, 64, std::max<std::int64_t>(64, count))) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (!threshold || scores[i] >= *threshold) all_.push_back({scores[i], i});
    }
  }
  std::size_t size() const { return all_.size(); }
  /// Asked for one after the other.
  std::int64_t operator[](std::size_t i) {
    if (i == sorted_) sort_more();
    return all_[i].box;
  }

 private:
  void sort_more() {
    const auto better = [](const Candidate& a, const Candidate& b) {
      if (a.score > b.score || (std::isnan(b.score) && !std::isnan(a.score))) return true;
      return a.box < b.box && !(a.score < b.score) && std::isnan(a.score) == std::isnan(b.score);
    };
    const auto from = all_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    const auto end = all_.end() - from > chunk_ ? from + chunk_ : all_.end();
    if (end != all_.end()) std::nth_element(from, end, all_.end(), better);
    std::sort(from, end, better);
    sorted_ += static_cast<std::size_t>(end - from);
    chunk_ *= 2;
  }

  ScratchVector<Candidate> all_;
  std::size_t sorted_ = 0;
  std::int64_t chunk_;
};

void suppress(RunContext& run, const std::vector<Box>& boxes, Candidates candidates, const Limits& limits,
              Selection& selection, std::vector<std::int64_t>& selected) {
  constexpr std::size_t comparisons_per_check = 1 << 20;
  std::size_t comparisons = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (static_cast<std::int64_t>(selected.size()) >= limits.boxes_per_class) return;
    const std::int64_t number = candidates[i];
    const Box& box = boxes[static_cast<std::size_t>(number)];
    const bool suppressed = selection.any_overlaps(box, limits.iou_threshold);
    comparisons += selected.size();
    if (comparisons > comparisons_per_check) {
      run.check_limits();
      comparisons = 0;
    }
    if (suppressed) continue;
    selection.add(box);
    selected.push_back(number);
  }
}

void check_shapes(const Shape& boxes, const Shape& scores) {
  if (boxes.rank() != 3 || boxes[2] != 4) refuse();
  if (scores.rank() != 3 || scores[0] != boxes[0] || scores[2] != boxes[1]) refuse();
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
    Selection selection;
    const std::int64_t first_asked = 2 * std::min(limits.boxes_per_class, count);
    for (std::int64_t n = 0; limits.boxes_per_class > 0 && n < batches; ++n) {
      for (std::int64_t i = 0; i < count; ++i)
        of_batch[static_cast<std::size_t>(i)] = read_box(boxes.data<float>() + (n * count + i) * 4, center);
      for (std::int64_t c = 0; c < classes; ++c) {
        run.check_limits();
        selected.clear();
        selection.clear();
        const float* of_class = scores.data<float>() + (n * classes + c) * count;
        suppress(run, of_batch, Candidates(of_class, count, limits.score_threshold, first_asked), limits,
                 selection, selected);
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
