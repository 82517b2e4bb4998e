// Values in files, compared without a model.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trial/compare.h"

namespace grurun::trial {

/// A value of either side; one that only one side has is no agreement.
struct ComparedFile {
  std::string name;  // of the value in an .npz or .json, the file's without its ending in a folder, or ""
  bool in_actual = true, in_expected = true;
  Comparison comparison;                  // where both have it
  std::optional<std::string> unreadable;  // why one of both could not be read

  bool ok() const { return in_actual && in_expected && !unreadable && comparison.ok; }
};

/// Two files, or two folders. A file holds one value (.pb, .npy) or several by name (.npz, .json). Of a
/// folder all such files at any depth count, by their paths in it without the ending: output_0.npy there is
/// output_0.pb here; models and other files do not. Sorted by name. tolerances: by
/// the name of a value. cast: floating tensors of unlike types are compared, in double. Throws Error(usage)
/// where a path is not there, one is a folder and the other is not, and where nothing is to be compared.
std::vector<ComparedFile> compare_files(const std::string& actual, const std::string& expected,
                                        const std::function<Tolerances(const std::string& name)>& tolerances,
                                        bool cast = false);

}  // namespace grurun::trial
