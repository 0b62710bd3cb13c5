// Which places the calls of one server can name, by its rules: what a confined server is given.
#include "policy/server_reach.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/offer.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

class Places {
 public:
  Places() {
    for (const char* folder : {"data/secret/deep", "data/out", "src", "other"})
      world_.put(folder, "dir");
    world_.put("data/key.pem", "file");
    world_.put("data/a.txt", "file");
    for (const Offer offer : {Offer::kResource, Offer::kPrompt})
      world_.tools.emplace(*Permission::of("filesystem", name_of(offer)), schema_of(offer));
    world_.put("linked", "-> " + world_.base() + "/other");
  }
  // Statements of layers from the run's own on; the tools that look and read only read.
  [[nodiscard]] ServerReach reach(const std::vector<std::string>& layers,
                                  Callers callers = Callers::kPrograms,
                                  const std::string& server = "filesystem") const {
    return reach_of(load(layers), callers, server);
  }
  [[nodiscard]] Authority load(const std::vector<std::string>& layers) const {
    std::vector<LayerText> texts;
    for (const std::string& statements : layers) {
      LayerText text;
      text.name = fmt::format("layer {}", texts.size());
      text.files.emplace_back(statements, text.name);
      texts.push_back(std::move(text));
    }
    auto authority = world_.load(texts);
    REQUIRE_MESSAGE(authority, (authority ? "" : authority.error().to_text()));
    return std::move(*authority);
  }
  static ServerReach reach_of(const Authority& authority, Callers callers = Callers::kPrograms,
                              const std::string& server = "filesystem") {
    std::set<Permission> reading;
    for (const char* tool : {"read_text_file", "read_multiple_files", "list_directory",
                             "search_files", "list_allowed_directories"})
      reading.insert(*Permission::of("filesystem", tool));
    return authority.reach(server, reading, callers);
  }
  // "data ro, out rw", below the folder.
  [[nodiscard]] std::string given(const std::vector<std::string>& layers) const {
    return given_by(reach(layers));
  }
  [[nodiscard]] std::string given_by(const ServerReach& reached) const {
    std::string text;
    for (const auto& place : reached.places())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", below(place.path),
                          place.mode == FileMode::kReadWrite ? "rw" : "ro");
    return text;
  }
  // What is held back, and by how much: "data/secret none".
  [[nodiscard]] std::string held(const std::vector<std::string>& layers,
                                 Callers callers = Callers::kPrograms) const {
    std::string text;
    const auto found = reach(layers, callers);
    for (const auto& place : found.held_back) {
      using Use = ServerReach::Use;
      const Use use = found.users_of(place.path).use;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", below(place.path),
                          use == Use::kNone    ? "none"
                          : use == Use::kReads ? "reads"
                                               : "writes");
    }
    return text;
  }
  void pass(std::chrono::milliseconds since_start) { world_.clock.set(since_start); }
  [[nodiscard]] std::string below(const std::string& path) const {
    const std::string base = std::filesystem::canonical(world_.base()).string();
    return path.starts_with(base + "/") ? path.substr(base.size() + 1) : path;
  }

 private:
  World world_;
};

}  // namespace

TEST_SUITE("policy/server reach") {
  TEST_CASE("path tests and exact values give the places that they can ever admit") {
    const Places places;
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{"allow filesystem.read_text_file(path within ./data)"}, "data ro"},
        {{"allow filesystem.write_file(path within ./data/out, content any)"}, "data/out rw"},
        {{"allow filesystem.read_text_file(path within ./data)\n"
          "allow filesystem.write_file(path within ./data/out, ..)"},
         "data ro, data/out rw"},
        // Merged: nothing within another place of its mode, and a writable one can be read.
        {{"allow filesystem.write_file(path within ./data, ..)\n"
          "allow filesystem.read_text_file(path within ./data/out)"},
         "data rw"},
        {{"allow filesystem.read_text_file(path matches ./data/*.txt)"}, "data ro"},
        {{"allow filesystem.read_text_file(path matches ./data/a.txt)"}, "data/a.txt ro"},
        {{"allow filesystem.read_text_file(path == \"./data/a.txt\")"}, "data/a.txt ro"},
        {{"allow filesystem.read_text_file(path in {\"src/x\", \"/srv/y\"})"},
         "/srv/y ro, src/x ro"},
        {{"allow filesystem.move_file(source within ./src, destination within ./other)"},
         "other rw, src rw"},
        {{"allow filesystem.read_multiple_files(paths[*] within ./src)"}, "src ro"},
        {{"allow filesystem.read_text_file(path within ./linked)"}, "other ro"},
        {{"ask filesystem.read_text_file(path within ./src)"}, "src ro"},
        {{"allow filesystem.*(path within ./src, ..)"}, "src rw"},
        // What no rule says of places gives none.
        {{"allow filesystem.*"}, ""},
        {{"allow filesystem.read_text_file(path any)"}, ""},
        {{"allow filesystem.read_text_file(path starts \"/srv\")"}, ""},
        // Another server's are its own.
        {{"allow github.get_file_contents(path within ./src, ..)"}, ""},
        // Each layer has to admit it.
        {{"allow filesystem.read_text_file(path within ./data)", "allow *.*"}, "data ro"},
        {{"allow filesystem.*", "allow filesystem.read_text_file(path within ./data)"}, "data ro"},
        {{"allow filesystem.read_text_file(path within ./data)",
          "allow filesystem.read_text_file(path within ./data/out)"},
         "data/out ro"},
        {{"allow filesystem.read_text_file(path within ./data)",
          "allow filesystem.read_text_file(path within ./src)"},
         ""},
        // Denied whole: the place, the tool.
        {{"allow filesystem.read_text_file(path within ./data)",
          "allow *.*\ndeny *.*(* within ./data)"},
         ""},
        {{"allow filesystem.read_text_file(path within ./data)\n"
          "allow filesystem.write_file(path within ./data, ..)\ndeny filesystem.write_file"},
         "data ro"},
        {{"allow filesystem.read_text_file(path within ./data)\ndeny filesystem.*"}, ""},
        {{"allow filesystem.read_text_file(path within ./data) until 2020-01-01T00:00:00Z"}, ""}};
    for (const auto& [layers, expected] : cases) {
      CAPTURE(layers.back());
      CHECK(places.given(layers) == expected);
    }
  }

  TEST_CASE("a denied or excepted place is absent where no call can name it") {
    const Places places;
    const std::string reads = "allow filesystem.read_text_file(path within ./data)\n";
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{reads + "deny *.*(* within ./data/secret)"}, "data/secret none"},
        {{reads + "deny filesystem.*(path within ./data/secret)"}, "data/secret none"},
        {{reads, "allow *.*\ndeny filesystem.*(path within ./data/secret)"}, "data/secret none"},
        {{reads + "deny *.*(* matches ./data/key.pem)"}, "data/key.pem none"},
        {{reads + "deny *.*(* matches ./data/secret/**)"}, "data/secret none"},
        {{"allow filesystem.read_text_file(path within ./data except {./data/secret})"},
         "data/secret none"},
        // Another tool may still, or another rule of the same one.
        {{"allow filesystem.*\ndeny filesystem.*(path within ./data/secret)"},
         "data/secret writes"},
        {{"allow filesystem.*\ndeny *.*(* within ./data/secret)"}, "data/secret none"},
        {{"allow filesystem.read_text_file(path within ./data except {./data/secret})\n"
          "allow filesystem.list_directory(path within ./data)"},
         "data/secret reads"},
        {{"allow filesystem.read_text_file(path within ./data except {./data/secret})\n"
          "allow filesystem.read_text_file(path within ./data/secret/deep)"},
         "data/secret reads"},
        {{"allow filesystem.*(path within ./data, ..)\n"
          "deny filesystem.write_file(path within ./data/secret)\n"
          "deny filesystem.edit_file(path within ./data/secret)\n"
          "deny filesystem.create_directory(path within ./data/secret)"},
         "data/secret reads"},
        {{reads + "deny filesystem.write_file(path within ./data/secret)"}, "data/secret reads"},
        // A deny of some calls only, or of what a wildcard means, is the gate's alone.
        {{reads + "deny filesystem.read_text_file(path within ./data/secret, head 1..5)"},
         "data/secret reads"},
        {{reads + "deny *.*(* matches ./data/*.pem)"}, ""},
        // A tool that takes no place names none; texts and listed values are none.
        {{reads + "allow filesystem.list_allowed_directories\n"
                  "deny filesystem.*(path within ./data/secret)"},
         "data/secret none"},
        {{"allow filesystem.search_files(path within ./data except {./data/secret}, ..)"},
         "data/secret none"}};
    for (const auto& [layers, expected] : cases) {
      CAPTURE(layers.back());
      CHECK(places.held(layers) == expected);
    }
    // A client of a gateway may read resources as well, by any URI.
    const std::vector<std::string> whole = {
        "allow filesystem.read_text_file(path within ./data)\n"
        "allow filesystem.\"resources/read\"\n"
        "deny filesystem.*(path within ./data/secret)"};
    CHECK(places.held(whole) == "data/secret none");
    CHECK(places.held(whole, Callers::kClients) == "data/secret reads");
  }

  TEST_CASE("a rule gives its place until its time is over, by the clock of the question") {
    Places places;
    const auto authority = places.load(
        {"allow filesystem.read_text_file(path within ./src) until 2026-06-01T13:00:00Z\n"
         "allow filesystem.list_directory(path within ./data) for 2h\n"
         "allow filesystem.write_file(path within ./other, ..) calls <= 1"});
    const auto after = [&](std::chrono::minutes time) {
      places.pass(time);
      const auto reached = Places::reach_of(authority);
      return fmt::format("{}; {} tools", places.given_by(reached), reached.callable.size());
    };
    CHECK(after(std::chrono::minutes(59)) == "data ro, other rw, src ro; 3 tools");
    CHECK(after(std::chrono::minutes(60)) == "data ro, other rw; 2 tools");
    CHECK(after(std::chrono::minutes(120)) == "other rw; 1 tools");
  }

  TEST_CASE("several authorities together reach what either does") {
    const Places places;
    auto both = places.reach({"allow filesystem.read_text_file(path within ./src)"});
    const auto other = places.reach(
        {"allow filesystem.write_file(path within ./data except {./data/secret}, ..)"});
    both.add(other);
    both.add(other);  // again: nothing changes
    REQUIRE(both.places().size() == 2);
    CHECK(places.below(both.places()[0].path) == "data");
    CHECK(both.places()[0].mode == FileMode::kReadWrite);
    CHECK(both.places()[0].rules.begin()->contains("filesystem.write_file"));
    REQUIRE(both.held_back.size() == 1);
    const std::string secret = both.held_back.front().path;
    CHECK(both.users_of(secret).use == ServerReach::Use::kNone);
    // Who may name it takes it out of what is absent, and is named.
    both.add(places.reach({"allow filesystem.list_directory"}));
    CHECK(both.users_of(secret).use == ServerReach::Use::kReads);
    CHECK(both.users_of(secret).example == "filesystem.list_directory may name it in path");
    CHECK(both.notes.begin()->contains("filesystem.list_directory may be called with any path"));
  }
}

}  // namespace mcpac::policy::testing
