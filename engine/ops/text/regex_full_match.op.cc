// RegexFullMatch (ai.onnx 20).
//
// Y[i] says whether pattern, in RE2's syntax, matches all of X[i]. RE2 itself does it: linear in the text,
// whatever the pattern. Patterns and texts are UTF-8; a text that is not well-formed does not match where the
// pattern asks for characters.
#include "engine/graph/op_context.h"
#include "engine/ops/text/pattern.h"

namespace grurun::engine {

namespace {

RunFunction prepare_regex_full_match(PrepareContext& node) {
  const auto regex = compiled_pattern(node.string_attribute("pattern"));
  return [regex](RunContext& run) {
    const Tensor& x = run.tensor(0);
    Tensor& y = run.output(0, DType::boolean, x.shape());
    bool* matches = y.mutable_data<bool>();
    for (const std::string& text : x.span<std::string>()) {
      run.check_limits();
      require_matchable(*regex, text.size());
      *matches++ = RE2::FullMatch(text, *regex);
    }
  };
}

}  // namespace

std::vector<OpRow> op_rows_regex_full_match() {
  return {{"", "RegexFullMatch", {20}, prepare_regex_full_match}};
}

}  // namespace grurun::engine
