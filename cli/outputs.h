// Where the values of a run are written, and how near outputs must be to what is expected.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs.h"
#include "tensor/value.h"
#include "trial/tolerance.h"

namespace grurun::cli {

/// Writes values[i] under the name of slots[i], leaving out empty ones. A path that ends in .npz or .json is
/// one file, one that ends in .pb or .npy holds the only value; any other is a folder, made when missing,
/// with <prefix>K.pb for each slot K, empty ones with an initializer not counted; other files <prefix>K.pb
/// and .npy in it are told of on stderr. Throws Error(usage) when it cannot be written or several values
/// would go to one .pb or .npy, and what onnx_io::write_values throws.
void save_values(const std::string& path, const std::vector<Slot>& slots, const std::vector<Value>& values,
                 const std::string& prefix);

/// The same for the inputs of a run. Into a folder, which trial::read_data_set is to read, every
/// initializer of an input is written where one of them was replaced.
void save_inputs(const std::string& path, const onnx_io::Graph& graph, const std::vector<Slot>& slots,
                 std::vector<Value> values);

/// Whether save_values makes a folder of this path.
bool names_folder(const std::string& path);

/// Throws Error(usage), with the flag's name, for "-" and for a name with an ending of no format of values,
/// which rather means a file than a folder; one that is there, and a path that ends with '/', are folders
/// whatever their names.
void require_format(const char* flag, const std::string& path);

/// "1e-3" for every output, "Y:1e-3" for one: the flag values of --rtol and --atol.
struct ToleranceFlags {
  std::vector<std::string> rtol;
  std::vector<std::string> atol;
};

/// Tolerances by output; one with a name goes before one for all. Throws Error(usage) for a name that no
/// output has.
std::vector<trial::Tolerances> tolerances_for(const ToleranceFlags& flags, const std::vector<Slot>& outputs);

}  // namespace grurun::cli
