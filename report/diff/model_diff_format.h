// What `grurun diff` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/format.h"
#include "trial/bisecting/bisect.h"
#include "trial/model_diff.h"

namespace grurun::report {

struct ModelDiffReport {
  std::string a, b;  // as they were named
  trial::ModelDiff diff;
  std::optional<std::vector<trial::RunDiff>> runs;  // nullopt: no inputs were asked for
  std::optional<trial::Bisection> parting;          // of B against A, in the first run that differs

  /// 1: outputs differ or, where nothing was run, anything else; 0: nothing does.
  int exit_status() const;
};

/// What differs, a line each, under a heading for each kind; first whether both do the same.
std::string model_diff_text(const ModelDiffReport& report);

/// The same as headings and tables.
std::string model_diff_markdown(const ModelDiffReport& report);

/// {"a", "b", "same_structure", "nodes": {"a", "b", "paired", "only_a", "only_b"}, "opsets", "values" and
/// "attributes": [{"what", "a", "b"}], "weights": {"equal", "other": [{"a", "b", "relation", "same"}],
/// "only_a", "only_b"}, "runs": null | [{"sizes", "same", "failed", "outputs": [{"name", what add_comparison
/// writes}]}], "parting": null | what bisection_json writes}.
std::string model_diff_json(const ModelDiffReport& report);

template <>
std::span<const Format<ModelDiffReport>> formats();

}  // namespace grurun::report
