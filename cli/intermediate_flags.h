// The flags of a run that look at values between the nodes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/path_conflicts.h"
#include "onnx_io/models/model.h"
#include "onnx_io/scratch_folder.h"
#include "report/run/run_format.h"
#include "trial/bisecting/bisect.h"

namespace grurun::cli {

struct IntermediateFlags {
  std::string save;                  // a folder, .npz or .json
  std::string expected;              // likewise
  std::string names;                 // of those that are expected
  std::vector<std::string> values;   // patterns of names that are saved
  std::vector<std::string> printed;  // names

  bool any() const { return !save.empty() || !expected.empty() || !printed.empty(); }
};

/// --save-intermediates, --values, --expected-intermediates, --names, --print.
void add_intermediate_flags(CLI::App& app, IntermediateFlags& flags);

/// Throws Error(usage) for a file of another format and for flags that say nothing without another.
void require_fitting(const IntermediateFlags& flags);

void add_read_paths(const IntermediateFlags& flags, std::vector<NamedPath>& read);

/// Where values wait until a .npz is written of them, on the disk that gets it; nullptr where nothing waits.
/// Throws Error(usage) where no folder can be made.
std::unique_ptr<onnx_io::ScratchFolder> scratch_for(const IntermediateFlags& flags);

/// Runs the model node by node, writes what is to be saved as it is made, compares it and puts both in the
/// report. Throws Error(usage) for a value that the model does not have, and what a run throws.
void look_between(const IntermediateFlags& flags, const onnx_io::Model& model,
                  const std::vector<Value>& inputs, const trial::BisectOptions& options,
                  const onnx_io::ScratchFolder* scratch, report::RunReport& report);

}  // namespace grurun::cli
