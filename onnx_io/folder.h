// What a folder holds.
#pragma once

#include <string>
#include <vector>

namespace grurun::onnx_io {

struct FolderEntry {
  std::string name;
  bool is_link;
  bool is_folder;  // itself; a link is none, whatever it leads to
};

/// What is directly in the folder, in no order; what was read until then where it cannot be read, and the
/// number of errno in `failure`, else 0. The standard library's iterator ends the program where memory is
/// short.
std::vector<FolderEntry> entries_of(const std::string& folder, int* failure = nullptr);

/// Adds the paths of the links in a folder: what they name lies elsewhere.
void add_links(const std::string& folder, std::vector<std::string>& paths);

}  // namespace grurun::onnx_io
