#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/flag_tables.h"
#include "cli/streams.h"
#include "tensor/error.h"

namespace grurun::cli {

namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// As one word of the shells.
std::string in_quotes(const std::string& text) {
  return "'" + replaced(text, "'", R"('\'')") + "'";
}

std::string names_of(const std::vector<FlagRow>& flags) {
  std::string out;
  for (const FlagRow& flag : flags)
    for (const std::string& name : flag.names) out += (out.empty() ? "" : " ") + name;
  return out;
}

std::string names_of(const std::vector<CommandTable>& commands) {
  std::string out = "help";
  for (const CommandTable& command : commands)
    if (!command.name.empty()) out += " " + command.name;
  return out;
}

std::string words(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash_completions(const std::vector<CommandTable>& commands) {
  std::string out =
      "# Completions of grurun for bash, printed by `grurun completions bash`.\n"
      "_grurun() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} flags inner=\n"
      "  case ${COMP_WORDS[1]} in\n"
      "    help)\n"
      "      mapfile -t COMPREPLY < <(compgen -W \"" +
      names_of(commands) + "\" -- \"$word\")\n      return ;;\n";
  for (const CommandTable& command : commands)
    if (!command.name.empty())
      out += fmt::format("    {}) flags=\"{}\"{} ;;\n", command.name, names_of(command.flags),
                         command.inner.empty() ? "" : " inner=\"" + words(command.inner) + "\"");
  out += fmt::format("    *) flags=\"{}\" ;;\n  esac\n", names_of(commands.front().flags));
  out +=
      "  if [[ $word = -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$word\")\n"
      "  else\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
      "      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"" +
      names_of(commands) +
      "\" -- \"$word\")\n    elif [ \"$COMP_CWORD\" = 2 ] && [ -n \"$inner\" ]; then\n"
      "      mapfile -t COMPREPLY < <(compgen -W \"$inner\" -- \"$word\")\n    fi\n  fi\n}\ncomplete -o "
      "filenames -F _grurun grurun\n";
  return out;
}

/// What _arguments takes: '*--set=[help]:DIM=N:_files'.
std::string zsh_rows(const CommandTable& command) {
  const auto plain = [](const std::string& text) {
    return replaced(replaced(replaced(text, "[", R"(\[)"), "]", R"(\])"), ":", R"(\:)");
  };
  std::string out;
  for (const FlagRow& flag : command.flags) {
    for (const std::string& name : flag.names) {
      const char* ending = flag.value.empty() ? "" : name.starts_with("--") ? "=" : "+";
      const std::string value = flag.value.empty() ? "" : ":" + plain(flag.value) + ":_files";
      out += " \\\n        " +
             in_quotes((flag.repeats ? "*" : "") + name + ending + "[" + plain(flag.text) + "]" + value);
    }
  }
  if (!command.arguments.empty())
    out += " \\\n        " + in_quotes("*:" + plain(command.arguments.front().names.front()) + ":_files");
  return out;
}

std::string zsh_completions(const std::vector<CommandTable>& commands) {
  std::string out =
      "#compdef grurun\n# Completions of grurun for zsh, printed by `grurun completions zsh`.\n"
      "_grurun() {\n  local -a commands\n  commands=(\n    'help:What a command does, and its flags'\n";
  for (const CommandTable& command : commands)
    if (!command.name.empty())
      out += "    " + in_quotes(command.name + ":" + replaced(command.text, ":", R"(\:)")) + "\n";
  out +=
      "  )\n"
      "  if (( CURRENT == 2 )); then _describe -t commands command commands; fi\n"
      "  case ${words[2]} in\n"
      "    help) (( CURRENT == 3 )) && _describe -t commands command commands ;;\n";
  for (const CommandTable& command : commands)
    if (!command.name.empty())
      out += fmt::format(
          "    {})\n{}      shift words; (( CURRENT-- ))\n      _arguments{} ;;\n", command.name,
          command.inner.empty()
              ? ""
              : "      if (( CURRENT == 3 )); then compadd " + words(command.inner) + "; return; fi\n",
          zsh_rows(command));
  out +=
      fmt::format("    *)\n      _arguments{} ;;\n  esac\n}}\n_grurun \"$@\"\n", zsh_rows(commands.front()));
  return out;
}

std::string fish_completions(const std::vector<CommandTable>& commands) {
  std::string out = "# Completions of grurun for fish, printed by `grurun completions fish`.\n";
  const auto quoted = [](const std::string& text) {  // fish knows two escapes between single quotes
    return "'" + replaced(replaced(text, "\\", R"(\\)"), "'", R"(\')") + "'";
  };
  out += "complete -c grurun -n __fish_use_subcommand -a help -d 'What a command does, and its flags'\n";
  out += fmt::format("complete -c grurun -n '__fish_seen_subcommand_from help' -f -a '{}'\n",
                     names_of(commands));
  for (const CommandTable& command : commands) {
    if (!command.name.empty())
      out += fmt::format("complete -c grurun -n __fish_use_subcommand -a {} -d {}\n", command.name,
                         quoted(command.text));
    const std::string when = command.name.empty() ? "not __fish_seen_subcommand_from " + names_of(commands)
                                                  : "__fish_seen_subcommand_from " + command.name;
    if (!command.inner.empty())
      out += fmt::format("complete -c grurun -n '{}; and not __fish_seen_subcommand_from {}' -f -a '{}'\n",
                         when, words(command.inner), words(command.inner));
    for (const FlagRow& flag : command.flags) {
      out += fmt::format("complete -c grurun -n '{}'", when);
      for (const std::string& name : flag.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      out += (flag.value.empty() ? "" : " -r") + (" -d " + quoted(flag.text)) + "\n";
    }
  }
  return out;
}

/// Commands within another one are completed like it: with the flags that any of them has.
std::vector<CommandTable> with_inner_flags(const std::vector<CommandTable>& tables) {
  std::vector<CommandTable> out;
  for (const CommandTable& table : tables) {
    if (table.name.find(' ') == table.name.npos) {
      out.push_back(table);
      continue;
    }
    std::vector<FlagRow>& flags = out.back().flags;
    for (const FlagRow& flag : table.flags)
      if (std::ranges::count(flags, flag.names, &FlagRow::names) == 0) flags.push_back(flag);
  }
  return out;
}

struct Shell {
  const char* name;
  std::string (*make)(const std::vector<CommandTable>& commands);
};
constexpr Shell shells[] = {{"bash", bash_completions}, {"zsh", zsh_completions}, {"fish", fish_completions}};

}  // namespace

void add_completions(CLI::App& command, Action& action) {
  const auto name = std::make_shared<std::string>();
  command.add_option("SHELL", *name, "bash, zsh or fish")->required();
  command.footer(R"(
The packages install them. By hand, for bash:

  grurun completions bash > ~/.local/share/bash-completion/completions/grurun)");
  command.callback([&command, &action, name] {
    const std::vector<CommandTable> tables = with_inner_flags(command_tables(command));
    const auto run = [name, tables] {
      require_stdout("completions");
      for (const Shell& shell : shells) {
        if (*name != shell.name) continue;
        print_text(shell.make(tables));
        return 0;
      }
      fail_usage("completions: '{}' is none of bash, zsh and fish", *name);
    };
    action = [run] { return Work{{}, run}; };
  });
}

}  // namespace grurun::cli
