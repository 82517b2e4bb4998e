// What this processor can do at its best, with the instruction set in use: what kernels are measured against.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// Floating-point operations a second in float32 when nothing but independent multiply-adds in registers is
/// to be done, two for each multiply-add; on all threads() together. Takes about 20 ms.
double measured_flops();

/// Bytes a second that are read when the same `bytes` bytes are summed again and again, by one thread: a
/// size that fits into a cache gives that cache's speed, a large one that of memory. Takes about 20 ms, more
/// for sizes that take longer to read a few times.
double measured_read_bandwidth(int64_t bytes);

}  // namespace grurun::kernels
