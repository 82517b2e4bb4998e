// Which values a page states for attributes: the lists and bounds of Page::attributes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opset/pages/page.h"

namespace grurun::opset {

/// One entry.
struct StatedValues {
  std::string_view attribute;
  int since;
  std::string_view list;  // "NONE, LOWER, UPPER"; "0, 1"; empty: a bound
  int least = 0;          // bound: of a number, or of each of a list
  bool above = false;     // the bound itself is too small
};

std::vector<StatedValues> stated_values(const Page& page);

/// What the page lists for a version; empty: no list.
std::vector<std::string> listed_values(std::string_view domain, std::string_view op_type,
                                       std::string_view attribute, int since_version);

/// "mode is 'wrap', but Pad-18 knows constant, reflect, edge; ...", "strides holds 0, but must hold numbers
/// from 1 on": the first value of a node of this since_version that its page excludes; nullopt for none.
/// Attributes that refer to a function's are left out. An empty auto_pad is NOTSET.
std::optional<std::string> attribute_value_fault(const Page& page, const onnx_io::Node& node,
                                                 int since_version);

}  // namespace grurun::opset
