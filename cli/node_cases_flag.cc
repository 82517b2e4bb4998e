#include "cli/node_cases_flag.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "cli/streams.h"
#include "conformance/official/official_cases.h"
#include "tensor/error.h"
#include "tensor/printable.h"

namespace grurun::cli {

void add_node_cases_flag(CLI::App& command, std::string& node_cases) {
  command
      .add_option("--node-cases", node_cases,
                  "Node cases for a checkout of onnx that holds them as Python code: the folder that grurun "
                  "data wrote, or make: Python makes them once, in ~/.cache/grurun")
      ->type_name("DIR|make");
}

void add_node_cases(const std::string& node_cases, std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  if (node_cases.empty()) return;
  std::optional<std::string> generators;
  for (const std::string& path : paths)
    if (!generators) generators = conformance::node_generators_below(path);
  if (!generators)
    fail_usage(
        "--node-cases: no PATH is a checkout of onnx whose node cases are Python code; give the checkout's "
        "folder, or leave out --node-cases");
  if (node_cases == "make") {
    const conformance::OfficialCases made =
        conformance::make_node_cases(*generators, conformance::cache_folder());
    for (const std::string& line : made.missing) tell("node case not made: {}\n", printable(line));
    paths.push_back(made.folder);
    return;
  }
  const fs::path folder(node_cases);
  std::error_code ignored;
  paths.push_back((fs::is_directory(folder / "node", ignored) ? folder / "node" : folder).string());
}

}  // namespace grurun::cli
