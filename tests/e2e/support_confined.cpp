#include "e2e/support_confined.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "faults/support_descendants.h"
#include "places.h"

namespace e2e {

using mcpac::Json;
namespace fs = std::filesystem;

namespace {

constexpr unsigned kOrdinary = 4242;

void serve_one(int client) {
  std::string request;
  char piece[4096];
  while (!request.contains("\r\n\r\n")) {
    const ssize_t size = ::recv(client, piece, sizeof piece, 0);
    if (size <= 0) return;
    request.append(piece, static_cast<std::size_t>(size));
  }
  const auto path = request.find(' ') + 1;
  const std::string body = "host saw " + request.substr(path, request.find(' ', path) - path);
  const std::string reply = fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", body.size(), body);
  std::ignore = ::send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
}

}  // namespace

std::string server(const std::string& name) {
  return mcpac::testing::in_source("tests/servers/" + name);
}

std::string attempts_with(const std::string& sandbox) {
  return fmt::format(R"({{"mcpServers": {{"attempts": {{"command": "/usr/bin/python3",
                        "args": ["{}"], "era": "initialize", "sandbox": {}}}}}}})",
                     server("attempts.py"), sandbox);
}

std::string own_servers() {
  return fmt::format(R"({{"mcpServers": {{
    "attempts": {{"command": "/usr/bin/python3", "args": ["{}"], "era": "initialize",
                 "sandbox": {{"files": ["./data:rw", "./shown"]}}}},
    "hello": {{"command": "{}", "era": "initialize", "sandbox": true}}
  }}}})",
                     server("attempts.py"), server("hello.sh"));
}

Confined::Confined(bool ordinary, const std::string& config) : workspace(config) {
  fs::create_directories(workspace.folder() / "shown");
  fs::create_directories(workspace.folder() / "beside");
  workspace.write("shown/text", "what is shown");
  workspace.write("data/note", "a note");
  workspace.write("beside/secret", "canary");
  fs::create_directories(workspace.home() / ".ssh");
  std::ofstream(workspace.home() / ".ssh/id_ed25519") << "canary";
  if (ordinary) become_ordinary();
}

void Confined::become_ordinary() {
  ordinary_ = true;
  own();
}

void Confined::own() const {
  for (const auto& entry : fs::recursive_directory_iterator(workspace.folder()))
    REQUIRE(::lchown(entry.path().c_str(), kOrdinary, kOrdinary) == 0);
  REQUIRE(::lchown(workspace.folder().c_str(), kOrdinary, kOrdinary) == 0);
}

Outcome Confined::mcpac(std::vector<std::string> words) const {
  RunOptions options;
  options.enter = [this] { return enter(); };
  return workspace.mcpac(std::move(words), options);
}

bool Confined::enter() const {
  const auto bind = [](const std::pair<std::string, std::string>& folders) {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount(folders.first.c_str(), folders.second.c_str(), nullptr, MS_BIND, nullptr) == 0;
  };
  if (!bound.first.empty() && ::geteuid() == 0 && !bind(bound)) return false;
  return !ordinary_ ||
         (::setgroups(0, nullptr) == 0 && ::setresgid(kOrdinary, kOrdinary, kOrdinary) == 0 &&
          ::setresuid(kOrdinary, kOrdinary, kOrdinary) == 0);
}

void Confined::generate() const {
  const auto made = mcpac({"generate"});
  INFO(made.out << made.err);
  REQUIRE(made.exit_code == 0);
}

std::vector<std::string> Confined::coded(
    const std::vector<std::pair<std::string, std::string>>& attempts,
    std::vector<std::string> rules) const {
  Json list = Json::array();
  for (const auto& [what, on] : attempts) list.push_back(Json::array({what, on}));
  std::string text;
  for (const char c : list.dump()) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  rules.insert(rules.begin(), {"tools", "call", "attempts.coded", Json{{"text", text}}.dump()});
  const auto called = mcpac(std::move(rules));
  INFO(called.out << called.err);
  REQUIRE(called.exit_code == 0);
  return Json::parse(called.out).get<std::vector<std::string>>();
}

std::string Confined::call(const std::string& tool, const Json& arguments) const {
  const auto called = mcpac({"tools", "call", tool, arguments.dump(), "--grant", "*.*"});
  if (called.exit_code != 0) return called.out + called.err;
  return called.out.substr(0, called.out.find_last_not_of('\n') + 1);
}

std::string Confined::attempt(const std::string& what, const std::string& on) const {
  return call("attempts.attempt", {{"what", what}, {"on", on}});
}

std::string Confined::path(const std::string& below) const {
  return (workspace.folder() / below).string();
}

Gateway::Gateway(const Confined& confined) {
  const Workspace& workspace = confined.workspace;
  int in[2];
  int out[2];
  REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
  std::vector<std::string> words{mcpac::testing::in_build("bin/mcpac"), "serve", "--grant", "*.*"};
  std::vector<std::string> environment = workspace.environment();
  for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
  const auto as_c = [](std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  };
  pid_ = ::fork();
  if (pid_ == 0) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(null, 2);
    if (::chdir(workspace.folder().c_str()) == 0 && confined.enter())
      ::execve(words[0].c_str(), as_c(words).data(), as_c(environment).data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to_ = mcpac::UniqueFd(in[1]);
  from_ = ::fdopen(out[0], "r");
  ask("initialize", {{"protocolVersion", "2025-11-25"},
                     {"capabilities", Json::object()},
                     {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
  write({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
}

Gateway::~Gateway() {
  if (pid_ > 0) end(SIGKILL);
  std::fclose(from_);
}

std::size_t Gateway::tools() {
  return ask("tools/list", Json::object()).at("result").at("tools").size();
}

std::string Gateway::call(const std::string& tool, const Json& arguments) {
  return ask("tools/call", {{"name", tool}, {"arguments", arguments}}).dump();
}

std::string Gateway::attempt(const std::string& what, const std::string& on) {
  return call("attempts.attempt", {{"what", what}, {"on", on}});
}

void Gateway::signal(const std::string& name, int number) const {
  const pid_t keeper = process("mcpac-keeper");
  REQUIRE(::kill(process(name), number) == 0);
  const auto lives = [keeper](const auto& one) { return one.pid == keeper; };
  while (number == SIGKILL && std::ranges::any_of(faults::descendants_of(::getpid()), lives))
    ::usleep(1000);
}

void Gateway::end(int signal) {
  to_.reset();
  if (signal != 0) ::kill(pid_, signal);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

pid_t Gateway::process(const std::string& name) const {
  std::vector<pid_t> found;
  for (const auto& process : faults::descendants_of(pid_))
    if (process.name == name) found.push_back(process.pid);
  REQUIRE(found.size() == 1);
  return found[0];
}

void Gateway::write(const Json& message) const {
  const std::string line = message.dump() + "\n";
  REQUIRE(::write(to_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()));
}

Json Gateway::ask(const std::string& method, const Json& parameters) {
  write({{"jsonrpc", "2.0"}, {"id", ++next_}, {"method", method}, {"params", parameters}});
  char* line = nullptr;
  std::size_t size = 0;
  Json answer;
  while (::getline(&line, &size, from_) > 0) {
    answer = Json::parse(line);
    if (answer.value("id", 0) == next_) break;
  }
  std::free(line);
  return answer;
}

WebServer::WebServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in all{};
  all.sin_family = AF_INET;
  socklen_t size = sizeof all;
  REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&all), size) == 0);
  REQUIRE(::listen(listener_.get(), 64) == 0);
  REQUIRE(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&all), &size) == 0);
  port = ntohs(all.sin_port);
  thread_ = std::thread([this] {
    for (;;) {
      const mcpac::UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) return;
      serve_one(client.get());
    }
  });
}

WebServer::~WebServer() {
  ::shutdown(listener_.get(), SHUT_RDWR);
  thread_.join();
}

}  // namespace e2e
