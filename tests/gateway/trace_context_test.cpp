// What is read from a client's traceparent, and from what the user says about tracing.
#include "gateway/tracing/trace_context.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "gateway/tracing/sampler.h"
#include "gateway/tracing/settings.h"

using namespace mcpac;
using namespace mcpac::gateway::tracing;

namespace {

constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr const char* kTheirs = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

Result<std::optional<Settings>> settings_of(const std::string& option,
                                            const std::map<std::string, std::string>& set = {}) {
  return read_settings(option, [&](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? std::string() : found->second;
  });
}

std::string place_of(const Result<std::optional<Settings>>& settings) {
  REQUIRE(settings.has_value());
  REQUIRE(settings->has_value());
  const auto& url = (*settings)->url;
  return (url.tls ? "https://" : "http://") + url.authority() + url.target;
}

}  // namespace

TEST_SUITE("gateway/trace context") {
  TEST_CASE("a traceparent is read and written as W3C has it") {
    const auto context = parse_traceparent(kTheirs);
    REQUIRE(context.has_value());
    CHECK(context->trace_id == kTrace);
    CHECK(context->span_id == "00f067aa0ba902b7");
    CHECK(context->is_sampled);
    CHECK(to_traceparent(*context) == kTheirs);
    CHECK_FALSE(
        parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe")->is_sampled);
    // Of a later version, what we know of it.
    CHECK(parse_traceparent(
              "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes-then") ==
          context);
    CHECK(context_of(to_meta(*context)) == context);
    CHECK(context_in({{"_meta", {{"traceparent", kTheirs}}}}) == context);
  }

  TEST_CASE("what is not of the grammar of a traceparent is none") {
    for (const std::string text :
         {"", "00", "garbage", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
          "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
          "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
          "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_traceparent(text).has_value());
    }
    CHECK_FALSE(context_in({{"_meta", {{"traceparent", 1}}}}).has_value());
    CHECK_FALSE(context_in({{"_meta", kTheirs}}).has_value());
    CHECK_FALSE(context_in({{"traceparent", kTheirs}}).has_value());
    CHECK_FALSE(context_in(nullptr).has_value());
  }

  TEST_CASE("ids are never the same, and of the grammar") {
    std::set<std::string> ids;
    for (int i = 0; i < 100; ++i) {
      const TraceContext own{new_trace_id(), new_span_id(), true};
      CHECK(parse_traceparent(to_traceparent(own)) == own);
      ids.insert(own.trace_id);
      ids.insert(own.span_id);
    }
    CHECK(ids.size() == 200);
  }

  TEST_CASE("no client decides what is sampled, unless the user says so") {
    const TraceContext no{kTrace, "00f067aa0ba902b7", false};
    const TraceContext yes{kTrace, "00f067aa0ba902b7", true};
    CHECK(Sampler().keeps(kTrace, &no));
    CHECK(Sampler::parse("always_on", "")->keeps(kTrace, &no));
    CHECK_FALSE(Sampler::parse("always_off", "")->keeps(kTrace, &yes));
    CHECK_FALSE(Sampler::parse("parentbased_always_on", "")->keeps(kTrace, &no));
    CHECK(Sampler::parse("parentbased_always_off", "")->keeps(kTrace, &yes));
    CHECK_FALSE(Sampler::parse("parentbased_always_off", "")->keeps(kTrace, nullptr));
  }

  TEST_CASE("a ratio keeps about that share of traces, and always the same ones") {
    const auto sampler = Sampler::parse("traceidratio", "0.25");
    REQUIRE(sampler.has_value());
    int kept = 0;
    for (int i = 0; i < 4'000; ++i) {
      const std::string id = new_trace_id();
      const bool keeps = sampler->keeps(id, nullptr);
      CHECK(sampler->keeps(id, nullptr) == keeps);
      if (keeps) ++kept;
    }
    CHECK(kept > 800);
    CHECK(kept < 1'200);
    CHECK(Sampler::parse("traceidratio", "")->keeps("ffffffffffffffffffffffffffffffff", nullptr));
    CHECK_FALSE(Sampler::parse("traceidratio", "0")->keeps(std::string(31, '0') + "1", nullptr));
    for (const char* ratio : {"2", "-1", "half", "nan", "0.5x"})
      CHECK_FALSE(Sampler::parse("traceidratio", ratio).has_value());
    CHECK_FALSE(Sampler::parse("sometimes", "").has_value());
  }

  TEST_CASE("where spans go is what --otlp says, or the variables where it says env") {
    const std::map<std::string, std::string> set{
        {"OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example/base/"}};
    CHECK(place_of(settings_of("http://127.0.0.1:4318")) == "http://127.0.0.1:4318/v1/traces");
    CHECK(place_of(settings_of("http://127.0.0.1:4318/", set)) ==
          "http://127.0.0.1:4318/v1/traces");
    CHECK(place_of(settings_of("https://c.example/otlp/v1/traces")) ==
          "https://c.example/otlp/v1/traces");
    CHECK(place_of(settings_of("env", set)) == "https://collector.example/base/v1/traces");
    CHECK(place_of(settings_of("env", {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"},
                                       {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
                                        "http://127.0.0.1:2/here"}})) == "http://127.0.0.1:2/here");
    CHECK_FALSE(settings_of("env").has_value());
    CHECK_FALSE(settings_of("collector:4318").has_value());
    CHECK_FALSE(settings_of("http://user:password@127.0.0.1:4318").has_value());
    CHECK_FALSE(settings_of("env", {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317"},
                                    {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}})
                    .has_value());
  }

  TEST_CASE("headers are read with their encoding, and never go to another machine without TLS") {
    const std::map<std::string, std::string> set{
        {"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cr3t%2C1, x-team = a ,"}};
    const auto settings = settings_of("https://c.example", set);
    REQUIRE(settings.has_value());
    CHECK((*settings)->headers == std::vector<std::pair<std::string, std::string>>{
                                      {"authorization", "Bearer s3cr3t,1"}, {"x-team", "a"}});
    CHECK(settings_of("http://localhost:4318", set).has_value());
    const auto open = settings_of("http://c.example:4318", set);
    REQUIRE_FALSE(open.has_value());
    CHECK(open.error().to_text().find("s3cr3t") == std::string::npos);
    CHECK(settings_of("http://c.example:4318").has_value());
    for (const char* text : {"novalue", "a=%zz", "a=%0d%0aHost: x", "Host=x", "a b=c",
                             "Transfer-Encoding=chunked", "a=%"}) {
      CAPTURE(text);
      CHECK_FALSE(
          settings_of("https://c.example", {{"OTEL_EXPORTER_OTLP_HEADERS", text}}).has_value());
    }
  }

  TEST_CASE("the user's variables turn tracing off, name the service and choose the sampler") {
    CHECK_FALSE(settings_of("http://127.0.0.1:4318", {{"OTEL_SDK_DISABLED", "TRUE"}})->has_value());
    const auto named =
        settings_of("http://127.0.0.1:4318", {{"OTEL_SERVICE_NAME", "the gate"},
                                              {"OTEL_SDK_DISABLED", "no"},
                                              {"OTEL_TRACES_SAMPLER", "always_off"}});
    REQUIRE(named.has_value());
    CHECK((*named)->service_name == "the gate");
    CHECK_FALSE((*named)->sampler.keeps(kTrace, nullptr));
    CHECK((*settings_of("http://127.0.0.1:4318"))->service_name == "mcpac");
  }
}
