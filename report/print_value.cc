#include "report/print_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tensor/element_text.h"

namespace grurun::report {
namespace {

// Elements that a summary may show; beyond it fewer edge items are shown.
constexpr std::int64_t shown_limit = 250;

class TensorPrinter {
 public:
  TensorPrinter(const Tensor& tensor, const PrintOptions& options, std::size_t indent)
      : tensor_(tensor), options_(options), indent_(indent) {}

  std::string print() {
    if (tensor_.size() == 0) return padding() + "[]\n";
    choose_edges();
    collect(0, 0);
    for (const std::string& text : texts_) width_ = std::max(width_, text.size());
    out_ = padding();
    emit(0, 0);
    return out_ + "\n";
  }

 private:
  std::string padding(std::size_t more = 0) const { return std::string(indent_ + more, ' '); }

  std::size_t rank() const { return tensor_.rank(); }

  // Axes longer than twice edges_ are cut; 0: none is.
  void choose_edges() {
    edges_ = 0;
    if (tensor_.size() <= options_.threshold) return;
    for (edges_ = options_.edge_items; edges_ > 1; --edges_) {
      double shown = 1;
      for (const std::int64_t dim : tensor_.shape()) shown *= static_cast<double>(std::min(dim, 2 * edges_));
      if (shown <= static_cast<double>(shown_limit)) return;
    }
  }

  bool is_cut(std::size_t axis) const { return edges_ > 0 && tensor_.dim(axis) > 2 * edges_; }

  // Calls item(i) for the indices of an axis that are shown, and gap() where some are left out.
  template <typename Item, typename Gap>
  void each_shown(std::size_t axis, Item item, Gap gap) const {
    const std::int64_t size = tensor_.dim(axis);
    for (std::int64_t i = 0; i < size; ++i) {
      if (is_cut(axis) && i == edges_) {
        gap();
        i = size - edges_;
      }
      item(i);
    }
  }

  void collect(std::size_t axis, std::int64_t offset) {
    if (axis == rank()) {
      texts_.push_back(element_text(tensor_, offset, options_.digits));
      return;
    }
    each_shown(
        axis, [&](std::int64_t i) { collect(axis + 1, offset * tensor_.dim(axis) + i); }, [] {});
  }

  // Texts are taken in the order in which collect() made them.
  void emit(std::size_t axis, std::size_t depth) {
    if (axis == rank()) {
      out_ += fmt::format("{:>{}}", texts_[next_++], width_);
      return;
    }
    if (axis + 1 == rank()) return emit_row(axis, depth);
    out_ += '[';
    bool first = true;
    // A blank line more between blocks of each further axis, as numpy does.
    const std::string separator = std::string(rank() - axis - 1, '\n') + padding(depth + 1);
    const auto separate = [&] {
      if (!first) out_ += separator;
      first = false;
    };
    each_shown(
        axis,
        [&](std::int64_t) {
          separate();
          emit(axis + 1, depth + 1);
        },
        [&] {
          separate();
          out_ += "...";
        });
    out_ += ']';
  }

  void emit_row(std::size_t axis, std::size_t depth) {
    out_ += '[';
    std::size_t column = indent_ + depth + 1;
    bool first = true;
    const auto put = [&](const std::string& text) {
      if (!first && column + 1 + text.size() > options_.line_width) {
        out_ += '\n' + padding(depth + 1);
        column = indent_ + depth + 1;
      } else if (!first) {
        out_ += ' ';
        ++column;
      }
      out_ += text;
      column += text.size();
      first = false;
    };
    each_shown(
        axis, [&](std::int64_t) { put(fmt::format("{:>{}}", texts_[next_++], width_)); },
        [&] { put("..."); });
    out_ += ']';
  }

  const Tensor& tensor_;
  const PrintOptions& options_;
  std::size_t indent_;
  std::int64_t edges_ = 0;
  std::vector<std::string> texts_;
  std::size_t next_ = 0;
  std::size_t width_ = 0;
  std::string out_;
};

// Ranks beyond this would bury the few numbers that a summary shows in brackets.
constexpr std::size_t nested_ranks = 8;

std::string print_tensor(const Tensor& tensor, const PrintOptions& options, std::size_t indent) {
  if (tensor.rank() <= nested_ranks) return TensorPrinter(tensor, options, indent).print();
  const Tensor flat = tensor.reshaped({tensor.size()});
  return TensorPrinter(flat, options, indent).print();
}

// "label: value" on one line for what fits on one, else the value below its type.
std::string print_labelled(const std::string& label, const Value& value, const PrintOptions& options,
                           std::size_t indent) {
  const std::string padding(indent, ' ');
  if (value.is_tensor() && value.tensor().rank() == 0) {
    return padding + label + " " + print_value(value, options, 0);
  }
  return padding + label + " " + value.describe() + "\n" + print_value(value, options, indent + 2);
}

std::string print_sequence(const Sequence& sequence, const PrintOptions& options, std::size_t indent) {
  std::string out;
  const std::size_t count = sequence.items.size();
  for (std::size_t i = 0; i < count && i < options.max_items; ++i) {
    out += print_labelled(fmt::format("[{}]", i), sequence.items[i], options, indent);
  }
  if (count == 0) out += std::string(indent, ' ') + "[]\n";
  if (count > options.max_items)
    out += fmt::format("{:{}}... {} more\n", "", indent, count - options.max_items);
  return out;
}

std::string print_map(const Map& map, const PrintOptions& options, std::size_t indent) {
  std::string out;
  const std::size_t count = map.values.size();
  for (std::size_t i = 0; i < count && i < options.max_items; ++i) {
    const std::string key = element_text(map.keys, static_cast<std::int64_t>(i), 0);
    out += print_labelled(key + ":", map.values[i], options, indent);
  }
  if (count == 0) out += std::string(indent, ' ') + "{}\n";
  if (count > options.max_items)
    out += fmt::format("{:{}}... {} more\n", "", indent, count - options.max_items);
  return out;
}

}  // namespace

PrintOptions PrintOptions::full() {
  PrintOptions options;
  options.threshold = std::numeric_limits<std::int64_t>::max();
  options.digits = 0;
  options.max_items = std::numeric_limits<std::size_t>::max();
  return options;
}

std::string print_value(const Value& value, const PrintOptions& options, std::size_t indent) {
  if (value.is_tensor()) return print_tensor(value.tensor(), options, indent);
  if (value.is_sequence()) return print_sequence(value.sequence(), options, indent);
  if (value.is_map()) return print_map(value.map(), options, indent);
  const bool full = value.is_optional() && value.optional().item && !value.optional().item->empty();
  if (full) return print_value(*value.optional().item, options, indent);
  return std::string(indent, ' ') + "nothing\n";
}

}  // namespace grurun::report
