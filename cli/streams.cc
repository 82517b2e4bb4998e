#include "cli/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "tensor/error.h"

namespace grurun::cli {
namespace {

// errno of the first write to stdout that failed; 0: none has. The thread of a time limit looks at it too.
std::atomic<int> stdout_failure = 0;
bool stdout_was_closed = false;

void note_failure() {
  if (stdout_failure == 0) stdout_failure = errno != 0 ? errno : EIO;
}

}  // namespace

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    stdout_was_closed = stdout_was_closed || descriptor == STDOUT_FILENO;
    // open() takes the lowest free number, which is this one.
    (void)open("/dev/null", O_RDWR);
  }
}

void require_stdout(const char* what) {
  if (stdout_was_closed) fail_usage("{}: stdout is closed", what);
}

void print_text(std::string_view text) {
  if (stdout_failure != 0) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) note_failure();
}

void tell_text(std::string_view text) {
  // What was printed before stands above it.
  errno = 0;
  if (stdout_failure == 0 && std::fflush(stdout) != 0) note_failure();
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

void finish_stdout() {
  errno = 0;
  if (stdout_failure == 0 && std::fflush(stdout) != 0) note_failure();
  if (stdout_failure == 0 || stdout_failure == EPIPE) return;
  fail_usage("cannot write to stdout: {}", std::generic_category().message(stdout_failure));
}

}  // namespace grurun::cli
