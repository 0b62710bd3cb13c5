// The file of a recording: what is written is read, and what is no recording is refused.
#include "history/recording/recording.h"

#include <doctest/doctest.h>

#include <set>

#include "core/file.h"
#include "core/json_schema.h"
#include "history/support_recording.h"
#include "places.h"

using namespace mcpac;
using namespace mcpac::history;
using namespace mcpac::history::testing;

namespace {

Recording small() {
  Recording recording = sequence(some_lock(), {{"files.read", {{"path", "a"}}, "one"},
                                               {"files.read", {{"path", "b"}}, "two"}});
  recording.header.mcpac = "1";
  recording.header.lock = std::string(64, 'a');
  return recording;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

// A question of the server "files", with this member beside those that it needs, or in the place
// of one.
Json form_with(const char* name, const Json& value) {
  Json form{{"asked", "elicitation/create"},
            {"params", {{"message", "[files] who?"}, {"requestedSchema", Json::object()}}},
            {"reply", {{"action", "decline"}}}};
  form["params"][name] = value;
  return form;
}

// A recording with every kind of line.
Recording varied() {
  Recording recording = small();
  auto& calls = recording.calls;
  calls[0].said.push_back({.method = {}, .said = {{"progress", 1}}});
  calls[0].said.push_back({.method = "elicitation/create",
                           .said = {{"message", "[files] who?"}},
                           .reply = Cleaned{{{"action", "accept"}}, {"/content/key"}}});
  calls[0].said.push_back(
      {.method = "roots/list", .said = nullptr, .reply = fail(ErrorId::kServerError, "no roots")});
  calls[0].said.push_back({.method = "sampling/createMessage", .said = Json::object()});
  calls[0].arguments->hidden = {"/path"};
  calls[1].answer = fail(ErrorId::kServerTimeout, "too slow", {.where = "server files"});
  calls[1].refused = ipc::ErrorObject{-32602, "no", nullptr};
  RecordedCall open;
  open.tool = "git.log";
  open.began = 90;
  open.ended = 91;
  calls.push_back(open);
  recording.header.arguments = Cleaned{{{"key", "${env:KEY}"}}, {"/key"}};
  recording.servers = {{"git", {{"prompts", Json::object()}}, true}, {"files"}};
  using Outcome = gate::Servers::Outcome;
  recording.requests = {
      {"git", "prompts/list", Json::object(), Outcome(Json{{"prompts", Json::array()}})},
      {"git", "x", nullptr, Outcome(std::unexpected(ipc::ErrorObject{-1, "no", {{"a", 1}}}))},
      {"files", "y", Json::array(), fail(ErrorId::kServerDied, "gone")}};
  return recording;
}

}  // namespace

TEST_SUITE("execute/recording") {
  TEST_CASE("what is written is read, whatever a call went through") {
    const Recording before = varied();
    const auto text = history::to_text(before);
    REQUIRE(text.has_value());
    const auto after = parse_recording(*text, "r");
    REQUIRE_MESSAGE(after.has_value(), after.error().to_text());
    CHECK(history::to_text(*after) == *text);
    CHECK(after->header.tools == before.header.tools);
    REQUIRE(after->header.arguments.has_value());
    CHECK(after->header.arguments->value == before.header.arguments->value);
    CHECK(after->header.arguments->hidden == before.header.arguments->hidden);
    REQUIRE(after->calls.size() == 3);
    CHECK(after->servers.size() == 2);
    CHECK(after->requests[1].outcome->error().code == -1);
    CHECK(after->calls[0].said.size() == 4);
    CHECK(after->calls[0].said[1].reply->value().hidden.size() == 1);
    CHECK(after->calls[0].arguments->hidden == before.calls[0].arguments->hidden);
    CHECK(after->calls[1].answer->error().id == ErrorId::kServerTimeout);
    CHECK_FALSE(after->calls[2].answer.has_value());
    CHECK_FALSE(after->calls[2].arguments.has_value());
  }

  TEST_CASE("every line fits the schema in docs/") {
    auto read = read_file(mcpac::testing::in_source("docs/recording.schema.json"));
    REQUIRE(read.has_value());
    const auto schema = JsonSchema::compile(parse_json(*read).value());
    REQUIRE_MESSAGE(schema.has_value(), schema.error().to_text());
    for (const auto& line : lines_of(history::to_text(varied()).value())) {
      const auto violation = (*schema)->validate(parse_json(line).value());
      CHECK_MESSAGE(!violation.has_value(), line);
    }
    CHECK((*schema)->validate(Json{{"call", "a.b"}}).has_value());
  }

  TEST_CASE("a file that was cut anywhere is refused") {
    const std::string text = history::to_text(varied()).value();
    for (std::size_t size = 0; size < text.size(); ++size) {
      const auto cut = parse_recording(std::string_view(text).substr(0, size), "r");
      REQUIRE_FALSE(cut.has_value());
      CHECK(cut.error().id == ErrorId::kRecordingInvalid);
    }
  }

  TEST_CASE("lines that are missing, twice, exchanged or foreign are refused") {
    const auto lines = lines_of(history::to_text(small()).value());
    REQUIRE(lines.size() == 4);
    const auto& [header, one, two, end] = std::tie(lines[0], lines[1], lines[2], lines[3]);
    CHECK(parse_recording(joined({header, two, one, end}), "r").has_value());  // ticks order them
    for (const auto& bad :
         {joined({header, one, end}), joined({header, one, one, two, end}),
          joined({header, one, one, end}), joined({one, two, end}), joined({header, end, one, two}),
          joined({header, header, one, two, end}), joined({header, one, two, end, end}),
          joined({header, one, two, "{}", end}), joined({header, one, two, "[]", end}),
          joined({header, one, two, "", end}), joined({header, one, two, R"({"end":3})"}),
          std::string("\n"), std::string()}) {
      const auto read = parse_recording(bad, "r");
      REQUIRE_FALSE(read.has_value());
      CHECK(read.error().id == ErrorId::kRecordingInvalid);
      CHECK(exit_code_of(read.error().id) == ExitCode::kData);
    }
  }

  TEST_CASE("members of another kind are refused, with the line") {
    const auto lines = lines_of(history::to_text(small()).value());
    const auto with = [&](auto change) {
      Json call = parse_json(lines[1]).value();
      change(call);
      return parse_recording(joined({lines[0], call.dump(), lines[2], lines[3]}), "r");
    };
    CHECK(with([](Json&) {}).has_value());
    CHECK(with([](Json& call) {
            call["said"] = Json::array({form_with("mode", "form")});
          }).has_value());
    const std::vector<std::function<void(Json&)>> changes{
        [](Json& call) { call["call"] = "no permission"; }, [](Json& call) { call["began"] = -1; },
        [](Json& call) { call["began"] = "1"; }, [](Json& call) { call["ended"] = 1; },
        [](Json& call) { call["ended"] = 3; },
        [](Json& call) { call["arguments"] = Json::array(); },
        [](Json& call) { call["hidden"] = "/path"; }, [](Json& call) { call["hidden"] = {1}; },
        [](Json& call) { call["said"] = "hello"; },
        [](Json& call) {
          call["said"] = {{{"progress", 5}}};
        },
        [](Json& call) {
          call["said"] = {{{"asked", "x"}}};
        },
        [](Json& call) {
          call["said"] = {{{"asked", "tools/call"}, {"params", Json::object()}}};
        },
        [](Json& call) {
          call["said"] = {{{"asked", "elicitation/create"}, {"params", {{"mode", "url"}}}}};
        },
        // A form that does not say who asks, or says that another does.
        [](Json& call) {
          call["said"] = {{{"asked", "elicitation/create"}, {"params", Json::object()}}};
        },
        [](Json& call) {
          call["said"] = {{{"asked", "elicitation/create"}, {"params", {{"message", "who?"}}}}};
        },
        [](Json& call) {
          call["said"] = {
              {{"asked", "elicitation/create"}, {"params", {{"message", "[git] who?"}}}}};
        },
        // One with members that forms do not have, or of another kind.
        [](Json& call) { call["said"] = Json::array({form_with("url", "https://a.example")}); },
        [](Json& call) { call["said"] = Json::array({form_with("mode", Json::array({"url"}))}); },
        [](Json& call) { call["said"] = Json::array({form_with("mode", "")}); },
        [](Json& call) { call["said"] = Json::array({form_with("_meta", Json::object())}); },
        [](Json& call) {
          call["said"] = Json::array({form_with("message", Json::array({"[files] who?"}))});
        },
        [](Json& call) {
          Json form = form_with("mode", "form");
          const Json question{
              {"method", form.at("asked")}, {"params", form.at("params")}, {"x", 1}};
          call["said"] = {{{"asked", "*"}, {"params", {{"a", question}}}}};
        },
        [](Json& call) {
          const Json form{{"method", "elicitation/create"},
                          {"params", {{"message", "[git] who?"}}}};
          call["said"] = {{{"asked", "*"}, {"params", {{"a", form}}}}};
        },
        [](Json& call) {
          call["said"] = {{{"asked", "*"}, {"params", {{"a", {{"method", "x"}}}}}}};
        },
        [](Json& call) { call["refused"] = "no"; }, [](Json& call) { call["result"] = "text"; },
        [](Json& call) { call.erase("result"); }, [](Json& call) { call["taken_back"] = true; },
        [](Json& call) {
          call.erase("result");
          call["taken_back"] = false;
        },
        [](Json& call) {
          call.erase("result");
          call["error"] = {{"id", "MCPAC-E0900"}, {"what", "the audit log is full"}};
        }};
    for (const auto& change : changes) {
      const auto read = with(change);
      REQUIRE_FALSE(read.has_value());
      CHECK(read.error().id == ErrorId::kRecordingInvalid);
      CHECK(read.error().where.starts_with("r"));
    }
  }

  TEST_CASE("a result that asks for input is none, neither of a call nor of a request") {
    const Json page{{"q",
                     {{"method", "elicitation/create"},
                      {"params", {{"mode", "url"}, {"url", "https://a.example"}}}}}};
    const std::vector<Json> results{
        {{"resultType", "input_required"}}, {{"resultType", Json::array({"input_required"})}},
        {{"resultType", nullptr}},          {{"resultType", "complete"}, {"inputRequests", page}},
        {{"inputRequests", page}},          {{"requestState", "s"}}};
    const auto lines = lines_of(history::to_text(varied()).value());
    std::set<std::string> kinds;
    for (std::size_t at = 0; at < lines.size(); ++at) {
      Json line = parse_json(lines[at]).value();
      if (!line.contains("result")) continue;
      kinds.insert(line.contains("call") ? "call" : "request");
      auto changed = lines;
      line["result"]["resultType"] = "complete";
      changed[at] = line.dump();
      CHECK(parse_recording(joined(changed), "r").has_value());
      for (const Json& result : results) {
        CAPTURE(result);
        line["result"] = result;
        changed[at] = line.dump();
        const auto read = parse_recording(joined(changed), "r");
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().id == ErrorId::kRecordingInvalid);
      }
    }
    CHECK(kinds == std::set<std::string>{"call", "request"});
  }

  TEST_CASE("a program's arguments are an object, and nothing else is read as such") {
    auto lines = lines_of(history::to_text(small()).value());
    CHECK_FALSE(parse_recording(joined(lines), "r")->header.arguments.has_value());
    const Json header = parse_json(lines[0]).value();
    for (const Json& wrong : {Json("x"), Json::array(), Json(nullptr)}) {
      Json other = header;
      other["arguments"] = wrong;
      lines[0] = other.dump();
      CHECK_FALSE(parse_recording(joined(lines), "r").has_value());
    }
    Json hidden = header;
    hidden["arguments"] = Json::object();
    hidden["hidden"] = "/key";
    lines[0] = hidden.dump();
    CHECK_FALSE(parse_recording(joined(lines), "r").has_value());
  }

  TEST_CASE("a later version is refused, and only recordings begin as one") {
    auto lines = lines_of(history::to_text(small()).value());
    CHECK(begins_recording(joined(lines)));
    CHECK_FALSE(begins_recording("int main() {}\n"));
    CHECK_FALSE(begins_recording("{}\n"));
    Json header = parse_json(lines[0]).value();
    header["version"] = 2;
    lines[0] = header.dump();
    CHECK_FALSE(parse_recording(joined(lines), "r").has_value());
  }
}
