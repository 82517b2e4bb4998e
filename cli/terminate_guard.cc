#include "cli/terminate_guard.h"

#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string_view>

#include "cli/streams.h"
#include "onnx_io/kept_outputs.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"

namespace grurun::cli {

namespace {

pid_t owner = -1;

[[noreturn]] void end_of_process() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    for (const std::string_view part : {"grurun: ", memory::out_of_memory_text(), "\n"}) tell_text(part);
    // What a forked process is asked to keep is not its own.
    if (getpid() == owner) onnx_io::end_kept_outputs();
    _exit(exit_code(ErrorKind::limit));
  } catch (...) {
  }
  std::abort();
}

}  // namespace

TerminateGuard::TerminateGuard() : former_(std::set_terminate(end_of_process)) {
  owner = getpid();
}

TerminateGuard::~TerminateGuard() {
  std::set_terminate(former_);
}

}  // namespace grurun::cli
