#include "report/github_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/printable.h"

namespace grurun::report {

namespace {

constexpr std::size_t most_annotations = 10;

// GitHub's escapes of a command's text; a property's value has two more.
std::string github_escaped(const std::string& text, bool property) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t length = character_length(std::string_view(text).substr(at));
    if (c == '%') {
      out += "%25";
    } else if (c == '\r') {
      out += "%0D";
    } else if (c == '\n') {
      out += "%0A";
    } else if (property && c == ':') {
      out += "%3A";
    } else if (property && c == ',') {
      out += "%2C";
    } else if (c == '#' && out.ends_with('#')) {
      out += "\\x23";
    } else if (length == 0) {
      out += ' ';
    } else {
      out.append(text, at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

}  // namespace

void GithubCommands::add(const std::string& kind, const std::string& path, const std::string& title,
                         const std::string& text) {
  std::size_t& count = kind == "error" ? errors_ : kind == "warning" ? warnings_ : notices_;
  if (++count > most_annotations) {
    ++left_out_;
    return;
  }
  text_ += fmt::format("::{} file={},title={}::{}\n", kind, github_escaped(path, true),
                       github_escaped(title, true), github_escaped(text, false));
}

std::string GithubCommands::finish(const std::string& nouns, const std::string& where) const {
  return left_out_ == 0 ? text_ : text_ + fmt::format("{} more {}; {}\n", left_out_, nouns, where);
}

}  // namespace grurun::report
