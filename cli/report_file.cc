#include "cli/report_file.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "onnx_io/bytes.h"
#include "onnx_io/kept_outputs.h"
#include "report/format.h"

namespace grurun::cli {

namespace fs = std::filesystem;

namespace {

bool is_regular(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::status(path, ignored));
}

/// The first 8 kB, where the path is a file's: to open a pipe would wait for its other end.
std::string head_of(const std::string& path) {
  if (!is_regular(path)) return {};
  std::string head(8192, '\0');
  std::ifstream file(path, std::ios::binary);
  head.resize(static_cast<std::size_t>(file.read(head.data(), std::ssize(head)).gcount()));
  return head;
}

void remove_old_report(const std::string& path) {
  if (is_shared_summary(path)) return;
  if (!report::is_report(head_of(path))) return;
  std::error_code error;
  const fs::path file = fs::canonical(path, error);  // a link to it stays
  if (!error && fs::remove(file, error)) return;
  fs::resize_file(path, 0, error);
}

bool is_text(std::string_view bytes) {
  return std::ranges::none_of(bytes,
                              [](unsigned char c) { return c < ' ' && !std::isspace(c) && c != '\33'; });
}

}  // namespace

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::ranges::any_of(
      arguments, [](const std::string& argument) { return argument == "--help" || argument == "-h"; });
}

void remove_old_reports(const std::vector<std::string>& arguments) {
  if (asks_for_help(arguments)) return;
  // What is named twice is read, too, which is refused later and must not be lost.
  const auto remove_unless_read = [&](std::string_view path) {
    const auto is_it = [&](const std::string& argument) {
      return argument == path || argument.ends_with("=" + std::string(path));
    };
    if (std::ranges::count_if(arguments, is_it) < 2) remove_old_report(std::string(path));
  };
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (!argument.starts_with("--")) continue;
    const std::size_t equals = argument.find('=');
    const std::string_view flag = argument.substr(2, equals == argument.npos ? equals : equals - 2);
    std::string_view value = i + 1 < arguments.size() ? std::string_view(arguments[i + 1]) : "";
    if (equals != argument.npos) value = argument.substr(equals + 1);
    if (flag == "report") {
      remove_unless_read(value.substr(value.find('=') + 1));
    } else if (report::is_format(flag)) {
      remove_unless_read(value);
    }
  }
}

bool is_shared_summary(const std::string& path) {
  const char* summary = std::getenv("GITHUB_STEP_SUMMARY");
  return summary != nullptr && *summary != '\0' && path == summary;
}

ReportFile::ReportFile(const std::string& path, std::string_view begins)
    : path_(path), appends_(is_shared_summary(path)) {
  if (appends_) begins = {};
  const std::string head = head_of(path);
  if (!head.empty() && (begins.empty() ? !is_text(head) : head.front() != begins.front()))
    fail_usage("{}: the file that is there is no such report; remove it or name another path", path_);
  // It was opened before a sandbox was entered. What nothing marks as a report could not be removed until
  // now.
  if (const auto kept = appends_ ? std::nullopt : onnx_io::kept_output(path_)) {
    if (!onnx_io::is_open(*kept)) fail_usage("{}: the report cannot be written there", path_);
    if (!head.empty() && begins.empty()) onnx_io::remove_before_kept(*kept);
    return;
  }
  std::error_code ignored;
  const bool is_new = !fs::exists(path_, ignored);
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) fail_usage("{}: the report cannot be written there", path_);
  if (!is_regular(path_) || appends_) return;
  file_.close();
  // Nor could it here.
  if (is_new || begins.empty()) fs::remove(fs::canonical(path_, ignored), ignored);
}

void ReportFile::write(const std::string& text) {
  if (!file_.is_open()) {
    try {
      return onnx_io::write_file(path_, {text});
    } catch (const Error&) {
      fail_usage("{}: the report could not be written", path_);
    }
  }
  file_ << text;
  file_.close();
  if (!file_) fail_usage("{}: the report could not be written", path_);
}

void ReportFile::append(const std::string& text, std::optional<Error>& failed) {
  const auto note = [&] {
    if (!failed) failed = Error(ErrorKind::usage, path_ + ": the report could not be written");
  };
  if (file_.is_open()) {
    file_ << text << std::flush;
    if (!file_) note();
    return;
  }
  if (failed) return;
  try {
    const bool is_new = growing_ == nullptr;
    if (is_new) growing_ = std::make_unique<onnx_io::OutputFile>(path_);
    growing_->write(text);
    if (is_new) growing_->appear();
  } catch (const Error&) {
    note();
  }
}

void ReportFile::write(const std::string& text, std::optional<Error>& failed) {
  try {
    write(text);
  } catch (const Error& error) {
    if (!failed) failed = error;
  }
}

}  // namespace grurun::cli
