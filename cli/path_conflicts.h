// Paths that a command must not write, since it writes or reads them otherwise.
#pragma once

#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "trial/data_set.h"

namespace grurun::cli {

/// A flag, or what else names a path, and the path.
struct NamedPath {
  std::string flag;
  std::string path;
};

std::vector<std::string> paths_of(const std::vector<NamedPath>& named);

/// Throws Error(usage), with the flag's name, for "-" and for a name with an ending of no format of values,
/// which rather means a file than a folder; one that is there, and a path that ends with '/', are folders
/// whatever their names.
void require_format(const char* flag, const std::string& path);

/// Throws Error(usage) when two of the flags would write the same file. A path that is empty or "-", or names
/// a folder, a device or a pipe, is none.
void require_distinct(const std::vector<NamedPath>& paths);

/// Throws Error(usage) when one that is written is one that is read, by whatever name or link, which would be
/// lost. The argument NAME=FILE of --inputs and --expected is FILE; of a folder the files of a data set in it
/// are read.
void require_unread(const std::vector<NamedPath>& written, const std::vector<NamedPath>& read);

/// The model's file and those that its external data lie in.
std::vector<NamedPath> files_of(const onnx_io::Model& model);

/// The same where `folder` gets the files of one side of a data set, and one that it has is read.
void require_unread_folder(const NamedPath& folder, trial::Side side, const std::vector<NamedPath>& read);

}  // namespace grurun::cli
