// The intervals that a page states for numbers in attributes and inputs: the little language of
// Page::numbers.
#pragma once

#include <string>

#include "opset/pages/page.h"

namespace grurun::opset {

/// Throws Error(invalid_model) where a number that is known lies outside of the interval that the page states
/// for the node's version.
void check_numbers(const Page& page, const NodeFacts& facts);

/// Throws Error(invalid_model) for a negative number or axis (`what`: "axes") before the version that counts
/// them from the end. found: "attribute axes names axis -1".
[[noreturn]] void fail_from_end(const NodeFacts& facts, const std::string& found, const char* what,
                                int since);

}  // namespace grurun::opset
