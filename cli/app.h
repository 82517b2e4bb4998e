// CLI11's command line, declared only: including <CLI/CLI.hpp> makes a source compile most of that library
// once more.
#pragma once

namespace CLI {
class Option;
class App;
}  // namespace CLI
