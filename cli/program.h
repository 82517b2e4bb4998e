// The program, for whoever has its arguments: main, and the Python package's command of the same name.
#pragma once

namespace grurun::cli {

/// Does what the arguments say and returns the exit code; argv is as main has it. Every exception is a line
/// on stderr.
int run_program(int argc, char** argv);

}  // namespace grurun::cli
