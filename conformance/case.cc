#include "conformance/case.h"

#include <array>

namespace grurun::conformance {

namespace {
constexpr std::array<const char*, verdict_count> names = {"passed",      "passed-not-comparable",
                                                          "known-wrong", "differs",
                                                          "random",      "unsupported",
                                                          "invalid",     "crashed",
                                                          "timed-out",   "missing"};
}

const char* verdict_name(Verdict verdict) {
  return names.at(static_cast<std::size_t>(verdict));
}

std::optional<Verdict> parse_verdict(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<Verdict>(i);
  return std::nullopt;
}

}  // namespace grurun::conformance
