// What the tests of the MCP client share: an event loop that runs one coroutine to its end, servers
// made of tests/servers, and the question whether a process is left.
#pragma once

#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "mcp/client.h"

namespace mcpac::test {

// Runs `work` and whatever it needs, then goes on until nothing is left to do: a descriptor or
// timer that the code under test forgot shows up as a test that does not end.
template <class T>
T run(boost::asio::io_context& loop, boost::asio::awaitable<T> work) {
  std::optional<T> result;
  std::exception_ptr failure;
  boost::asio::co_spawn(loop, std::move(work), [&](std::exception_ptr error, T value) {
    failure = error;
    result.emplace(std::move(value));
  });
  loop.restart();
  while (!result && loop.run_one() > 0) {
  }
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

void run(boost::asio::io_context& loop, boost::asio::awaitable<void> work);

[[nodiscard]] std::filesystem::path servers_folder();
// node tests/servers/fixture.mjs MODE ARGS…
[[nodiscard]] mcp::ServerConfig fixture(const std::string& mode,
                                        std::vector<std::string> more = {});

// The direct children of this process, zombies included.
[[nodiscard]] std::vector<int> children();
[[nodiscard]] bool is_running(int pid);
// Waits until that process has ended: a signal that was sent may not have arrived yet.
[[nodiscard]] bool ends(int pid);

// Text of the first content block.
[[nodiscard]] std::string text_of(const Result<Json>& result);
// Errors as text, "ok" for none: what a failed check shows.
template <class T>
std::string shown(const Result<T>& result) {
  return result ? "ok" : result.error().to_text();
}

// An HTTP fixture in a process of its own, ended with the object.
class HttpFixture {
 public:
  // `script`: of tests/servers.
  explicit HttpFixture(std::vector<std::string> arguments,
                       const std::string& script = "http_fixture.mjs");
  HttpFixture(const HttpFixture&) = delete;
  HttpFixture& operator=(const HttpFixture&) = delete;
  ~HttpFixture();
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] mcp::ServerConfig config(const std::string& path) const;
  // What was asked so far: GET /log.
  [[nodiscard]] Json log() const;

 private:
  int pid_ = -1;
  int stdin_ = -1;
  int port_ = 0;
};

}  // namespace mcpac::test
