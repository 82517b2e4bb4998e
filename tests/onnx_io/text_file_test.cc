#include "onnx_io/text_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tensor/error.h"
#include "tests/places/scratch.h"

namespace grurun::onnx_io {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.message();
  }
  return "no error";
}

TEST(TextFile, IsReadWholeUpToItsBound) {
  const tests::Scratch s;
  for (const std::size_t size : {0, 1, 99, 100}) {
    const std::string file = s.file("text", std::string(size, 'a'));
    EXPECT_EQ(read_text_file(file, 100, "a list"), std::string(size, 'a'));
  }
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  EXPECT_EQ(read_text_file(s.file("text", std::string(most, 'a')), most, "a list").size(), most);
  const std::string large = s.file("large", std::string(most + 1, 'a'));
  EXPECT_EQ(error_of([&] { read_text_file(large, most, "a list"); }),
            large + ": a list has at most 1 MiB, and this file has more");
  EXPECT_THAT(error_of([] { read_text_file("/dev/zero", most, "a list"); }), HasSubstr("at most 1 MiB"));
}

TEST(TextFile, WhatIsNoFileIsNamed) {
  const tests::Scratch s;
  for (const auto& read : {+[](const std::string& path) { read_text_file(path, 1, "a list"); },
                           +[](const std::string& path) { TextLines(path, 1, "a list"); }}) {
    EXPECT_EQ(error_of([&] { read(s.path("none")); }), s.path("none") + ": no such file");
    EXPECT_EQ(error_of([&] { read(s.folder()); }), s.folder() + ": this is a folder, and a list is a file");
  }
}

TEST(TextFile, LinesAreReadOneAtATime) {
  const tests::Scratch s;
  TextLines lines(s.file("lines", "one\n\ntwo\nmuch"), 3, "a list");
  std::string line;
  for (const char* expected : {"one", "", "two"}) {
    EXPECT_TRUE(lines.next(line));
    EXPECT_EQ(line, expected);
  }
  EXPECT_THAT(error_of([&] { lines.next(line); }), HasSubstr("a line of a list has at most"));
  TextLines last(s.file("last", "one"), 3, "a list");
  EXPECT_TRUE(last.next(line));
  EXPECT_FALSE(last.next(line));
}

}  // namespace
}  // namespace grurun::onnx_io
