// What a folder holds.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace grurun::onnx_io {

struct FolderEntry {
  std::string name;
  bool is_link;
  bool is_folder;  // itself; a link is none, whatever it leads to
};

/// Of a folder with more nothing is read.
inline constexpr std::size_t most_entries = 200'000;

/// What is directly in the folder, in no order; what was read until then where it cannot be read, and the
/// number of errno in `failure`, else 0: EOVERFLOW where there are more than `most`, for which
/// Error(usage) is thrown where failure is nullptr. The standard library's iterator ends the program where
/// memory is short.
std::vector<FolderEntry> entries_of(const std::string& folder, int* failure = nullptr,
                                    std::size_t most = most_entries);

/// In words, for behind a colon.
std::string listing_failure(int failure);

/// Folders that are looked into once, before processes are forked that will ask for them: while this lives,
/// entries_of tells of them what it told then. There is one of these at a time.
class KnownFolders {
 public:
  KnownFolders();
  ~KnownFolders();
  KnownFolders(const KnownFolders&) = delete;
  KnownFolders& operator=(const KnownFolders&) = delete;

  /// What it holds; one that cannot be read stays unknown.
  const std::vector<FolderEntry>& look_into(const std::string& folder);
  void forget(const std::string& folder) { listings_.erase(folder); }

 private:
  friend std::vector<FolderEntry> entries_of(const std::string& folder, int* failure, std::size_t most);

  std::unordered_map<std::string, std::vector<FolderEntry>> listings_;
};

/// Adds the paths of the links below a folder, and below folders that they lead to: what they name lies
/// elsewhere.
void add_links_below(const std::string& folder, std::vector<std::string>& paths);

}  // namespace grurun::onnx_io
