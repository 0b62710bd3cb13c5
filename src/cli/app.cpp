// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <system_error>

#include <CLI/CLI.hpp>

#include "cli/command_table.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "core/ascii.h"
#include "core/nearest_name.h"
#include "core/printable.h"
#include "core/shell_quote.h"

namespace mcpac::cli {
namespace {

// Check of standard output at the end of every command.
//
// A reader that has had enough (`mcpac … | head`) is no error; a disk that is full is one, and else
// missing output would go unnoticed.

// As of a program that SIGPIPE ended.
inline constexpr int kNobodyReads = 128 + 13;

// Whether writing to standard output or standard error failed before.
[[nodiscard]] bool has_lost_output();

// Flushes buffered output. Where its reader is gone the exit code becomes kNobodyReads, where
// it cannot be written there is an error (kFileUnwritable); an exit code that says something else
// stays.
void finish_output(Context& context);

static_assert(kNobodyReads == 128 + SIGPIPE);

// The number of a write that failed may be long gone; that the reader is, stays.
bool has_no_reader(int descriptor) {
  pollfd pipe{descriptor, POLLOUT, 0};
  return ::poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0;
}

bool has_lost_output() {
  return std::ferror(stdout) != 0 || std::ferror(stderr) != 0;
}

void finish_output(Context& context) {
  errno = 0;
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written) return;
  const int error = errno;
  const int code = context.exit_code;
  if (has_no_reader(STDOUT_FILENO)) {
    context.exit_code = kNobodyReads;
  } else {
    context.fail({ErrorId::kFileUnwritable, "standard output cannot be written", "standard output",
                  error == 0 ? "" : std::system_category().message(error),
                  "what the command printed is not whole; run it again"});
  }
  if (code != 0) context.exit_code = code;
}

}  // namespace

namespace {

void declare_own_options(CLI::App& app, Context& context) {
  app.require_subcommand(1);
  add_common_options(app, context);  // they may stand before the command as well as after it
  app.add_option_function<std::string>(
         "-C", [](const std::string&) {},
         "do all as if started in FOLDER; stands before the command")
      ->type_name("FOLDER")
      ->check([](const std::string&) { return "stands first: mcpac -C FOLDER COMMAND"; });
  app.set_version_flag("--version", fmt::format("mcpac {}", MCPAC_VERSION));
  app.failure_message(CLI::FailureMessage::help);
}

bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") return false;
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

// The deepest command that was named, for messages about what came after it.
const CLI::App& named_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : named_command(*chosen.front());
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name()
                           : fmt::format("{} {}", full_name(*parent), command.get_name());
}

// The words of the command line that no command took.
std::vector<std::string> words_after_commands(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const CLI::App* at = &app;
  for (auto chosen = at->get_subcommands(); !chosen.empty(); chosen = at->get_subcommands()) {
    at = chosen.front();
    const auto found = std::ranges::find(words, at->get_name());
    if (found != words.end()) words.erase(found);
  }
  return words;
}

// Where a command was to be named: those that there are, and the word that is none of them.
struct CommandChoice {
  std::vector<std::string> names;
  std::string stray;  // empty: none was named
};

CommandChoice choice_after(const CLI::App& command, const std::vector<std::string>& words) {
  CommandChoice choice;
  for (const auto* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_group().empty())
      choice.names.push_back(sub->get_name());  // else for mcpac itself
  }
  const auto stray =
      std::ranges::find_if(words, [](const std::string& word) { return !word.starts_with('-'); });
  if (stray != words.end()) choice.stray = *stray;
  return choice;
}

// The first word before "--" that looks like an option and is none of the command or of those above
// it; empty: there is none.
std::string unknown_option(const CLI::App& command, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
      for (const auto& name : option->get_snames()) names.push_back("-" + name);
    }
  }
  for (const std::string& word : words) {
    if (word == "--") break;
    const bool is_long = word.starts_with("--");
    const std::string option = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    if (option.size() < 2 || option[0] != '-' || is_digit(option[1])) continue;
    if (std::ranges::find(names, option) == names.end()) return is_long ? option : word;
  }
  return {};
}

// Whether words behind "--" are a command of its own, which was given without that.
bool wants_two_dashes(const CLI::App& command, const std::vector<std::string>& words) {
  return command.get_option_no_throw("COMMAND") != nullptr &&
         std::ranges::find(words, "--") == words.end();
}

// "A subcommand is required" does not help after a typo: say which there are.
std::string what_went_wrong(const CLI::App& command, const CLI::ParseError& error,
                            const CommandChoice& choice, const std::vector<std::string>& words) {
  if (choice.names.empty()) {
    const bool is_left_over = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const std::string option = is_left_over ? unknown_option(command, words) : std::string();
    return option.empty()
               ? std::string(error.what())
               : fmt::format("{} has no option '{}'", full_name(command), printable(option, 100));
  }
  const std::string problem =
      choice.stray.empty()
          ? fmt::format("{} wants a command", full_name(command))
          : fmt::format("{} has no command '{}'", full_name(command), printable(choice.stray, 100));
  return fmt::format("{}; there are {}", problem, fmt::join(choice.names, ", "));
}

// A mistyped command, or a mistyped option of the command or of those above it; else how to find
// them.
std::string what_to_do(const CLI::App& command, const CommandChoice& choice,
                       const std::vector<std::string>& words) {
  const std::string help = fmt::format("see `{} --help`", full_name(command));
  const auto command_meant = nearest_or_longer_name(choice.stray, choice.names);
  if (!choice.stray.empty() && !command_meant.empty())
    return fmt::format("did you mean '{}'? {}", command_meant, help);
  std::vector<std::string> names;
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string option = word.substr(0, word.find('='));
    if (!option.starts_with("--") || std::ranges::find(names, option) != names.end()) continue;
    constexpr std::pair<std::string_view, std::string_view> kMeant[] = {
        {"--allow", "--grant"},       {"--permit", "--grant"},     {"--permission", "--grant"},
        {"--permissions", "--grant"}, {"--allow-tool", "--grant"}, {"--forbid", "--deny"},
        {"--block", "--deny"},        {"--confirm", "--ask"},      {"--allow-net", "--network"},
        {"--allow-read", "--files"},  {"--net", "--network"},      {"--file-access", "--files"}};
    for (const auto& [called, meant] : kMeant) {
      if (option == called && std::ranges::find(names, meant) != names.end())
        return fmt::format("did you mean '{}'? {}", meant, help);
    }
    // Elsewhere a server is named as such; here by the tools of it.
    if (option == "--server" && std::ranges::find(names, "--tool") != names.end()) {
      const auto next = std::ranges::find(words, word) + 1;
      const std::string server = option.size() < word.size() ? word.substr(option.size() + 1)
                                 : next != words.end()       ? *next
                                                             : "SERVER";
      return "--tool " + shell_quoted(printable(server, 100) + ".*");
    }
    if (const auto meant = did_you_mean(option, names); !meant.empty())
      return fmt::format("{} {}", meant, help);
  }
  if (wants_two_dashes(command, words) && !unknown_option(command, words).empty())
    return fmt::format("put -- before a command and its arguments: {} … -- COMMAND ARGS…; {}",
                       full_name(command), help);
  return help;
}

int usage(Context& context, const CLI::App& app, const CLI::ParseError& error, int argc,
          char** argv) {
  const CLI::App& command = named_command(app);
  const auto words = words_after_commands(app, argc, argv);
  const CommandChoice choice = choice_after(command, words);
  context.fail(Error{ErrorId::kUsage, what_went_wrong(command, error, choice, words), "", "",
                     what_to_do(command, choice, words)});
  return context.exit_code;
}

// `mcpac help lock diff` is `mcpac lock diff --help`.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

}  // namespace

// Options and commands refer to the context, so it stays where it is.
class CommandLine {
 public:
  explicit CommandLine(Context of) : context(std::move(of)) { declare_own_options(app, context); }
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // `declare`: adds the commands that these words may mean.
  template <class Declare>
  int run(int argc, char** argv, Declare declare);

  Context context;
  CLI::App app{
      "mcpac: MCP as code. Programs against MCP servers that can do what they declare and what you "
      "granted.",
      "mcpac"};
};

template <class Declare>
int CommandLine::run(int argc, char** argv, Declare declare) {
  // A reader of ours that goes away (`mcpac … | head`) is an error of write(), not the end of us:
  // servers and sandboxes must be taken down in order.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // nor is a file that may not grow (`ulimit -f`)
  context.arguments.assign(argv, argv + argc);
  try {
    auto words = words_of(argc, argv);
    declare(words);
    std::ranges::reverse(words);  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::Success& wanted) {  // --help, --version
    context.exit_code = app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    context.json = wants_json(argc, argv);
    return usage(context, app, error, argc, argv);
  } catch (const std::exception& bug) {
    // Printing throws, too, where it cannot: that is told below.
    if (!has_lost_output())
      context.fail(Error{ErrorId::kInternal, "mcpac met a bug of its own", "", bug.what(),
                         "please report it with the command line"});
  }
  finish_output(context);
  return context.exit_code;
}

// -C is seen to before anything looks at a path, and is not among the words that a worker gets: it
// starts in the folder that we are in by then.
int run(int argc, char** argv) {
  std::vector<char*> words(argv, argv + argc);
  if (argc >= 3 && std::string_view(argv[1]) == "-C") {
    if (::chdir(argv[2]) != 0) {
      const int why = errno;  // what comes next asks the terminal, too
      Context context = make_context();
      context.json = wants_json(argc, argv);
      context.fail(Error{ErrorId::kFileUnreadable,
                         fmt::format("cannot work in {}", printable(argv[2])), "-C",
                         std::system_category().message(why), ""});
      return context.exit_code;
    }
    words.erase(words.begin() + 1, words.begin() + 3);
  }
  words.push_back(nullptr);
  CommandLine line(make_context());
  return line.run(static_cast<int>(words.size() - 1), words.data(),
                  [&line](const std::vector<std::string>& said) {
                    declare_commands(line.app, line.context, said);
                  });
}

WorkerCommandLine::WorkerCommandLine() : line_(std::make_unique<CommandLine>(Context{})) {
  add_execute(line_->app, line_->context);
  add_run(line_->app, line_->context);
}

WorkerCommandLine::~WorkerCommandLine() = default;

int WorkerCommandLine::run(const std::vector<std::string>& arguments, run::PrewarmedRun* standby,
                           const resident::ServersUsed& used) {
  Context& context = line_->context;
  context = make_context();  // the environment is the client's now
  context.in_worker = true;
  context.standby = standby;
  context.servers_used = used;
  std::vector<char*> words;
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  return line_->run(static_cast<int>(arguments.size()), words.data(),
                    [](const std::vector<std::string>&) {});
}

}  // namespace mcpac::cli
