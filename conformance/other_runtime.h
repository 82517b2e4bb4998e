// Outputs that another runtime made, to be judged in the place of the engine's: read from a folder, or made
// by a command.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "conformance/case.h"
#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/data_set.h"

namespace grurun::conformance {

struct OtherRuntime {
  std::string folder;                // that it left its outputs in; empty: they are made by the command
  std::vector<std::string> command;  // words, with {model}, {inputs} and {outputs} in them
  std::size_t max_memory = 0;        // bytes that a process of the command may have; 0: no limit of ours
  bool engine_expects = false;       // what is expected are the engine's outputs, not the case's files
  /// The command is asked for values between the nodes: its environment has GRURUN_VALUES_BETWEEN=1.
  bool values_between = false;
};

/// The outputs of one data set, by graph output; or what keeps them from being judged.
struct OtherOutputs {
  std::vector<Value> values;
  Verdict verdict = Verdict::passed;  // missing, or how the command failed: then there are no values
  std::string message;
};

/// Words of a command line as a shell takes it apart: blanks part them; '...' and "..." hold blanks, a
/// backslash holds the character behind it. Throws Error(usage) where a quote has no end, where {model} or
/// {outputs} is nowhere, and where the first word is no program that can be run.
std::vector<std::string> parse_command(const std::string& flag, const std::string& text);

/// The folder below `folder` that has the outputs of a case: the end of the case's path of three, two or one
/// names (onnx-1.22.0/node/test_x, node/test_x, test_x); empty where there is none.
std::string folder_of_outputs(const std::string& folder, const Case& test);

/// Outputs of a data set: output_K.pb or .npy in the folder NAME of it, or the only .npz there or NAME.npz,
/// by name. `folder` is that of the case; set: "test_data_set_0", or empty in the flat layout, where the
/// files may lie in `folder` itself. An error.txt there says what the runtime failed of. Throws what
/// trial::read_values throws.
OtherOutputs read_outputs(const std::string& folder, const std::string& set, const onnx_io::Graph& graph);

/// Runs the command for one data set and reads what it leaves. inputs: the folder of input_K.pb, empty in the
/// flat layout, where the set's values are written to one. scratch: a folder to be made, used and removed.
/// Exit codes are those of grurun: 3 is invalid, 4 unsupported, 5 timed-out, any other but 0 crashed. What
/// still runs at the deadline is killed, with all processes of its group.
OtherOutputs run_command(const OtherRuntime& runtime, const Case& test, const std::string& inputs,
                         const trial::DataSet& set, const onnx_io::Graph& graph, const std::string& scratch,
                         std::optional<std::chrono::steady_clock::time_point> deadline);

}  // namespace grurun::conformance
