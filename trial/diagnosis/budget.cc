#include "trial/diagnosis/budget.h"

#include <ctime>

namespace grurun::trial::diagnosis {

Budget::Clock::duration Budget::processor_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace grurun::trial::diagnosis
