#pragma once

#include <gtest/gtest.h>

#include <string>

#include "engine/kernels/parallel.h"
#include "engine/kernels/simd.h"

namespace grurun::kernels {

/// A test that runs once for every instruction set that this processor can run.
class EveryTarget : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { use_simd_target(GetParam()); }
  void TearDown() override {
    use_simd_target("");
    set_threads(1);
  }
};

#define GRURUN_FOR_EVERY_TARGET(SUITE)                                                          \
  INSTANTIATE_TEST_SUITE_P(Simd, SUITE, ::testing::ValuesIn(::grurun::kernels::simd_targets()), \
                           [](const auto& test) { return test.param; })

}  // namespace grurun::kernels
