#include "engine/kernels/machine/simd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/error.h"

namespace grurun::kernels {
namespace {

TEST(Simd, TheBestTargetIsInUseUnlessAnotherIsChosen) {
  const auto targets = simd_targets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(simd_target(), targets.front());
  for (const auto& name : targets) {
    use_simd_target(name);
    EXPECT_EQ(simd_target(), name);
    EXPECT_EQ(simd_targets(), targets) << "choosing " << name << " must not change the list";
  }
  use_simd_target("");
  EXPECT_EQ(simd_target(), targets.front());
}

TEST(Simd, AnUnknownTargetIsRefusedAndNamesThoseThereAre) {
  try {
    use_simd_target("MMX");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.message(),
                testing::AllOf(testing::HasSubstr("MMX"), testing::HasSubstr(simd_targets().back())));
  }
}

}  // namespace
}  // namespace grurun::kernels
