#include "gateway/support_collector.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

namespace mcpac::gateway::testing {
namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

void check_members(const Json& object, const std::set<std::string>& known) {
  INFO(object.dump());
  REQUIRE(object.is_object());
  for (const auto& [name, value] : object.items()) {
    CAPTURE(name);
    CHECK(known.contains(name));
  }
}

bool is_digits(const Json& value, std::size_t size, std::string_view digits) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return (size == 0 ? !text.empty() : text.size() == size) &&
         text.find_first_not_of(digits) == std::string::npos;
}

void check_attributes(const Json& attributes) {
  REQUIRE(attributes.is_array());
  std::set<std::string> keys;
  for (const Json& attribute : attributes) {
    check_members(attribute, {"key", "value"});
    CHECK(keys.insert(attribute.at("key").get<std::string>()).second);
    const Json& value = attribute.at("value");
    check_members(value, {"stringValue", "intValue", "boolValue"});
    REQUIRE(value.size() == 1);
    if (value.contains("stringValue")) CHECK(value.at("stringValue").is_string());
    if (value.contains("intValue")) CHECK(is_digits(value.at("intValue"), 0, "-0123456789"));
    if (value.contains("boolValue")) CHECK(value.at("boolValue").is_boolean());
  }
}

void check_span(const Json& span) {
  constexpr std::string_view kHex = "0123456789abcdef";
  check_members(span, {"traceId", "spanId", "parentSpanId", "flags", "name", "kind",
                       "startTimeUnixNano", "endTimeUnixNano", "attributes", "status"});
  CHECK(is_digits(span.at("traceId"), 32, kHex));
  CHECK(is_digits(span.at("spanId"), 16, kHex));
  if (span.contains("parentSpanId")) CHECK(is_digits(span.at("parentSpanId"), 16, kHex));
  CHECK(span.at("flags").is_number_unsigned());
  CHECK_FALSE(span.at("name").get<std::string>().empty());
  CHECK(std::set<int>{1, 2, 3}.contains(span.at("kind").get<int>()));
  for (const char* time : {"startTimeUnixNano", "endTimeUnixNano"})
    CHECK(is_digits(span.at(time), 19, "0123456789"));
  CHECK(span.at("startTimeUnixNano").get<std::string>() <=
        span.at("endTimeUnixNano").get<std::string>());
  check_attributes(span.at("attributes"));
  if (span.contains("status")) CHECK(span.at("status") == Json{{"code", 2}});
}

}  // namespace

std::vector<Json> checked_spans(const Json& request) {
  check_members(request, {"resourceSpans"});
  std::vector<Json> spans;
  for (const Json& of_resource : request.at("resourceSpans")) {
    check_members(of_resource, {"resource", "scopeSpans"});
    check_members(of_resource.at("resource"), {"attributes"});
    check_attributes(of_resource.at("resource").at("attributes"));
    for (const Json& of_scope : of_resource.at("scopeSpans")) {
      check_members(of_scope, {"scope", "spans"});
      check_members(of_scope.at("scope"), {"name", "version"});
      for (const Json& span : of_scope.at("spans")) {
        check_span(span);
        spans.push_back(span);
      }
    }
  }
  return spans;
}

Json attribute_of(const Json& span, std::string_view key) {
  for (const Json& attribute : span.at("attributes")) {
    if (attribute.at("key") == key) return attribute.at("value").front();
  }
  return nullptr;
}

Json attribute_of(const tracing::Span& span, std::string_view key) {
  const auto found = std::ranges::find(span.attributes, key, &tracing::Attribute::key);
  if (found == span.attributes.end()) return nullptr;
  return std::visit([](const auto& value) { return Json(value); }, found->value);
}

FakeCollector::FakeCollector() : FakeCollector([](std::size_t) { return Answer(); }) {}

FakeCollector::FakeCollector(std::function<Answer(std::size_t)> answer)
    : answer_(std::move(answer)),
      acceptor_(loop_, asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)) {
  asio::co_spawn(loop_, listen(), asio::detached);
  thread_ = std::thread([this] { loop_.run(); });
}

FakeCollector::~FakeCollector() {
  loop_.stop();
  thread_.join();
}

std::string FakeCollector::url() const {
  return fmt::format("http://127.0.0.1:{}", acceptor_.local_endpoint().port());
}

std::vector<FakeCollector::Request> FakeCollector::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

std::vector<Json> FakeCollector::wait_for_spans(std::size_t at_least) const {
  std::vector<Json> spans;
  for (int i = 0; i < 1'000; ++i) {
    std::vector<std::string> taken;
    {
      const std::scoped_lock lock(mutex_);
      taken = taken_;
    }
    spans.clear();
    for (const std::string& body : taken) {
      for (Json& span : checked_spans(Json::parse(body))) spans.push_back(std::move(span));
    }
    if (spans.size() >= at_least) return spans;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL_CHECK("there are ", spans.size(), " spans, not ", at_least);
  return spans;
}

asio::awaitable<void> FakeCollector::listen() {
  while (true) {
    auto [error, socket] = co_await acceptor_.async_accept(kAwait);
    if (error) co_return;
    asio::co_spawn(loop_, serve(std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> FakeCollector::serve(asio::ip::tcp::socket socket) {
  boost::beast::flat_buffer buffer;
  while (true) {
    beast_http::request<beast_http::string_body> request;
    auto [unread, read] = co_await beast_http::async_read(socket, buffer, request, kAwait);
    if (unread) co_return;
    std::size_t number = 0;
    {
      const std::scoped_lock lock(mutex_);
      number = requests_.size();
      requests_.push_back({std::string(request.target()),
                           std::string(request[beast_http::field::content_type]),
                           std::string(request[beast_http::field::authorization]), request.body()});
    }
    const Answer answer = answer_(number);
    if (answer.after.count() > 0) {
      asio::steady_timer pause(loop_, answer.after);
      co_await pause.async_wait(kAwait);
    }
    beast_http::response<beast_http::string_body> response(
        static_cast<beast_http::status>(answer.status), 11);
    response.set(beast_http::field::content_type, "application/json");
    if (!answer.retry_after.empty())
      response.set(beast_http::field::retry_after, answer.retry_after);
    response.body() = answer.body;
    response.keep_alive(request.keep_alive());
    response.prepare_payload();
    if (answer.status == 200) {
      const std::scoped_lock lock(mutex_);
      taken_.push_back(request.body());
    }
    auto [unsent, sent] = co_await beast_http::async_write(socket, response, kAwait);
    if (unsent) co_return;
  }
}

}  // namespace mcpac::gateway::testing
