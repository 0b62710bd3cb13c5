#include "gateway/support_serving.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/file.h"
#include "places.h"

namespace mcpac::gateway::testing {

using e2e::Workspace;

std::string mcpac_program() {
  return mcpac::testing::in_build("bin/mcpac");
}

Serving::Serving(const Workspace& workspace, std::vector<std::string> options) {
  std::vector<std::string> words{mcpac_program(), "serve", "--http", "127.0.0.1:0"};
  words.insert(words.end(), options.begin(), options.end());
  int out[2];
  REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
  UniqueFd says(out[0]);
  UniqueFd their_end(out[1]);
  const auto environment = workspace.environment();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(their_end.get(), 1);
    if (::chdir(workspace.folder().c_str()) != 0) ::_exit(126);
    for (const auto& item : environment) ::putenv(const_cast<char*>(item.c_str()));
    std::vector<char*> argv;
    for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  their_end.reset();
  for (auto left = std::ranges::count(words, "--http"); left > 0; --left) {
    std::string line;
    for (char c = 0; ::read(says.get(), &c, 1) == 1 && c != '\n';) line += c;
    auto said = parse_json(line);
    INFO(line);
    REQUIRE(said.has_value());
    doors_.push_back(std::move(*said));
  }
  url_ = string_member(doors_.front(), "http");
  token_ = string_member(doors_.front(), "token");
  const auto colon = url_.rfind(':');
  port_ = static_cast<std::uint16_t>(std::stoi(url_.substr(colon + 1)));
}

Serving::~Serving() {
  if (pid_ > 0) end();
}

int Serving::end() {
  const pid_t ended = std::exchange(pid_, 0);
  ::kill(ended, SIGTERM);
  int status = 0;
  ::waitpid(ended, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Json made(std::string_view tool, const Json& arguments) {
  return Json::array({tool, arguments});
}

Json official_client(const Workspace& workspace, std::vector<std::string> words) {
  words.insert(words.begin(), {"node", mcpac::testing::in_source("tests/gateway/sdk_client.mjs")});
  const auto outcome =
      e2e::run_program(words, workspace.environment(), {.folder = workspace.folder()});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return outcome.json();
}

Json served_over_stdio(const Workspace& workspace, std::vector<std::string> options,
                       const Json& calls, const std::string& answer) {
  Json command{mcpac_program(), "serve"};
  for (const auto& option : options) command.push_back(option);
  std::vector<std::string> words{"stdio", command.dump(), calls.dump()};
  if (!answer.empty()) words.push_back(answer);
  return official_client(workspace, std::move(words));
}

std::string text_in(const Json& result) {
  return result.at("content").at(0).at("text");
}

std::vector<Json> events(const Workspace& workspace, const std::string& kind) {
  const auto outcome = workspace.mcpac({"audit", "list", "--json", "--kind", kind});
  INFO(outcome.err);
  return outcome.json().get<std::vector<Json>>();
}

}  // namespace mcpac::gateway::testing
