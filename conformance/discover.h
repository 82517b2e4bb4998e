// Finds the cases under the paths that a user names.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/case.h"

namespace grurun::conformance {

struct Discovery {
  std::vector<Case> cases;  // in the order of the paths, below each by name
  /// Paths that may hide cases or data sets: folders that cannot be read, links that cannot be followed. Each
  /// is a case with a problem, so that a run fails for what it could not see.
  std::vector<Case> unseen;
  /// What looks like a case and is none, by reason ("only a url", ...): told, so that nothing is left out in
  /// silence.
  std::map<std::string, std::vector<std::string>> no_cases;
  std::vector<std::string> links;         // in folders that hold cases: what they lead to lies elsewhere
  std::vector<std::string> without_case;  // paths below which there is none, and nothing unseen
};

/// Each path is a folder that holds cases at any depth, within the folder of another case too, but not within
/// a data set; a case's folder, or a model file (model.onnx of a case, or one of the flat layout).
/// - A case is a folder with model.onnx, or else model.xml (an OpenVINO IR), and folders test_data_set_*,
///   whatever its name; several sets are one case.
///   rtol and atol of a data.json in it hold for the case.
/// - Flat layout: X.onnx beside X_output_K.pb. A data.json in a neighbouring folder (../real/*/) or anywhere
/// below
///   the paths whose url ends in that model's file name gives its rtol and atol.
/// - Any other folder that holds only a data.json with a url is no case.
/// - A folder of official cases whose node cases are Python code is named among no_cases.
/// Symbolic links are followed. A folder is walked once, however many links lead to it; a link to a case is a
/// case. Folders of the system (/proc, /sys, /dev) are not walked.
/// Throws Error(usage) when a path does not exist or names a file that is no case, and at the deadline.
Discovery discover(const std::vector<std::string>& paths,
                   std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt);

}  // namespace grurun::conformance
