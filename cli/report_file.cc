#include "cli/report_file.h"

#include <filesystem>

#include "tensor/error.h"

namespace grurun::cli {

namespace fs = std::filesystem;

ReportFile::ReportFile(const std::string& path) : path_(path) {
  if (path_.empty()) return;
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) fail_usage("{}: the report cannot be written there", path_);
}

void ReportFile::write(const std::string& text) {
  std::error_code ignored;
  if (fs::is_regular_file(fs::status(path_, ignored))) fs::resize_file(path_, 0, ignored);
  file_ << text;
  file_.close();
  if (file_) return;
  // Half of a file may be taken for the whole.
  if (fs::is_regular_file(fs::symlink_status(path_, ignored))) fs::remove(path_, ignored);
  fail_usage("{}: the report could not be written", path_);
}

}  // namespace grurun::cli
