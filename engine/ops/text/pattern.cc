#include "engine/ops/text/pattern.h"

#include <algorithm>
#include <cstdint>

#include "tensor/error.h"

namespace grurun::engine {

std::shared_ptr<const RE2> compiled_pattern(const std::string& pattern, Alternatives alternatives) {
  if (pattern.size() > longest_pattern)
    fail(ErrorKind::limit, "the pattern has {} bytes, more than {}: simplify it", pattern.size(),
         longest_pattern);
  RE2::Options options;
  options.set_log_errors(false);
  options.set_longest_match(alternatives == Alternatives::longest);
  auto regex = std::make_shared<const RE2>(pattern, options);
  if (regex->error_code() == RE2::ErrorPatternTooLarge) {
    fail(ErrorKind::limit,
         "the pattern takes more than the {} bytes of memory that one may take: simplify it",
         options.max_mem());
  }
  if (!regex->ok())
    fail_invalid("the pattern '{}' is not valid in RE2's syntax: {}", pattern, regex->error());
  return regex;
}

void require_matchable(const RE2& pattern, std::size_t text_size) {
  constexpr std::uint64_t most_steps = std::uint64_t{1} << 34;
  const auto instructions = static_cast<std::uint64_t>(std::max(pattern.ProgramSize(), 1));
  if (text_size <= most_steps / instructions) return;
  fail(ErrorKind::limit,
       "the pattern has {} instructions and a text {} bytes: their product is more than 2^34; simplify the "
       "pattern",
       instructions, text_size);
}

}  // namespace grurun::engine
