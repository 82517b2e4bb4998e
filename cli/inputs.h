// Values that files give to a graph's inputs, or that its outputs are expected to have.
#pragma once

#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"

namespace grurun::cli {

/// A graph input or output that a file may name.
struct Slot {
  std::string name;
  ValueType type;
  bool initialized = false;  // an initializer gives the value when no file does
};

std::vector<Slot> input_slots(const onnx_io::Graph& graph);
std::vector<Slot> output_slots(const onnx_io::Graph& graph);

/// Which arguments of a flag belong to what.
struct SlotFiles {
  const char* flag;    // "--inputs", for messages
  const char* noun;    // "input"
  const char* prefix;  // "input_": the files of a data set folder, input_K.pb
  bool complete;       // whether such a folder must have a file for every slot, and arguments give one at all
};
inline constexpr SlotFiles input_files{"--inputs", "input", "input_", false};
inline constexpr SlotFiles expected_files{"--expected", "output", "output_", true};

/// Reads every argument; result[i] belongs to slots[i] and is empty where no argument gave a value.
///   NAME=FILE        the slot of that name
///   DIR              files <prefix>K.pb (or .npy): slot K; there may be none where no slot needs a value;
///                    Error(usage) where another may have been meant as one, input0.pb
///   FILE.npz, .json  slots by the names in the file
///   FILE.pb, .npy    slots in order
/// Files in order, and those of a folder, count every slot when there are as many; when there are fewer,
/// slots with an initializer are skipped. Throws Error(usage) for a name that is no slot, a slot given twice
/// and more files than slots, Error(invalid_model) for a folder that is not complete, and what
/// onnx_io::read_values throws, the file as context.
std::vector<Value> read_slots(const std::vector<std::string>& arguments, const std::vector<Slot>& slots,
                              const SlotFiles& files);

}  // namespace grurun::cli
