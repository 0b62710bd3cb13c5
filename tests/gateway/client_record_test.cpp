// The record of a client that makes more calls than one file of the audit log holds.
#include "gateway/client_record.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "audit/verify.h"
#include "core/file.h"
#include "gateway/support_session.h"
#include "history/records/audit_query.h"
#include "history/records/replay.h"
#include "history/records/run_files.h"
#include "history/records/run_record.h"
#include "run/asking/run_binding.h"
#include "servers/tool_tables.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

// Beside what is kept for the end, and for one event: room for some ten calls of this size.
constexpr std::size_t kFile = audit::kRoomForTheEnd + 2 * audit::kMaxEventBytes;
const std::string kMuch(100'000, 'x');
const Talk::Options kGranted{.declared = {"git.commit"},
                             .grants = {"git.commit calls <= 35 audit args"}};

// A client before a real gate, with a real record.
struct Client {
  explicit Client(std::size_t most_files, std::uintmax_t least_free = 0) {
    auto made = run_parts(world, kGranted, folder.path() / "unused", "a client");
    made.parts.log =
        ClientRecord::create({.folder = audit(),
                              .clock = &world.clock,
                              .client = "a client",
                              .most_bytes = kFile,
                              .most_files = most_files,
                              .least_free = least_free,
                              .said = [this](const std::string& text) { said.push_back(text); }})
            .value();
    record = made.parts.log.get();
    made.parts.tools = std::make_shared<const gate::ToolTable>(
        servers::compile_tools(lock, {"git"}, [](auto, auto) { return false; }).table);
    made.setup.tools = made.parts.tools.get();
    made.setup.audit = record;
    made.setup.asking.binding =
        run::bind_run("a client", project::digests_of(lock), mcp::Config(), made.setup.authority);
    REQUIRE(history::record_start({.program = "a client", .declared_in = "grants"}, made.setup,
                                  lock, audit(), *record));
    run = std::make_unique<ClientGrant>(std::move(made.parts), std::move(made.setup));
    session = run->talk([this](const Outgoing& one) { answers.push_back(one.line); }, nullptr);
  }
  [[nodiscard]] std::filesystem::path audit() const { return folder.path() / "audit"; }
  // Whether it was made.
  bool call() {
    const auto before = world.upstream.calls.size();
    const Json params{{"name", "git.commit"}, {"arguments", {{"message", kMuch}}}};
    session->receive(request(answers.size(), "tools/call", stateless(params)).dump());
    if (world.upstream.calls.size() == before) return false;
    world.upstream.answer(before, gate::testing::text_result("done"));
    return true;
  }
  int calls_until_refused(int at_most) {
    int made = 0;
    while (made < at_most && call()) ++made;
    return made;
  }
  [[nodiscard]] std::vector<std::string> verdicts() const {
    std::vector<std::string> all;
    const auto keys = audit::own_keys(audit()).value();
    for (const auto& one : audit::verify(audit(), keys, std::nullopt).value().runs)
      all.emplace_back(audit::to_string(one.standing));
    return all;
  }
  [[nodiscard]] std::vector<audit::Event> events_of(const std::string& file) const {
    return audit::read_events(audit(), {.run_id = file}).value();
  }

  TemporaryFolder folder =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-gateway-").value();
  gate::testing::World world{kGranted};
  codegen::Lock lock = lock_of(world.schemas);
  std::vector<std::string> said;
  std::vector<std::string> answers;
  ClientRecord* record = nullptr;  // of the run
  std::unique_ptr<ClientGrant> run;
  std::shared_ptr<McpSession> session;
};

}  // namespace

TEST_SUITE("gateway/client_record") {
  TEST_CASE("a record that is full goes on in another file, and its client goes on calling") {
    Client client(16);
    CHECK(client.calls_until_refused(30) == 30);
    const auto files = client.record->files();
    REQUIRE(files.size() > 2);
    CHECK(client.run->log().run_id() == files.front());
    CHECK(client.said.size() == files.size() - 1);
    client.session->close();
    client.run->end("gateway-ended");
    client.run.reset();
    CHECK(client.verdicts() == std::vector<std::string>(files.size(), "proven"));
    for (std::size_t i = 0; i < files.size(); ++i) {
      const auto events = client.events_of(files[i]);
      REQUIRE(events.size() > 4);
      CHECK(events.front().kind == "RunStarted");
      const Json before = events.front().payload.value("continues", Json::array());
      CHECK(before == Json(std::vector<std::string>(files.begin(), files.begin() + long(i))));
      const Json& end = events[events.size() - 2].payload;
      CHECK(end.at("verdict") == (i + 1 < files.size() ? "record-full" : "gateway-ended"));
      if (i + 1 < files.size()) CHECK(end.at("continued_in") == files[i + 1]);
    }
  }

  TEST_CASE("the same arguments have the same digest in all files of a record") {
    Client client(16);
    const std::string before = client.record->keyed_digest("{}");
    CHECK(client.calls_until_refused(30) == 30);
    CHECK(client.record->files().size() > 2);
    CHECK(client.record->keyed_digest("{}") == before);
    std::set<std::string> digests;
    for (const auto& file : client.record->files()) {
      for (const auto& event : client.events_of(file)) {
        if (event.kind == "CapabilityCheck")
          digests.insert(string_member(event.payload, "arguments_digest"));
      }
    }
    CHECK(digests.size() == 1);
  }

  TEST_CASE("filling a record wins nothing: limits count on, and what was taken back stays so") {
    Client client(16);
    CHECK(client.calls_until_refused(100) == 35);
    CHECK(client.record->files().size() > 2);
    Client other(16);
    CHECK(other.calls_until_refused(12) == 12);
    std::ignore = other.run->gate().revoke(gate::testing::permission("git.commit"));
    CHECK_FALSE(other.call());
    // Denied calls are recorded in full, too.
    while (other.record->files().size() < 3) CHECK_FALSE(other.call());
    const Json started = other.events_of(other.record->files().back()).front().payload;
    CHECK(started.at("revoked") == Json{"git.commit"});
  }

  TEST_CASE("each file's decisions are made again, with what limits had counted before") {
    Client client(16);
    CHECK(client.calls_until_refused(100) == 35);
    const auto files = client.record->files();
    client.run->end("gateway-ended");
    const history::LockOf lock_of = [&](const std::string&) -> Result<codegen::Lock> {
      return client.lock;
    };
    const history::EventsOf earlier =
        [&](const std::string& file) -> Result<std::vector<audit::Event>> {
      return client.events_of(file);
    };
    std::size_t decisions = 0;
    for (const auto& file : files) {
      const auto replayed = history::replay_run(client.events_of(file), lock_of, earlier);
      REQUIRE(replayed);
      INFO(history::to_json(*replayed).dump(1));
      CHECK(replayed->differences.empty());
      CHECK(replayed->recomputed == replayed->decisions);
      decisions += replayed->decisions;
    }
    CHECK(decisions == 36);
    // What it goes on from is needed for that, and must be the same run.
    CHECK_FALSE(history::replay_run(client.events_of(files.back()), lock_of));
    auto changed = client.events_of(files.back());
    changed.front().payload["program"] = "another";
    CHECK_FALSE(history::replay_run(changed, lock_of, earlier)->differences.empty());
  }

  TEST_CASE("how many files one client fills has a bound, and so has what is left of the disk") {
    Client client(2);
    const int made = client.calls_until_refused(100);
    CHECK(made > 15);
    CHECK(made < 35);
    CHECK(client.record->files().size() == 2);
    REQUIRE(client.said.size() == 2);
    CHECK(client.said[1].find("as many as one client's may") != std::string::npos);
    Client on_full_disk(16, std::uintmax_t{1} << 60U);
    CHECK(on_full_disk.calls_until_refused(100) < 30);
    CHECK(on_full_disk.record->files().size() == 1);
    REQUIRE(on_full_disk.said.size() == 1);
    CHECK(on_full_disk.said[0].find("make room on this disk") != std::string::npos);
    on_full_disk.run->end("gateway-ended");
    CHECK(on_full_disk.verdicts() == std::vector<std::string>{"proven"});
  }

  TEST_CASE("a record that could not go on does so when it can, which is looked for now and then") {
    Client client(16);
    client.world.clock.stop();
    const auto away = client.folder.path() / "away";
    std::filesystem::rename(client.audit(), away);
    const int made = client.calls_until_refused(30);
    CHECK(made < 30);
    REQUIRE(client.said.size() == 1);
    CHECK(client.said[0].find("cannot go on in another file now") != std::string::npos);
    client.world.clock.pass(std::chrono::seconds(2));
    CHECK_FALSE(client.call());
    CHECK(client.said.size() == 1);  // once
    std::filesystem::rename(away, client.audit());
    CHECK_FALSE(client.call());  // not with each call
    client.world.clock.pass(std::chrono::seconds(2));
    CHECK(client.call());
    CHECK(client.record->files().size() == 2);
    CHECK(client.said.size() == 2);
  }

  TEST_CASE("all files of a record are one run to a query, whichever is named") {
    Client client(16);
    CHECK(client.calls_until_refused(30) == 30);
    client.run->end("gateway-ended");
    const auto files = client.record->files();
    REQUIRE(files.size() > 2);
    for (const auto& file : files) {
      const auto run = history::events_of_run(client.audit(), file);
      REQUIRE(run);
      CHECK(run->files == std::set<std::string>(files.begin(), files.end()));
      CHECK(std::ranges::count(run->events, "CallFinished", &audit::Event::kind) == 30);
    }
    std::filesystem::remove(client.audit() / (files[1] + ".jsonl"));
    CHECK_FALSE(history::events_of_run(client.audit(), files[2]));
  }

  TEST_CASE("what one file of a record did not use another did") {
    const Json started{{"program", "c"}, {"permissions", {"git.commit", "fs.read", "fs.write"}}};
    Json again = started;
    again["continues"] = {"a"};
    const auto check = [](const char* id, const char* file, const char* name) {
      return audit::Event{
          id, file, "CapabilityCheck", "t", {{"capability", name}, {"allowed", true}}};
    };
    const auto rows = history::granted_never_used({{"1", "a", "RunStarted", "t", started},
                                                   check("2", "a", "git.commit"),
                                                   {"3", "b", "RunStarted", "t", again},
                                                   check("4", "b", "fs.read")});
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].run_id == "a");
    CHECK(rows[0].permissions == std::vector<std::string>{"fs.write"});
  }

  TEST_CASE("a call of after a revocation is found in a later file of the record as well") {
    const audit::Event started{
        "1", "b", "RunStarted", "t1", {{"continues", {"a"}}, {"revoked", {"git.commit"}}}};
    const audit::Event check{
        "2", "b", "CapabilityCheck", "t2", {{"capability", "git.commit"}, {"allowed", true}}};
    CHECK(history::calls_after_revocation({started, check}).size() == 1);
  }
}
