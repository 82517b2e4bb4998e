#include "trial/node_sizes.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include "opset/pages/attribute_lists.h"
#include "opset/pages/input_shapes.h"
#include "opset/pages/page.h"
#include "opset/recurrent/recurrent_form.h"

namespace grurun::trial {

namespace {

/// Of names on a page, in the order in which they come: unlike each other, so that none stands for another.
constexpr std::int64_t name_sizes[] = {2, 4, 6, 8, 3, 5};
/// Of "+", which stand for an image and for its kernel.
constexpr std::int64_t plus_sizes[] = {6, 3};

class PageSizes {
 public:
  PageSizes(const onnx_io::Node& node, const InputShapes& fixed) : node_(node), fixed_(fixed) {}

  /// nullopt: a word cannot be read, or a shape that is given does not fit.
  std::optional<InputShapes> read(std::string_view stated) {
    const std::vector<std::string_view> words = opset::split_words(stated, " ");
    InputShapes out(fixed_.size());
    for (std::size_t i = 0; i < words.size() && i < out.size(); ++i)
      if (fixed_[i] && words[i].starts_with('[')) bind(words[i], *fixed_[i]);
    for (std::size_t i = 0; i < words.size() && i < out.size(); ++i) {
      if (words[i] == "-" || words[i] == "none") continue;
      const std::optional<Shape> shape = shape_of(words[i]);
      if (!shape) return std::nullopt;
      out[i] = *shape;
    }
    return out;
  }

 private:
  static std::vector<std::string_view> dims_of(std::string_view word) {
    return opset::split_words(word.substr(1, word.find(']') - 1), ",");
  }

  /// Names that a given shape tells, before the first of several axes.
  void bind(std::string_view word, const Shape& shape) {
    const std::vector<std::string_view> dims = dims_of(word);
    for (std::size_t i = 0; i < dims.size() && i < shape.rank(); ++i) {
      if (dims[i] == "+") plus_ = shape.rank() - i;
      if (dims[i] == "+" || dims[i] == "*" || dims[i] == "...") return;
      sizes_.emplace(dims[i], shape[i]);
    }
  }

  std::optional<std::int64_t> size_of(std::string_view name) {
    std::int64_t number = 0;
    const auto end = std::from_chars(name.data(), name.data() + name.size(), number);
    if (end.ec == std::errc() && end.ptr == name.data() + name.size()) return number;
    if (const std::size_t slash = name.find('/'); slash != name.npos) {
      const auto above = size_of(name.substr(0, slash));
      const std::int64_t below = std::max<std::int64_t>(opset::int_of(node_, name.substr(slash + 1)), 1);
      return above && *above % below == 0 ? std::optional(*above / below) : std::nullopt;
    }
    if (name.find('*') != name.npos) return std::nullopt;
    const auto [found, added] = sizes_.emplace(name, 0);
    if (added) found->second = name_sizes[std::min(sizes_.size() - 1, std::size(name_sizes) - 1)];
    return found->second;
  }

  std::optional<Shape> shape_of(std::string_view word) {
    if (word == "list") return Shape{2};
    if (word == "one") return Shape{};
    Shape shape;
    for (const std::string_view dim : dims_of(word)) {
      if (dim == "+") {
        for (std::size_t i = 0; i < plus_; ++i)
          shape.push_back(plus_sizes[std::min(pluses_, std::size_t{1})]);
        ++pluses_;
      } else if (dim == "*" || dim == "...") {
        shape.push_back(dim == "*" ? 6 : 3);
      } else {
        const std::optional<std::int64_t> size = size_of(dim);
        if (!size) return std::nullopt;
        shape.push_back(*size);
      }
    }
    return shape;
  }

  const onnx_io::Node& node_;
  const InputShapes& fixed_;
  std::map<std::string_view, std::int64_t> sizes_;
  std::size_t plus_ = 2, pluses_ = 0;
};

struct RecurrentNumbers {
  std::int64_t num_directions = 1, seq_length = 3, batch_size = 2, input_size = 5, hidden_size = 4;
};

InputShapes recurrent_shapes(const opset::RecurrentForm& form, const onnx_io::Node& node,
                             const InputShapes& fixed) {
  RecurrentNumbers sizes;
  const bool batch_first = opset::int_of(node, "layout") == 1;
  if (opset::string_of(node, "direction") == "bidirectional") sizes.num_directions = 2;
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    const auto dims = opset::recurrent_input_dims(form, i, batch_first);
    for (std::size_t k = 0; fixed[i] && k < dims.size() && k < fixed[i]->rank(); ++k)
      opset::size_of(sizes, dims[k].size) = (*fixed[i])[k] / dims[k].factor;
  }
  if (opset::int_of(node, "hidden_size") > 0) sizes.hidden_size = opset::int_of(node, "hidden_size");
  InputShapes out;
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    Shape shape;
    for (const opset::RecurrentDim& dim : opset::recurrent_input_dims(form, i, batch_first))
      shape.push_back(opset::size_of(sizes, dim.size) * dim.factor);
    out.emplace_back(shape);
  }
  return out;
}

/// Of inputs of which a page says nothing: all alike, and further ones of fewer axes.
std::vector<InputShapes> unstated(std::size_t inputs) {
  std::vector<InputShapes> out;
  const Shape bases[] = {{2, 3, 4}, {3, 4}, {4}, {2, 3, 4, 5}, {}};
  for (const Shape& base : bases) {
    std::vector<Shape> rests{base, {}, {1}};
    if (base.rank() > 0) rests.push_back({base[base.rank() - 1]});
    if (base.rank() > 1) rests.push_back({base[1]});
    for (const Shape& rest : rests) {
      InputShapes shapes(inputs, rest);
      if (inputs > 0) shapes[0] = base;
      out.push_back(std::move(shapes));
      if (inputs < 2) break;
    }
  }
  return out;
}

void fill_missing(InputShapes& shapes, const InputShapes& from) {
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (!shapes[i]) shapes[i] = from[i];
}

}  // namespace

std::vector<InputShapes> likely_shapes(const onnx_io::Node& node, int since_version,
                                       const InputShapes& fixed) {
  std::vector<InputShapes> out;
  const auto add = [&](InputShapes shapes) {
    InputShapes with_fixed = fixed;
    fill_missing(with_fixed, shapes);
    out.push_back(std::move(with_fixed));
  };
  if (const opset::RecurrentForm* form = opset::find_layer_form(node.op_type, node.domain))
    add(recurrent_shapes(*form, node, fixed));
  const opset::Page* const page = opset::find_page(node.domain, node.op_type);
  int now = 0;
  const auto stated = page == nullptr ? std::vector<opset::StatedShapes>() : opset::stated_shapes(*page);
  for (const opset::StatedShapes& entry : stated)
    if (entry.since <= since_version) now = std::max(now, entry.since);
  const std::vector<InputShapes> rest = unstated(fixed.size());
  for (const opset::StatedShapes& entry : stated) {
    if (entry.since != now) continue;
    for (const std::string_view alternative : opset::split_words(entry.shapes, " | ")) {
      const auto read = PageSizes(node, fixed).read(alternative);
      for (const InputShapes& each : rest) {
        if (!read) break;
        InputShapes shapes = *read;
        fill_missing(shapes, each);
        add(std::move(shapes));
      }
    }
  }
  for (const InputShapes& each : rest) add(each);
  return out;
}

}  // namespace grurun::trial
