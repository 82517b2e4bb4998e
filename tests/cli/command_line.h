// Runs the grurun binary as a user would, in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/places/scratch.h"

namespace grurun::cli::testing {

struct Outcome {
  int code = -1;  // exit code; 128 + number after a signal
  std::string out;
  std::string err;
};

/// A fixture with an empty working folder, removed afterwards.
class CommandLine : public ::testing::Test {
 protected:
  /// Runs `grurun arguments...` in folder(). The binary is $GRURUN_BINARY.
  Outcome grurun(const std::vector<std::string>& arguments) const;

  /// The same through the shell, with $GRURUN for the binary: for redirections and pipes. Returns when all
  /// that was started has ended, the shell's background processes among it.
  Outcome shell(const std::string& script) const;

  std::filesystem::path folder() const { return folder_.folder(); }
  std::string path(const std::string& name) const { return folder_.path(name); }
  void write(const std::string& name, const std::string& bytes) const;
  std::string read(const std::string& name) const;

  /// Writes the model that this text in ONNX's own syntax describes.
  void write_model(const std::string& name, const std::string& text) const;

 private:
  tests::Scratch folder_;
  tests::Scratch streams_;
};

/// One line that starts with "grurun: <kind>: ", holds the fragment, and nothing else on either stream.
::testing::AssertionResult fails(const Outcome& outcome, int code, const std::string& kind,
                                 const std::string& fragment);

}  // namespace grurun::cli::testing
