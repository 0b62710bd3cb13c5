// Which commands a command line has declared, and that nobody sees what was left out.
#include "cli/command_table.h"

#include <doctest/doctest.h>

#include <CLI/CLI.hpp>

using namespace mcpac;
using cli::command_table;
using Words = std::vector<std::string>;

namespace {

Words names_of(const CLI::App& app) {
  Words names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

Words names_of(const cli::DeclaredCommands& commands) {
  Words names;
  for (const std::string_view name : commands.names) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

Words all_names() {
  Words names;
  for (const auto& commands : command_table()) {
    for (std::string& name : names_of(commands)) names.push_back(std::move(name));
  }
  return names;
}

Words declared_for(const Words& words) {
  cli::Context context;
  CLI::App app("", "mcpac");
  cli::add_common_options(app, context);
  app.add_option("-C");
  cli::declare_commands(app, context, words);
  return names_of(app);
}

}  // namespace

TEST_SUITE("cli/command_table") {
  TEST_CASE("a row names exactly the commands that its function declares") {
    for (const auto& commands : command_table()) {
      cli::Context context;
      CLI::App app("", "mcpac");
      commands.declare(app, context);
      CHECK(names_of(app) == names_of(commands));
    }
  }

  TEST_CASE("the command that is named is declared, with those of its row, and no other") {
    for (const auto& commands : command_table()) {
      for (const std::string& name : names_of(commands)) {
        CAPTURE(name);
        CHECK(declared_for({name}) == names_of(commands));
        CHECK(declared_for({"--json", "--config", "else.json", name, "doctor", "serve"}) ==
              names_of(commands));
      }
    }
  }

  TEST_CASE("the value of an option is no command") {
    CHECK(declared_for({"--config", "run", "execute"}) == Words{"execute"});
    CHECK(declared_for({"-C", "run", "execute"}) == Words{"execute"});
    CHECK(declared_for({"--config=run", "execute"}) == Words{"execute"});
    // CLI11 takes the next word where nothing follows the sign.
    CHECK(declared_for({"--config=", "run", "execute"}) == Words{"execute"});
    CHECK(declared_for({"--config", "run", "nothing"}) == all_names());
    CHECK(declared_for({"--config", "run"}) == all_names());
    CHECK(declared_for({"--json", "execute"}) == Words{"execute"});
  }

  TEST_CASE("help and what is no command have all commands, in their order") {
    for (const Words& words :
         {Words{}, Words{"--help"}, Words{"-h"}, Words{"execute", "--help"}, Words{"exceute"},
          Words{"exceute", "execute"}, Words{"--json"}, Words{"--", "execute"},
          Words{"execute", "-h"}, Words{""}, Words{"--version", "--config"}}) {
      CHECK(declared_for(words) == all_names());
    }
  }

  TEST_CASE("the version needs no command") {
    CHECK(declared_for({"--version"}).empty());
  }
}
