// RegexFullMatch (ai.onnx 20).
//
// Y[i] says whether pattern, in RE2's syntax, matches all of X[i]. RE2 itself does it: linear in the text,
// whatever the pattern. Patterns and texts are UTF-8; a text that is not well-formed does not match where the
// pattern asks for characters.
#include <re2/re2.h>

#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

std::shared_ptr<const RE2> compiled(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
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

RunFunction prepare_regex_full_match(PrepareContext& node) {
  const auto regex = compiled(node.string_attribute("pattern"));
  return [regex](RunContext& run) {
    const Tensor& x = run.tensor(0);
    Tensor& y = run.output(0, DType::boolean, x.shape());
    bool* matches = y.mutable_data<bool>();
    for (const std::string& text : x.span<std::string>()) *matches++ = RE2::FullMatch(text, *regex);
  };
}

}  // namespace

std::vector<OpRow> op_rows_regex_full_match() {
  return {{"", "RegexFullMatch", {20}, prepare_regex_full_match}};
}

}  // namespace grurun::engine
