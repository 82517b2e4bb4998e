// -o DIR: a folder that a command makes.
#pragma once

#include <string>

namespace grurun::cli {

/// Throws Error(usage) where the path is there and holds anything, or is no folder: nothing is lost.
void require_new_folder(const std::string& flag, const std::string& path);

}  // namespace grurun::cli
