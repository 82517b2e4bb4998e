#include "report/suite/progress.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace grurun::report {
namespace {

TEST(Progress, FitsAnyWidth) {
  for (int columns = 1; columns <= 200; ++columns) {
    for (const std::size_t done : {0u, 1u, 999u, 123456u}) {
      const std::string line = progress_line(done, 123456, done / 2, 77.7, columns);
      EXPECT_LE(static_cast<int>(line.size()), std::max(columns - 1, 1)) << columns << ": " << line;
    }
  }
}

TEST(Progress, ShowsWhatThereIsRoomFor) {
  EXPECT_EQ(progress_line(12, 40, 1, 4, 80),
            "[############                            ] 12/40, 1 unexpected, 3.0/s, 9 s left");
  EXPECT_EQ(progress_line(12, 40, 1, 4, 30), "[##     ] 12/40, 1 unexpected");
  EXPECT_EQ(progress_line(12, 40, 0, 4, 30), "12/40, 3.0/s, 9 s left");
  EXPECT_EQ(progress_line(12, 40, 0, 4, 10), "12/40");
  EXPECT_EQ(progress_line(100, 100'000, 0, 10, 60),
            "[                           ] 100/100000, 10/s, 2:46 h left");
}

class Colours : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("NO_COLOR");
    unsetenv("CLICOLOR_FORCE");
  }
};

TEST_F(Colours, AreWantedAsTheVariablesSay) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  unsetenv("NO_COLOR");
  unsetenv("CLICOLOR_FORCE");
  EXPECT_FALSE(wants_colour(file));
  setenv("CLICOLOR_FORCE", "0", 1);
  EXPECT_FALSE(wants_colour(file));
  setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_TRUE(wants_colour(file));
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(wants_colour(file)) << "empty is not set";
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_colour(file));
  std::fclose(file);
}

TEST_F(Colours, AreOfTheVerdictAlone) {
  EXPECT_EQ(coloured("differs      node/a: x\n  why: y\n\n2 cases"),
            "\x1b[31mdiffers\x1b[0m      node/a: x\n  why: y\n\n2 cases");
}

}  // namespace
}  // namespace grurun::report
