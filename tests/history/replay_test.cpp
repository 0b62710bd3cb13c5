// Replay: what a gate recorded is decided again, and every change is found.
#include "history/records/replay.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <memory>

#include "core/file.h"
#include "core/hash.h"
#include "core/json_schema.h"
#include "gate/support_gate.h"
#include "history/records/audit_query.h"
#include "history/records/run_record.h"
#include "places.h"
#include "policy/match/path_facts.h"
#include "policy/match/system_path_resolver.h"
#include "policy/policy_digest.h"
#include "servers/tool_tables.h"

using namespace mcpac;
using namespace mcpac::servers;
using namespace mcpac::history;
using gate::testing::FakeUpstream;

namespace {

class StepClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::steady_clock::time_point steady_now() const override {
    return std::chrono::steady_clock::time_point(now);
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return std::chrono::system_clock::time_point(
        std::chrono::seconds(1'800'000'000) + std::chrono::floor<std::chrono::microseconds>(now));
  }
  std::chrono::nanoseconds now{5'000'000'123};
};

// Keeps what is appended as the events of one run.
class EventSink final : public audit::Sink {
 public:
  [[nodiscard]] Result<std::string> append(std::string_view kind, Json payload) override {
    events.push_back({fmt::format("event-{:06}", events.size()), "run-1", std::string(kind),
                      fmt::format("2027-01-01T00:00:{:02}.000000Z", events.size() % 60),
                      std::move(payload)});
    return events.back().event_id;
  }
  [[nodiscard]] std::string keyed_digest(std::string_view bytes) const override {
    return sha256_hex("key" + std::string(bytes));
  }
  std::vector<audit::Event> events;
};

codegen::LockedTool locked(const char* name, const Json& schema) {
  OrderedJson definition = {{"name", name}, {"inputSchema", OrderedJson::parse(schema.dump())}};
  std::string digest = codegen::definition_digest(definition);
  return {name, std::string("mcp::fs::") + name, std::move(digest), std::move(definition)};
}

codegen::Lock a_lock() {
  const Json path = {{"type", "object"},
                     {"properties",
                      {{"path", {{"type", "string"}}},
                       {"encoding", {{"type", "string"}, {"default", "utf-8"}}},
                       {"password", {{"type", "string"}, {"writeOnly", true}}}}},
                     {"required", {"path"}},
                     {"additionalProperties", false}};
  const Json paths = {
      {"type", "object"},
      {"properties", {{"paths", {{"type", "array"}, {"items", {{"type", "string"}}}}}}}};
  const Json any = {{"type", "object"}};
  const Json what = {{"type", "object"},
                     {"properties",
                      {{"what", {{"type", {"string", "null"}}}},
                       {"mode", {{"type", "string"}, {"enum", {"a", "b"}}}},
                       {"count", {{"type", "integer"}}}}},
                     {"additionalProperties", false}};
  const Json deep = {
      {"type", "object"},
      {"properties", {{"edits", {{"type", "array"}, {"items", {{"type", "object"}}}}}}},
      {"additionalProperties", false}};
  const Json uri = {{"type", "object"}, {"properties", {{"uri", {{"type", "string"}}}}}};
  codegen::Lock lock;
  lock.servers.push_back({.name = "fs",
                          .identity = "fs",
                          .implementation = "",
                          .protocol_version = "",
                          .cpp_name = "mcp::fs",
                          .tools = {locked("deep", deep), locked("fetch", uri), locked("list", any),
                                    locked("look", what), locked("read", path),
                                    locked("read_many", paths), locked("write", path)}});
  return lock;
}

// Yes or no at once, as told.
class TellingApprover final : public gate::Approver {
 public:
  void ask(const gate::Question&, Done done) override { done({.answer = answer, .who = "a test"}); }
  void cancel() override {}
  gate::Answered answer = gate::Answered::kOnce;
};

struct Recorded {
  struct Options {
    std::vector<std::string> grants;
    std::vector<std::string> asks = {};
    std::vector<std::string> denies = {};
    std::vector<std::string> ceiling = {};
    std::string folder = "/srv";
    gate::Mode mode = gate::Mode::kEnforce;
    std::vector<std::string> declares = {"fs.read", "fs.list"};
    std::string declared_in = "source";  // "grants": a client of the gateway
  };
  explicit Recorded(const Options& options)
      : lock(a_lock()),
        schemas(tool_schemas(lock)),
        tools(compile_tools(lock, {"fs"}, [](auto, auto) { return false; })) {
    policy::Environment environment;
    environment.tools = &schemas;
    environment.clock = &clock;
    environment.resolver = &resolver;
    environment.bases.current_directory = options.folder;
    environment.bases.home = "/home/somebody";
    environment.prices.emplace(gate_permission("fs.list"), Money{20'000, "USD"});
    std::vector<policy::LayerText> layers = {{.name = "the command line",
                                              .grants = options.grants,
                                              .asks = options.asks,
                                              .denies = options.denies,
                                              .files = {}}};
    if (!options.ceiling.empty())
      layers.push_back({.name = "mcpac.policy",
                        .grants = options.ceiling,
                        .asks = {},
                        .denies = {},
                        .files = {}});
    auto authority = policy::Authority::load(layers, environment);
    REQUIRE_MESSAGE(authority, (authority ? "" : authority.error().to_text()));
    std::string digest = policy::policy_digest(*authority);
    gate::Declared declared{.permissions = {}, .texts = {}};
    std::vector<std::string> names = options.declares;
    if (options.declared_in != "source")
      names.insert(names.end(), {"fs.resources/read", "fs.prompts/get"});
    for (const std::string& name : names) {
      declared.permissions.insert(gate_permission(name));
      declared.texts.push_back(name);
    }
    if (options.declared_in == "grants") add_offers(declared.permissions, lock, tools.table);
    gate::GateSetup setup{.tools = &tools.table,
                          .authority = std::move(*authority),
                          .declared = std::move(declared),
                          .upstream = &upstream,
                          .audit = &sink,
                          .clock = &clock,
                          .mode = options.mode,
                          .asking = {.approver = &approver,
                                     .memory = nullptr,
                                     .binding = {"p", "h", sha256_hex(codegen::to_text(lock)),
                                                 std::move(digest), "e"}}};
    REQUIRE(sink.append("RunStarted", started_payload({"a program", options.declared_in}, setup)));
    gate = std::make_unique<gate::Gate>(std::move(setup));
  }
  static Permission gate_permission(std::string_view text) {
    auto permission = Permission::parse(text);
    REQUIRE(permission);
    return *permission;
  }

  void call(std::string_view name, Json arguments = Json::object()) {
    clock.now += std::chrono::milliseconds(10);
    const auto before = upstream.calls.size();
    gate->call({std::string(name), std::move(arguments)}, [](const gate::Answer&) {});
    if (upstream.calls.size() > before) upstream.answer(before, Json{{"content", Json::array()}});
  }
  [[nodiscard]] RunReplay replay() const {
    auto replayed =
        replay_run(sink.events, [this](const std::string& digest) -> Result<codegen::Lock> {
          CHECK(digest == sha256_hex(codegen::to_text(lock)));
          return lock;
        });
    REQUIRE_MESSAGE(replayed, (replayed ? "" : replayed.error().to_text()));
    return std::move(*replayed);
  }
  // The payload of the n-th event of a kind, to be looked at or changed.
  Json& payload(std::string_view kind, std::size_t index = 0) {
    for (auto& event : sink.events) {
      if (event.kind == kind && index-- == 0) return event.payload;
    }
    REQUIRE_MESSAGE(false, "no such event");
    return sink.events.front().payload;
  }

  StepClock clock;
  codegen::Lock lock;
  policy::ToolSchemas schemas;
  CompiledTools tools;
  policy::SystemPathResolver resolver;
  FakeUpstream upstream;
  EventSink sink;
  TellingApprover approver;
  std::unique_ptr<gate::Gate> gate;
};

std::string text_of(const RunReplay& replay) {
  std::string text;
  for (const auto& difference : replay.differences)
    text += difference.event_id + ": " + difference.what + "\n";
  return text;
}

void check_green(const RunReplay& replay, std::size_t recomputed, std::size_t left_out) {
  CHECK_MESSAGE(replay.differences.empty(), text_of(replay));
  CHECK(replay.recomputed == recomputed);
  std::size_t others = 0;
  for (const auto& [why, count] : replay.not_recomputed) others += count;
  CHECK(others == left_out);
}

const char* const kAll = "fs.read(path within /srv/data, ?encoding any) audit args";

}  // namespace

TEST_SUITE("execute/replay") {
  TEST_CASE("every kind of decision comes out again as it was recorded") {
    Recorded run(
        {.grants = {kAll, "fs.list"}, .denies = {"fs.read(path matches /srv/data/*.pem)"}});
    run.call("fs.read", {{"path", "/srv/data/a.txt"}});
    run.call("fs.read", {{"path", "/etc/passwd"}});
    run.call("fs.read", {{"path", "/srv/data/key.pem"}});
    run.call("fs.read", {{"path", 7}});
    run.call("fs.write", {{"path", "/srv/data/a.txt"}});
    run.call("fs.nothing");
    run.call("fs.list", {{"deep", true}});
    run.gate->revoke_all();
    run.call("fs.list");
    check_green(run.replay(), 8, 0);
  }

  TEST_CASE(
      "what a client of the gateway read and got is decided again, and no program's names are") {
    const Recorded::Options offers{
        .grants = {R"(fs."resources/read"(uri starts "file:///srv/") calls <= 2 audit args)",
                   R"(fs."prompts/get"(name == "review", arguments.lang any) audit args)"},
        .declared_in = "grants"};
    Recorded run(offers);
    run.call("fs.resources/read", {{"uri", "file:///srv/a"}});
    run.call("fs.resources/read", {{"uri", "file:///etc/shadow"}});
    run.call("fs.resources/read", {{"uri", "file:///srv/../etc/shadow"}});
    run.call("fs.resources/read", {{"uri", "file:///srv/b"}});
    run.call("fs.resources/read", {{"uri", "file:///srv/c"}});
    run.call("fs.prompts/get", {{"name", "review"}, {"arguments", {{"lang", "de"}}}});
    run.call("fs.prompts/get", {{"name", "other"}});
    CHECK(run.upstream.calls.size() == 3);
    check_green(run.replay(), 7, 0);
    run.payload("CapabilityCheck", 1).at("allowed") = true;
    CHECK_FALSE(run.replay().differences.empty());
    Recorded program({.grants = offers.grants, .declared_in = "note"});
    program.call("fs.resources/read", {{"uri", "file:///srv/a"}});
    CHECK(program.upstream.calls.empty());
    check_green(program.replay(), 1, 0);
  }

  TEST_CASE("limits are counted along") {
    Recorded run({.grants = {"fs.list calls <= 3 rate 2/s cost <= 0.06 USD bytes in <= 50B"}});
    for (int i = 0; i < 4; ++i) {
      if (i == 2) run.clock.now += std::chrono::seconds(2);
      run.call("fs.list");
    }
    check_green(run.replay(), 4, 0);
    CHECK(run.payload("CapabilityCheck", 2).at("meters")[0].at("calls") == 2);
    CHECK(run.payload("CapabilityCheck", 3).at("allowed") == false);
    SUBCASE("a limit that was used otherwise is a difference") {
      run.payload("CapabilityCheck", 2).at("meters")[0].at("calls") = 1;
      CHECK(run.replay().differences.size() == 1);
    }
    SUBCASE("a clock that was changed is one, too") {
      run.payload("CapabilityCheck", 2).at("clock").at("run_ns") = 20'000'000;
      CHECK_FALSE(run.replay().differences.empty());
    }
    SUBCASE("and so is a call that was left out") {
      const auto& events = run.sink.events;
      run.sink.events.erase(std::find_if(events.begin(), events.end(), [](const auto& event) {
        return event.kind == "CapabilityCheck";
      }));
      CHECK_FALSE(run.replay().differences.empty());
    }
  }

  TEST_CASE("without its arguments a decision that hangs on them is not made again, and said so") {
    Recorded run(
        {.grants = {"fs.read(path within /srv/data, ?encoding any) calls <= 2", "fs.list"}});
    run.call("fs.read", {{"path", "/srv/data/a"}});
    run.call("fs.read", {{"path", "/elsewhere"}});
    run.call("fs.list", {{"x", 1}});
    run.call("fs.read", {{"path", "/srv/data/b"}});
    run.call("fs.read", {{"path", "/srv/data/c"}});
    const auto replayed = run.replay();
    check_green(replayed, 1, 4);
    CHECK(replayed.not_recomputed.contains("its arguments were not recorded (audit hash)"));
    CHECK(run.payload("CapabilityCheck", 4).at("allowed") == false);
  }

  TEST_CASE("what the file system said then is what counts") {
    auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-replay-");
    REQUIRE(folder);
    const auto root = std::filesystem::canonical(folder->path());
    std::filesystem::create_directory(root / "data");
    std::filesystem::create_symlink("/etc", root / "data" / "out");
    Recorded run({.grants = {"fs.read(path within ./data, ?encoding any) audit args"},
                  .folder = root.string()});
    run.call("fs.read", {{"path", (root / "data" / "a.txt").string()}});
    run.call("fs.read", {{"path", (root / "data" / "out" / "passwd").string()}});
    CHECK(run.payload("CapabilityCheck", 0).at("allowed") == true);
    CHECK(run.payload("CapabilityCheck", 1).at("allowed") == false);
    std::filesystem::remove(root / "data" / "out");
    check_green(run.replay(), 2, 0);
    run.payload("CapabilityCheck", 0).at("paths")[0].at("real") = "/etc/passwd";
    CHECK_FALSE(run.replay().differences.empty());
  }

  TEST_CASE("a call with more paths than one may have today is decided again as it was then") {
    Recorded run({.grants = {"fs.read_many(paths[*] within /srv/data) audit args"},
                  .declares = {"fs.read_many"}});
    run.call("fs.read_many", {{"paths", {"/srv/data/0"}}});
    run.call("fs.read_many", {{"paths", {"/srv/data/0", "/etc/passwd"}}});
    // As an mcpac without that bound recorded it.
    for (const std::size_t which : {0U, 1U}) {
      Json& check = run.payload("CapabilityCheck", which);
      Json& paths = check.at("arguments").at("paths");
      for (std::size_t i = 1; i <= 2 * policy::kPathsOfOneCall.questions; ++i) {
        const std::string path = fmt::format("/srv/data/{}", i);
        paths.push_back(path);
        Json fact = check.at("paths").at(0);
        fact.at("path") = std::to_string(i);
        fact.at("real") = path;
        check.at("paths").push_back(std::move(fact));
      }
      if (which == 1) std::swap(paths.at(1), paths.back());
    }
    CHECK(run.payload("CapabilityCheck", 1).at("allowed") == false);
    check_green(run.replay(), 2, 0);
    run.payload("CapabilityCheck", 1).at("allowed") = true;
    CHECK_FALSE(run.replay().differences.empty());
  }

  TEST_CASE("answers are part of the run") {
    Recorded run({.grants = {}, .asks = {"fs.list"}});
    run.call("fs.list");
    run.approver.answer = gate::Answered::kNo;
    run.call("fs.list");
    check_green(run.replay(), 2, 0);
    SUBCASE("a call whose yes is gone is a difference") {
      run.payload("Approval").at("answer") = "no";
      CHECK_FALSE(run.replay().differences.empty());
    }
    SUBCASE("and so is one whose yes was to another rule") {
      run.payload("Approval").at("rules")[0].at("rule") = "ask fs.read";
      CHECK_FALSE(run.replay().differences.empty());
    }
  }

  TEST_CASE("what only was observed is replayed as the denial that it would have been") {
    Recorded run({.grants = {"fs.list"}, .mode = gate::Mode::kObserve});
    run.call("fs.write", {{"path", "/a"}});
    run.call("fs.list");
    CHECK(run.payload("CapabilityCheck").at("would_deny") == true);
    CHECK_MESSAGE(run.replay().differences.empty(), text_of(run.replay()));
    const auto denied = denied_by_rule(run.sink.events);
    REQUIRE(denied.size() == 1);
    CHECK(denied[0].capability == "fs.write");
    CHECK(denied[0].observed);
  }

  TEST_CASE("a record or a policy that somebody changed comes out otherwise") {
    Recorded run({.grants = {kAll}, .ceiling = {"fs.read"}});
    run.call("fs.read", {{"path", "/srv/data/a.txt"}});
    run.call("fs.read", {{"path", "/etc/passwd"}});
    check_green(run.replay(), 2, 0);
    SUBCASE("a denial turned into an allowed call") {
      run.payload("CapabilityCheck", 1).at("allowed") = true;
    }
    SUBCASE("other arguments") {
      run.payload("CapabilityCheck").at("arguments").at("path") = "/etc/shadow";
    }
    SUBCASE("another rule") {
      run.payload("CapabilityCheck").at("rule") = "allow fs.read";
    }
    SUBCASE("another answer of a layer") {
      run.payload("CapabilityCheck", 1).at("layers")[0].at("effect") = "allow";
    }
    SUBCASE("a wider policy") {
      run.payload("RunStarted").at("policy").at("layers")[0].at("rules")[0].at("rule") =
          "allow fs.read audit args";
    }
    SUBCASE("another policy with its own digest") {
      Json& started = run.payload("RunStarted");
      started.at("policy").at("layers")[0].at("rules")[0].at("rule") =
          "allow fs.read(path within /etc, ..) audit args";
      started.at("policy_digest") = sha256_hex("made up");
    }
    SUBCASE("another tool") {
      run.payload("CapabilityCheck").at("tool_digest") = std::string(64, '0');
    }
    SUBCASE("a way of recording that no rule asked for") {
      run.payload("CapabilityCheck").at("level") = "meta";
    }
    CHECK_FALSE(run.replay().differences.empty());
  }

  TEST_CASE("a run of an older mcpac has nothing that could be made again") {
    Recorded run({.grants = {"fs.list"}});
    run.call("fs.list");
    run.payload("RunStarted").erase("policy");
    const auto replayed = run.replay();
    check_green(replayed, 0, 1);
  }

  TEST_CASE("every record is of the published schema") {
    auto text = read_file(mcpac::testing::in_source("docs/audit-log.schema.json"));
    REQUIRE(text);
    const auto schema = JsonSchema::compile(*parse_json(*text));
    REQUIRE_MESSAGE(schema, (schema ? "" : schema.error().to_text()));
    for (const char* level : {"meta", "hash", "args"}) {
      Recorded run({.grants = {fmt::format("fs.read(path within /srv/data, ..) calls <= 2 bytes in "
                                           "<= 10KB bytes out <= 1KB audit {}",
                                           level)},
                    .asks = {"fs.list"}});
      run.call("fs.read", {{"path", "/srv/data/a"}, {"password", "hunter2"}});
      run.call("fs.read", {{"path", "/srv/x"}});
      run.call("fs.list");
      run.call("nothing.at.all");
      run.call("fs.read", Json::array());
      run.gate->revoke_all();
      run.call("fs.read", {{"path", "/srv/data/a"}});
      for (const auto& event : run.sink.events) {
        Json line = audit::to_json(event);
        line["event_id"] = std::string(36, '0');
        line["seq"] = 1;
        line["hash"] = std::string(64, '0');
        const auto violation = (*schema)->validate(line);
        INFO(to_text(line));
        CHECK_MESSAGE(!violation, (violation ? violation->pointer + " " + violation->message : ""));
      }
    }
  }
}

TEST_SUITE("execute/audit_query") {
  TEST_CASE("denied calls are counted by the rule that denied them") {
    Recorded run({.grants = {kAll}, .denies = {"fs.read(path == \"/srv/data/no\")"}});
    run.call("fs.read", {{"path", "/srv/data/no"}});
    run.call("fs.read", {{"path", "/srv/data/no"}});
    run.call("fs.read", {{"path", "/elsewhere"}});
    const auto rows = denied_by_rule(run.sink.events);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].rule == "deny fs.read(path == \"/srv/data/no\")");
    CHECK(rows[0].calls == 2);
    CHECK(rows[0].runs == std::set<std::string>{"run-1"});
  }

  TEST_CASE("who could have touched a path is what the rules admit, and who did what they let") {
    Recorded run({.grants = {kAll, "fs.list"}});
    run.call("fs.read", {{"path", "/srv/data/a.txt"}});
    const auto lock_of = [&run](const std::string&) -> Result<codegen::Lock> { return run.lock; };
    const auto rows = who_could_touch(run.sink.events, "/srv/data", lock_of);
    REQUIRE(rows);
    REQUIRE(rows->size() == 1);  // who did could have
    CHECK((*rows)[0].permission == "fs.read");
    CHECK((*rows)[0].did);
    const auto other = who_could_touch(run.sink.events, "/srv/data/b.txt", lock_of);
    REQUIRE(other);
    REQUIRE(other->size() == 1);
    CHECK((*other)[0].permission == "fs.read");
    CHECK((*other)[0].argument == "path");
    CHECK_FALSE((*other)[0].did);
    const auto elsewhere = who_could_touch(run.sink.events, "/etc/passwd", lock_of);
    REQUIRE(elsewhere);
    CHECK(elsewhere->empty());
  }

  TEST_CASE(
      "a path in a text is one that the call could have touched, and those that did come first") {
    Recorded run({.grants = {kAll, "fs.list"}});
    const auto lock_of = [&run](const std::string&) -> Result<codegen::Lock> { return run.lock; };
    run.call("fs.list");
    run.payload("CapabilityCheck", 0)["mentions"] = {"/etc/hosts", "../up/x"};
    run.call("fs.read", {{"path", "/srv/data/a.txt"}});
    const auto reach = [&](const std::string& path) {
      const auto rows = who_could_touch(run.sink.events, path, lock_of);
      REQUIRE(rows);
      std::string all;
      for (const auto& row : *rows) all += (row.did ? "did " : "could ") + row.permission + " ";
      return all;
    };
    CHECK(reach("/etc/hosts") == "could fs.list ");
    CHECK(reach("/etc") == "could fs.list ");
    CHECK(reach("/etc/passwd").empty());
    run.payload("CapabilityCheck", 0)["mentions"] = Json::array({"/srv/data"});
    CHECK(reach("/srv/data/a.txt") == "did fs.read could fs.list ");
  }

  TEST_CASE("a call of two places did touch each of them") {
    Recorded run({.grants = {kAll}});
    run.call("fs.read", {{"path", "/srv/data/a.txt"}});
    Json& check = run.payload("CapabilityCheck", 0);
    check["target"] = "/srv/moved";
    check["targets"] = {"/srv/moved", "/srv/other/b.txt"};
    const auto lock_of = [&run](const std::string&) -> Result<codegen::Lock> { return run.lock; };
    for (const char* path : {"/srv/moved", "/srv/other"}) {
      const auto rows = who_could_touch(run.sink.events, path, lock_of);
      REQUIRE(rows);
      CHECK(std::ranges::count(*rows, true, &Touch::did) == 1);
    }
  }

  TEST_CASE(
      "a place by another name could be the path: of the kernel, a link, what a shell expands") {
    const auto folder = TemporaryFolder::create("/tmp", "mcpac-test-").value();
    const std::string at = folder.path().string();
    std::filesystem::create_directories(at + "/secret");
    std::filesystem::create_symlink(at + "/secret", at + "/link");
    Recorded run({.grants = {"fs.list"}});
    const auto lock_of = [&run](const std::string&) -> Result<codegen::Lock> { return run.lock; };
    const auto could = [&](const std::string& target, const std::string& path) {
      run.sink.events.resize(1);
      run.call("fs.list", {{"what", target}});
      const auto rows = who_could_touch(run.sink.events, path, lock_of);
      REQUIRE(rows);
      return rows->size() == 1 && !rows->front().did;
    };
    CHECK(could("/proc/self/root/etc/key", "/etc/key"));
    CHECK(could("/proc/1/task/1/root" + at + "/link/key", at + "/secret/key"));
    CHECK(could("/proc/self/cwd/key", "/etc/key"));
    CHECK(could("/dev/fd/3", "/etc/key"));
    CHECK(could(at + "/link/key", at + "/secret/key"));
    CHECK(could(at + "/secret/key", at + "/link/key"));
    for (const char* wild : {"/et?/key", "/e*c/key", "/[a-f]tc/key", "/*/key", "/**/key", "/etc/*"})
      CHECK(could(wild, "/etc/key"));
    for (const char* other : {"/proc/self/root/srv/key", "/proc/self/status", "/s?v/key", "/etc/k"})
      CHECK_FALSE(could(other, "/etc/key"));
    CHECK_FALSE(could(at + "/link/key", at + "/other"));
  }

  TEST_CASE("a parameter for a URL is asked for plain paths as well, which servers take, too") {
    for (const char* rule : {"fs.read(path within /srv/data)", "fs.fetch(uri within /srv/data)"}) {
      Recorded run({.grants = {rule}, .declares = {"fs.read", "fs.fetch"}});
      const auto lock_of = [&run](const std::string&) -> Result<codegen::Lock> { return run.lock; };
      const auto rows = who_could_touch(run.sink.events, "/srv/data/a", lock_of);
      REQUIRE(rows);
      REQUIRE(rows->size() == 1);
      CHECK_FALSE(rows->front().did);
    }
  }

  TEST_CASE("an argument whose name tells nothing could have named a path all the same") {
    struct Case {
      std::vector<std::string> grants;
      std::vector<std::string> denies;
      std::string told;
    };
    const std::vector<Case> cases = {
        {{"fs.look"}, {}, "fs.look what"},
        {{"fs.look(what within /srv/data, ..)"}, {}, "fs.look what"},
        {{"fs.look(what within /srv/other, ..)"}, {}, ""},
        {{"fs.look"}, {"*.*(* within /srv/data)"}, ""},
        {{"fs.look(what absent, ..)"}, {}, ""},
        {{"fs.deep"}, {}, "fs.deep edits"},
        {{"fs.read(path within /srv/other, ..)"}, {}, ""},
    };
    for (const auto& one : cases) {
      CAPTURE(one.grants.front());
      Recorded run({.grants = one.grants,
                    .denies = one.denies,
                    .declares = {"fs.look", "fs.deep", "fs.read"}});
      const auto lock_of = [&run](const std::string&) -> Result<codegen::Lock> { return run.lock; };
      const auto rows = who_could_touch(run.sink.events, "/srv/data/a", lock_of);
      REQUIRE(rows);
      std::string told;
      for (const auto& row : *rows) told += row.permission + " " + row.argument;
      CHECK(told == one.told);
    }
  }

  TEST_CASE("decoys do not keep a path out of the answer, nor does the dress of a value") {
    Recorded run({.grants = {"fs.list"}});
    const auto lock_of = [&run](const std::string&) -> Result<codegen::Lock> { return run.lock; };
    const auto reach = [&](const std::string& path) {
      const auto rows = who_could_touch(run.sink.events, path, lock_of);
      REQUIRE(rows);
      if (rows->empty()) return std::string("none");
      return std::string(std::ranges::any_of(*rows, &Touch::did) ? "did" : "could");
    };
    const auto recorded_with = [&](const Json& targets, const char* unlisted) {
      run.sink.events.resize(1);
      run.call("fs.list");
      Json& check = run.payload("CapabilityCheck", 0);
      check["target"] = targets.empty() ? Json() : targets.front();
      if (targets.size() > 1) check["targets"] = targets;
      if (unlisted != nullptr) check["unlisted"] = unlisted;
    };
    recorded_with({"/srv/decoy"}, nullptr);
    CHECK(reach("/etc/key") == "none");
    CHECK(reach("/srv/decoy") == "did");
    recorded_with({"/srv/decoy", "/srv/other"}, "places");
    CHECK(reach("/etc/key") == "could");
    recorded_with({"file:///etc/%6bey", "/srv/decoy"}, nullptr);
    CHECK(reach("/etc/key") == "did");
    recorded_with({"/etc"}, nullptr);  // a folder above it
    CHECK(reach("/etc/key") == "could");
    recorded_with({}, "names");
    CHECK(reach("/etc/key") == "none");
    CHECK(reach("/srv/key") == "could");
    // An older record: the first eight, and nothing of those left out.
    recorded_with(std::vector<std::string>(8, "/srv/decoy"), nullptr);
    CHECK(reach("/etc/key") == "could");
  }

  TEST_CASE("the first use of a tool with a target is the first call that was allowed") {
    Recorded run({.grants = {kAll}});
    run.call("fs.read", {{"path", "/srv/x"}});
    run.call("fs.read", {{"path", "/srv/data/a"}});
    run.call("fs.read", {{"path", "/srv/data/a"}});
    run.call("fs.read", {{"path", "/srv/data/b"}});
    const auto rows = first_uses(run.sink.events);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].target == "/srv/data/a");
    CHECK(rows[1].target == "/srv/data/b");
  }

  TEST_CASE("granted and never used: rules that let nothing through, tools that nobody called") {
    Recorded run({.grants = {kAll, "fs.write(path within /srv, ..)", "fs.list"}});
    run.call("fs.read", {{"path", "/srv/data/a"}});
    const auto rows = granted_never_used(run.sink.events);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].rules ==
          std::vector<std::string>{"allow fs.write(path within /srv, ..)", "allow fs.list"});
    CHECK(rows[0].permissions == std::vector<std::string>{"fs.list"});
  }

  TEST_CASE("a call after a revocation is found, and there is none in what a gate records") {
    Recorded run({.grants = {"fs.list"}});
    run.call("fs.list");
    run.gate->revoke(Recorded::gate_permission("fs.list"));
    run.call("fs.list");
    CHECK(calls_after_revocation(run.sink.events).empty());
    run.payload("CapabilityCheck", 1).at("allowed") = true;
    const auto rows = calls_after_revocation(run.sink.events);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].capability == "fs.list");
    CHECK_FALSE(run.replay().differences.empty());
  }
}
