// A confined server that clients of one gateway share: which places it has while who is there.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "e2e/workspace.h"
#include "gateway/support_http.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"
#include "places.h"

namespace mcpac::gateway::testing {
namespace {

using e2e::Workspace;

std::string configuration() {
  return fmt::format(
      R"({{"mcpServers": {{"attempts": {{"command": "/usr/bin/python3", "args": ["{}"],
          "era": "initialize", "sandbox": true}}}}}})",
      mcpac::testing::in_source("tests/servers/attempts.py"));
}

class Shared {
 public:
  Shared() : workspace(configuration()) {
    for (const char* file : {"data/a/text", "data/b/text", "data/b/secret/key"}) {
      std::filesystem::create_directories((workspace.folder() / file).parent_path());
      workspace.write(file, "shown");
    }
    workspace.write("mcpac.policy", "allow *.*\ndeny *.*(* within ./data/b/secret)\n");
    for (const char* name : {"a", "b"})
      workspace.write(fmt::format("{}.policy", name),
                      fmt::format("allow attempts.coded\n"
                                  "allow attempts.read_file(path within ./data/{})\n",
                                  name));
    const auto made = workspace.mcpac({"generate"});
    REQUIRE_MESSAGE(made.exit_code == 0, made.err);
  }
  [[nodiscard]] std::string token(const std::string& name) const {
    const auto made =
        workspace.mcpac({"token", "create", name, "--policy", name + ".policy", "--json"});
    REQUIRE_MESSAGE(made.exit_code == 0, made.err);
    return made.json().at("token");
  }
  // The text that the tool answers to this client, or the kind of error.
  [[nodiscard]] std::string call(const Serving& serving, const std::string& token,
                                 const std::string& tool, const Json& arguments) const {
    const auto answer =
        post(serving.port(), {.token = token,
                              .more = stateless_headers("tools/call", tool),
                              .body = request(1, "tools/call",
                                              stateless({{"name", tool}, {"arguments", arguments}}))
                                          .dump()})
            .messages()
            .back();
    CAPTURE(answer.dump());
    REQUIRE(answer.contains("result"));
    const auto& result = answer.at("result");
    const Json* meta = find_member(result, "_meta");
    const Json* error = meta == nullptr ? nullptr : find_member(*meta, "mcpac/error");
    return error == nullptr ? text_in(result) : string_member(*error, "kind");
  }
  // What the server's process can list.
  [[nodiscard]] std::vector<std::string> listed(const Serving& serving,
                                                const std::string& token) const {
    Json list = Json::array();
    for (const char* folder : {"data/a", "data/b", "data/b/secret"})
      list.push_back(Json::array({"list", (workspace.folder() / folder).string()}));
    return Json::parse(call(serving, token, "attempts.coded", {{"text", coded(list)}}))
        .get<std::vector<std::string>>();
  }
  static std::string coded(const Json& list) {
    std::string text;
    for (const char c : list.dump()) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return text;
  }

  Workspace workspace;
};

}  // namespace

TEST_SUITE("gateway/confined places") {
  TEST_CASE("a shared server gets what any client may name, and more when one comes who may") {
    const Shared shared;
    const std::string one = shared.token("a");
    const std::string two = shared.token("b");
    Serving serving(shared.workspace, {"--tokens"});
    using Listed = std::vector<std::string>;
    const auto first = shared.listed(serving, one);
    CAPTURE(Json(first).dump());
    CHECK(first == Listed{"[\"text\"]", "ENOENT", "ENOENT"});
    // Another client: the process is another one by its first call, and the first one sees it, too.
    CHECK(shared.listed(serving, two) == Listed{"[\"text\"]", "[\"secret\", \"text\"]", "EACCES"});
    CHECK(shared.listed(serving, one) == Listed{"[\"text\"]", "[\"secret\", \"text\"]", "EACCES"});
    // What each may ask for is as its rules say.
    const Json of_b{{"path", "data/b/text"}};
    CHECK(shared.call(serving, one, "attempts.read_file", of_b) == "denied");
    CHECK(shared.call(serving, two, "attempts.read_file", of_b) == "\"shown\"");
    const auto started = events(shared.workspace, "RunStarted");
    REQUIRE(started.size() == 2);
    const auto places_of = [](const Json& event) {
      return event.at("payload").at("server_places").at("attempts").at("places").size();
    };
    CHECK(places_of(started[0]) == 1);
    CHECK(places_of(started[1]) == 2);
    // Taken back: refused at once, and gone from the process with its next start.
    const std::string run = started[1].at("run_id");
    CHECK(shared.workspace.mcpac({"runs", "revoke", run, "attempts.read_file"}).exit_code == 0);
    CHECK(shared.call(serving, two, "attempts.read_file", of_b) == "revoked");
    CHECK(shared.listed(serving, two)[1] == "[\"secret\", \"text\"]");
    const Json end = Json::array({Json::array({"end", "0"})});
    CHECK(shared.call(serving, one, "attempts.coded", {{"text", Shared::coded(end)}}) != "denied");
    CHECK(shared.listed(serving, two) == Listed{"[\"text\"]", "ENOENT", "ENOENT"});
    const auto shown = shared.workspace.mcpac({"runs", "show", run});
    CHECK_MESSAGE(e2e::has(shown.out, "data/a read-only: "), shown.out);
    CHECK(serving.end() == 0);
  }
}

}  // namespace mcpac::gateway::testing
