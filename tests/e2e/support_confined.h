// A project whose servers are confined, a client that stays, and what servers reach of the host.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/file.h"
#include "core/json.h"
#include "e2e/workspace.h"

namespace e2e {

// A file of tests/servers.
std::string server(const std::string& name);

// mcpac.json of the server that tries everything, with this sandbox.
std::string attempts_with(const std::string& sandbox);

// Those of the tests that try everything, and a server in bash.
std::string own_servers();

// A project with a few files to be read and not to be read, and mcpac in it.
class Confined {
 public:
  explicit Confined(bool ordinary = false, const std::string& config = own_servers());
  // From now on an ordinary user's, who calls it.
  void become_ordinary();
  // Gives all of it to the ordinary user.
  void own() const;
  Outcome mcpac(std::vector<std::string> words) const;
  // In the process that becomes mcpac.
  [[nodiscard]] bool enter() const;
  void generate() const;
  // All of it by one call and one server, coded so that no reading of the gate finds a place in it.
  std::vector<std::string> coded(const std::vector<std::pair<std::string, std::string>>& attempts,
                                 std::vector<std::string> rules) const;
  // What the tool said, or what mcpac did.
  std::string call(const std::string& tool, const mcpac::Json& arguments) const;
  std::string attempt(const std::string& what, const std::string& on = "") const;
  [[nodiscard]] std::string path(const std::string& below) const;

  Workspace workspace;
  // Of root's tests: the second folder is another mount of the first, for mcpac alone.
  std::pair<std::string, std::string> bound{};

 private:
  bool ordinary_ = false;
};

// `mcpac serve` with all granted, as a client speaks with it: one question after the other.
class Gateway {
 public:
  explicit Gateway(const Confined& confined);
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  [[nodiscard]] std::size_t tools();
  // The answer, or the error.
  std::string call(const std::string& tool, const mcpac::Json& arguments);
  std::string attempt(const std::string& what, const std::string& on);
  // To the one process below it that has this name. With SIGKILL it waits for the end of the
  // keeper, which is that of the server.
  void signal(const std::string& name, int number) const;
  // By the end of its input, or by this signal.
  void end(int signal);

 private:
  [[nodiscard]] pid_t process(const std::string& name) const;
  void write(const mcpac::Json& message) const;
  mcpac::Json ask(const std::string& method, const mcpac::Json& parameters);

  pid_t pid_ = -1;
  mcpac::UniqueFd to_;
  FILE* from_ = nullptr;
  int next_ = 0;
};

// A web server of the host, on all its addresses: says what it was asked for.
class WebServer {
 public:
  WebServer();
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;
  std::uint16_t port = 0;

 private:
  mcpac::UniqueFd listener_;
  std::thread thread_;
};

}  // namespace e2e
