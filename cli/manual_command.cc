#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/flag_tables.h"
#include "cli/streams.h"
#include "cli/version.h"

namespace grurun::cli {

namespace {

/// Text of roff: a dash stays one, and nothing at the start of a line is taken for a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string manual_flag(const FlagRow& flag) {
  std::string names;
  for (const std::string& name : flag.names)
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
  if (!flag.value.empty()) names += fmt::format(" \\fI{}\\fR", roff(flag.value));
  return fmt::format(".TP\n{}\n{}\n", names, roff(flag.text));
}

/// Indented lines are examples, and stay as they are.
std::string manual_footer(const std::string& footer) {
  std::string out = ".PP\n";
  bool example = false;
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("  ");
    if (indented != example) out += indented ? ".PP\n.nf\n" : ".fi\n";
    example = indented;
    out += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  return out + (example ? ".fi\n" : "");
}

std::string synopsis(const CommandTable& command) {
  std::string out = "\\fBgrurun" + std::string(command.name.empty() ? "" : " ") + command.name + "\\fR";
  out += " [\\fIOPTIONS\\fR]";
  for (const FlagRow& argument : command.arguments)
    out += fmt::format(" \\fI{}\\fR{}", roff(argument.names.front()), argument.repeats ? "..." : "");
  return out;
}

std::string manual_flags(const CommandTable& command, const char* heading) {
  std::string out;
  std::string group;
  for (const FlagRow& argument : command.arguments) out += manual_flag(argument);
  for (const FlagRow& flag : command.flags) {
    if (heading != nullptr && flag.group != group)
      out += fmt::format("{} \"{}\"\n", heading, roff(flag.group));
    group = flag.group;
    out += manual_flag(flag);
  }
  return out;
}

std::string manual(const std::vector<CommandTable>& commands) {
  const std::string line = version_line();
  std::string out = fmt::format(
      ".TH GRURUN 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\n"
      "grurun \\- runs ONNX models and tests them against the standard\n.SH SYNOPSIS\n",
      roff(line.substr(0, line.find('\n'))));
  for (const CommandTable& command : commands) out += synopsis(command) + "\n.br\n";
  const CommandTable& run = commands.front();
  out += ".SH DESCRIPTION\n" + roff(run.text) + "\n.SH OPTIONS\n" + manual_flags(run, ".SS");
  out += manual_footer(run.footer) + ".SH COMMANDS\n";
  for (std::size_t i = 1; i < commands.size(); ++i) {
    const CommandTable& command = commands[i];
    out += ".SS \"" + synopsis(command) + "\"\n" + roff(command.text) + ".\n" +
           manual_flags(command, nullptr) + manual_footer(command.footer);
  }
  return out;
}

}  // namespace

void add_manual(CLI::App& command, Action& action) {
  command.footer("\n  grurun manual | man -l -");
  command.callback([&command, &action] {
    const std::vector<CommandTable> tables = command_tables(command);
    const auto run = [tables] {
      require_stdout("manual");
      print_text(manual(tables));
      return 0;
    };
    action = [run] { return Work{{}, run}; };
  });
}

}  // namespace grurun::cli
