#include "engine/ops/text/pattern.h"

#include "tensor/error.h"

namespace grurun::engine {

std::shared_ptr<const RE2> compiled_pattern(const std::string& pattern, Alternatives alternatives) {
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

}  // namespace grurun::engine
