#include "tensor/limits.h"

#include "tensor/error.h"

namespace grurun {

namespace {

Limits of_the_process;

}  // namespace

const Limits& limits() {
  return of_the_process;
}

void set_limits(const Limits& chosen) {
  of_the_process = chosen;
}

std::string run_took_too_long() {
  const double seconds = limits().seconds;
  return "the run took longer than its time limit" +
         (seconds > 0 ? fmt::format(" of {:g} s (--max-time)", seconds) : "");
}

void require_model_size(std::uint64_t bytes, const std::string& what) {
  if (bytes > limits().model_size)
    fail(ErrorKind::limit, "{}: the model's files take {} bytes, more than {} (--max-model-size)", what,
         bytes, limits().model_size);
}

}  // namespace grurun
