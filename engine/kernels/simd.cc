#include "engine/kernels/simd.h"

#include <cstdint>

#include "engine/kernels/simd_targets.h"
// Highway's headers want the line above first.
#include "hwy/highway.h"
#include "hwy/targets.h"
#include "tensor/error.h"

namespace grurun::kernels {
namespace {

std::string chosen;

/// The scalar path can run everywhere but is only listed by Highway where nothing better is.
std::vector<int64_t> targets() {
  hwy::SetSupportedTargetsForTest(0);
  std::vector<int64_t> found = hwy::SupportedAndGeneratedTargets();
  const int64_t scalar = HWY_TARGETS & (HWY_EMU128 | HWY_SCALAR);
  if (scalar && (found.empty() || found.back() != scalar)) found.push_back(scalar);
  return found;
}

/// The names that processors' makers use; Highway's own otherwise.
std::string name_of(int64_t target) {
  switch (target) {
    case HWY_AVX3:
      return "avx512";
    case HWY_AVX2:
      return "avx2";
    case HWY_SSE4:
      return "sse4";
    case HWY_NEON:
      return "neon";
    case HWY_EMU128:
    case HWY_SCALAR:
      return "scalar";
    default:
      return hwy::TargetName(target);
  }
}

void restrict_to(const std::string& name) {
  for (const int64_t target : targets()) {
    if (name_of(target) == name) return hwy::SetSupportedTargetsForTest(target);
  }
}

}  // namespace

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const int64_t target : targets()) names.push_back(name_of(target));
  restrict_to(chosen);
  return names;
}

std::string simd_target() {
  return chosen.empty() ? simd_targets().front() : chosen;
}

void use_simd_target(const std::string& name) {
  if (!name.empty()) {
    bool known = false;
    std::string all;
    for (const std::string& target : simd_targets()) {
      known |= target == name;
      all += (all.empty() ? "" : ", ") + target;
    }
    if (!known) fail_usage("no instruction set '{}': this processor and build have {}", name, all);
  }
  chosen = name;
  hwy::SetSupportedTargetsForTest(0);
  restrict_to(chosen);
}

}  // namespace grurun::kernels
