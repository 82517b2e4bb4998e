// The flags of all commands as plain tables, for what is made from them: completions and the man page.
#pragma once

#include <string>
#include <vector>

#include "cli/app.h"

namespace grurun::cli {

struct FlagRow {
  std::vector<std::string> names;  // "-j", "--jobs"; of an argument without a flag its name alone
  std::string value;               // "FILE", "N"; empty: the flag takes none
  std::string text;
  std::string group;
  bool repeats = false;
};

struct CommandTable {
  std::string name;  // empty: the command without a name; of one within another "report show"
  std::string text;
  std::string footer;
  std::vector<FlagRow> flags;
  std::vector<FlagRow> arguments;
  std::vector<std::string> inner{};  // names of the commands within it
};

/// Of the application that `command` is a subcommand of: first the command without a name, then all others,
/// and behind each those within it.
std::vector<CommandTable> command_tables(const CLI::App& command);

}  // namespace grurun::cli
