#include <cstdint>

#include "cli/program.h"
#include "cli/sandbox_flags.h"

int main(int argc, char** argv) {
  grurun::cli::own_process();
  return grurun::cli::run_program(argc, argv);
}

// Highway's library measures the resolution of its timer whenever a process starts, for benchmarks that
// nobody runs here: for 3 of 14 ms (EPYC). It asks for the function by name and finds this one first. Weak,
// so that it gives way where the library is part of the program.
namespace hwy::platform {
[[gnu::weak]] uint64_t TimerResolution();
uint64_t TimerResolution() {
  return 1;
}
}  // namespace hwy::platform
