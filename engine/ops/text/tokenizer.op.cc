// Tokenizer (com.microsoft 1): the tokens of each string, along a new last axis.
//
// X [C] or [N, C] -> Y [C, D] or [N, C, D], D being the largest number of tokens in a string. separators: the
// expressions at whose matches a string is parted, one after the other; tokenexp: the expression whose
// matches are the tokens. separators [""] and tokenexp "." give each character. A token of less than
// mincharnum characters is dropped. With mark, U+0002 stands before the tokens and U+0003 behind them;
// pad_value fills the rest. Without a token in any string D is 0; that of an empty X is X.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/ops/text/pattern.h"
#include "onnx_io/utf8.h"

namespace grurun::engine {

namespace {

using Tokens = std::vector<std::string_view>;
using Patterns = std::vector<std::shared_ptr<const RE2>>;

struct Tokenizer {
  bool by_character = false;
  Patterns separators;
  std::shared_ptr<const RE2> token;
  std::size_t least_characters = 1;
  bool mark = false;
  std::string padding;
};

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !continues_character(byte); }));
}

// The place of the character behind the one at `at`.
std::size_t next_character(std::string_view text, std::size_t at) {
  do ++at;
  while (at < text.size() && continues_character(text[at]));
  return at;
}

Tokens each_character(std::string_view text) {
  Tokens found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = next_character(text, at);
    found.push_back(text.substr(at, next - at));
    at = next;
  }
  return found;
}

// The first match from `at` on; its data() is nullptr where there is none. Each may look at all that is left
// of the text.
std::string_view match_from(RunContext& run, const RE2& pattern, std::string_view text, std::size_t at) {
  run.check_limits();
  re2::StringPiece found;
  const re2::StringPiece whole(text.data(), text.size());
  if (at > text.size() || !pattern.Match(whole, at, text.size(), RE2::UNANCHORED, &found, 1)) return {};
  return {found.data(), found.size()};
}

void keep(const Tokenizer& op, std::string_view token, Tokens& tokens) {
  if (!token.empty() && characters(token) >= op.least_characters) tokens.push_back(token);
}

Tokens parted(RunContext& run, const Tokenizer& op, std::string_view text) {
  Tokens tokens{text};
  for (const auto& separator : op.separators) {
    Tokens parts;
    require_matchable(*separator, text.size());
    for (const std::string_view part : tokens) {
      std::size_t begin = 0, at = 0;
      for (std::string_view match = match_from(run, *separator, part, at); match.data() != nullptr;
           match = match_from(run, *separator, part, at)) {
        const auto place = static_cast<std::size_t>(match.data() - part.data());
        if (match.empty() && place >= part.size()) break;
        if (match.empty()) {  // parts nothing
          at = next_character(part, place);
          continue;
        }
        keep(op, part.substr(begin, place - begin), parts);
        begin = at = place + match.size();
      }
      keep(op, part.substr(begin), parts);
    }
    tokens = std::move(parts);
  }
  return tokens;
}

Tokens matched(RunContext& run, const Tokenizer& op, std::string_view text) {
  Tokens tokens;
  require_matchable(*op.token, text.size());
  std::size_t at = 0;
  for (std::string_view match = match_from(run, *op.token, text, at); match.data() != nullptr;
       match = match_from(run, *op.token, text, at)) {
    const auto place = static_cast<std::size_t>(match.data() - text.data());
    keep(op, match, tokens);
    if (match.empty() && place >= text.size()) break;
    at = match.empty() ? next_character(text, place) : place + match.size();
  }
  return tokens;
}

Tokens tokens_of(RunContext& run, const Tokenizer& op, std::string_view text) {
  if (!onnx_io::decode_utf8(text)) fail_invalid("a string of X is not well-formed UTF-8");
  if (op.by_character) return each_character(text);
  return op.token != nullptr ? matched(run, op, text) : parted(run, op, text);
}

void tokenize(const Tokenizer& op, RunContext& run) {
  const Tensor& x = run.tensor(0);
  if (x.rank() != 1 && x.rank() != 2) refuse();
  if (x.size() == 0) return run.set_output(0, x);
  std::vector<Tokens> found;
  std::size_t most = 0;
  for (const std::string& text : x.span<std::string>()) {
    found.push_back(tokens_of(run, op, text));
    most = std::max(most, found.back().size());
  }
  const std::size_t width = most == 0 ? 0 : most + (op.mark ? 2 : 0);
  std::vector<std::int64_t> dims(x.shape().dims().begin(), x.shape().dims().end());
  dims.push_back(static_cast<std::int64_t>(width));
  std::string* y = run.output(0, DType::string, Shape(dims)).mutable_data<std::string>();
  if (width == 0) return;
  for (const Tokens& tokens : found) {
    std::string* const end = y + width;
    if (op.mark) *y++ = "\x02";
    for (const std::string_view token : tokens) *y++ = token;
    if (op.mark) *y++ = "\x03";
    while (y != end) *y++ = op.padding;
  }
}

RunFunction prepare_tokenizer(PrepareContext& node) {
  Tokenizer op;
  op.mark = node.int_attribute("mark") != 0;
  op.padding = node.string_attribute("pad_value");
  const std::int64_t least = node.int_attribute("mincharnum");
  if (least < 1) refuse();
  op.least_characters = static_cast<std::size_t>(least);
  const std::vector<std::string> separators = node.strings_attribute("separators");
  const std::string token = node.string_attribute("tokenexp", "");
  if (separators.empty() == token.empty()) refuse();
  op.by_character = token == "." || (separators.size() == 1 && separators[0].empty());
  if (op.by_character && op.least_characters > 1)
    fail_invalid("mincharnum is {}, but tokens are single characters", least);
  if (!op.by_character && !token.empty()) op.token = compiled_pattern(token, Alternatives::longest);
  for (const std::string& separator : separators) {
    if (op.by_character) break;
    if (separator.empty()) fail_invalid("an empty separator stands beside others");
    op.separators.push_back(compiled_pattern(separator, Alternatives::longest));
  }
  return [op](RunContext& run) { tokenize(op, run); };
}

}  // namespace

std::vector<OpRow> op_rows_tokenizer() {
  return {{"com.microsoft", "Tokenizer", {1}, prepare_tokenizer}};
}

}  // namespace grurun::engine
