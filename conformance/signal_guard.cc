#include "conformance/signal_guard.h"

namespace grurun::conformance {

namespace {

volatile sig_atomic_t interrupted = 0;

void note_interrupt(int) {
  interrupted = 1;
}

}  // namespace

SignalGuard::SignalGuard() {
  interrupted = 0;
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  sigprocmask(SIG_BLOCK, &both, &mask_);
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
  // A parent that ignores it hands that on, and then nobody tells what a worker died of.
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, &old_child_);
}

SignalGuard::~SignalGuard() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
  sigaction(SIGCHLD, &old_child_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

bool SignalGuard::was_interrupted() const {
  return interrupted != 0;
}

}  // namespace grurun::conformance
