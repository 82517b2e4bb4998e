// Vectors that are used several times stay in registers. For every instruction set. Included by sources that
// compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_KEEP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_KEEP_INL
#undef GRURUN_KEEP_INL
#else
#define GRURUN_KEEP_INL
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {

/// A vector in a register. Of one that was read from memory, GCC else makes the reading part of the two or
/// three instructions that use it, and so has it read two or three times.
template <class V>
HWY_INLINE V kept(V v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  __asm__("" : "+v"(v.raw));
#endif
  return v;
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
