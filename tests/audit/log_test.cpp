// What is appended is what is read, and what cannot be read is said.
#include "audit/log.h"

#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "audit/support_audit.h"

namespace mcpac::audit {
namespace {

unsigned mode_of(const std::filesystem::path& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

void add_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::app) << text;
}

Json nested_arrays(std::size_t depth) {
  Json value = Json::array();
  for (std::size_t i = 1; i < depth; ++i) {
    Json outer = Json::array();
    outer.push_back(std::move(value));
    value = std::move(outer);
  }
  return value;
}

TEST_SUITE("audit/log") {
  TEST_CASE("events come back as they were appended, in their order") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path() / "audit", "run-1");
    const auto first = log->append("RunStarted", {{"program", "a.cpp"}});
    const auto second =
        log->append("CapabilityCheck", {{"capability", "fs.read"}, {"allowed", false}});
    REQUIRE(first);
    REQUIRE(second);
    const auto events = read_events(folder.path() / "audit", {});
    REQUIRE(events);
    REQUIRE(events->size() == 2);
    CHECK((*events)[0].event_id == *first);
    CHECK((*events)[0].kind == "RunStarted");
    CHECK((*events)[0].run_id == "run-1");
    CHECK((*events)[1].event_id == *second);
    CHECK((*events)[1].payload["capability"] == "fs.read");
    CHECK((*events)[1].payload["allowed"] == false);
  }

  TEST_CASE("a line is its event as JSON writes it, whatever the payload holds") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path(), "run-1");
    const Json payload = {{"text", "\"}\n\x01 \xc3\xa4 \xff"},
                          {"list", {1, nullptr, {{"a", true}}}}};
    const auto id = log->append("Anomaly", payload);
    REQUIRE(id);
    std::ifstream file(folder.path() / "run-1.jsonl");
    std::string text;
    REQUIRE(std::getline(file, text));
    const auto line = open_line(text);
    REQUIRE(line);
    const auto json = parse_json(std::string(line->body) + "}");
    REQUIRE(json);
    CHECK(to_text(*json) == std::string(line->body) + "}");
    CHECK(json->at("payload") == *parse_json(to_text(payload)));
    CHECK(json->at("event_id") == *id);
    CHECK_FALSE(log->append("a \"kind\"", payload));
  }

  TEST_CASE("file and folder are for their user alone") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path() / "a" / "b", "run-1");
    CHECK(mode_of(folder.path() / "a" / "b") == 0700);
    CHECK(mode_of(folder.path() / "a" / "b" / "run-1.jsonl") == 0600);
  }

  TEST_CASE("a run never continues the file of another") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path(), "run-1");
    const auto again = RunLog::create(folder.path(), "run-1", kClock);
    REQUIRE_FALSE(again);
    CHECK(again.error().id == ErrorId::kAuditUnwritable);
  }

  TEST_CASE("a link laid in the place of the file is not followed") {
    const auto folder = temporary_folder();
    std::filesystem::create_symlink(folder.path() / "elsewhere", folder.path() / "run-1.jsonl");
    CHECK_FALSE(RunLog::create(folder.path(), "run-1", kClock));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "elsewhere"));
  }

  TEST_CASE("a run id that is a path is refused") {
    const auto folder = temporary_folder();
    for (const char* id : {"", "../x", "a/b", ".", "a.b", "a b"}) {
      CAPTURE(id);
      CHECK_FALSE(RunLog::create(folder.path(), id, kClock));
    }
  }

  TEST_CASE("a folder that other users can write is refused") {
    const auto folder = temporary_folder();
    REQUIRE(::mkdir((folder.path() / "open").c_str(), 0700) == 0);
    REQUIRE(::chmod((folder.path() / "open").c_str(), 0777) == 0);
    const auto log = RunLog::create(folder.path() / "open", "run-1", kClock);
    REQUIRE_FALSE(log);
    CHECK(log.error().id == ErrorId::kAuditUnwritable);
  }

  TEST_CASE("event ids rise within a run, also when the clock is set back") {
    const auto folder = temporary_folder();
    TurnedClock clock(std::chrono::hours(480'000));
    const auto log = new_log(folder.path(), "run-1", clock);
    std::string last;
    for (int i = 0; i < 1000; ++i) {
      if (i % 10 == 0) clock.turn(std::chrono::milliseconds(i % 20 == 0 ? -7 : 5));
      const auto id = log->append("Anomaly", i);
      REQUIRE(id);
      REQUIRE(*id > last);
      last = *id;
    }
    const auto events = read_events(folder.path(), {});
    REQUIRE(events);
    for (std::size_t i = 0; i < events->size(); ++i) CHECK((*events)[i].payload == i);
  }

  TEST_CASE("the time is RFC 3339 in UTC with microseconds") {
    const auto folder = temporary_folder();
    const TurnedClock clock(std::chrono::microseconds(1'700'000'000'000'042));
    const auto log = new_log(folder.path(), "run-1", clock);
    REQUIRE(log->append("RunStarted", nullptr));
    const auto events = read_events(folder.path(), {});
    REQUIRE(events);
    CHECK(events->at(0).time == "2023-11-14T22:13:20.000042Z");
  }

  TEST_CASE("an event beyond the size limit is refused, and the next one is recorded") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path(), "run-1");
    const auto big = log->append("CapabilityCheck", std::string(kMaxEventBytes, 'x'));
    REQUIRE_FALSE(big);
    CHECK(big.error().id == ErrorId::kAuditUnwritable);
    CHECK(log->append("CapabilityCheck", "small"));
    const auto events = read_events(folder.path(), {});
    REQUIRE(events);
    CHECK(events->size() == 1);
  }

  TEST_CASE("a record that is as long as one may be takes no call, and yet the end of its run") {
    const auto folder = temporary_folder();
    constexpr std::size_t kAtMost = kRoomForTheEnd + 2 * kMaxEventBytes;
    auto log = RunLog::create(folder.path(), "run-1", kClock, {}, kAtMost);
    REQUIRE(log);
    const std::string text(kMaxEventBytes - 1000, 'x');
    CHECK((*log)->append("CapabilityCheck", text));
    CHECK((*log)->append("CapabilityCheck", text));
    const auto over = (*log)->append("CapabilityCheck", text);
    REQUIRE_FALSE(over);
    CHECK(over.error().id == ErrorId::kAuditUnwritable);
    CHECK(over.error().what.contains("begin another run"));
    CHECK((*log)->append("CallFinished", text));
    CHECK((*log)->append("RunEnded", Json::object()));
    CHECK((*log)->close());
    const auto events = read_events(folder.path(), {});
    REQUIRE(events);
    CHECK(events->back().kind == kCheckpointKind);
  }

  TEST_CASE("whatever depth is accepted can be read, and deeper is refused") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path(), "run-1");
    std::size_t accepted = 0;
    for (std::size_t depth = 120; depth < 200; ++depth) {
      if (log->append("CapabilityCheck", nested_arrays(depth))) ++accepted;
    }
    CHECK(accepted >=
          12);  // the arguments of a call may be 128 deep, a few levels down in the payload
    CHECK(accepted < 80);
    const auto events = read_events(folder.path(), {});
    REQUIRE(events);
    CHECK(events->size() == accepted);
  }

  TEST_CASE("a payload that comes as text goes as deep as one that comes as a value") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path(), "run-1");
    for (std::size_t depth = 120; depth < 200; ++depth) {
      const Json value = nested_arrays(depth);
      CAPTURE(depth);
      CHECK(log->append_text("CapabilityCheck", to_text(value)).has_value() ==
            log->append("CapabilityCheck", value).has_value());
    }
    // Brackets within a string are no depth, whatever stands before its quotes.
    const Json flat{{"text", std::string(500, '[') + "\"{\\" + std::string(500, '{')}};
    CHECK(log->append_text("CapabilityCheck", to_text(flat)));
    const Json wide(std::vector<Json>(500, Json::object()));
    CHECK(log->append_text("CapabilityCheck", to_text(wide)));
    REQUIRE(read_events(folder.path(), {}));
  }

  TEST_CASE("a payload that comes as text is recorded as the same value is") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path(), "run-1");
    const Json payload{{"target", "\xc3\xa4\"\n"}, {"call_id", 7}, {"rule", nullptr}};
    REQUIRE(log->append_text("CapabilityCheck", to_text(payload)));
    const auto events = read_events(folder.path(), {});
    REQUIRE(events);
    CHECK(events->at(0).payload == payload);
  }

  TEST_CASE("bytes that are not UTF-8 do not make the log unreadable") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path(), "run-1");
    REQUIRE(log->append("CapabilityCheck", {{"target", "\xff\xfe\n\"\\"}}));
    const auto events = read_events(folder.path(), {});
    REQUIRE(events);
    CHECK(events->at(0).payload["target"] == "\xef\xbf\xbd\xef\xbf\xbd\n\"\\");
  }
}

TEST_SUITE("audit/read") {
  TEST_CASE("no folder means no events") {
    const auto folder = temporary_folder();
    const auto events = read_events(folder.path() / "absent", {});
    REQUIRE(events);
    CHECK(events->empty());
  }

  TEST_CASE("a torn last line is skipped") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path(), "run-1");
    REQUIRE(log->append("RunStarted", nullptr));
    add_text(folder.path() / "run-1.jsonl", R"({"event_id":"0)");
    const auto events = read_events(folder.path(), {});
    REQUIRE(events);
    CHECK(events->size() == 1);
  }

  TEST_CASE("a damaged whole line is an error that names file and line") {
    const std::string good =
        R"({"event_id":"1","kind":"k","payload":1,"run_id":"run-1","time":"t"})"
        "\n";
    for (const char* line :
         {"", "{", "[]", "nonsense", R"({"event_id":"1"})",
          R"({"event_id":1,"kind":"k","payload":1,"run_id":"run-1","time":"t"})",
          R"({"event_id":"1","kind":"k","run_id":"run-1","time":"t"})",
          R"({"event_id":"1","kind":"k","payload":1,"run_id":"run-2","time":"t"})"}) {
      CAPTURE(line);
      const auto folder = temporary_folder();
      const auto path = folder.path() / "run-1.jsonl";
      add_text(path, good + line + "\n" + good);
      const auto events = read_events(folder.path(), {});
      REQUIRE_FALSE(events);
      CHECK(events.error().id == ErrorId::kAuditUnreadable);
      CHECK(events.error().where == path.string() + ":2");
    }
  }

  TEST_CASE("members that a newer version adds to an event are no damage") {
    const auto folder = temporary_folder();
    add_text(folder.path() / "run-1.jsonl",
             R"({"chain":"ab","event_id":"1","kind":"k","payload":1,"run_id":"run-1","time":"t"})"
             "\n");
    CHECK(read_events(folder.path(), {}));
  }

  TEST_CASE("a run is found by its id or an unambiguous start of it") {
    const auto folder = temporary_folder();
    for (const char* id : {"aa1", "aa2", "ab", "ab1"}) {
      REQUIRE(new_log(folder.path(), id)->append("RunStarted", id));
    }
    const auto kind_of = [&](const char* id) {
      const auto events = read_events(folder.path(), {.run_id = id});
      REQUIRE(events);
      REQUIRE(events->size() == 2);
      CHECK((*events)[1].kind == kCheckpointKind);  // the closing record
      return (*events)[0].run_id;
    };
    CHECK(kind_of("aa1") == "aa1");
    CHECK(kind_of("ab") == "ab");  // whole, although also the start of ab1
    for (const char* id : {"aa", "a", "", "zz", "../aa1"}) {
      CAPTURE(id);
      const auto events = read_events(folder.path(), {.run_id = id});
      REQUIRE_FALSE(events);
      CHECK(events.error().id == ErrorId::kUnknownRun);
    }
  }

  TEST_CASE("events of several runs are merged in the order of time") {
    const auto folder = temporary_folder();
    TurnedClock clock(std::chrono::hours(480'000));
    const auto one = new_log(folder.path(), "run-1", clock);
    const auto two = new_log(folder.path(), "run-2", clock);
    for (int i = 0; i < 10; ++i) {
      REQUIRE((i % 2 == 0 ? one : two)->append("Anomaly", i));
      clock.turn(std::chrono::milliseconds(1));
    }
    const auto events = read_events(folder.path(), {});
    REQUIRE(events);
    REQUIRE(events->size() == 10);
    for (std::size_t i = 0; i < 10; ++i) CHECK((*events)[i].payload == i);
  }

  TEST_CASE("a reader beside a busy writer sees a growing prefix and never damage") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path(), "run-1");
    constexpr std::size_t kEvents = 2000;
    std::jthread writer([&] {
      for (std::size_t i = 0; i < kEvents; ++i) {
        if (!log->append("CapabilityCheck", {{"n", i}, {"fill", std::string(i % 5000, 'x')}}))
          return;
      }
    });
    std::size_t seen = 0;
    while (seen < kEvents) {
      const auto events = read_events(folder.path(), {});
      REQUIRE(events);
      REQUIRE(events->size() >= seen);
      seen = events->size();
      for (std::size_t i = 0; i < seen; ++i) REQUIRE((*events)[i].payload["n"] == i);
    }
  }
}

}  // namespace
}  // namespace mcpac::audit
