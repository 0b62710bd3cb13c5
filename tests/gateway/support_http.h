// The HTTP door in this process, with an upstream that answers at once, and a client that writes
// raw bytes as a hostile one would.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/file.h"
#include "gate/support_gate.h"
#include "gateway/http/door.h"

namespace mcpac::gateway::testing {

class Hall {
 public:
  // Two guests: "token-a" and "token-b", both granted git.commit and fs.read below ./data.
  explicit Hall(http::HttpLimits limits = {}, const std::string& address = "127.0.0.1",
                std::shared_ptr<boost::asio::ssl::context> tls = nullptr,
                std::vector<http::PublicUrl> urls = {});
  ~Hall();
  Hall(const Hall&) = delete;
  Hall& operator=(const Hall&) = delete;

  // Runs on the loop's thread, and waits for it.
  template <class Work>
  auto on_loop(Work work) -> decltype(work());

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] boost::asio::any_io_executor executor() { return loop_.get_executor(); }

  // What the upstream does with a call, on the loop: answers it by default.
  std::function<void(gate::testing::FakeUpstream::Call&)> upstream_does;
  // Whether tokens that were let in stand; null: nobody is asked. Set on the loop.
  std::function<bool(std::chrono::milliseconds grace)> stands;
  // Whoever brings the token "undecided", or "undecided-token-a", waits for this.
  std::shared_ptr<boost::asio::steady_timer> decision;
  std::shared_ptr<http::HttpDoor> door;
  std::map<std::string, std::shared_ptr<ClientGrant>> runs;  // "a" is let in by "token-a"

 private:
  [[nodiscard]] std::shared_ptr<ClientGrant> make_run(const std::string& name);

  TemporaryFolder folder_;
  gate::testing::World world_;
  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
  std::uint16_t port_ = 0;
};

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  [[nodiscard]] Json json() const;
  // The messages of an event stream, or the one message of a JSON body.
  [[nodiscard]] std::vector<Json> messages() const;
  [[nodiscard]] std::string header(const std::string& name) const;
};

// One connection. Reads wait 10 seconds and then fail the test.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, const std::string& address = "127.0.0.1");
  void send(std::string_view bytes);
  // One whole response; chunked bodies to their last chunk.
  HttpAnswer read();
  // Bytes until the part has come.
  std::string read_until(std::string_view part);
  // Whether something has come that was not read.
  [[nodiscard]] bool has_more();
  // All that comes until the server ends the connection.
  std::string read_all();
  // The server ends the connection without a further byte, or has.
  bool is_closed();
  void close() { fd_.reset(); }

 private:
  bool more();
  UniqueFd fd_;
  std::string received_;
};

struct Post {
  std::string token = "token-a";
  std::string session{};
  std::string more{};  // further header lines, each with its CRLF
  std::string host{};  // empty: ours
  std::string body{};
};
// The bytes of a well-formed POST, but for what `post` says.
[[nodiscard]] std::string post_text(std::uint16_t port, const Post& post);
[[nodiscard]] HttpAnswer post(std::uint16_t port, const Post& post);
// The id of a new session of this guest.
[[nodiscard]] std::string begin_session(std::uint16_t port, const std::string& token = "token-a");
// Headers of revision 2026-07-28.
[[nodiscard]] std::string stateless_headers(std::string_view method, std::string_view name = "");

template <class Work>
auto Hall::on_loop(Work work) -> decltype(work()) {
  std::packaged_task<decltype(work())()> task(std::move(work));
  auto result = task.get_future();
  // As a lambda: what post() returns for a packaged_task depends on which headers of Asio a file
  // has.
  boost::asio::post(loop_, [task = std::move(task)]() mutable { task(); });
  return result.get();
}

// Eventually, as seen from the loop.
template <class Condition>
bool becomes_true(Hall& hall, Condition condition) {
  for (int i = 0; i < 500; ++i) {
    if (hall.on_loop(condition)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace mcpac::gateway::testing
