#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/flag_values.h"
#include "cli/new_folder.h"
#include "cli/streams.h"
#include "conformance/discover.h"
#include "conformance/known_wrong.h"
#include "conformance/official/official_cases.h"
#include "tensor/error.h"
#include "tensor/printable.h"

namespace grurun::cli {
namespace {

using namespace grurun::conformance;

struct DataFlags {
  OfficialSource source;
  std::string folder;
};

void check(const DataFlags& flags) {
  if (flags.source.release.empty() == flags.source.checkout.empty())
    fail_usage("data: give either --release VERSION or --onnx CHECKOUT");
  if (flags.source.release.find_first_not_of("0123456789.") != std::string::npos)
    fail_usage("--release takes the version of a release of onnx, such as 1.23.2, not {}",
               flags.source.release);
  std::error_code ignored;
  if (!flags.source.checkout.empty() && !std::filesystem::is_directory(flags.source.checkout, ignored))
    fail_usage("--onnx {}: no such folder", flags.source.checkout);
  require_new_folder("-o", flags.folder);
}

/// Cases of each kind, and how many contradict the standard.
void print_contents(const OfficialCases& made) {
  std::map<std::string, std::size_t> kinds;
  std::size_t wrong = 0;
  const Discovery found = discover({made.folder});
  for (const Case& test : found.cases) {
    ++kinds[test.kind];
    wrong += find_known_wrong(test) != nullptr ? 1 : 0;
  }
  std::string list;
  for (const auto& [kind, count] : kinds)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", printable(kind), count);
  print("{}: {} cases ({})\n", printable(made.folder), found.cases.size(), list);
  if (wrong > 0) print("{} of them contradict the standard: known-wrong.txt says why\n", wrong);
}

int run(const DataFlags& flags) {
  check(flags);
  const OfficialCases made = write_official_cases(flags.source, flags.folder);
  print_contents(made);
  constexpr std::size_t most = 50;
  for (std::size_t i = 0; i < std::min(made.missing.size(), most); ++i)
    tell("node case not made: {}\n", printable(made.missing[i]));
  if (made.missing.size() > most)
    tell("and {} more: {}/node/incomplete.txt\n", made.missing.size() - most, printable(made.folder));
  return made.missing.empty() ? 0 : 1;
}

constexpr const char* data_footer = R"(
Writes ONNX's official cases as files. Since August 2026 a checkout of onnx, and since 1.23 its Python package, hold the node cases as
Python code, which this command runs. SHA256SUMS has the digest of each file. known-wrong.txt has the cases that contradict the standard.

  grurun data --release 1.23.2 -o cases        the cases of a release, back to 1.2
  grurun data --onnx onnx -o cases             those of a checkout

Python is $GRURUN_PYTHON, or python3. Where it does not have the package onnx of that release, pip installs it into an environment that
is removed afterwards.

Exit codes: 0 all cases are written; 1 some node cases could not be made; 2 usage, or the cases cannot be had; 70 internal error.)";

}  // namespace

void add_data(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<DataFlags>();
  command
      .add_option("--release", flags->source.release, "A release of onnx: 1.2.1 to 1.23.2, or a newer one")
      ->type_name("VERSION");
  command
      .add_option("--onnx", flags->source.checkout,
                  "A checkout of onnx, or the folder of its installed package")
      ->type_name("CHECKOUT");
  command.add_option("-o,--output", flags->folder, "The folder of the cases, a new or empty one")
      ->type_name("DIR")
      ->required();
  command.footer(data_footer);
  command.callback([flags, &action] {
    // It starts Python.
    action = [flags] { return Work{{"off"}, [flags] { return run(*flags); }}; };
  });
}

}  // namespace grurun::cli
