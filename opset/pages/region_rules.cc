#include <fmt/format.h>

#include <cmath>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

float spatial_scale(const NodeFacts& facts) {
  const onnx_io::Attribute* scale = facts.attribute("spatial_scale");
  return scale == nullptr ? 1.0F : scale->f;
}

// As the element type computes it.
double scaled(const NodeFacts& facts, double coordinate) {
  const float scale = spatial_scale(facts);
  if (facts.dtype(0) == DType::float64) return coordinate * static_cast<double>(scale);
  return static_cast<double>(static_cast<float>(coordinate) * scale);
}

}  // namespace

std::optional<std::string> height_and_width(const onnx_io::Node& node, int) {
  const onnx_io::Attribute* shape = node.find_attribute("pooled_shape");
  if (shape == nullptr || !shape->ref_attr_name.empty() || shape->ints.size() == 2) return std::nullopt;
  return fmt::format("pooled_shape has {} entries, but must be a height and a width", shape->ints.size());
}

void check_regions(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  const auto rois = numbers_in(facts, 1);
  const Size count = size_of(facts.shape(1), 0);
  if (count.value_or(0) > 0 && (size_of(X, 2) == 0 || size_of(X, 3) == 0))
    fail_invalid("X is {}: it has no element to sample", to_string(*X));
  for (const double coordinate : rois ? *rois : std::vector<double>())
    if (!std::isfinite(scaled(facts, coordinate)))
      fail_invalid("rois holds {}, which is no coordinate", coordinate);
}

// [batch, x1, y1, x2, y2]
void check_pooled_regions(const NodeFacts& facts) {
  const auto rois = numbers_in(facts, 1);
  const Size batches = size_of(facts.shape(0), 0);
  if (!rois || !batches) return;
  for (std::size_t i = 0; i < rois->size(); ++i) {
    const double number = (*rois)[i];
    if (i % 5 != 0 && !(std::abs(scaled(facts, number)) <= 0x1p39))
      fail_invalid("rois holds {}, which is no coordinate", number);
    const bool is_batch =
        number >= 0 && number < static_cast<double>(*batches) && number == std::floor(number);
    if (i % 5 == 0 && !is_batch)
      fail_invalid("rois names batch {}, but X has batches 0 to {}", number, *batches - 1);
  }
}

}  // namespace grurun::opset
