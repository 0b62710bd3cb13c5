#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "mcp/support.h"
#include "places.h"

namespace mcpac::test {
namespace asio = boost::asio;

void run(asio::io_context& loop, asio::awaitable<void> work) {
  bool done = false;
  std::exception_ptr failure;
  asio::co_spawn(loop, std::move(work), [&](std::exception_ptr error) {
    failure = error;
    done = true;
  });
  loop.restart();
  while (!done && loop.run_one() > 0) {
  }
  if (failure) std::rethrow_exception(failure);
}

std::filesystem::path servers_folder() {
  return std::filesystem::path(mcpac::testing::in_source("tests")) / "servers";
}

mcp::ServerConfig fixture(const std::string& mode, std::vector<std::string> more) {
  mcp::ServerConfig config;
  config.name = "fixture";
  config.command = "node";
  config.arguments = {(servers_folder() / "fixture.mjs").string(), mode};
  for (auto& argument : more) config.arguments.push_back(std::move(argument));
  return config;
}

std::vector<int> children() {
  std::vector<int> out;
  std::ifstream file(fmt::format("/proc/self/task/{}/children", ::getpid()));
  for (int pid = 0; file >> pid;) out.push_back(pid);
  return out;
}

bool is_running(int pid) {
  // A killed process that init has not reaped yet still answers to kill(pid, 0).
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const auto close = text.rfind(')');
  return close != std::string::npos && text.size() > close + 2 && text[close + 2] != 'Z';
}

bool ends(int pid) {
  constexpr int kTries = 60'000;  // against hanging: five minutes
  for (int i = 0; i < kTries && is_running(pid); ++i) ::usleep(5'000);
  return !is_running(pid);
}

std::string text_of(const Result<Json>& result) {
  if (!result) return result.error().to_text();
  const Json* content = find_member(*result, "content");
  if (content == nullptr || content->empty()) return to_text(*result);
  return string_member((*content)[0], "text");
}

HttpFixture::HttpFixture(std::vector<std::string> arguments, const std::string& script) {
  arguments.insert(arguments.begin(), {"node", (servers_folder() / script).string()});
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int in[2];
  int out[2];
  REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  REQUIRE(posix_spawnp(&pid_, "node", &actions, nullptr, argv.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  stdin_ = in[1];
  std::string line;
  for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
  ::close(out[0]);
  REQUIRE(line.starts_with("port "));
  port_ = std::stoi(line.substr(5));
}

HttpFixture::~HttpFixture() {
  ::close(stdin_);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

mcp::ServerConfig HttpFixture::config(const std::string& path) const {
  mcp::ServerConfig config;
  config.name = "web";
  config.url = fmt::format("http://127.0.0.1:{}{}", port_, path);
  return config;
}

Json HttpFixture::log() const {
  namespace http = boost::beast::http;
  asio::io_context loop;
  asio::ip::tcp::socket socket(loop);
  socket.connect({asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(port_)});
  http::request<http::empty_body> request(http::verb::get, "/log", 11);
  request.set(http::field::host, "127.0.0.1");
  http::write(socket, request);
  boost::beast::flat_buffer buffer;
  http::response<http::string_body> response;
  http::read(socket, buffer, response);
  auto parsed = parse_json(response.body());
  REQUIRE(parsed.has_value());
  return *parsed;
}

}  // namespace mcpac::test
