// SPDX-License-Identifier: Apache-2.0

// mcpac login and logout: what a server over HTTP wants a person for.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "mcp/oauth/login_page.h"
#include "servers/log_in.h"

extern char** environ;

namespace mcpac::cli {
namespace {

struct LoginOptions {
  std::string server;
  bool no_browser = false;
  bool device = false;
};

// The desktop's own way to open an address; without one the person has the printed line. The
// address was checked to be a URL of printable characters, and no shell sees it.
void open_browser(const std::string& url) {
  std::string program = "xdg-open";
  std::string address = url;
  const std::array<char*, 3> words = {program.data(), address.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {0, 1, 2}) {
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  }
  // A browser lives long: it gets no connection of ours, nor the port that is listened on.
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  std::ignore = ::posix_spawnp(&pid, program.c_str(), &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
}

bool has_desktop() {
  return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
}

// The server of that name; prints why not.
const mcp::ServerConfig* find_server(Context& context, const Result<project::Project>& project,
                                     const std::string& name) {
  if (!project) {
    context.fail(project.error());
    return nullptr;
  }
  const auto* server = project->config.find(name);
  if (server == nullptr) {
    context.fail({ErrorId::kUnknownServer, fmt::format("there is no server {}", name),
                  context.config_file.string(), "", "mcpac server list"});
  }
  return server;
}

// Lines of standard input, until one is the answer: whose browser is on another machine sees there
// the address that it was to be sent to, and copies it. On a thread of its own, since the login
// waits for other ways as well.
class AnswerReader {
 public:
  void read_for(std::shared_ptr<mcp::oauth::PastedAnswer> pasted) {
    if (reads_.joinable()) return;
    reads_ = std::jthread([pasted = std::move(pasted)](const std::stop_token& stop) {
      std::string line;
      while (!stop.stop_requested()) {
        constexpr int kLook = 100;  // milliseconds
        constexpr std::size_t kLongest = std::size_t{16} << 10U;
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (::poll(&input, 1, kLook) <= 0) continue;
        char c = 0;
        if (::read(STDIN_FILENO, &c, 1) != 1) return;
        if (c != '\n') {
          if (line.size() < kLongest) line += c;
          continue;
        }
        if (const std::string wrong = pasted->hand_in(std::exchange(line, "")); !wrong.empty())
          fmt::print(stderr, "{}\n", wrong);
      }
    });
  }

 private:
  std::jthread reads_;
};

void show_page(Context& context, const LoginOptions& options, const std::string& server,
               const mcp::oauth::LoginPage& page, AnswerReader& reader) {
  context.say(fmt::format("log in at {} here:\n\n  {}\n", server, page.url));
  if (!page.code.empty())
    context.say(
        fmt::format("with any browser, if you know that page as one of {}: the code is {}\n",
                    server, printable(page.code, 64)));
  // Nothing binds a page with a code to the server that gave it (RFC 8628, section 5.4): it could
  // be of a login that an attacker began. So a person opens it.
  const bool opens = !options.no_browser && has_desktop() && page.code.empty();
  if (opens) open_browser(page.url);
  // Input that no person types is left to the process that started us.
  if (!page.pasted || (::isatty(STDIN_FILENO) != 1 && !options.no_browser)) return;
  if (!opens)
    context.say(
        "where the browser is on another machine: paste here the address that it ends at, "
        "though it shows no page\n");
  reader.read_for(page.pasted);
}

void log_in(Context& context, const LoginOptions& options) {
  const auto project = context.project();
  const auto* server = find_server(context, project, options.server);
  if (server == nullptr) return;
  AnswerReader reader;
  mcp::ServerConfig config = *server;
  if (options.device) config.auth.grant = mcp::oauth::Grant::kDeviceCode;
  config.auth.prefers_code = options.no_browser || !has_desktop();
  auto outcome = servers::log_in(std::move(config), [&](const mcp::oauth::LoginPage& page) {
    show_page(context, options, server->name, page, reader);
  });
  if (!outcome) return context.fail(outcome.error());
  if (context.json) {
    return context.print(
        {{"server", server->name}, {"asked", outcome->asked}, {"tools", outcome->tools}});
  }
  const std::string what =
      outcome->asked ? "logged in at " + server->name : server->name + " wants no login";
  context.say(what + ": " + counted(outcome->tools, "tool"));
}

void log_out(Context& context, const std::string& name) {
  const auto project = context.project();
  const auto* server = find_server(context, project, name);
  if (server == nullptr) return;
  const auto outcome = servers::log_out(*server);
  if (!outcome.was_kept) return context.say("nothing is kept of a login at " + name);
  using servers::TakenBack;
  const auto& taken_back = outcome.taken_back;
  std::string what = "forgot the login at " + name;
  if (taken_back == TakenBack::kYes) what += ", and its tokens were revoked";
  if (taken_back == TakenBack::kNotOffered)
    what += "; its authorization server revokes no tokens: they end when their time is over";
  context.say(what);
  if (taken_back) return;
  context.warn(fmt::format("its tokens were not revoked, and may be good for a while: {}",
                           printable(taken_back.error().to_text(), 1'000)));
}

}  // namespace

void add_login(CLI::App& app, Context& context) {
  auto options = std::make_shared<LoginOptions>();
  auto* login = app.add_subcommand("login", "log in at a server that wants that");
  add_common_options(*login, context);
  login->add_option("SERVER", options->server)->required();
  login->add_flag(
      "--no-browser", options->no_browser,
      "only print the address of the login page, and take the one that a browser ends at "
      "elsewhere from standard input");
  login->add_flag("--device", options->device,
                  "log in by a code that is typed in any browser (RFC 8628), where the "
                  "authorization server offers that");
  login->callback([&context, options] { log_in(context, *options); });

  auto name = std::make_shared<std::string>();
  auto* logout = app.add_subcommand("logout", "forget what is kept of a login");
  add_common_options(*logout, context);
  logout->add_option("SERVER", *name)->required();
  logout->callback([&context, name] { log_out(context, *name); });
}

}  // namespace mcpac::cli
