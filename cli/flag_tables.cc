#include "cli/flag_tables.h"

#include <CLI/CLI.hpp>

namespace grurun::cli {

namespace {

FlagRow flag_row(const CLI::Option& option) {
  FlagRow row;
  if (option.get_positional()) {
    row.names.push_back(option.get_name(true));
  } else {
    for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  }
  if (option.get_items_expected_max() > 0) row.value = option.get_type_name();
  row.text = option.get_description();
  row.group = option.get_group();
  row.repeats = option.get_items_expected_max() > 1 ||
                (!option.get_positional() && !row.value.empty() && !option.get_allow_extra_args());
  return row;
}

CommandTable command_table(const CLI::App& app, std::string name) {
  CommandTable table{std::move(name), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty())  // those of no group are not told of
      (option->get_positional() ? table.arguments : table.flags).push_back(flag_row(*option));
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    table.inner.push_back(each->get_name());
  return table;
}

void add_commands_of(const CLI::App& app, const std::string& prefix, std::vector<CommandTable>& tables) {
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    tables.push_back(command_table(*each, prefix + each->get_name()));
    add_commands_of(*each, tables.back().name + " ", tables);
  }
}

}  // namespace

std::vector<CommandTable> command_tables(const CLI::App& command) {
  const CLI::App* root = &command;
  while (root->get_parent() != nullptr) root = root->get_parent();
  std::vector<CommandTable> tables{command_table(*root, "")};
  add_commands_of(*root, "", tables);
  return tables;
}

}  // namespace grurun::cli
