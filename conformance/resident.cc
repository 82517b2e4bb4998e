#include "conformance/resident.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "conformance/privileges.h"
#include "onnx_io/bytes.h"

namespace grurun::conformance {

namespace {

/// "RssAnon:     1234 kB" of the text, in bytes.
std::size_t bytes_of(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == text.npos) return 0;
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  std::size_t kilobytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kilobytes);
  return kilobytes << 10;
}

/// What the process's file of that name in /proc says; empty where there is none.
std::string told(pid_t process, const char* file) {
  const onnx_io::Descriptor open(
      ::open(fmt::format("/proc/{}/{}", process, file).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(4096, '\0');
  const ssize_t size = open.valid() ? ::read(open.get(), text.data(), text.size()) : 0;
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

bool holds_more_seen_here(pid_t process, std::size_t bytes) {
  const std::string status = told(process, "status");
  const std::size_t own = bytes_of(status, "\nRssAnon:");
  if (own > bytes) return true;
  if (own + bytes_of(status, "\nRssShmem:") <= bytes) return false;
  // There a page counts each time that it is mapped; elements that repeat are
  // (tensor/memory/repeated_memory.cc). To count pages once takes the system longer.
  return own + bytes_of(told(process, "smaps_rollup"), "\nPss_Shmem:") > bytes;
}

struct Question {
  pid_t process;
  std::size_t bytes;
};

/// The end of this process, where one watches for it.
onnx_io::Descriptor& watch() {
  static onnx_io::Descriptor of_process(-1);
  return of_process;
}

[[noreturn]] void answer_questions(int from) {
  // What ends the whole group of processes, of a terminal or of timeout, is not to end this one first.
  ::setsid();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  keep_only(from);
  ::close(STDERR_FILENO);
  Question question{};
  for (;;) {
    const ssize_t got = ::read(from, &question, sizeof question);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof question) _exit(0);
    const char answer = holds_more_seen_here(question.process, question.bytes) ? 1 : 0;
    if (::write(from, &answer, 1) != 1) _exit(0);
  }
}

bool holds_more_seen_there(const Question& question) {
  if (::write(watch().get(), &question, sizeof question) != sizeof question) return false;
  char answer = 0;
  ssize_t got = 0;
  do {
    got = ::read(watch().get(), &answer, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1 && answer == 1;
}

}  // namespace

bool holds_more(pid_t process, std::size_t bytes) {
  return watch().valid() ? holds_more_seen_there({process, bytes}) : holds_more_seen_here(process, bytes);
}

void start_memory_watch() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  onnx_io::Descriptor here(ends[0]);
  const onnx_io::Descriptor there(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return;
  if (child == 0) {
    try {
      answer_questions(there.get());
    } catch (const std::exception&) {
      _exit(1);
    }
  }
  watch() = std::move(here);
}

}  // namespace grurun::conformance
