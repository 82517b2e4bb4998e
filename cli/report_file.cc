#include "cli/report_file.h"

#include <array>
#include <filesystem>

namespace grurun::cli {

namespace fs = std::filesystem;

namespace {

/// How a report begins, and what its first bytes hold besides.
struct Mark {
  std::string_view begins;
  std::string_view holds;
};

constexpr std::array marks{
    Mark{"{\n \"format\": 1,\n \"grurun\": \"", "\"summary\": {"},
    Mark{"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"grurun conformance\" ", ""},
    Mark{"{\"model\":\"", ",\"median_us\":"}, Mark{"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", ""}};

bool is_regular(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::status(path, ignored));
}

bool is_report(const std::string& path) {
  if (!is_regular(path)) return false;  // to open a pipe would wait for its other end
  std::string head(8192, '\0');         // the name of a model, which may be long, stands before what marks it
  std::ifstream file(path, std::ios::binary);
  head.resize(static_cast<std::size_t>(file.read(head.data(), std::ssize(head)).gcount()));
  for (const Mark& mark : marks)
    if (head.starts_with(mark.begins) && head.find(mark.holds) != head.npos) return true;
  return false;
}

}  // namespace

void remove_old_report(const std::string& path) {
  if (!is_report(path)) return;
  std::error_code error;
  const fs::path file = fs::canonical(path, error);  // a link to it stays
  if (!error && fs::remove(file, error)) return;
  fs::resize_file(path, 0, error);
}

ReportFile::ReportFile(const std::string& path, std::string_view begins) : path_(path) {
  if (path_.empty()) return;
  if (is_regular(path_)) {
    const int first = std::ifstream(path_, std::ios::binary).get();
    if (first != std::ifstream::traits_type::eof() && begins.find(static_cast<char>(first)) == begins.npos)
      fail_usage("{}: the file that is there is no such report; remove it or name another path", path_);
  }
  std::error_code ignored;
  const bool is_new = !fs::exists(path_, ignored);
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) fail_usage("{}: the report cannot be written there", path_);
  if (!is_regular(path_)) return;
  file_.close();
  if (is_new) fs::remove(fs::canonical(path_, ignored), ignored);
}

void ReportFile::write(const std::string& text) {
  if (!file_.is_open()) file_.open(path_, std::ios::binary | std::ios::trunc);
  file_ << text;
  file_.close();
  if (file_) return;
  // Half of a file may be taken for the whole.
  std::error_code ignored;
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
