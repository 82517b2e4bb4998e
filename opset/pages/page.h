// Pages: what the standard says of an operator, one row for each, in one file for each family. A check, a run
// and the folding of constants read the same row.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opset/pages/node_facts.h"

namespace grurun::opset {

inline constexpr int any_later = 1'000'000;

/// Of the versions since to until. check throws Error(invalid_model) for what is known and does not fit.
struct PageRule {
  void (*check)(const NodeFacts& facts) = nullptr;
  int since = 1;
  int until = any_later;
};

/// How many elements output 0 has at most, where it may be computed when a plan is made: of operators that
/// arrange elements, convert them, or compute each from few. None draws numbers, has a body, or takes long.
enum class Folded {
  never,
  constant,        // a plan has its value without computing it
  first,           // as many as input 0
  second,          // as many as input 1
  all,             // as many as all inputs together
  broadcast,       // the inputs' shapes broadcast
  listed,          // the product of the sizes that input 0 lists
  repeated,        // input 0, as often as the product of what input 1 lists
  each_of_second,  // at most an input 0 for each element of input 1
};

/// What the elements of output 0 are.
enum class Elements {
  computed,
  in_order,   // those of input 0, in their order
  converted,  // the same, of another type
  picked,     // some or all of the data inputs', in another order
};

enum class Draws { never, in_training, always };

/// How floating-point operations are counted: summary/flops.h.
enum class Flops {
  uncounted,
  matmul,
  gemm,
  convolution,
  quantized_convolution,
  transposed_convolution,
  recurrent,
  attention,
  experts
};

struct Page {
  std::string_view op_type;

  /// Of the inputs, from a version on until the next: "@10 - list; @11 - list list". Entries of one version
  /// hold together. A word for each input; alternatives of all of them stand between " | ":
  ///   [N,C,2]  a name is one size throughout, a number that size
  ///   +        in a shape: axes, of which there are as many wherever it stands
  ///   ...      in a shape: axes, with the same sizes wherever it stands
  ///   *        in a shape: any axes
  ///   [M]?     that, or one element, of rank 0 or 1
  ///   [M]!     that, and given
  ///   one      one element, of rank 0 or 1
  ///   list     of rank 0 or 1
  ///   none     left out
  ///   -        not judged
  std::string_view shapes = {};

  /// What attributes may be, whatever the inputs are: "mode: a, b; mode@19: a, b, c; strides >= 1; p >
  /// 0". A version behind @ is the first that the entry is for; a list is for those up to the next one of the
  /// same attribute. A list "$name" is one of those that attribute_values.cc names.
  std::string_view attributes = {};

  /// In which intervals numbers lie that attributes or inputs of these names hold, measured by the first
  /// input: "axis=-1@13: [-r,r); axes: [-r,r) once; K: [0,n]; start: [0,inf)". r is its rank, R the
  /// same, but 1 of a scalar, n its size along the attribute axis. A number behind = counts where none is
  /// stated; a version behind @ as in attributes. once: none twice.
  std::string_view numbers = {};

  /// Lists among the attributes, in entries that "; " parts: "a | b" for one of them that is given and not
  /// both, "a: b c? d" for lists as long as a, of which c may be left out; "a!: " where a must have an entry.
  /// An empty list is left out. A list may be a tensor, or stand in the attribute of its name and _as_tensor.
  std::string_view lists = {};

  /// What it forbids of attributes taken together, once lists are as they must be; nullopt for nothing.
  std::optional<std::string> (*together)(const onnx_io::Node& node, int since_version) = nullptr;

  PageRule rules[3] = {};
  Folded folded = Folded::never;
  Elements elements = Elements::computed;
  Draws draws = Draws::never;
  Flops flops = Flops::uncounted;
};

template <std::size_t N>
consteval bool is_sorted_by_name(const Page (&pages)[N]) {
  return std::ranges::adjacent_find(pages, std::ranges::greater_equal{}, &Page::op_type) == std::end(pages);
}

/// nullptr for an operator without a page: none that runs. A domain is spelt "" for ai.onnx.
const Page* find_page(std::string_view domain, std::string_view op_type);

struct PageOfDomain {
  std::string_view domain;
  const Page* page;
};

/// By domain and name.
std::span<const PageOfDomain> all_pages();

/// The page's; what the field is by default for an operator without one.
Folded folded_of(const onnx_io::Node& node);
Elements elements_of(const onnx_io::Node& node);
Draws draws_of(const onnx_io::Node& node);
Flops flops_of(const onnx_io::Node& node);

/// "[2,a];[3]" at ";" gives both; nothing of an empty text.
std::vector<std::string_view> split_words(std::string_view text, std::string_view separator);

}  // namespace grurun::opset
