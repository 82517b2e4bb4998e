#include "tensor/interruption.h"

#include <utility>

#include "tensor/error.h"
#include "tensor/limits.h"

namespace grurun {

namespace {

thread_local Interruption* innermost_interruption = nullptr;

}  // namespace

Interruption::Interruption(std::function<void()> look)
    : look_(std::move(look)), outer_(std::exchange(innermost_interruption, this)) {}

Interruption::~Interruption() {
  innermost_interruption = outer_;
}

void Interruption::look() {
  if (ended_) std::rethrow_exception(ended_);
  try {
    if (outer_ != nullptr) outer_->look();
    look_();
  } catch (...) {
    ended_ = std::current_exception();
    throw;
  }
}

void look_for_interruption() {
  if (innermost_interruption != nullptr) innermost_interruption->look();
}

void require_time(const std::optional<std::chrono::steady_clock::time_point>& deadline) {
  if (deadline && std::chrono::steady_clock::now() > *deadline) {
    fail(ErrorKind::limit, "{}", run_took_too_long());
  }
}

}  // namespace grurun
