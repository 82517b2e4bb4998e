#include "engine/kernels/machine/simd.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/tuning.h"
// Highway's headers want the line above first.
#include "hwy/highway.h"
#include "hwy/targets.h"
#include "tensor/error.h"

namespace grurun::kernels {
namespace {

std::string chosen;
bool tiles_refused = false;

constexpr const char* tiles = "amx";

/// Asks the system for the tile registers: their state is large, and a process has none until it asks.
bool find_tile_registers() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr unsigned request_permission = 0x1023, tile_data = 18;    // of arch_prctl
  constexpr unsigned tile_bit = 1u << 24, tile_bfloat16 = 1u << 22;  // CPUID 7, EDX
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & tile_bit) == 0 || (d & tile_bfloat16) == 0)
    return false;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}

bool has_tile_registers() {
  static const bool has = find_tile_registers();
  return has;
}

bool has_byte_products() {
#if defined(__x86_64__)
  constexpr unsigned vnni = 1u << 11;  // CPUID 7, ECX
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & vnni) != 0;
#else
  return false;
#endif
}

bool byte_products = has_byte_products();  // or what a test puts in its place

/// Whether AVX-512 is used; -1: not known. Highway asks the processor each time, which takes as long as some
/// products, longer in a virtual machine.
std::atomic<int> avx512 = -1;

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
  if (name == tiles) return hwy::SetSupportedTargetsForTest(HWY_AVX3);
  for (const int64_t target : targets()) {
    if (name_of(target) == name) return hwy::SetSupportedTargetsForTest(target);
  }
}

}  // namespace

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const int64_t target : targets()) {
    if (target == HWY_AVX3 && has_tile_registers()) names.emplace_back(tiles);
    names.push_back(name_of(target));
  }
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
  tiles_refused = !chosen.empty() && chosen != tiles;
  hwy::SetSupportedTargetsForTest(0);
  restrict_to(chosen);
  avx512 = -1;
}

bool made_by_amd() {
#if defined(__x86_64__)
  // Asked once: a virtual machine takes as long to answer as some kernels run.
  static const bool is = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0, &a, &b, &c, &d) != 0 && b == signature_AMD_ebx && c == signature_AMD_ecx &&
           d == signature_AMD_edx;
  }();
  return is;
#else
  return false;
#endif
}

bool halves_widest_vectors() {
#if defined(__x86_64__)
  constexpr unsigned zen3_and_zen4 = 0x19;  // of which Zen 4 has AVX-512
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!made_by_amd() || __get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  return (a >> 8 & 0xf) + (a >> 20 & 0xff) == zen3_and_zen4;
#else
  return false;
#endif
}

int64_t second_cache_bytes() {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  static const int64_t bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (bytes > 0) return bytes;
#endif
  return 1 << 20;
}

bool detail::fast_division = made_by_amd();

void tuning::override_divides_fast(std::optional<bool> fast) {
  detail::fast_division = fast.value_or(made_by_amd());
}

bool multiplies_bytes() {
  if (!byte_products) return false;
  int known = avx512.load(std::memory_order_relaxed);
  if (known < 0) {
    known = (hwy::SupportedTargets() & HWY_AVX3) != 0 ? 1 : 0;
    avx512.store(known, std::memory_order_relaxed);
  }
  return known != 0;
}

void tuning::override_multiplies_bytes(std::optional<bool> multiplies) {
  byte_products = multiplies.value_or(true) && has_byte_products();
}

bool tile_registers() {
  return !tiles_refused && has_tile_registers();
}

}  // namespace grurun::kernels
