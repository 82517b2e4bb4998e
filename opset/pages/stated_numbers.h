// The intervals that a page states for numbers in attributes and inputs: the little language of
// Page::numbers.
#pragma once

#include "opset/pages/page.h"

namespace grurun::opset {

/// Throws Error(invalid_model) where a number that is known lies outside of the interval that the page states
/// for the node's version.
void check_numbers(const Page& page, const NodeFacts& facts);

}  // namespace grurun::opset
