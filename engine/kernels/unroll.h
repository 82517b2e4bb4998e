// Marks loops over a kernel's sums, which live in registers only if the loops are unrolled. Sanitizers keep
// them in memory anyway, where unrolled checks would take minutes to compile.
#pragma once

#include "tensor/sanitizers.h"

#if GRURUN_ASAN || GRURUN_TSAN
#define GRURUN_UNROLL
#define GRURUN_UNROLL_PIECES
#else
#define GRURUN_UNROLL _Pragma("GCC unroll 16")
/// Of loops over a few pieces between products, which a branch that is predicted wrong would hold up.
#define GRURUN_UNROLL_PIECES _Pragma("GCC unroll 4")
#endif
