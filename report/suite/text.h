// Text from strangers' files, made safe to show.
#pragma once

#include <string>
#include <string_view>

namespace grurun::report {

/// The text as one line of valid UTF-8 that any terminal, JSON and XML 1.0 can carry: control characters and
/// bytes that are no UTF-8 become \n, \t or \xNN.
std::string one_line(std::string_view text);

}  // namespace grurun::report
