#include "cli/guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>
#include <system_error>

#include "tensor/error.h"
#include "tensor/heap.h"

namespace grurun::cli {
namespace {

int report(const Error& error) {
  std::fflush(stdout);  // what was printed before the failure stands above it
  std::fprintf(stderr, "grurun: %s\n", error.what());
  return exit_code(error.kind());
}

int report(ErrorKind kind, const std::string& message) {
  return report(Error(kind, message));
}

void flush_stdout() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw std::system_error(errno, std::generic_category(), "cannot write to stdout");
}

}  // namespace

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open() takes the lowest free number, which is this one.
    if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) (void)open("/dev/null", O_RDWR);
  }
}

int run_guarded(const Action& action) {
  int code = 0;
  try {
    code = action();
    flush_stdout();
    return code;
  } catch (const Error& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    return report(ErrorKind::limit,
                  memory::counts_heap()
                      ? "out of memory, or strings and lists of values would pass --max-memory"
                      : "out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    return report(ErrorKind::usage, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe) return code;
    const bool writing = std::ferror(stdout) != 0;
    return report(writing ? ErrorKind::usage : ErrorKind::internal, error.what());
  } catch (const std::exception& error) {
    return report(ErrorKind::internal, error.what());
  } catch (...) {
    return report(ErrorKind::internal, "an exception of unknown type");
  }
}

}  // namespace grurun::cli
