// Files of text that the user named: policies, lists, reports.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace grurun::onnx_io {

/// The whole file, or what a pipe holds. what: "a policy", "a report". Throws Error(usage) where the path
/// leads to no file, to a folder, or to more than `most` bytes.
std::string read_text_file(const std::string& path, std::uint64_t most, const char* what);

/// The lines of such a file, one at a time, without their ends: `most` bounds each, not the file.
class TextLines {
 public:
  TextLines(const std::string& path, std::uint64_t most, const char* what);

  /// False after the last line.
  bool next(std::string& line);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  const std::string path_;
  const std::uint64_t most_;
  const char* const what_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// "16 MiB": a bound that messages state.
std::string mebibytes(std::uint64_t bytes);

}  // namespace grurun::onnx_io
