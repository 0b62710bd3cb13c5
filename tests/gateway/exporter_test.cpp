// Spans on their way to a collector: their form, and what becomes of them when it does not take
// them.
#include "gateway/tracing/exporter.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include "core/file.h"
#include "gateway/http/tls.h"
#include "gateway/support_collector.h"
#include "gateway/support_http.h"
#include "gateway/support_tls.h"
#include "gateway/tracing/otlp_json.h"

using namespace mcpac;
using namespace mcpac::gateway::testing;
using namespace mcpac::gateway::tracing;
using namespace std::chrono_literals;

namespace {

Span some_span(std::string name = "tools/call fs.read") {
  return {.context = {"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", true},
          .parent = "a1f067aa0ba902b7",
          .has_remote_parent = true,
          .name = std::move(name),
          .kind = SpanKind::kServer,
          .begun = std::chrono::system_clock::time_point(1'544'712'660s),
          .took = 1'500ms,
          .attributes = {{"mcp.method.name", "tools/call"},
                         {"mcpac.audit.call", std::int64_t{7}},
                         {"mcpac.asked", true}},
          .has_failed = true};
}

Settings settings_for(const std::string& url) {
  return **read_settings(url, [](const char*) { return std::string(); });
}

// An exporter on a loop of its own, with limits that let a test be short.
class Exporting {
 public:
  template <class Work>
  auto on_loop(Work work) {
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto result = task.get_future();
    // As a lambda: what post() returns for a packaged_task depends on which headers of Asio a file
    // has.
    boost::asio::post(loop_, [task = std::move(task)]() mutable { task(); });
    return result.get();
  }
  explicit Exporting(const std::string& url, ExportLimits limits = short_limits(),
                     std::chrono::milliseconds attempt = 10s)
      : work_(boost::asio::make_work_guard(loop_)) {
    auto collector = Collector::make(loop_.get_executor(), settings_for(url), attempt);
    REQUIRE(collector.has_value());
    exporter_ =
        Exporter::start({.executor = loop_.get_executor(),
                         .collector = std::move(*collector),
                         .service_name = "a test",
                         .warning = [this](const std::string& text) { said.push_back(text); },
                         .limits = limits});
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Exporting() {
    on_loop([this] { exporter_->close(); });
    loop_.stop();
    thread_.join();
  }
  static ExportLimits short_limits() {
    return {.delay = 20ms, .first_pause = 20ms, .longest_pause = 5s};
  }
  void add(int spans) {
    on_loop([&] {
      for (int i = 0; i < spans; ++i) exporter_->add(some_span("span " + std::to_string(i)));
    });
  }
  void finish() {
    on_loop([this] { exporter_->finish(); });
  }
  void close() {
    on_loop([this] { exporter_->close(); });
  }
  ExportFigures figures() {
    return on_loop([this] { return exporter_->figures(); });
  }
  // Ten seconds at most.
  template <class Condition>
  bool becomes(Condition condition) {
    for (int i = 0; i < 1'000; ++i) {
      if (on_loop([&] { return condition(*exporter_); })) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  bool becomes_done() {
    return becomes([](const Exporter& exporter) { return exporter.is_done(); });
  }

  std::vector<std::string> said;  // to be read when it is done, or on the loop

 private:
  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::shared_ptr<Exporter> exporter_;
  std::thread thread_;
};

}  // namespace

TEST_SUITE("gateway/exporter") {
  TEST_CASE("a span has the form that OTLP/HTTP wants of its JSON") {
    const Json request = Json::parse(to_otlp_request("a test", {to_otlp(some_span())}));
    REQUIRE(checked_spans(request).size() == 1);
    const Json& of_resource = request.at("resourceSpans").at(0);
    CHECK(of_resource.at("resource").at("attributes").at(0) ==
          Json{{"key", "service.name"}, {"value", {{"stringValue", "a test"}}}});
    CHECK(of_resource.at("scopeSpans").at(0).at("spans").at(0) ==
          Json{{"traceId", "4bf92f3577b34da6a3ce929d0e0e4736"},
               {"spanId", "00f067aa0ba902b7"},
               {"parentSpanId", "a1f067aa0ba902b7"},
               {"flags", 0x301},
               {"name", "tools/call fs.read"},
               {"kind", 2},
               {"startTimeUnixNano", "1544712660000000000"},
               {"endTimeUnixNano", "1544712661500000000"},
               {"attributes",
                {{{"key", "mcp.method.name"}, {"value", {{"stringValue", "tools/call"}}}},
                 {{"key", "mcpac.audit.call"}, {"value", {{"intValue", "7"}}}},
                 {{"key", "mcpac.asked"}, {"value", {{"boolValue", true}}}}}},
               {"status", {{"code", 2}}}});
    Span first = some_span();
    first.parent.clear();
    first.has_remote_parent = false;
    first.has_failed = false;
    const Json told = Json::parse(to_otlp(first));
    CHECK_FALSE(told.contains("parentSpanId"));
    CHECK_FALSE(told.contains("status"));
    CHECK(told.at("flags") == 0x101);
  }

  TEST_CASE("what a collector rejects is read from its response, whatever that is") {
    CHECK(read_otlp_response(R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"old"}})")
              .rejected == 3);
    CHECK(read_otlp_response(R"({"partialSuccess":{"rejectedSpans":2}})").rejected == 2);
    for (const char* body : {"", "{}", "[]", "no", R"({"partialSuccess":[1]})",
                             R"({"partialSuccess":{"rejectedSpans":-1}})"})
      CHECK(read_otlp_response(body).rejected == 0);
  }

  TEST_CASE("spans go together after a while, or when there are many, to where OTLP has them") {
    const FakeCollector collector;
    auto limits = Exporting::short_limits();
    limits.batch = 10;
    Exporting exporting(collector.url(), limits);
    exporting.add(3);
    CHECK(collector.wait_for_spans(3).size() == 3);
    limits.delay = 1h;
    Exporting patient(collector.url(), limits);
    patient.add(25);
    CHECK(collector.wait_for_spans(23).size() == 23);
    const auto requests = collector.requests();
    REQUIRE(requests.size() == 3);
    CHECK(requests[0].target == "/v1/traces");
    CHECK(requests[0].content_type == "application/json");
    CHECK(patient.becomes([](const Exporter& one) { return one.figures().sent == 20; }));
    CHECK(patient.figures().dropped == 0);
  }

  TEST_CASE("the end sends what there is, at once") {
    const FakeCollector collector;
    auto limits = Exporting::short_limits();
    limits.delay = 1h;
    limits.batch = 10;
    Exporting exporting(collector.url(), limits);
    exporting.add(15);
    exporting.finish();
    CHECK(exporting.becomes_done());
    CHECK(exporting.figures().sent == 15);
    CHECK(collector.wait_for_spans(15).size() == 15);
    exporting.add(1);
    CHECK(exporting.figures().dropped == 1);
  }

  TEST_CASE("what a collector puts off is sent again, when it says") {
    for (const unsigned status : {429U, 502U, 503U, 504U}) {
      CAPTURE(status);
      const FakeCollector collector([status](std::size_t number) {
        return number == 0 ? FakeCollector::Answer{.status = status, .retry_after = "1"}
                           : FakeCollector::Answer();
      });
      const auto begun = std::chrono::steady_clock::now();
      Exporting exporting(collector.url());
      exporting.add(2);
      CHECK(collector.wait_for_spans(2).size() == 2);
      CHECK(std::chrono::steady_clock::now() - begun >= 1s);
      const auto requests = collector.requests();
      REQUIRE(requests.size() == 2);
      CHECK(requests[0].body == requests[1].body);
      CHECK(exporting.becomes([](const Exporter& one) { return one.figures().sent == 2; }));
      CHECK(exporting.figures().dropped == 0);
      CHECK(exporting.said.empty());
    }
  }

  TEST_CASE("what a collector refuses is not sent again, and counted") {
    for (const unsigned status : {400U, 401U, 404U, 500U, 302U}) {
      CAPTURE(status);
      const FakeCollector collector(
          [status](std::size_t) { return FakeCollector::Answer{.status = status}; });
      Exporting exporting(collector.url());
      exporting.add(2);
      CHECK(exporting.becomes([](const Exporter& one) { return one.figures().dropped == 2; }));
      exporting.finish();
      CHECK(exporting.becomes_done());
      CHECK(collector.requests().size() == 1);
      REQUIRE(exporting.said.size() == 1);
      CHECK(exporting.said[0].find(std::to_string(status)) != std::string::npos);
    }
  }

  TEST_CASE("spans that a collector rejects of what it took are counted as dropped") {
    const FakeCollector collector([](std::size_t) {
      return FakeCollector::Answer{
          .body = R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}})"};
    });
    Exporting exporting(collector.url());
    exporting.add(5);
    exporting.finish();
    CHECK(exporting.becomes_done());
    CHECK(exporting.figures().sent == 3);
    CHECK(exporting.figures().dropped == 2);
    REQUIRE(exporting.said.size() == 1);
    CHECK(exporting.said[0].find("too old") != std::string::npos);
  }

  TEST_CASE("a collector that is not there is asked some times, and its end waits for nobody") {
    auto limits = Exporting::short_limits();
    limits.attempts = 3;
    Exporting exporting("http://127.0.0.1:1", limits);  // nobody listens there
    exporting.add(4);
    CHECK(exporting.becomes([](const Exporter& one) { return one.figures().dropped == 4; }));
    exporting.add(4);
    const auto begun = std::chrono::steady_clock::now();
    exporting.finish();
    CHECK(exporting.becomes_done());
    CHECK(std::chrono::steady_clock::now() - begun < 5s);
    CHECK(exporting.figures().dropped == 8);
    CHECK(exporting.said.size() == 1);
  }

  TEST_CASE(
      "the queue is bounded: what comes while it is full is dropped, counted, and said once") {
    const FakeCollector collector(
        [](std::size_t) { return FakeCollector::Answer{.status = 503, .retry_after = "60"}; });
    auto limits = Exporting::short_limits();
    limits.max_queued = 10;
    limits.batch = 5;
    Exporting exporting(collector.url(), limits);
    exporting.add(5);
    for (int i = 0; i < 1'000 && collector.requests().empty(); ++i)
      std::this_thread::sleep_for(10ms);
    exporting.add(100);
    CHECK(exporting.figures().dropped == 90);
    CHECK(exporting.on_loop([&] { return exporting.said.size(); }) == 1);
  }

  TEST_CASE("a collector that does not answer holds nothing up longer than its time") {
    const FakeCollector collector([](std::size_t) { return FakeCollector::Answer{.after = 1h}; });
    auto limits = Exporting::short_limits();
    limits.attempts = 1;
    Exporting exporting(collector.url(), limits, 100ms);
    exporting.add(1);
    CHECK(exporting.becomes([](const Exporter& one) { return one.figures().dropped == 1; }));
    // And being closed is not waited for at all.
    Exporting closed(collector.url());
    closed.add(1);
    for (int i = 0; i < 1'000 && collector.requests().size() < 2; ++i)
      std::this_thread::sleep_for(10ms);
    closed.close();
    CHECK(closed.becomes_done());
    CHECK(closed.figures().dropped == 1);
  }

  TEST_CASE("a collector whose certificate nobody vouches for gets nothing") {
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-otlp-");
    REQUIRE(folder.has_value());
    const auto files = make_certificate(folder->path(), "collector");
    auto tls = gateway::http::make_server_tls({files.certificate, files.key});
    REQUIRE(tls.has_value());
    Hall hall({}, "127.0.0.1", *tls);
    const std::string url = "https://localhost:" + std::to_string(hall.port());
    const auto deliver = [&] {
      boost::asio::io_context loop;
      auto collector = Collector::make(loop.get_executor(), settings_for(url));
      REQUIRE(collector.has_value());
      auto done = boost::asio::co_spawn(loop, (*collector)->deliver("{}"), boost::asio::use_future);
      loop.run();
      return done.get();
    };
    const Delivery distrusted = deliver();
    CHECK(distrusted.outcome == Delivery::Outcome::kLater);
    CHECK(distrusted.why.find("certificate") != std::string::npos);
    REQUIRE(::setenv("SSL_CERT_FILE", files.certificate.c_str(), 1) == 0);
    const Delivery trusted = deliver();
    ::unsetenv("SSL_CERT_FILE");
    // A door of ours is no collector; but it was asked.
    CHECK(trusted.outcome == Delivery::Outcome::kRefused);
    CHECK(trusted.why.find("HTTP status 40") != std::string::npos);
  }
}
