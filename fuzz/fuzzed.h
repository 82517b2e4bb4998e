// What fuzz targets have in common.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tensor/error.h"

namespace grurun::fuzz {

/// Runs body, which does what it promises or throws an Error that is not internal: an internal one is a fault
/// of ours, whatever the bytes.
template <typename Body>
void must_not_fail_inside(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::internal) return;
    std::fprintf(stderr, "internal error: %s\n", error.what());
    __builtin_trap();
  }
}

/// A folder with one file of 64 KiB, for data outside of a model; removed at the end.
class FolderOfData {
 public:
  explicit FolderOfData(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("grurun-fuzz-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
    std::ofstream(path_ / name, std::ios::binary) << std::string(64 << 10, '\1');
  }
  ~FolderOfData() { std::filesystem::remove_all(path_); }
  FolderOfData(const FolderOfData&) = delete;
  FolderOfData& operator=(const FolderOfData&) = delete;

  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace grurun::fuzz
