#include "tensor/error.h"

#include "tensor/printable.h"

namespace grurun {

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
  // Bodies and functions nest: who reads the line wants where it begins and where it ends.
  constexpr std::size_t outer = 3, inner = 3;
  const std::size_t count = context_.size();
  line_ = kind_name(kind_);
  for (std::size_t i = 0; i < count; ++i) {
    if (count > outer + inner + 1 && i == outer) {
      line_ += fmt::format(": ... ({} more)", count - outer - inner);
      i = count - inner;
    }
    line_ += ": " + context_[i];
  }
  line_ += ": " + message_;
  // Names come out of files that strangers made: a message must stay one line and must not drive the
  // terminal.
  line_ = printable(line_);
}

}  // namespace grurun
