// The vectors of the grant language through the HTTP door: what an ordinary client may do is
// decided as for a program.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "gateway/support_http.h"
#include "gateway/support_session.h"
#include "policy/support_world.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;
using gate::testing::FakeUpstream;
using policy::testing::World;

namespace {

// Says no, and remembers that it was asked.
class Witness final : public gate::Approver {
 public:
  void ask(const gate::Question&, Done done) override {
    ++asked;
    done_ = std::move(done);
  }
  void cancel() override { done_ = nullptr; }
  // Never from inside ask().
  void answer() {
    if (auto done = std::exchange(done_, nullptr)) done({.answer = gate::Answered::kNo});
  }
  int asked = 0;

 private:
  Done done_;
};

// One line of vectors as a client of the door: its own tools, rules, folder and clock.
class Client {
 public:
  Client(Hall& hall, World& world, policy::Authority authority)
      : hall_(hall), world_(world), folder_(temporary()) {
    hall_.on_loop([&] { hall_.runs["vector"] = make_run(std::move(authority)); });
    session_ = begin_session(hall_.port(), "token-vector");
  }
  ~Client() {
    hall_.on_loop([&] {
      answer_all();
      hall_.runs.at("vector")->end("test-ended");
      hall_.runs.erase("vector");
    });
    hall_.on_loop([] {});
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // "allow", "ask", "deny", "invalid"; "unknown" is said of a tool that the lock does not have and
  // of one that these rules never allow. `params`: JSON text of {"permission", "arguments"}.
  std::string decide(const Json& permission, const std::string& arguments) {
    const std::string name = name_of(permission);
    connections_.emplace_back(hall_.port());
    RawClient& client = connections_.back();
    const std::string body = fmt::format(
        R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":{},"arguments":{}}}}})",
        connections_.size(), to_text(Json(name)), arguments);
    client.send(
        post_text(hall_.port(), {.token = "token-vector", .session = session_, .body = body}));
    for (;;) {
      const std::string happened = hall_.on_loop([&] { return seen(); });
      if (!happened.empty()) return happened;
      if (client.has_more()) return said(client.read());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void answer_what_waits() {
    hall_.on_loop([&] { answer_all(); });
  }

 private:
  static TemporaryFolder temporary() {
    auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-vectors-");
    REQUIRE(folder.has_value());
    return std::move(*folder);
  }

  std::shared_ptr<ClientGrant> make_run(policy::Authority authority) {
    gate::ToolTable tools;
    for (const auto& [tool, schema] : world_.tools)
      tools[tool] = {JsonSchema::compile(schema).value(), "a digest"};
    ClientGrant::Parts parts;
    parts.name = "vector";
    parts.tools = std::make_shared<const gate::ToolTable>(std::move(tools));
    parts.catalog = Catalog::make(lock_of(world_.tools), authority, NameForm::kDotted);
    names_ =
        client_names({parts.catalog->permissions().begin(), parts.catalog->permissions().end()},
                     NameForm::kDotted);
    auto log = ClientRecord::create(
        {.folder = folder_.path() / "audit", .clock = &world_.clock, .client = parts.name});
    REQUIRE(log.has_value());
    parts.log = std::move(*log);
    parts.upstream = &upstream_;
    auto witness = std::make_unique<Witness>();
    witness_ = witness.get();
    parts.approver = std::move(witness);
    gate::Declared declared{.permissions = parts.catalog->permissions(), .texts = {}};
    gate::GateSetup setup{.tools = parts.tools.get(),
                          .authority = std::move(authority),
                          .declared = std::move(declared),
                          .upstream = &upstream_,
                          .audit = parts.log.get(),
                          .clock = &world_.clock,
                          .asking = {.approver = witness_}};
    return std::make_shared<ClientGrant>(std::move(parts), std::move(setup));
  }

  // As the client would have it from tools/list; for any other tool, what one would guess.
  std::string name_of(const Json& permission) const {
    const auto parsed = policy::testing::permission_of(permission.get<std::string>());
    if (!parsed) return permission.get<std::string>();
    for (const auto& [name, tool] : names_) {
      if (tool == *parsed) return name;
    }
    return parsed->text();
  }

  std::string seen() {
    if (upstream_.calls.size() > forwarded_) {
      forwarded_ = upstream_.calls.size();
      return "allow";
    }
    if (witness_->asked == asked_) return "";
    asked_ = witness_->asked;
    return "ask";
  }

  static std::string said(const HttpAnswer& answer) {
    if (answer.status == 400) return "invalid";
    const Json message = answer.messages().back();
    if (message.contains("error")) {
      INFO(message.dump());
      CHECK(message["error"]["message"].get<std::string>().starts_with("Unknown tool"));
      return "unknown";
    }
    const std::string kind = message.at("result").at("_meta").at("mcpac/error").at("kind");
    return kind == "denied" ? "deny" : kind == "invalid_arguments" ? "invalid" : kind;
  }

  void answer_all() {
    for (auto& call : upstream_.calls) {
      if (call.done) std::exchange(call.done, nullptr)(gate::testing::text_result("done"));
    }
    witness_->answer();
  }

  Hall& hall_;
  World& world_;
  TemporaryFolder folder_;
  FakeUpstream upstream_;
  Witness* witness_ = nullptr;
  std::map<std::string, Permission> names_;
  std::size_t forwarded_ = 0;
  int asked_ = 0;
  std::deque<RawClient> connections_;  // open until the line has ended: leaving would cancel
  std::string session_;
};

struct Made {
  Json permission;
  std::string arguments;  // JSON text, as it was written where the line has it so
};

Made made_of(const World& world, const Json& line) {
  if (line.contains("call"))
    return {line["call"].at("permission"), to_text(world.fill(line["call"].at("arguments")))};
  constexpr std::string_view kArguments = R"("arguments":)";
  const std::string raw = line.at("call_raw");
  const auto at = raw.find(kArguments);
  REQUIRE(at != std::string::npos);
  const auto start = at + kArguments.size();
  const std::string before = raw.substr(0, at) + R"("arguments":{}})";
  return {Json::parse(before).at("permission"), raw.substr(start, raw.rfind('}') - start)};
}

// A tool that these rules never allow is one that nobody has.
bool agrees(const std::string& got, const std::string& expect) {
  if (got == "unknown") return expect == "deny" || expect == "invalid";
  return got == expect;
}

// No server of a project can have such a name: an agent's own acts, and servers that only the
// language of rules can write.
bool is_no_tool(const Json& line) {
  if (!line.contains("call")) return false;
  const auto named = policy::testing::permission_of(line["call"]["permission"]);
  return named && !is_server_name(named->server());
}

}  // namespace

TEST_SUITE("gateway/vectors") {
  TEST_CASE("an ordinary client and a program get the same decision for the same call") {
    Hall hall;
    std::size_t decided = 0;
    std::size_t left_out = 0;  // rules that do not load, and what no server of a project can have
    for (const Json& line : policy::testing::vectors()) {
      const std::string expect = line.at("expect");
      if (expect == "load_error" || is_no_tool(line)) {
        ++left_out;
        continue;
      }
      INFO(line.dump());
      const auto world = policy::testing::world_of(line);
      auto authority = world->load(policy::testing::layers_of(*world, line));
      REQUIRE(authority.has_value());
      Client client(hall, *world, std::move(*authority));
      Json steps = line.contains("calls") ? line["calls"] : Json::array({line});
      std::int64_t now = 0;
      for (Json& step : steps) {
        const auto at = step.value("at_ms", std::int64_t{0});
        if (at != now) client.answer_what_waits();
        now = at;
        hall.on_loop([&] { world->clock.set(std::chrono::milliseconds(at)); });
        const bool own = step.contains("call") || step.contains("call_raw");
        const Made made = made_of(*world, own ? step : line);
        const std::string got = client.decide(made.permission, made.arguments);
        CHECK_MESSAGE(agrees(got, step.at("expect").get<std::string>()), got, " at ", at);
        ++decided;
      }
    }
    CHECK(decided == 202);
    CHECK(left_out == 25);
  }
}
