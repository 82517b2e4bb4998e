#include "onnx_io/models/model_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <climits>
#include <exception>
#include <memory>
#include <string>

#include "onnx/defs/parser.h"
#include "onnx_io/models/json_keys.h"
#include "onnx_io/models/message_budget.h"
#include "onnx_io/models/onnx_descriptors.h"
#include "onnx_io/models/watched_stream.h"
#include "tensor/error.h"
#include "tensor/interruption.h"

namespace grurun::onnx_io {

namespace {

constexpr std::string_view blanks = " \t\r\n\f\v";
constexpr int most_nested = 100;  // as in the binary form

// Where text shows that it is none; the beginning of a binary model has control characters early.
constexpr std::size_t looked_at = 512;

bool is_plain_text(std::string_view begin) {
  return std::ranges::all_of(begin.substr(0, looked_at), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || blanks.find(c) != blanks.npos;
  });
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return text;
}

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text;
}

std::string_view without_comments(std::string_view text) {
  for (text = without_blanks(text); text.starts_with('#'); text = without_blanks(text))
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  return text;
}

// What follows a word and blanks; '\0': no word begins the text, or nothing follows.
char behind_word(std::string_view text) {
  const auto is_of_word = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const auto end = std::ranges::find_if_not(text, is_of_word);
  if (end == text.begin() || (text.front() >= '0' && text.front() <= '9')) return '\0';
  text = without_comments(text.substr(static_cast<std::size_t>(end - text.begin())));
  return text.empty() ? '\0' : text.front();
}

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text.empty()) return;
    text = line < 0 ? message : fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }

  std::string text;
};

[[noreturn]] void fail_text(const char* form, const std::string& why) {
  fail_invalid("no ONNX model, although it begins like one in {}: {}", form, why);
}

/// A ModelProto that knows the names of its fields.
class NamedModel {
 public:
  NamedModel() {
    google::protobuf::FileDescriptorSet files;
    const std::string_view bytes = onnx_descriptors();
    const google::protobuf::FileDescriptor* file = nullptr;
    if (files.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && files.file_size() == 1)
      file = pool_.BuildFile(files.file(0));
    const auto* const type = file == nullptr ? nullptr : file->FindMessageTypeByName("ModelProto");
    if (type == nullptr) fail_internal("ONNX's messages have no descriptors");
    message_.reset(factory_.GetPrototype(type)->New());
  }

  google::protobuf::Message& message() { return *message_; }

  void copy_to(::onnx::ModelProto& model) {
    std::string bytes;
    if (message_->ByteSizeLong() > INT_MAX || !message_->SerializeToString(&bytes))
      fail_invalid(
          "the model takes more than the 2 GiB of a protobuf message; store the weights as external data");
    message_->Clear();
    if (!model.ParseFromString(bytes)) fail_internal("a model that was text is not read back");
  }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
  std::unique_ptr<google::protobuf::Message> message_;
};

void parse_protobuf(std::string_view text, ::onnx::ModelProto& model) {
  NamedModel named;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(most_nested);
  constexpr int at_once = 1 << 16;
  google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()), at_once);
  WatchedStream watched(&stream);
  const bool complete = parser.Parse(&watched, &named.message());
  look_for_interruption();
  if (!complete) fail_text("protobuf's text format", error.text);
  named.copy_to(model);
}

void parse_json(std::string_view text, ::onnx::ModelProto& model) {
  constexpr const char* form = "protobuf's JSON";
  if (const auto twice = find_key_twice(text))
    fail_text(form, fmt::format("line {}, column {}: the key \"{}\" is given twice in one object",
                                twice->line, twice->column, twice->key));
  NamedModel named;
  const auto status =
      google::protobuf::util::JsonStringToMessage({text.data(), text.size()}, &named.message());
  if (!status.ok()) fail_text(form, std::string(status.message().data(), status.message().size()));
  named.copy_to(model);
}

// ONNX's parser recurses into bodies and types without a bound.
void require_shallow(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
    } else if (c == '{' || c == '(') {
      if (++depth > most_nested) fail_text("ONNX's text syntax", "it nests more than 100 deep");
    } else if (c == '}' || c == ')') {
      --depth;
    }
  }
}

// "[ParseError at position (line: 3 column: 7)]\nError context: ...\nExpected character = not found."
std::string shown_parse_error(const std::string& message) {
  const auto number_behind = [&](std::string_view word) {
    const std::size_t at = message.find(word);
    const std::size_t from = at == message.npos ? message.size() : at + word.size();
    return message.substr(from, message.find_first_not_of("0123456789", from) - from);
  };
  const std::string what = message.substr(message.rfind('\n') + 1);
  const std::string line = number_behind("(line: ");
  const std::string column = number_behind(" column: ");
  return line.empty() ? what : fmt::format("line {}, column {}: {}", line, column, what);
}

void parse_onnx(std::string_view text, ::onnx::ModelProto& model) {
  constexpr const char* form = "ONNX's text syntax";
  require_shallow(text);
  std::string why;
  try {
    ::onnx::OnnxParser parser(text);
    const auto status = parser.Parse(model);
    if (!status.IsOK()) why = shown_parse_error(status.ErrorMessage());
  } catch (const std::exception&) {  // of std::stoll
    why = "it holds a number that is out of range";
  }
  if (!why.empty()) fail_text(form, why);
}

}  // namespace

std::optional<ModelText> text_of(std::string_view begin) {
  if (!is_plain_text(begin)) return std::nullopt;
  begin = without_mark(begin);
  const std::string_view text = without_comments(begin);
  if (text.empty()) return without_blanks(begin).empty() ? std::nullopt : std::optional(ModelText::protobuf);
  if (text.front() == '{') return ModelText::json;
  if (text.front() == '<') {
    const bool has_header = behind_word(without_comments(text.substr(1))) == ':';
    return has_header ? std::optional(ModelText::onnx) : std::nullopt;
  }
  switch (behind_word(text)) {
    case ':':
    case '{':
    case '<':
      return ModelText::protobuf;
    default:
      return std::nullopt;
  }
}

void parse_text(ModelText form, std::string_view text, ::onnx::ModelProto& model) {
  text = without_mark(text);
  require_affordable_text(text, form == ModelText::onnx ? "=" : form == ModelText::json ? "{" : "{<");
  switch (form) {
    case ModelText::protobuf:
      return parse_protobuf(text, model);
    case ModelText::onnx:
      return parse_onnx(text, model);
    case ModelText::json:
      return parse_json(text, model);
  }
}

}  // namespace grurun::onnx_io
