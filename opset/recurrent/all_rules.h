// The whole table of what a check can find: the general rules and those of RNN, GRU and LSTM.
#pragma once

#include <span>
#include <string_view>

#include "opset/findings/rules.h"

namespace grurun::opset {

/// The rules of enum Rule in its order, then those of RNN, GRU and LSTM.
std::span<const RuleInfo> all_rules();

/// nullptr for an unknown code.
const RuleInfo* find_rule(std::string_view code);

}  // namespace grurun::opset
