#include "cli/terminate_guard.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <new>
#include <stdexcept>

namespace grurun::cli {
namespace {

void without_memory() {
  throw std::bad_alloc();
}

void with_another_fault() {
  throw std::runtime_error("another");
}

/// As functions of libraries are that take memory all the same.
void call_noexcept(void (*function)()) noexcept {
  function();
}

TEST(TerminateGuard, MemoryThatRunsOutEndsInOneLineWithTheExitCodeOfALimit) {
  const TerminateGuard guard;
  EXPECT_EXIT(call_noexcept(without_memory), ::testing::ExitedWithCode(5), "^grurun: out of memory.*\n$");
}

TEST(TerminateGuard, OtherFaultsAbort) {
  const TerminateGuard guard;
  EXPECT_EXIT(call_noexcept(with_another_fault), ::testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace grurun::cli
