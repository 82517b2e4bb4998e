#include "onnx_io/near_files.h"

#include <filesystem>
#include <vector>

#include "tensor/near_match.h"

namespace grurun::onnx_io {

std::string near_files(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr std::size_t most = 10'000;  // of a folder with more the first that the system tells
  const fs::path missing = path.ends_with('/') ? fs::path(path).parent_path() : fs::path(path);
  const fs::path folder = missing.parent_path();
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end && names.size() < most; entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::vector<std::string> near;
  for (const std::string& name : near_matches(missing.filename().string(), names))
    near.push_back((folder / name).string());
  return did_you_mean(near);
}

}  // namespace grurun::onnx_io
