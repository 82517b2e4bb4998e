// Where a zip archive is written to: a file that is open already.
#pragma once

#include <zip.h>

#include "onnx_io/output_file.h"

namespace grurun::onnx_io {

/// What libzip writes a new archive to, for zip_open_from_source: `file`, which must stay until the archive
/// is closed and is not finished then. Nothing is opened by name, and nothing read.
class ZipTarget {
 public:
  explicit ZipTarget(OutputFile& file) : file_(file) { zip_error_init(&error_); }
  ~ZipTarget() { zip_error_fini(&error_); }
  ZipTarget(const ZipTarget&) = delete;
  ZipTarget& operator=(const ZipTarget&) = delete;

  /// nullptr where there is no memory for it. Whoever opens an archive of it owns it.
  zip_source_t* source();

 private:
  static zip_int64_t act(void* self, void* data, zip_uint64_t size, zip_source_cmd_t command);
  zip_int64_t write(const void* data, zip_uint64_t size);
  zip_int64_t seek(void* where, zip_uint64_t size);

  OutputFile& file_;
  zip_uint64_t at_ = 0;
  zip_uint64_t end_ = 0;
  zip_error_t error_;
};

}  // namespace grurun::onnx_io
