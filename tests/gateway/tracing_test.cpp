// Which spans there are, what stands in them, and what servers hear of them.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "e2e/workspace.h"
#include "gateway/support_collector.h"
#include "gateway/support_http.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"
#include "gateway/tracing/otlp_json.h"
#include "gateway/tracing/traced_upstream.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;
using namespace std::chrono_literals;
using e2e::has;
using e2e::Workspace;
using tracing::Span;
using tracing::SpanKind;

namespace {

constexpr const char* kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr const char* kTheirParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// Spans that have ended.
struct Traced {
  SystemClock clock;
  std::vector<Span> ended;
  std::shared_ptr<tracing::Tracer> tracer = std::make_shared<tracing::Tracer>(
      clock, tracing::Sampler(), [this](const Span& span) { ended.push_back(span); });

  tracing::SessionFacts facts() {
    return {
        .tracer = tracer, .client = "mcpac serve, stdio", .run = "the run", .transport = "pipe"};
  }
  Span only() {
    REQUIRE(ended.size() == 1);
    return std::exchange(ended, {}).front();
  }
};

struct TracedTalk : Traced {
  explicit TracedTalk(Talk::Options options)
      : talk(std::move(options), NameForm::kDotted, {}, WaitingRoom::kMost, facts()) {}
  Talk talk;
};

Json traced_call(std::string_view name, Json arguments, const std::string& traceparent = "") {
  Json params{{"name", name}, {"arguments", std::move(arguments)}};
  if (!traceparent.empty()) params["_meta"]["traceparent"] = traceparent;
  return params;
}

// A server whose tool `log_meta` answers with the `_meta` of its request.
void make_talk_of_meta(const Workspace& workspace) {
  const Json tools = Json::array({{{"name", "log_meta"}, {"inputSchema", {{"type", "object"}}}},
                                  {{"name", "echo"}, {"inputSchema", {{"type", "object"}}}}});
  const auto script =
      workspace.write("tools.json", Json{{"version", "1"}, {"tools", tools}}.dump());
  Json config = *parse_json(workspace.read("mcpac.json"));
  config["mcpServers"]["fixture"]["args"][1] = "scripted";
  config["mcpServers"]["fixture"]["args"].push_back(script.string());
  workspace.write("mcpac.json", config.dump());
  const auto generated = workspace.mcpac({"generate"});
  INFO(generated.err);
  REQUIRE(generated.exit_code == 0);
}

// The answer to one of revision 2026-07-28.
Json answer_to(const Serving& serving, const std::string& tool, const Json& params) {
  return post(serving.port(), {.token = serving.token(),
                               .more = stateless_headers("tools/call", tool),
                               .body = request(1, "tools/call", params).dump()})
      .messages()
      .back();
}

// The same, with what `_meta` says besides.
Json called(const Serving& serving, const std::string& tool, const Json& arguments,
            const Json& meta = Json::object()) {
  Json params = stateless({{"name", tool}, {"arguments", arguments}});
  params["_meta"].update(meta);
  return answer_to(serving, tool, params);
}

// Of a client that shows forms.
Json asking(Json params) {
  params = stateless(std::move(params));
  params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {
      {"elicitation", {{"form", Json::object()}}}};
  return params;
}

const Json& named(const std::vector<Json>& spans, const std::string& name, int kind) {
  const auto found = std::ranges::find_if(
      spans, [&](const Json& span) { return span.at("name") == name && span.at("kind") == kind; });
  CAPTURE(name);
  REQUIRE(found != spans.end());
  return *found;
}

}  // namespace

TEST_SUITE("gateway/tracing") {
  TEST_CASE("a call is a span below the client's, and its server is told of it") {
    TracedTalk traced({.grants = {"fs.read"}});
    traced.talk.initialize();
    const Span begun = traced.only();
    CHECK(begun.name == "initialize");
    CHECK(begun.parent.empty());
    traced.talk.send(
        request(7, "tools/call", traced_call("fs.read", {{"path", "a"}}, kTheirParent)));
    REQUIRE(traced.talk.world.upstream.calls.size() == 1);
    const auto told =
        tracing::context_of(traced.talk.world.upstream.calls[0].caller->request_meta());
    CHECK(traced.ended.empty());
    traced.talk.world.upstream.answer(0, Json{{"content", Json::array()}});
    const Span span = traced.only();
    REQUIRE(told.has_value());
    CHECK(*told == span.context);
    CHECK(span.context.trace_id == kTraceId);
    CHECK(span.parent == "00f067aa0ba902b7");
    CHECK(span.has_remote_parent);
    CHECK(span.name == "tools/call fs.read");
    CHECK(span.kind == SpanKind::kServer);
    CHECK_FALSE(span.has_failed);
    const Json expected{{"mcp.method.name", "tools/call"},
                        {"gen_ai.operation.name", "execute_tool"},
                        {"gen_ai.tool.name", "fs.read"},
                        {"jsonrpc.request.id", "7"},
                        {"mcp.protocol.version", "2025-11-25"},
                        {"network.transport", "pipe"},
                        {"mcpac.client", "mcpac serve, stdio"},
                        {"mcpac.audit.run", "the run"},
                        {"mcpac.decision", "allow"},
                        {"mcpac.decided_by", "policy"}};
    for (const auto& [key, value] : expected.items()) {
      CAPTURE(key);
      CHECK(attribute_of(span, key) == value);
    }
    const auto checks = traced.talk.world.audit.of("CapabilityCheck");
    CHECK(attribute_of(span, "mcpac.audit.call") == checks.at(0).at("call_id"));
    CHECK_FALSE(attribute_of(span, "mcpac.rule").is_null());
  }

  TEST_CASE("a context that is none begins a new trace, and what else a client says goes nowhere") {
    TracedTalk traced({.grants = {"fs.read"}});
    const std::vector<Json> metas{
        {{"traceparent", "00-0-0-01"}},
        {{"traceparent", std::string(100'000, 'a')}},
        {{"traceparent", Json::array({kTheirParent})}},
        {{"tracestate", "theirs=1"}, {"baggage", "user=alice"}},
        {{"traceparent", kTheirParent}, {"tracestate", "theirs=1"}, {"baggage", "user=alice"}}};
    std::set<std::string> traces;
    for (std::size_t i = 0; i < metas.size(); ++i) {
      Json params = stateless(traced_call("fs.read", {{"path", "a"}}));
      params["_meta"].update(metas[i]);
      traced.talk.send(request(1, "tools/call", params));
      const Json said = traced.talk.world.upstream.calls.at(i).caller->request_meta();
      CHECK(said.size() == 1);
      traced.talk.world.upstream.answer(i, Json{{"content", Json::array()}});
      const Span span = traced.only();
      const bool is_theirs = i + 1 == metas.size();
      CHECK((span.context.trace_id == kTraceId) == is_theirs);
      CHECK(span.parent.empty() != is_theirs);
      CHECK(said.at("traceparent") == tracing::to_traceparent(span.context));
      CHECK_FALSE(has(tracing::to_otlp(span), "alice"));
      traces.insert(span.context.trace_id);
      CHECK(attribute_of(span, "mcp.protocol.version") == "2026-07-28");
    }
    CHECK(traces.size() == metas.size());
  }

  TEST_CASE("a refusal says which rule decided, and nothing of the call") {
    TracedTalk traced({.grants = {"fs.read(path within ./data)"}});
    traced.talk.initialize();
    traced.ended.clear();
    const Json answer =
        traced.talk.ask(1, "tools/call", traced_call("fs.read", {{"path", "/etc/s3cr3t-place"}}));
    CHECK(answer.at("result").at("isError") == true);
    const Span span = traced.only();
    CHECK(span.has_failed);
    CHECK(attribute_of(span, "error.type") == "tool_error");
    CHECK(attribute_of(span, "mcpac.error.kind") == "denied");
    CHECK(attribute_of(span, "mcpac.decision") == "deny");
    CHECK(attribute_of(span, "mcpac.decided_by") == "policy");
    CHECK_FALSE(has(tracing::to_otlp(span), "s3cr3t"));
    CHECK_FALSE(has(tracing::to_otlp(span), "./data"));
  }

  TEST_CASE("names that a client makes up stand in no span") {
    TracedTalk traced({.grants = {"fs.read"}});
    traced.talk.initialize();
    traced.ended.clear();
    for (const char* tool : {"fs.remove", "made-up\x1b[31m"}) {
      std::ignore = traced.talk.ask(1, "tools/call", traced_call(tool, Json::object()));
      const Span span = traced.only();
      CHECK(span.name == "tools/call");
      CHECK(attribute_of(span, "gen_ai.tool.name").is_null());
      CHECK(attribute_of(span, "mcpac.decision") == "deny");
      CHECK(attribute_of(span, "mcpac.decided_by") == "not_offered");
      CHECK(attribute_of(span, "error.type") == "-32602");
      CHECK(attribute_of(span, "rpc.response.status_code") == "-32602");
    }
    std::ignore = traced.talk.ask("an\nid\x1b[31m" + std::string(200, 'x'), "made/up");
    const Span other = traced.only();
    CHECK(other.name == "_OTHER");
    CHECK(attribute_of(other, "mcp.method.name") == "_OTHER");
    const std::string id = attribute_of(other, "jsonrpc.request.id");
    CHECK(id.size() <= 131);  // with the ellipsis
    CHECK(id.starts_with("an id"));
  }

  TEST_CASE("resources and prompts are named by their method alone") {
    TracedTalk traced(
        {.grants = {R"(fs."resources/read"(uri starts "file:///data/"))"}, .offers = true});
    traced.talk.with_servers([](FakeServers& servers) {
      servers.add("fs", Json::array({{{"uri", "file:///data/a"}, {"name", "a"}}}));
    });
    traced.talk.initialize();
    traced.ended.clear();
    traced.talk.send(request(1, "resources/read", {{"uri", "file:///data/s3cr3t"}}));
    REQUIRE(traced.talk.world.upstream.calls.size() == 1);
    traced.talk.world.upstream.answer(0, Json{{"contents", Json::array()}});
    const Span span = traced.only();
    CHECK(span.name == "resources/read");
    CHECK(attribute_of(span, "mcpac.decision") == "allow");
    CHECK_FALSE(has(tracing::to_otlp(span), "s3cr3t"));
  }

  TEST_CASE(
      "every request ends its span once: answered, refused, taken back, or with the session") {
    TracedTalk traced({.grants = {"fs.read"}});
    traced.talk.initialize();
    std::ignore = traced.talk.ask(1, "tools/list");
    std::ignore = traced.talk.ask(2, "ping");
    CHECK(traced.ended.size() == 3);
    traced.ended.clear();
    for (const int id : {3, 4})
      traced.talk.send(request(id, "tools/call", traced_call("fs.read", {{"path", "a"}})));
    // An id that is in flight is refused, and the request that has it goes on.
    std::ignore = traced.talk.ask(3, "ping");
    CHECK(traced.ended.empty());
    traced.talk.send({{"jsonrpc", "2.0"},
                      {"method", "notifications/cancelled"},
                      {"params", {{"requestId", 3}}}});
    CHECK(attribute_of(traced.only(), "error.type") == "cancelled");
    traced.talk.session->close();
    CHECK(attribute_of(traced.only(), "error.type") == "cancelled");
    traced.talk.world.upstream.answer(1, Json{{"content", Json::array()}});
    CHECK(traced.ended.empty());
  }

  TEST_CASE("what a server asks of a person ends one request, and decides nothing") {
    TracedTalk traced({.grants = {"fs.read"}});
    traced.talk.send(request(1, "tools/call", asking(traced_call("fs.read", {{"path", "a"}}))));
    auto& made = traced.talk.world.upstream.calls.at(0);
    made.caller->ask("elicitation/create", {{"message", "?"}}, [](const Result<Json>&) {});
    REQUIRE(traced.talk.heard().size() == 1);
    const Span asked = traced.only();
    CHECK(attribute_of(asked, "mcpac.decision") == "allow");
    CHECK_FALSE(asked.has_failed);
  }

  TEST_CASE("a call of a server is a span of its own, between its caller's and the server's") {
    struct Below final : gate::Caller {
      [[nodiscard]] Json request_meta() const override { return {{"traceparent", kTheirParent}}; }
    };
    struct OfNothing final : gate::Caller {};
    Traced traced;
    gate::testing::FakeUpstream servers;
    tracing::TracedUpstream upstream(servers, traced.tracer,
                                     [](const std::string&) { return std::string("tcp"); });
    const auto forward = [&](const char* tool, std::shared_ptr<gate::Caller> caller) {
      std::ignore = upstream.forward(gate::testing::permission(tool), {{"path", "s3cr3t"}},
                                     std::move(caller), [](const Result<Json>&) {});
      return servers.calls.size() - 1;
    };
    const auto traced_call = forward("fs.read", std::make_shared<Below>());
    const auto told = tracing::context_of(servers.calls[traced_call].caller->request_meta());
    servers.answer(traced_call, Json{{"content", {{{"text", "s3cr3t"}}}}});
    const Span span = traced.only();
    REQUIRE(told.has_value());
    CHECK(*told == span.context);
    CHECK(span.context.trace_id == kTraceId);
    CHECK(span.parent == "00f067aa0ba902b7");
    CHECK_FALSE(span.has_remote_parent);
    CHECK(span.kind == SpanKind::kClient);
    CHECK(span.name == "tools/call read");
    CHECK(attribute_of(span, "mcpac.server") == "fs");
    CHECK(attribute_of(span, "network.transport") == "tcp");
    CHECK_FALSE(has(tracing::to_otlp(span), "s3cr3t"));
    // What fails says how, in words of ours.
    servers.answer(forward("fs.read", std::make_shared<Below>()),
                   Json{{"content", Json::array()}, {"isError", true}});
    CHECK(attribute_of(traced.only(), "error.type") == "tool_error");
    servers.answer(forward("fs.read", std::make_shared<Below>()),
                   fail(ErrorId::kServerDied, "s3cr3t"));
    CHECK(attribute_of(traced.only(), "error.type") == to_string(ErrorId::kServerDied));
    const auto refused = forward("fs.read", std::make_shared<Below>());
    servers.calls[refused].caller->refused({-32000, "s3cr3t", nullptr});
    servers.answer(refused, fail(ErrorId::kServerError, "s3cr3t"));
    const Span with_code = traced.only();
    CHECK(attribute_of(with_code, "error.type") == "-32000");
    CHECK_FALSE(has(tracing::to_otlp(with_code), "s3cr3t"));
    // Of a call that belongs to no traced request there is nothing to tell.
    servers.answer(forward("fs.read", std::make_shared<OfNothing>()), Json::object());
    servers.answer(forward("fs.read", nullptr), Json::object());
    CHECK(traced.ended.empty());
  }

  TEST_CASE("a trace goes from the client through mcpac to the server, and to the collector") {
    const FakeCollector collector;
    const Workspace workspace(Workspace::fixture("plain"));
    make_talk_of_meta(workspace);
    Serving serving(workspace, {"--grant", "fixture.log_meta", "--otlp", collector.url()});
    const Json result = called(serving, "fixture.log_meta", {{"text", "s3cr3t"}},
                               {{"traceparent", kTheirParent}, {"tracestate", "theirs=1"}})
                            .at("result");
    const Json heard = Json::parse(text_in(result));
    CHECK_FALSE(heard.contains("tracestate"));
    CHECK(called(serving, "fixture.echo", {{"text", "s3cr3t"}}).contains("error"));
    const auto spans = collector.wait_for_spans(3);
    const Json& server = named(spans, "tools/call fixture.log_meta", 2);
    const Json& client = named(spans, "tools/call log_meta", 3);
    CHECK(server.at("traceId") == kTraceId);
    CHECK(server.at("parentSpanId") == "00f067aa0ba902b7");
    CHECK(client.at("traceId") == kTraceId);
    CHECK(client.at("parentSpanId") == server.at("spanId"));
    CHECK(heard.at("traceparent") ==
          fmt::format("00-{}-{}-01", kTraceId, client.at("spanId").get<std::string>()));
    CHECK(named(spans, "tools/call", 2).at("traceId") != kTraceId);
    for (const auto& sent : collector.requests()) CHECK_FALSE(has(sent.body, "s3cr3t"));
    // A span leads to its record.
    const auto checks = events(workspace, "CapabilityCheck");
    const Json run = attribute_of(server, "mcpac.audit.run");
    const std::string number = attribute_of(server, "mcpac.audit.call");
    const auto of_span = std::ranges::find_if(checks, [&](const Json& event) {
      return event.at("run_id") == run && event.at("payload").at("call_id").dump() == number;
    });
    REQUIRE(of_span != checks.end());
    CHECK(of_span->at("payload").at("capability") == "fixture.log_meta");
    CHECK(serving.end() == 0);
  }

  TEST_CASE("what a rule asks is a request that is asked, and one that is decided") {
    const FakeCollector collector;
    const Workspace workspace(Workspace::fixture("plain"));
    make_talk_of_meta(workspace);
    Serving serving(workspace, {"--ask", "fixture.echo", "--otlp", collector.url()});
    Json params = asking(traced_call("fixture.echo", Json::object()));
    const Json asked = answer_to(serving, "fixture.echo", params).at("result");
    REQUIRE(asked.at("resultType") == "input_required");
    params["requestState"] = asked.at("requestState");
    params["inputResponses"]["question"] = {{"action", "accept"},
                                            {"content", {{"answer", "once"}}}};
    CHECK(answer_to(serving, "fixture.echo", params).contains("result"));
    CHECK(serving.end() == 0);
    const auto spans = collector.wait_for_spans(3);
    REQUIRE(spans.size() == 3);
    CHECK(attribute_of(spans[0], "mcpac.decision") == "ask");
    CHECK(attribute_of(spans[2], "mcpac.decision") == "allow");
    CHECK(attribute_of(spans[2], "mcpac.asked") == true);
    CHECK(spans[1].at("parentSpanId") == spans[2].at("spanId"));
  }

  TEST_CASE("a program of a client is a span, and each of its calls another below it") {
    const FakeCollector collector;
    const Workspace& workspace = Workspace::shared();
    // What is done once on a machine is done before a client waits for it.
    REQUIRE(workspace
                .execute("#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return 0; }\n",
                         "everything.echo")
                .exit_code == 0);
    Serving serving(workspace,
                    {"--code", "--grant", "everything.echo calls <= 1", "--otlp", collector.url()});
    constexpr const char* kTwice = R"(#include <mcpac.hpp>
#include <tuple>
using namespace mcp;
int agent_main(mcpac::Requires<everything::echo> rt) {
  for (int i = 0; i < 2; ++i) std::ignore = rt.everything.echo.try_call({.message = "s3cr3t"});
  return 0;
}
)";
    Json params = stateless(traced_call("execute_agent", {{"source", kTwice}}, kTheirParent));
    params["_meta"]["progressToken"] = "how far";
    const Json result = answer_to(serving, "execute_agent", params).at("result");
    INFO(result.dump());
    CHECK(result.at("structuredContent").at("exit_code") == 0);
    CHECK(serving.end() == 0);
    const auto spans = collector.wait_for_spans(4);
    REQUIRE(spans.size() == 4);
    const Json& program = named(spans, "tools/call execute_agent", 2);
    const Json& made = named(spans, "tools/call everything.echo", 1);
    CHECK(attribute_of(program, "mcpac.decision").is_null());
    CHECK(made.at("parentSpanId") == program.at("spanId"));
    CHECK(named(spans, "tools/call echo", 3).at("parentSpanId") == made.at("spanId"));
    CHECK(attribute_of(made, "mcpac.decision") == "allow");
    CHECK(attribute_of(made, "mcpac.program.run").is_string());
    CHECK(std::ranges::count_if(spans, [&](const Json& span) {
            return span.at("parentSpanId") == program.at("spanId") &&
                   attribute_of(span, "mcpac.decision") == "deny" &&
                   attribute_of(span, "error.type") == "denied";
          }) == 1);
    for (const Json& span : spans) CHECK(span.at("traceId") == kTraceId);
    for (const auto& sent : collector.requests()) CHECK_FALSE(has(sent.body, "s3cr3t"));
  }

  TEST_CASE("without --otlp nothing is exported, and no server hears of a trace") {
    const FakeCollector collector;
    const Workspace workspace(Workspace::fixture("plain"));
    make_talk_of_meta(workspace);
    REQUIRE(::setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url().c_str(), 1) == 0);
    Serving serving(workspace, {"--grant", "fixture.log_meta"});
    ::unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
    const Json result =
        called(serving, "fixture.log_meta", Json::object(), {{"traceparent", kTheirParent}})
            .at("result");
    CHECK_FALSE(has(text_in(result), "traceparent"));
    CHECK(serving.end() == 0);
    CHECK(collector.requests().empty());
  }

  TEST_CASE("what is not sent yet is sent when the gateway ends") {
    const FakeCollector collector;
    const Workspace workspace(Workspace::fixture("plain"));
    make_talk_of_meta(workspace);
    Serving serving(workspace, {"--grant", "fixture.echo", "--otlp", collector.url()});
    std::ignore = called(serving, "fixture.echo", Json::object());
    CHECK(serving.end() == 0);
    CHECK(collector.wait_for_spans(2).size() == 2);
  }

  TEST_CASE("a collector that is away, or never answers, keeps no call and no end waiting") {
    const FakeCollector silent([](std::size_t) { return FakeCollector::Answer{.after = 1h}; });
    for (const std::string& url : {std::string("http://127.0.0.1:1"), silent.url()}) {
      CAPTURE(url);
      const Workspace workspace(Workspace::fixture("plain"));
      make_talk_of_meta(workspace);
      Serving serving(workspace, {"--grant", "fixture.echo", "--otlp", url});
      const auto begun = std::chrono::steady_clock::now();
      for (int i = 0; i < 50; ++i)
        CHECK(called(serving, "fixture.echo", Json::object()).contains("result"));
      CHECK(std::chrono::steady_clock::now() - begun < 20s);
      CHECK(serving.end() == 0);
      CHECK(std::chrono::steady_clock::now() - begun < 40s);
    }
  }

  TEST_CASE("a place that is no URL is refused before anything is started") {
    const Workspace workspace(Workspace::fixture("plain"));
    for (const char* place : {"collector", "ftp://127.0.0.1", "env"}) {
      const auto outcome = workspace.mcpac({"serve", "--grant", "fixture.echo", "--otlp", place});
      CHECK(outcome.exit_code == 64);
    }
  }
}
