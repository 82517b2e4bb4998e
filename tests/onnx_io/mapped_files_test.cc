#include "onnx_io/mapped_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "onnx_io/bytes.h"
#include "tensor/error.h"
#include "tests/places/scratch.h"

namespace grurun::onnx_io {
namespace {

TEST(MappedFiles, AFileThatBecomesShorterIsToldAndDoesNotEndTheProcess) {
  const tests::Scratch scratch;
  scratch.file("data.bin", std::string(1 << 16, 'd'));
  const std::string path = scratch.path("data.bin");
  const OpenFile file = open_file(path);
  const Bytes bytes = map_file(file.descriptor, file.size, "data.bin");
  EXPECT_EQ(bytes.text().front(), 'd');
  require_whole_files();
  std::filesystem::resize_file(path, 4096);
  EXPECT_EQ(bytes.text()[100], 'd');
  EXPECT_EQ(bytes.text()[50'000], '\0');
  EXPECT_EQ(bytes.text().back(), '\0');
  try {
    require_whole_files();
    ADD_FAILURE() << "nothing was told";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_model);
    EXPECT_NE(std::string(error.what()).find("'data.bin' became shorter"), std::string::npos) << error.what();
  }
  require_whole_files();  // it is told once
}

TEST(MappedFiles, ABusErrorElsewhereEndsTheProcessAsBefore) {
  const auto touch_beyond = [] {
    const tests::Scratch scratch;
    scratch.file("data.bin", "d");
    const OpenFile file = open_file(scratch.path("data.bin"));
    const Bytes bytes = map_file(file.descriptor, file.size, "data.bin");
    raise(SIGBUS);
    raise(SIGBUS);
  };
  EXPECT_DEATH(touch_beyond(), "");
}

TEST(WriteFile, LeavesTheOldFileOrTheNewOne) {
  const tests::Scratch scratch;
  const std::string path = scratch.path("out.bin");
  write_file(path, {"first"});
  struct stat before {};
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  const OpenFile old = open_file(path);
  write_file(path, {"sec", "ond"});
  struct stat after {};
  ASSERT_EQ(stat(path.c_str(), &after), 0);
  EXPECT_NE(before.st_ino, after.st_ino) << "a reader of the first must not see half of the second";
  EXPECT_EQ(read_whole(old).text(), "first");
  EXPECT_EQ(read_file(path).text(), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path("")), {}), 1);
}

}  // namespace
}  // namespace grurun::onnx_io
