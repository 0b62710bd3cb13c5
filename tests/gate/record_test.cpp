#include "gate/record.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "gate/answer.h"

using namespace mcpac;
using namespace mcpac::gate;

TEST_SUITE("gate/record") {
  using Texts = std::vector<std::string>;
  using Unlisted = Targets::Unlisted;

  TEST_CASE("targets are the arguments that look like places, in their order") {
    CHECK(targets_of({{"path", "notes.txt"}}).listed == Texts{"notes.txt"});
    CHECK(targets_of({{"count", 3}, {"what", "/etc/passwd"}}).listed == Texts{"/etc/passwd"});
    CHECK(targets_of({{"options", {{"where", "https://example.com/a"}}}}).listed ==
          Texts{"https://example.com/a"});
    CHECK(targets_of({{"paths", {"a.txt", "b.txt"}}}).listed == Texts{"a.txt", "b.txt"});
    CHECK(targets_of({{"source", "/a"}, {"destination", "/b"}}).listed == Texts{"/b", "/a"});
    for (const char* name : {"file_path", "outputPath", "folder", "cwd", "dirs", "base_url",
                             "source", "target_repo", "file"})
      CHECK(targets_of({{name, "notes"}}).listed == Texts{"notes"});
    for (const char* name : {"profile", "path_count", "input", "query", "content"})
      CHECK(targets_of({{name, "notes"}}).listed.empty());
    // An empty place is the folder that the server counts from.
    CHECK(targets_of({{"path", ""}}).unlisted == Unlisted::kNames);
    CHECK(targets_of({{"text", ""}}).unlisted == Unlisted::kNone);
    CHECK(targets_of({{"text", "hello"}, {"n", 1}}).listed.empty());
    CHECK(targets_of(Json::object()).listed.empty());
    CHECK(targets_of(nullptr).listed.empty());
  }

  TEST_CASE("a URL is recorded without the parts where secrets live") {
    CHECK(targets_of({{"url", "https://user:pass@example.com/a?token=secret#x"}}).listed ==
          Texts{"https://example.com/a"});
    CHECK(targets_of({{"q", "postgres://me:secret@db:5432/x"}}).listed ==
          Texts{"postgres://db:5432/x"});
    CHECK(targets_of({{"url", "https://a@b@example.com"}}).listed == Texts{"https://example.com"});
  }

  TEST_CASE("targets are bounded, in their length and their number, and their search is, too") {
    const auto long_target = targets_of({{"path", std::string(100'000, 'x')}});
    REQUIRE(long_target.listed.size() == 1);
    CHECK(long_target.listed[0].size() <= 260);
    CHECK(long_target.unlisted == Unlisted::kPlaces);
    const auto decoys = targets_of({{"paths", std::vector<std::string>(40, "/a")}, {"x", "/b"}});
    CHECK(decoys.listed.size() == 32);
    CHECK(decoys.unlisted == Unlisted::kPlaces);
    Json many = Json::array();
    for (int i = 0; i < 100'000; ++i) many.push_back(i);
    many.push_back("/late");
    CHECK(targets_of({{"list", many}}).listed.empty());
    CHECK(targets_of({{"list", many}}).unlisted == Unlisted::kPlaces);
  }

  TEST_CASE("what a server takes for a place is a target, in whatever dress it comes") {
    for (const char* dressed : {" /etc/passwd", "\"/etc/passwd\"", "[\"/etc/passwd\"]",
                                "{\"a\": {\"b\": \"/etc/passwd\"}}", "\u00a0/etc/passwd"}) {
      const auto targets = targets_of({{"what", dressed}}).listed;
      CHECK(std::ranges::find(targets, "/etc/passwd") != targets.end());
    }
    CHECK(targets_of({{"files", {{"/etc/passwd", "x"}}}}).listed.front() == "/etc/passwd");
  }

  TEST_CASE("paths that stand in a text are mentioned, and no part of a URL is") {
    const auto mentioned = [](const std::string& text) {
      return targets_of({{"command", text}}).mentioned;
    };
    CHECK(mentioned("cat /etc/hosts") == Texts{"/etc/hosts"});
    CHECK(mentioned("/bin/cat '/etc/hosts' >~/x") == Texts{"/bin/cat", "/etc/hosts", "~/x"});
    CHECK(mentioned("tar --file=/srv/a.tar ../b;rm /c") == Texts{"/srv/a.tar", "../b", "/c"});
    CHECK(mentioned("cat a/../../etc/x") == Texts{"a/../../etc/x"});
    CHECK(mentioned("open file:///etc/hosts now") == Texts{"/etc/hosts"});
    for (const char* plain :
         {"/etc/hosts", "and/or", "a / b // c", "see https://u:p@example.com/a?token=x now", "x"})
      CHECK(mentioned(plain).empty());
    CHECK(targets_of({{"command", "cat $HOME/.ssh/id"}}).unlisted == Unlisted::kPlaces);
    CHECK(targets_of({{"command", "cat /e*c/hosts"}}).unlisted == Unlisted::kPlaces);
    CHECK(targets_of({{"text", "3/4 of\nall"}}).unlisted != Unlisted::kPlaces);
    std::string many;
    for (int i = 0; i < 40; ++i) many += fmt::format("/a{} ", i);
    CHECK(targets_of({{"x", many}}).mentioned.size() == 32);
    CHECK(targets_of({{"x", many}}).unlisted == Unlisted::kPlaces);
    CHECK(targets_of({{"x", std::string(1 << 15, 'x') + " /etc/hosts"}}).unlisted ==
          Unlisted::kPlaces);
  }

  TEST_CASE("plain words may be names in the folder of a server, and numbers may not") {
    CHECK(targets_of({{"what", "secret"}}).unlisted == Unlisted::kNames);
    CHECK(targets_of({{"what", "a b/c"}}).unlisted == Unlisted::kNames);
    for (const char* text : {"cat /etc/shadow", "ok,/etc/shadow", "key=~/.ssh/id", "sqlite:/etc/x"})
      CHECK(targets_of({{"what", text}}).mentioned.size() == 1);
    for (const char* text : {"cat ~root/x", "jar:file:%2Fetc%2Fx"})
      CHECK(targets_of({{"what", text}}).unlisted == Unlisted::kPlaces);
    CHECK(targets_of({{"n", 1}, {"path", "a"}}).unlisted == Unlisted::kNone);
    CHECK(targets_of({{"text", "two\nlines"}}).unlisted == Unlisted::kNone);
  }

  TEST_CASE("a call with several targets is recorded with all, and at `audit meta` with none") {
    Check check;
    check.targets.listed = {"/b", "/a"};
    check.targets.mentioned = {"/c"};
    const auto read = [&] { return Json::parse(check_payload(check, "an id", Mode::kEnforce)); };
    CHECK(read().at("target") == "/b");
    CHECK(read().at("targets") == Json{"/b", "/a"});
    CHECK(read().at("mentions") == Json::array({"/c"}));
    check.level = policy::AuditLevel::kMeta;
    CHECK(read().at("target") == nullptr);
    CHECK_FALSE(read().contains("targets"));
    CHECK_FALSE(read().contains("mentions"));
    CHECK(read().at("unlisted") == "places");
  }

  TEST_CASE("a text is cut between characters, never inside one") {
    CHECK(bounded("abc", 3) == "abc");
    CHECK(bounded("abcd", 3) == "abc…");
    CHECK(bounded("aäöü", 4) == "aä…");  // a, then two bytes each
    CHECK(bounded("aäöü", 2) == "a…");
  }

  TEST_CASE("every kind of error has its number and says its kind") {
    CHECK(
        to_rpc_error(denied("a.b", "no", {"c.d"})) ==
        Json{{"code", -32001},
             {"message", "permission denied: a.b: no"},
             {"data",
              {{"kind", "denied"}, {"required", "a.b"}, {"reason", "no"}, {"declared", {"c.d"}}}}});
    CHECK(to_rpc_error(invalid_arguments({"/path", "type", "must be a string"})) ==
          Json{{"code", -32602},
               {"message", "invalid arguments: /path must be a string"},
               {"data", {{"kind", "invalid_arguments"}, {"pointer", "/path"}, {"rule", "type"}}}});
    CHECK(to_rpc_error(unknown_tool("a.b")).at("code") == -32602);
    CHECK(to_rpc_error(unknown_tool("a.b")).at("data") ==
          Json{{"kind", "unknown_tool"}, {"required", "a.b"}});
    CHECK(to_rpc_error(budget("x", Sent::kUnsaid)).at("code") == -32004);
    CHECK(to_rpc_error(revoked("a.b")).at("code") == -32005);
    CHECK(to_rpc_error(internal("x")).at("code") == -32603);
  }

  TEST_CASE("what is recorded of a call is one object, its members in their order") {
    Check check;
    check.call_id = 7;
    check.capability = "fs.read";
    check.tool_digest = "d1";
    check.decided_by = DecidedBy::kPolicy;
    check.allowed = true;
    check.rule = "allow fs.read(path == \"/a\")";
    check.layer = "granted";
    check.arguments_digest = "d2";
    check.targets.listed = {"/a"};
    check.evidence.run_time = std::chrono::nanoseconds(5);
    check.evidence.wall = std::chrono::microseconds(6);
    check.evidence.layers = {{.effect = policy::Effect::kAllow, .rule = 3, .charged = {1, 2}},
                             {.effect = policy::Effect::kDeny, .rule = {}, .charged = {}}};
    const std::string text = check_payload(check, "an id", Mode::kEnforce);
    const Json expected{
        {"allowed", true},
        {"arguments_digest", "d2"},
        {"call_id", 7},
        {"capability", "fs.read"},
        {"clock", {{"run_ns", 5}, {"wall_us", 6}}},
        {"decided_by", "policy"},
        {"layer", "granted"},
        {"layers",
         {{{"effect", "allow"}, {"rule", 3}, {"charged", {1, 2}}},
          {{"effect", "deny"}, {"rule", nullptr}}}},
        {"level", "hash"},
        {"mode", "enforce"},
        {"policy_decision_id", "an id"},
        {"reason", ""},
        {"rule", "allow fs.read(path == \"/a\")"},
        {"target", "/a"},
        {"tool_digest", "d1"},
    };
    CHECK(text == to_text(expected));
  }

  TEST_CASE("whatever a check holds, what is recorded of it reads back and is in order") {
    Check check;
    check.decided_by = DecidedBy::kApproval;
    check.level = policy::AuditLevel::kArgs;
    check.capability = std::string(300, 'c') + "\"\n\xff";
    check.arguments = Json{{"path", "/a\"\n"}, {"n", {1, 2.5, nullptr}}};
    check.redacted = true;
    check.would_deny = true;
    check.approval = "an approval";
    check.program_run = "a run";
    check.asks = {{"granted", "ask fs.read"}};
    check.evidence.meters = {{.layer = 1, .calls = 2, .cost = 3}};
    check.evidence.missed = {{.layer = 1, .rule = 2, .why = "why", .plain = "plain"}};
    check.evidence.missed_further = 4;
    check.evidence.bytes_out = 5;
    check.evidence.cost = 6;
    for (const bool redacted : {true, false}) {
      check.redacted = redacted;
      check.evidence.paths = {{.base = "/", .path = "/a", .real = "/b"}};
      const std::string text = check_payload(check, "an id", Mode::kObserve);
      const auto read = parse_json(text);
      REQUIRE(read);
      CHECK(to_text(*read) == text);
      CHECK(read->contains("paths") == !redacted);
      for (const char* name : {"approval", "arguments", "asks", "bytes_out", "cost", "meters",
                               "missed", "missed_further", "mode", "program_run", "would_deny"})
        CHECK(read->contains(name));
      CHECK(read->at("capability").get<std::string>().size() < 270);
    }
  }

  TEST_CASE("how a call ended is recorded with what is known of it") {
    CHECK(finished_payload(3, "result", 12, 400, std::nullopt) ==
          R"({"call_id":3,"duration_us":12,"outcome":"result","result_bytes":400})");
    CHECK(finished_payload(3, "timeout", 12, std::nullopt, 0) ==
          R"({"call_id":3,"charged_bytes":0,"duration_us":12,"outcome":"timeout"})");
  }
}
