// SPDX-License-Identifier: Apache-2.0

#include "cli/command_table.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace mcpac::cli {
namespace {

constexpr DeclaredCommands kCommands[] = {
    {{"init"}, add_init},
    {{"server"}, add_server},
    {{"generate"}, add_generate},
    {{"lock"}, add_lock},
    {{"tools"}, add_tools},
    {{"prompt"}, add_prompt},
    {{"permissions"}, add_permissions},
    {{"policy"}, add_policy},
    {{"execute"}, add_execute},
    {{"run"}, add_run},
    {{"audit"}, add_audit},
    {{"runs"}, add_runs},
    {{"changes"}, add_changes},
    {{"approvals"}, add_approvals},
    {{"up", "down", "ps", "resident-worker"}, add_resident},
    {{"serve"}, add_serve},
    {{"replay"}, add_replay},
    {{"connect"}, add_connect},
    {{"token"}, add_token},
    {{"login", "logout"}, add_login},
    {{"info"}, add_info},
    {{"doctor"}, add_doctor},
};

bool has(const DeclaredCommands& commands, std::string_view name) {
  return !name.empty() && std::ranges::find(commands.names, name) != commands.names.end();
}

bool is_help(const std::string& word) {
  return word == "-h" || word.starts_with("--help");
}

// Whether the word is an option of mcpac itself whose value is the next word.
bool wants_next_word(const CLI::App& app, const std::string& word) {
  const auto end = word.find('=');
  if (end != std::string::npos && end + 1 < word.size()) return false;
  const CLI::Option* option = app.get_option_no_throw(word.substr(0, end));
  return option != nullptr && option->get_items_expected_min() > 0;
}

// The word that stands where a command does; empty where none does.
std::string_view command_word(const CLI::App& app, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (!words[i].starts_with('-')) return words[i];
    if (wants_next_word(app, words[i])) ++i;
  }
  return {};
}

}  // namespace

std::span<const DeclaredCommands> command_table() {
  return kCommands;
}

void declare_commands(CLI::App& app, Context& context, const std::vector<std::string>& words) {
  if (words.size() == 1 && words.front() == "--version") return;
  const auto named = std::ranges::find_if(kCommands, [&](const DeclaredCommands& commands) {
    return has(commands, command_word(app, words));
  });
  if (named != std::end(kCommands) && std::ranges::none_of(words, is_help))
    return named->declare(app, context);
  for (const DeclaredCommands& commands : kCommands) commands.declare(app, context);
}

}  // namespace mcpac::cli
