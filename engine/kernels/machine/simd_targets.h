// Included first by every file here that compiles per instruction set, so that all agree on the set of
// targets. Sizeless vectors (SVE, RVV) cannot be members of the arrays that the register tiles are made of:
// NEON serves Arm. SSSE3 alone is not worth its code size: such processors take the scalar path.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
