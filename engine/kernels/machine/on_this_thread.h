// Loops that one thread runs without the pool.
#pragma once

namespace grurun::kernels {

/// While this lives, each parallel_for of the calling thread runs on it alone.
class OnThisThread {
 public:
  OnThisThread();
  ~OnThisThread();
  OnThisThread(const OnThisThread&) = delete;
  OnThisThread& operator=(const OnThisThread&) = delete;

 private:
  const bool before_;
};

}  // namespace grurun::kernels
