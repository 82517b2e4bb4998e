#include "tensor/error.h"

namespace grurun {

namespace {

// Names come out of files that strangers made: a message must stay one line and must not drive the terminal.
std::string escape_control(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::invalid_model:
      return 3;
    case ErrorKind::unsupported:
      return 4;
    case ErrorKind::limit:
      return 5;
    case ErrorKind::internal:
      break;
  }
  return 70;
}

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::invalid_model:
      return "invalid";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::limit:
      return "limit";
    case ErrorKind::internal:
      break;
  }
  return "internal error";
}

Error::Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {
  compose();
}

void Error::add_context(std::string where) {
  context_.insert(context_.begin(), std::move(where));
  compose();
}

void Error::compose() {
  line_ = kind_name(kind_);
  for (const std::string& where : context_) line_ += ": " + where;
  line_ += ": " + message_;
  line_ = escape_control(line_);
}

}  // namespace grurun
