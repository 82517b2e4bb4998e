// Models as runtimes take them: what the standard forbids and means something all the same is mended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"

namespace grurun::onnx_io {

/// What a file has against the standard, mended when it was read.
struct Mended {
  enum class What : std::uint8_t { order, import_missing };
  What what;
  std::string message;  // what was found, what was done, and what to do about the file
};

struct RunnableModel {
  Model model;
  std::vector<Mended> mended;
};

/// load_model, but nodes that come before what they need are sorted, in bodies and functions too, and domains
/// that nodes use and the model forgot to import are imported (com.microsoft and ai.onnx.ml, at the newest
/// version known here).
RunnableModel load_model_to_run(const std::string& path);

/// The same of parse_model.
RunnableModel parse_model_to_run(const void* data, std::size_t size, const std::string& base_folder);

}  // namespace grurun::onnx_io
