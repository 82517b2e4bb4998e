// ONNX's official cases: obtained as files, and the node cases that newer releases hold as Python code.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace grurun::conformance {

/// The key of Discovery::no_cases for folders of official cases without their node cases.
inline constexpr const char* node_cases_as_code =
    "node cases as Python code: --node-cases make runs them, grurun data writes them as files";

/// For a folder backend/test/data of onnx without a folder node: the one of the Python code that makes the
/// node cases (backend/test/case/node). nullopt for any other folder.
std::optional<std::string> node_generators(const std::string& data_folder);

/// The same for what a user names: a checkout of onnx, the folder of the package, or one on the way to the
/// cases.
std::optional<std::string> node_generators_below(const std::string& path);

/// Where official cases come from: a release by its Python package, or a checkout of onnx.
struct OfficialSource {
  std::string release;   // "1.23.2"; empty for a checkout
  std::string checkout;  // or the folder of an installed package
};

struct OfficialCases {
  std::string folder;
  std::vector<std::string> missing;  // node cases that could not be made: a generator or case and the reason
};

/// Writes the cases to a new folder, KIND/NAME as onnx has them: node, simple, light, real and the converted
/// ones. Beside them SHA256SUMS has the digest of each file, as `sha256sum -c` reads it, and known-wrong.txt
/// the cases that contradict the standard, each with the reason. Node cases that are code are made by Python
/// ($GRURUN_PYTHON or python3), with the package onnx of that release, which pip installs into an environment
/// of its own where Python does not have it. Throws Error(usage) where the cases cannot be had.
OfficialCases write_official_cases(const OfficialSource& source, const std::string& folder);

/// The folder of the node cases that the generators of a checkout make, below `cache`. They are made once for
/// each state of the generators. Throws Error(usage) where they cannot be made.
OfficialCases make_node_cases(const std::string& checkout, const std::string& cache);

/// $XDG_CACHE_HOME/grurun, or ~/.cache/grurun. Throws Error(usage) where neither is known.
std::string cache_folder();

}  // namespace grurun::conformance
