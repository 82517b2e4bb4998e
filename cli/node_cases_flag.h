// --node-cases: the node cases of a checkout of onnx that holds them as Python code.
#pragma once

#include <string>
#include <vector>

#include "cli/app.h"

namespace grurun::cli {

void add_node_cases_flag(CLI::App& command, std::string& node_cases);

/// Adds the folder of node cases to `paths`: the one that `node_cases` names, or the one that Python makes
/// ("make"); nothing for an empty text. Node cases that could not be made are printed. Throws Error(usage)
/// where no path is a checkout without files of node cases, and where they cannot be made.
void add_node_cases(const std::string& node_cases, std::vector<std::string>& paths);

}  // namespace grurun::cli
