#include "opset/pages/page.h"

#include <tuple>

#include "onnx_io/openvino/openvino_ir.h"
#include "opset/pages/families.h"

namespace grurun::opset {

namespace {

struct Family {
  std::string_view domain;
  std::span<const Page> (*pages)();
};

constexpr Family families[] = {
    {"", controlflow_pages},
    {"", generator_pages},
    {"", image_pages},
    {"", logical_pages},
    {"", math_pages},
    {"", nn_pages},
    {"", quantization_pages},
    {"", reduction_pages},
    {"", rnn_pages},
    {"", sequence_pages},
    {"", tensor_pages},
    {"", text_pages},
    {"ai.onnx.ml", traditionalml_pages},
    {"ai.onnx.preview", preview_pages},
    {"ai.onnx.preview.training", training_pages},
    {"com.microsoft", microsoft_pages},
    {onnx_io::openvino_domain, openvino_pages},
};

auto key_of(const PageOfDomain& entry) {
  return std::tuple(entry.domain, entry.page->op_type);
}

// Families are sorted: merged one by one, they cost a process little.
std::vector<PageOfDomain> merged_families() {
  std::vector<PageOfDomain> all;
  for (const Family& family : families) {
    const auto before = static_cast<std::ptrdiff_t>(all.size());
    for (const Page& page : family.pages()) all.push_back({family.domain, &page});
    std::ranges::inplace_merge(all, all.begin() + before, {}, key_of);
  }
  return all;
}

}  // namespace

std::span<const PageOfDomain> all_pages() {
  static const std::vector<PageOfDomain> all = merged_families();
  return all;
}

const Page* find_page(std::string_view domain, std::string_view op_type) {
  const std::tuple wanted{domain, op_type};
  const auto all = all_pages();
  const auto found = std::ranges::lower_bound(all, wanted, {}, key_of);
  return found == all.end() || key_of(*found) != wanted ? nullptr : found->page;
}

namespace {

template <typename Field>
Field field_of(const onnx_io::Node& node, Field Page::*field) {
  const Page* page = find_page(node.domain, node.op_type);
  return page == nullptr ? Field{} : page->*field;
}

}  // namespace

Folded folded_of(const onnx_io::Node& node) {
  return field_of(node, &Page::folded);
}

Elements elements_of(const onnx_io::Node& node) {
  return field_of(node, &Page::elements);
}

Draws draws_of(const onnx_io::Node& node) {
  return field_of(node, &Page::draws);
}

Flops flops_of(const onnx_io::Node& node) {
  return field_of(node, &Page::flops);
}

std::vector<std::string_view> split_words(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + separator.size());
  }
  return parts;
}

}  // namespace grurun::opset
