// Folders of the system, which no walk enters: what is there has no end, is made up as it is read, or waits.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>

namespace grurun::onnx_io {

/// The file systems that are mounted at /proc, /sys and /dev and below, but for /dev/shm, which holds files
/// of users.
class SystemFolders {
 public:
  SystemFolders();

  /// A walk begins at the path. Throws Error(usage) for a folder of the system.
  void begin(const std::string& path);

  /// Whether a folder that the walk comes to, by a link perhaps, is theirs.
  bool hold(const std::string& path);

 private:
  std::set<dev_t> of_users_, of_system_;  // devices that are known
};

}  // namespace grurun::onnx_io
