#include "gateway/support_http.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "gateway/support_session.h"

namespace mcpac::gateway::testing {
namespace {

constexpr int kPatienceMs = 10'000;

gate::testing::World::Options granted() {
  return {.declared = {"git.commit", "fs.read"},
          .grants = {"git.commit", "fs.read(path within ./data)"}};
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

TemporaryFolder temporary_folder() {
  auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-gateway-");
  REQUIRE(folder.has_value());
  return std::move(*folder);
}

}  // namespace

Hall::Hall(http::HttpLimits limits, const std::string& address,
           std::shared_ptr<boost::asio::ssl::context> tls, std::vector<http::PublicUrl> urls)
    : folder_(temporary_folder()),
      world_(granted()),
      work_(boost::asio::make_work_guard(loop_)),
      thread_([this] { loop_.run(); }) {
  upstream_does = [](gate::testing::FakeUpstream::Call& call) {
    call.done(gate::testing::text_result("done: " + call.permission));
  };
  // Never from inside forward(), as the gate is promised.
  world_.upstream.on_forward = [this](gate::testing::FakeUpstream::Call& call) {
    boost::asio::post(loop_, [this, &call] { upstream_does(call); });
  };
  on_loop([&] {
    decision = std::make_shared<boost::asio::steady_timer>(
        loop_, boost::asio::steady_timer::time_point::max());
    for (const std::string name : {"a", "b"}) runs[name] = make_run(name);
    auto opened = http::HttpDoor::open(
        loop_.get_executor(),
        {.address = address,
         .urls = std::move(urls),
         .tls = tls,
         .admit = [this](std::string token)
             -> boost::asio::awaitable<std::expected<http::AdmittedClient, http::Refusal>> {
           if (token.starts_with("undecided"))
             co_await decision->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
           for (const auto& [name, run] : runs) {
             if (token == "token-" + name || token == "undecided-token-" + name) {
               http::AdmittedClient guest{name, run, stands};
               co_return guest;
             }
           }
           co_return std::unexpected(http::Refusal(401, "nobody has this token"));
         },
         .limits = limits});
    REQUIRE(opened.has_value());
    door = std::move(*opened);
    port_ = door->port();
  });
}

Hall::~Hall() {
  on_loop([this] {
    decision->cancel();
    for (const auto& [name, run] : runs) run->end("test-ended");
    door->close();
    door.reset();
    runs.clear();
  });
  on_loop([] {});  // what was posted meanwhile
  decision.reset();
  work_.reset();
  loop_.stop();
  thread_.join();
}

std::shared_ptr<ClientGrant> Hall::make_run(const std::string& name) {
  auto made = run_parts(world_, granted(), folder_.path() / "audit", name);
  return std::make_shared<ClientGrant>(std::move(made.parts), std::move(made.setup));
}

Json HttpAnswer::json() const {
  auto parsed = parse_json(body);
  INFO(body);
  REQUIRE(parsed.has_value());
  return *parsed;
}

std::vector<Json> HttpAnswer::messages() const {
  if (header("content-type") == "application/json") return {json()};
  std::vector<Json> found;
  constexpr std::string_view kData = "data: ";
  for (std::string_view rest = body; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with(kData)) found.push_back(Json::parse(line.substr(kData.size())));
  }
  return found;
}

std::string HttpAnswer::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

RawClient::RawClient(std::uint16_t port, const std::string& address)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  REQUIRE(::inet_pton(AF_INET, address.c_str(), &place.sin_addr) == 1);
  REQUIRE(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0);
}

// What the server does not want any more is not our failure.
void RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool RawClient::more() {
  pollfd watched{fd_.get(), POLLIN, 0};
  REQUIRE(::poll(&watched, 1, kPatienceMs) == 1);
  std::array<char, 65536> buffer;
  const auto got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
  if (got <= 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

std::string RawClient::read_until(std::string_view part) {
  while (received_.find(part) == std::string::npos) {
    if (!more()) FAIL("the connection ended early: " << received_);
  }
  const auto end = received_.find(part) + part.size();
  std::string text = received_.substr(0, end);
  received_.erase(0, end);
  return text;
}

bool RawClient::has_more() {
  pollfd watched{fd_.get(), POLLIN, 0};
  return !received_.empty() || ::poll(&watched, 1, 0) == 1;
}

std::string RawClient::read_all() {
  while (more()) {
  }
  return std::exchange(received_, "");
}

bool RawClient::is_closed() {
  while (received_.empty()) {
    if (!more()) return true;
  }
  return false;
}

HttpAnswer RawClient::read() {
  HttpAnswer answer;
  std::string head = read_until("\r\n\r\n");
  answer.status = std::stoi(head.substr(9, 3));
  for (auto at = head.find("\r\n") + 2; at + 2 < head.size();) {
    const auto end = head.find("\r\n", at);
    const std::string line = head.substr(at, end - at);
    at = end + 2;
    const auto colon = line.find(": ");
    if (colon != std::string::npos)
      answer.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
  }
  if (answer.header("transfer-encoding") == "chunked") {
    for (;;) {
      const auto size = std::stoul(read_until("\r\n"), nullptr, 16);
      while (received_.size() < size + 2) REQUIRE(more());
      answer.body += received_.substr(0, size);
      received_.erase(0, size + 2);
      if (size == 0) return answer;
    }
  }
  const std::string length = answer.header("content-length");
  const std::size_t size = length.empty() ? 0 : std::stoul(length);
  while (received_.size() < size) REQUIRE(more());
  answer.body = received_.substr(0, size);
  received_.erase(0, size);
  return answer;
}

std::string post_text(std::uint16_t port, const Post& post) {
  std::string text = fmt::format(
      "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n"
      "Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
      post.host.empty() ? fmt::format("127.0.0.1:{}", port) : post.host, post.body.size());
  if (!post.token.empty()) text += fmt::format("Authorization: Bearer {}\r\n", post.token);
  if (!post.session.empty()) text += fmt::format("Mcp-Session-Id: {}\r\n", post.session);
  return text + post.more + "\r\n" + post.body;
}

HttpAnswer post(std::uint16_t port, const Post& post) {
  RawClient client(port);
  client.send(post_text(port, post));
  return client.read();
}

std::string begin_session(std::uint16_t port, const std::string& token) {
  const auto answer =
      post(port, {.token = token,
                  .body = request(0, "initialize",
                                  {{"protocolVersion", "2025-11-25"},
                                   {"capabilities", Json::object()},
                                   {"clientInfo", {{"name", "a test"}, {"version", "1"}}}})
                              .dump()});
  CHECK(answer.status == 200);
  const std::string id = answer.header("mcp-session-id");
  REQUIRE_FALSE(id.empty());
  return id;
}

std::string stateless_headers(std::string_view method, std::string_view name) {
  std::string text = fmt::format("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {}\r\n", method);
  if (!name.empty()) text += fmt::format("Mcp-Name: {}\r\n", name);
  return text;
}

}  // namespace mcpac::gateway::testing
