#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "engine/kernels/machine/tuning.h"

namespace grurun::kernels {

/// What instruction sets are called here when their kernels divide as on processors of another maker.
inline const std::string divided_otherwise = "_divided_otherwise";

/// simd_targets(); AVX-512, whose kernels know two ways of dividing, twice.
inline std::vector<std::string> targets_and_ways() {
  std::vector<std::string> names = simd_targets();
  if (std::ranges::find(names, "avx512") != names.end()) names.push_back("avx512" + divided_otherwise);
  return names;
}

/// A test that runs once for each of targets_and_ways().
class EveryTarget : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string name = GetParam();
    if (name.ends_with(divided_otherwise)) {
      name.erase(name.size() - divided_otherwise.size());
      tuning::override_divides_fast(!divides_fast_);
    }
    use_simd_target(name);
  }
  void TearDown() override {
    use_simd_target("");
    tuning::override_divides_fast({});
    set_threads(1);
  }

 private:
  const bool divides_fast_ = divides_fast();
};

#define GRURUN_FOR_EVERY_TARGET(SUITE)                                                              \
  INSTANTIATE_TEST_SUITE_P(Simd, SUITE, ::testing::ValuesIn(::grurun::kernels::targets_and_ways()), \
                           [](const auto& test) { return test.param; })

}  // namespace grurun::kernels
