// Places of confined servers that follow from rules: nothing lies behind a denied one, whatever
// a server makes of a text.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "e2e/support_confined.h"

using e2e::attempts_with;
using e2e::Confined;
using e2e::has;
using mcpac::Json;

namespace fs = std::filesystem;

TEST_SUITE("e2e/confined") {
  TEST_CASE("nothing lies behind a denied place, whatever a confined server makes of a text") {
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;
      CAPTURE(ordinary);
      const auto prepared = [&] {
        auto confined =
            std::make_unique<Confined>(ordinary, attempts_with(R"({"files": ["./data:rw"]})"));
        for (const char* file :
             {"data/secret/key", "data/sub/secret/key", "data/key.pem", "data/\u00e9/key"}) {
          fs::create_directories(fs::path(confined->path(file)).parent_path());
          confined->workspace.write(file, "canary");
        }
        fs::create_directories(confined->path("data/empty"));
        fs::create_directories(confined->path("data/bound"));
        confined->bound = {confined->path("data/secret"), confined->path("data/bound")};
        fs::create_symlink("secret/key", confined->path("data/link"));
        fs::create_directory_symlink("sub", confined->path("data/also"));
        if (ordinary) confined->own();
        confined->generate();
        return confined;
      };
      // What servers make of a text: without the rules, each is the place.
      const auto readings_of = [](const Confined& confined) {
        const std::string secret = confined.path("data/secret/key");
        std::vector<std::pair<std::string, std::string>> all = {
            {"read_folded", confined.path("DATA/Secret/KEY")},     // a disk that folds case
            {"read_composed", confined.path("data/e\u0301/key")},  // another normal form
            {"read_peeled", " \"" + secret + "\"\n"},              // blanks, quotes, line breaks
            {"read_peeled", "<\u00a0file://" + secret + "\u200b>"},
            {"read_decoded", Json::array({secret}).dump()},  // JSON in a text
            {"read_decoded", Json{{"a", {{"b", {secret}}}}}.dump()},
            {"read_of_last_member",  // Go's names of members
             fmt::format(R"({{"path": "data/note", "PATH": "{}"}})", secret)},
            {"read_of_default", "{}"},  // a member that is not there
            {"read_of_url", "file://localhost" + confined.path("data/%73ecret/key")},
            {"read_of_url", "FILE://" + confined.path("data/empty/..%2fsecret//key")},
            {"read_of_second_root", "../secret/key"},
            {"read_of_home", "~/../.." + secret},
            {"shell", "cp -r data /tmp/copied; cat /tmp/copied/secret/key"},  // what holds it
        };
        if (::geteuid() == 0) all.emplace_back("read", "data/bound/key");
        return all;
      };
      const auto attempts_on = [](const Confined& confined) {
        const std::string secret = confined.path("data/secret/key");
        // As servers open what rules read: each of these was a way around a path rule.
        std::vector<std::pair<std::string, std::string>> all = {
            {"read", secret},
            {"read", "data/secret/key"},               // from where it starts
            {"read", "./data/../data/./secret//key"},  // dots
            {"read", confined.path("data/empty/../secret/key")},
            {"read", "/proc/self/root" + secret},
            {"read", "/proc/self/cwd/data/secret/key"},
            {"read", "/proc/1/root" + secret},
            {"read", "/proc/1/cwd" + secret},
            {"read", "/proc/thread-self/root" + secret},
            {"read", confined.path("data/link")},  // links that its user made
            {"read", confined.path("data/also/secret/key")},
            {"read", confined.path("data/key.pem")},
            {"below", secret},  // from a folder that is held open
            {"shell", fmt::format("cat ' {0}' {0} $(echo {0}) ~/../..{0} 2>/dev/null", secret)},
            {"shell", fmt::format("cd {}/data/s*t && cat *", confined.path(""))},  // wildcards
            {"shell", fmt::format("cat {}/data/{{SECRET,Secret}}/key", confined.path(""))},
            {"shell", fmt::format("grep -r canary {}/data", confined.path(""))},  // a folder above
            {"shell", fmt::format("tar c {}/data | cat", confined.path(""))},
            // Moved, linked, made again: the place, what holds it, what is put over it.
            {"rename", confined.path("data/secret") + " -> " + confined.path("data/empty/moved")},
            {"rename", confined.path("data/empty") + " -> " + confined.path("data/secret")},
            {"rename", confined.path("data/note") + " -> " + confined.path("data/key.pem")},
            {"rename", confined.path("data/sub") + " -> " + confined.path("data/moved")},
            {"read", confined.path("data/moved/secret/key")},
            {"read", confined.path("data/empty/moved/key")},
            {"hard_link", secret + " -> " + confined.path("data/hard")},
            {"hard_link", confined.path("data/key.pem") + " -> " + confined.path("data/hard2")},
            {"read", confined.path("data/hard")},
            {"read", confined.path("data/hard2")},
            {"write", secret},
            {"write", confined.path("data/key.pem")},
            {"make", confined.path("data/secret/new")},
            {"list", confined.path("data/secret")},
            {"read", secret},
            {"read", confined.path("data/key.pem")}};
        return all;
      };
      const auto canaries = [](const std::vector<std::string>& said) {
        return std::ranges::count_if(said, [](const auto& one) { return has(one, "canary"); });
      };
      {
        // Without the rules there is something behind each spelling.
        const auto bare = prepared();
        const auto readings = readings_of(*bare);
        const auto read = bare->coded(readings, {"--grant", "attempts.coded"});
        for (std::size_t i = 0; i < readings.size(); ++i) {
          CAPTURE(readings[i].first);
          CAPTURE(readings[i].second);
          CHECK(has(read[i], "canary"));
        }
        const auto said = bare->coded(attempts_on(*bare), {"--grant", "attempts.coded"});
        CHECK(canaries(said) >= 15);
      }
      const auto confined = prepared();
      auto all = attempts_on(*confined);
      std::ranges::copy(readings_of(*confined), std::inserter(all, all.begin()));
      const auto said = confined->coded(
          all, {"--grant", "attempts.coded", "--deny", "*.*(* within ./data/secret)", "--deny",
                "*.*(* within ./data/sub/secret)", "--deny", "*.*(* matches ./data/key.pem)",
                "--deny", "*.*(* within ./data/\u00e9)"});
      REQUIRE(said.size() == all.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        CAPTURE(all[i].first);
        CAPTURE(all[i].second);
        CHECK_FALSE(has(said[i], "canary"));
        const bool may_be_done = all[i].first == "shell";
        if (!may_be_done) CHECK_FALSE(has(said[i], "done"));
      }
      for (const char* file : {"data/secret/key", "data/key.pem"})
        CHECK(confined->workspace.read(file) == "canary");
    }
  }

  TEST_CASE("rules give a confined server the places of its tools, and say so") {
    const Confined confined(false, attempts_with("true"));
    for (const char* folder : {"data/out", "data/secret"})
      fs::create_directories(confined.path(folder));
    confined.workspace.write("data/secret/key", "canary");
    confined.workspace.write("data/one", "canary");
    fs::create_hard_link(confined.path("data/one"), confined.path("data/out/two"));
    confined.generate();
    const std::vector<std::string> rules = {
        "--grant", "attempts.coded",
        "--grant", "attempts.read_file(path within ./data except {./data/secret})",
        "--grant", "attempts.write_file(path within ./data/out)",
        "--grant", "attempts.read_file(path within ./nowhere)",
        "--deny",  "*.*(* within ./data/later)",
        "--deny",  "*.*(* matches ./data/one)"};
    const auto said = confined.coded({{"read", confined.path("data/note")},
                                      {"write", confined.path("data/out/new")},
                                      {"write", confined.path("data/note")},
                                      {"read", confined.path("data/secret/key")},
                                      {"list", confined.path("data/secret")},
                                      {"read", confined.path("shown/text")},
                                      {"list", confined.path("beside")}},
                                     rules);
    CHECK(said == std::vector<std::string>{"\"a note\"", "\"done\"", "EROFS", "EACCES", "EACCES",
                                           "ENOENT", "ENOENT"});
    CHECK(confined.workspace.read("data/out/new") == "written");
    // Its record has them, beside their rules.
    const auto listed = confined.mcpac({"audit", "list", "--kind", "RunStarted", "--json"});
    INFO(listed.out << listed.err);
    REQUIRE(listed.exit_code == 0);
    for (const char* text : {"server_places", "/data/out", "read-write", "/data/secret",
                             "attempts.write_file(path within ./data/out)"})
      CHECK(has(listed.out, text));
    // And whoever asks before hears of them, and of what is not there.
    std::vector<std::string> words = {"policy", "explain", "attempts.read_file",
                                      R"({"path": "data/note"})"};
    words.insert(words.end(), rules.begin(), rules.end());
    const auto explained = confined.mcpac(words);
    INFO(explained.out << explained.err);
    CHECK(explained.exit_code == 0);
    CHECK(has(explained.out, "attempts: " + confined.path("data") + " read-only: --grant: "));
    CHECK(has(explained.out, "attempts: " + confined.path("data/out") + " read-write: "));
    CHECK(has(explained.out, "attempts: " + confined.path("data/secret") + " absent: "));
    CHECK(has(explained.out, "so the server does not have it; make it"));
    CHECK(has(explained.out, "data/later is not there: what is made there"));
    CHECK(has(explained.out, "data/one has 2 names (hard links)"));
    words.push_back("--json");
    const auto json = confined.mcpac(words).json();
    CHECK(json.at("server_places").at("attempts").at("places").size() == 2);
    CHECK(json.at("server_places").at("attempts").at("absent").size() == 3);
  }

  TEST_CASE(
      "a name that tools obey is told when a confined server makes it, and held from then on") {
    const Confined confined;
    confined.generate();
    const auto shell = [&](const std::string& line) {
      return confined.mcpac({"tools", "call", "attempts.attempt",
                             Json{{"what", "shell"}, {"on", line}}.dump(), "--grant", "*.*"});
    };
    const std::string data = confined.path("data");
    const auto made = shell(
        fmt::format("cd {} && mkdir -p deep/.git/hooks && echo x > .envrc && echo done", data));
    INFO(made.out << made.err);
    CHECK(has(made.out, "done"));
    CHECK(has(made.err, data + "/.envrc came to be"));
    CHECK(has(made.err, data + "/deep/.git came to be"));
    const auto audit = confined.mcpac({"audit", "list", "--json", "--kind", "Anomaly"});
    CHECK(has(audit.out, data + "/.envrc"));
    const auto again = shell(fmt::format("cd {} && echo y > .envrc || echo refused", data));
    INFO(again.out << again.err);
    CHECK(has(again.out, "refused"));
    CHECK_FALSE(has(again.err, "came to be"));
    CHECK(confined.workspace.read("data/.envrc") == "x\n");
    CHECK(confined.mcpac({"audit", "verify"}).exit_code == 0);
  }
}
