// Files that a process opens before it gives up the right to make any (a sandbox), and another process that
// puts them in their places for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/bytes.h"

namespace grurun::onnx_io {

struct OutputPlaces {
  std::vector<std::string> files;    // each is opened beside its place, as OutputFile does
  std::vector<std::string> folders;  // made where they are not there, removed at the end where they are empty
  std::vector<std::string> scratch;  // folders that are removed at the end with all that is in them
};

/// Opens the files, makes the folders, and starts the process that keeps them: it replaces a place by the
/// file of it when it is asked to, and nothing else. When this process ends, however it does, it removes what
/// took no place. To be called once, where there is no other thread. Returns the files that were not opened
/// since they are written where they are. Throws Error(limit) where no process can be started.
std::vector<std::string> keep_outputs(const OutputPlaces& places);

/// The number of the path among the files that are kept, if it is one.
std::optional<std::size_t> kept_output(const std::string& path);

/// Whether it could be opened.
bool is_open(std::size_t number);

/// Invalid, with the reason in errno, where it could not be opened, or was taken before.
Descriptor take_kept(std::size_t number);

/// Puts the file in its place. False, with the reason in errno, where that fails.
bool replace_by_kept(std::size_t number);

/// Removes the file.
void drop_kept(std::size_t number);

/// Removes what is in the place until the file takes it.
void remove_before_kept(std::size_t number);

/// To be called when the process is about to end: returns when what took no place is removed.
void end_kept_outputs();

}  // namespace grurun::onnx_io
