#include "onnx_io/values/zip_target.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace grurun::onnx_io {

zip_source_t* ZipTarget::source() {
  return zip_source_function_create(act, this, &error_);
}

zip_int64_t ZipTarget::act(void* self, void* data, zip_uint64_t size, zip_source_cmd_t command) {
  auto& target = *static_cast<ZipTarget*>(self);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return ZIP_SOURCE_SUPPORTS_WRITABLE;
    case ZIP_SOURCE_STAT: {
      // An empty file, which the archive replaces.
      auto* const info = static_cast<zip_stat_t*>(data);
      zip_stat_init(info);
      info->size = 0;
      info->valid = ZIP_STAT_SIZE;
      return sizeof *info;
    }
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&target.error_, data, size);
    case ZIP_SOURCE_WRITE:
      return target.write(data, size);
    case ZIP_SOURCE_SEEK_WRITE:
      return target.seek(data, size);
    case ZIP_SOURCE_TELL_WRITE:
      return static_cast<zip_int64_t>(target.at_);
    default:
      return 0;  // there is nothing to read, to begin, to put in place or to free
  }
}

zip_int64_t ZipTarget::write(const void* data, zip_uint64_t size) {
  zip_uint64_t done = 0;
  while (done < size) {
    const ssize_t put = ::pwrite(file_.descriptor(), static_cast<const char*>(data) + done, size - done,
                                 static_cast<off_t>(at_ + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      zip_error_set(&error_, ZIP_ER_WRITE, errno);
      return -1;
    }
    done += static_cast<zip_uint64_t>(put);
  }
  at_ += size;
  end_ = std::max(end_, at_);
  return static_cast<zip_int64_t>(size);
}

zip_int64_t ZipTarget::seek(void* where, zip_uint64_t size) {
  const zip_int64_t to = zip_source_seek_compute_offset(at_, end_, where, size, &error_);
  if (to < 0) return -1;
  at_ = static_cast<zip_uint64_t>(to);
  return 0;
}

}  // namespace grurun::onnx_io
