#include "tensor/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace grurun {
namespace {

TEST(Printable, IsNoCommandOfACiSystem) {
  EXPECT_EQ(printable("::error::x"), "\\x3a:error::x");
  EXPECT_EQ(printable(" \xC2\xA0::error::x"), " \xC2\xA0\\x3a:error::x");  // whatever blanks stand before it
  EXPECT_EQ(printable(":"), "\\x3a");
  EXPECT_EQ(printable("a::b"), "a::b");
  EXPECT_EQ(printable("x ##[error]y"), "x #\\x23[error]y");
  EXPECT_EQ(printable("###vso[task]"), "#\\x23#vso[task]");
  EXPECT_EQ(printable("dense_1/kernel:0"), "dense_1/kernel:0");
}

TEST(Printable, IsOneLineWithoutEscapesAndDirectionMarks) {
  EXPECT_EQ(printable("a\r\n\x1b[2Jb"), "a\\x0d\\n\\x1b[2Jb");
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a\\xe2\\x80\\xaeb");
  EXPECT_EQ(printable("a\xE2\x80\xA8"
                      "b"),
            "a\\xe2\\x80\\xa8b");
  EXPECT_EQ(printable("\xC2\x85::x"), "\\xc2\\x85::x");
}

TEST(Printable, CutsTheMiddleOfNamesAndLines) {
  const std::string name = std::string(150, 'a') + std::string(1'000'000, 'm') + std::string(150, 'z');
  const std::string cut = printable_name(name);
  EXPECT_LE(cut.size(), most_of_name + 40);
  EXPECT_TRUE(cut.starts_with("aaa") && cut.ends_with("zzz"));
  EXPECT_NE(cut.find("...(1000100 bytes)..."), cut.npos) << cut;
  const std::string line = printable("node '" + std::string(1000, 'n') + "' reads 'x' (the model's own)");
  EXPECT_EQ(line, "node '" + std::string(100, 'n') + "...(800 bytes)..." + std::string(100, 'n') +
                      "' reads 'x' (the model's own)");
  EXPECT_LE(printable(name).size(), most_of_line + 40);
  EXPECT_EQ(printable_name(std::string(200, 'n')), std::string(200, 'n'));
  // Between characters.
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "\xC3\xA4";
  EXPECT_EQ(printable_name("x" + umlauts).find("\\x"), std::string::npos);
}

}  // namespace
}  // namespace grurun
