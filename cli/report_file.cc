#include "cli/report_file.h"

#include <filesystem>

namespace grurun::cli {

namespace fs = std::filesystem;

ReportFile::ReportFile(const std::string& path, std::string_view begins) : path_(path) {
  if (path_.empty()) return;
  std::error_code ignored;
  if (fs::is_regular_file(fs::status(path_, ignored))) {
    const int first = std::ifstream(path_, std::ios::binary).get();
    if (first != std::ifstream::traits_type::eof() && begins.find(static_cast<char>(first)) == begins.npos)
      fail_usage("{}: the file that is there is no such report; remove it or name another path", path_);
  }
  is_new_ = !fs::exists(fs::symlink_status(path_, ignored));
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) fail_usage("{}: the report cannot be written there", path_);
}

ReportFile::~ReportFile() {
  std::error_code ignored;
  if (file_.is_open() && is_new_) fs::remove(path_, ignored);
}

void ReportFile::write(const std::string& text) {
  std::error_code ignored;
  if (fs::is_regular_file(fs::status(path_, ignored))) {
    std::error_code error;
    fs::resize_file(path_, 0, error);
    if (error) fail_usage("{}: the report that is there cannot be emptied: {}", path_, error.message());
  }
  file_ << text;
  file_.close();
  if (file_) return;
  // Half of a file may be taken for the whole.
  if (fs::is_regular_file(fs::symlink_status(path_, ignored))) fs::remove(path_, ignored);
  fail_usage("{}: the report could not be written", path_);
}

void ReportFile::write(const std::string& text, std::optional<Error>& failed) {
  try {
    write(text);
  } catch (const Error& error) {
    if (!failed) failed = error;
  }
}

}  // namespace grurun::cli
