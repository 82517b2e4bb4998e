// Data sets: values for the inputs of a graph and those expected of its outputs. How files and folders are
// read, bound to inputs and outputs, numbered and written is decided here, for every command alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"

namespace grurun::trial {

struct DataSet {
  std::string name;             // "test_data_set_0"; empty where it is not a folder of a case
  std::vector<Value> inputs;    // by graph input; an empty Value leaves one to its initializer
  std::vector<Value> expected;  // by graph output; none, or an empty Value, where nothing is expected
};

/// A graph input or output, which a value may belong to.
struct Slot {
  std::string name;
  ValueType type;
  bool initialized = false;  // an initializer gives the value when no file does

  /// Whether a run cannot do without a value.
  bool is_needed() const { return !initialized && type.kind != ValueType::Kind::optional; }
};

std::vector<Slot> input_slots(const onnx_io::Graph& graph);
std::vector<Slot> output_slots(const onnx_io::Graph& graph);

/// Whose values files hold. Those of inputs are named input_K.pb in a folder, those of outputs output_K.pb.
enum class Side : std::uint8_t { input, output };

std::string_view file_prefix(Side side);

/// The data set of a folder test_data_set_*: values of both sides, read as by read_values. Throws what that
/// throws.
DataSet read_data_set(const std::string& folder, const onnx_io::Graph& graph);

/// The flat layout's data set: X_output_K.pb beside the model X.onnx, and for each input without an
/// initializer arange(n) / n as float in its declared shape, dimensions without a number taken as 1. Throws
/// Error(invalid_model) when an input is no float tensor or an output has no file.
DataSet make_flat_data_set(const std::string& model_file, const onnx_io::Graph& graph);

/// Reads every argument; result[i] belongs to slots[i] and is empty where no argument gave a value.
///   NAME=FILE        the slot of that name
///   DIR              files <prefix>K.pb (or .npy): slot K; there may be none where no slot needs a value;
///                    Error(usage) where another may have been meant as one, input0.pb
///   FILE.npz, .json  slots by the names in the file
///   FILE.pb, .npy    slots in order
/// Files in order, and those of a folder, count every slot when there are as many; when there are fewer,
/// slots with an initializer are skipped. A folder has a file for every output; of inputs it may leave out
/// those that need no value. flag: what messages name before an argument, "--inputs". Throws Error(usage) for
/// a name that is no slot, a slot given twice, more files than slots and arguments that give no output at
/// all, Error(invalid_model) for a folder without a file that must be there, and what onnx_io::read_values
/// throws, the file as context.
std::vector<Value> read_values(const std::vector<std::string>& arguments, const std::vector<Slot>& slots,
                               Side side, const std::string& flag = "");

/// Whether write_values makes a folder of this path.
bool names_folder(const std::string& path);

/// Writes values[i] under the name of slots[i], leaving out empty ones. A path that ends in .npz or .json is
/// one file, one that ends in .pb or .npy holds the only value; any other is a folder, made when missing,
/// with <prefix>K.pb for each slot K: what read_values reads from it are the same values. Into a folder,
/// slots without a value but with an initializer are not counted; where another has a value in place of its
/// initializer, all are, and those initializers are written too. An optional input without a value is written
/// as one that holds nothing. Returns the files <prefix>K.pb and .npy that were in the folder and are not of
/// these values, sorted: with them it is no data set of the graph. Throws Error(usage) when something cannot
/// be written or several values would go to one .pb or .npy, and what onnx_io::write_values throws.
std::vector<std::string> write_values(const std::string& path, const onnx_io::Graph& graph,
                                      const std::vector<Slot>& slots, std::vector<Value> values, Side side);

/// "'a', 'b' and 'c'"; "none" when empty: names in a message.
std::string quoted_list(const std::vector<std::string>& names);

}  // namespace grurun::trial
