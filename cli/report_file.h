// A report that is written to a file when the work is done.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/error.h"

namespace grurun::cli {

/// Opened before the work, so that a place that cannot be written is known in time; what is there already
/// stays until the report takes its place, and a file that is new goes again where no report comes of the
/// work.
class ReportFile {
 public:
  /// No file for an empty path. Throws Error(usage) when it cannot be opened, and where a file is there that
  /// does not begin with one of these characters, as such reports do: it is something else.
  ReportFile(const std::string& path, std::string_view begins);
  ~ReportFile();

  bool is_open() const { return file_.is_open(); }

  /// Writes the report and closes the file. Throws Error(usage) when it could not be written whole; half of
  /// it is not left behind.
  void write(const std::string& text);
  /// Keeps the error, unless there is one already, for when all else is written and told.
  void write(const std::string& text, std::optional<Error>& failed);

 private:
  std::string path_;
  std::ofstream file_;
  bool is_new_ = false;
};

}  // namespace grurun::cli
