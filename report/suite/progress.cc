#include "report/suite/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "report/suite/suite_format.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool is_terminal(std::FILE* stream) {
  return isatty(fileno(stream)) == 1;
}

std::string time_left_text(double seconds) {
  const auto whole = static_cast<long>(std::min(seconds, 1e6) + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

struct Colour {
  std::string_view verdict;
  const char* code;
};
constexpr Colour colours[] = {{"differs ", "\x1b[31m"},   {"unsupported ", "\x1b[33m"},
                              {"invalid ", "\x1b[31m"},   {"crashed ", "\x1b[1;31m"},
                              {"timed-out ", "\x1b[31m"}, {"missing ", "\x1b[31m"},
                              {"random ", "\x1b[31m"},    {"known-wrong ", "\x1b[36m"},
                              {"warning ", "\x1b[33m"},   {"expectation ", "\x1b[31m"}};

}  // namespace

std::string progress_line(std::size_t done, std::size_t all, std::size_t unexpected, double seconds,
                          int columns) {
  const auto room = static_cast<std::size_t>(std::max(columns - 1, 1));
  std::string text = fmt::format("{}/{}", done, all);
  const auto add = [&](const std::string& more) {
    if (text.size() + more.size() <= room) text += more;
  };
  if (unexpected > 0) add(fmt::format(", {} unexpected", unexpected));
  if (done > 0 && seconds > 0.5) {
    const double rate = static_cast<double>(done) / seconds;
    const std::string left = time_left_text(static_cast<double>(all - done) / rate);
    add(fmt::format(", {:.{}f}/s, {} left", rate, rate < 10 ? 1 : 0, left));
  }
  constexpr std::size_t least = 6;
  if (text.size() + least + 3 <= room) {
    const std::size_t width = std::min<std::size_t>(room - text.size() - 3, 60);
    const std::size_t filled = width * done / std::max<std::size_t>(all, 1);
    text = fmt::format("[{:<{}}] {}", std::string(filled, '#'), width, text);
  }
  return text.substr(0, room);
}

ProgressBar::ProgressBar(std::FILE* stream)
    : stream_(stream), is_shown_(is_terminal(stream) && !is_set("CI")), began_(seconds_now()) {}

void ProgressBar::draw(const conformance::SuiteResult& so_far, std::size_t done, std::size_t ended) {
  if (!is_shown_) return;
  const conformance::CaseOutcome& outcome = so_far.outcomes[ended];
  std::string text;
  if (outcome.unexpected) {
    text = fmt::format("\r\x1b[K{:<11}  {}: {}\n", conformance::verdict_name(outcome.result.verdict),
                       printable(so_far.cases[ended].full_name()), printable(outcome.result.message));
    if (wants_colour(stream_)) text = "\r\x1b[K" + coloured(text.substr(4));
  }
  const double now = seconds_now();
  if (text.empty() && now - last_drawn_ < 0.1 && done < so_far.cases.size()) return;
  last_drawn_ = now;
  winsize size{};
  const int columns = ioctl(fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  text +=
      "\r" + progress_line(done, so_far.cases.size(), so_far.unexpected(), now - began_, columns) + "\x1b[K";
  // A terminal that went away is no reason to end the run.
  std::fputs(text.c_str(), stream_);
  std::fflush(stream_);
}

void ProgressBar::clear() {
  if (!is_shown_ || last_drawn_ == 0) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
}

bool wants_colour(std::FILE* stream) {
  if (is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE") && std::string_view(std::getenv("CLICOLOR_FORCE")) != "0") return true;
  const char* terminal = std::getenv("TERM");
  return is_terminal(stream) && !(terminal != nullptr && std::string_view(terminal) == "dumb");
}

std::string coloured(const std::string& text) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest.remove_prefix(line.size());
    const auto* const colour =
        std::ranges::find_if(colours, [&](const Colour& each) { return line.starts_with(each.verdict); });
    if (colour == std::end(colours)) {
      out += line;
      continue;
    }
    const std::size_t word = colour->verdict.size() - 1;
    out += fmt::format("{}{}\x1b[0m{}", colour->code, line.substr(0, word), line.substr(word));
  }
  return out;
}

}  // namespace grurun::report
