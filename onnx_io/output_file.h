// A file that takes the place of the one before at once, when all of it is written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "onnx_io/bytes.h"

namespace grurun::onnx_io {

/// A file beside its place, of a name of its own. A device, a link and a file with several names are written
/// where they are, and so is all else where the folder takes no other file.
class OutputFile {
 public:
  /// Opens it, or takes the one that was opened before (kept_outputs.h). Throws Error(usage) where it cannot
  /// be made.
  explicit OutputFile(const std::string& path);
  /// What is not finished is removed: half of a file may be taken for the whole. Devices and links stay.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int descriptor() const { return file_.get(); }

  /// All of the bytes, behind those before. Throws Error(usage).
  void write(std::string_view bytes);

  /// Puts what is written until now in its place, where the rest is added as it comes. Throws Error(usage)
  /// where that cannot be done.
  void appear();

  /// Puts it in its place. Throws Error(usage) where that cannot be done.
  void finish();

 private:
  std::string path_;
  std::string beside_;               // where it is; path_ where it is written in place
  std::optional<std::size_t> kept_;  // its number among those that were opened before
  Descriptor file_;
  bool is_left_ = false;  // what is there is to be removed at the end
};

/// A file to be made beside the path, of its mode; invalid, with the reason in errno, where there is none:
/// EEXIST for what is written in place. beside: where it is.
Descriptor open_beside(const std::string& path, std::string& beside);

}  // namespace grurun::onnx_io
