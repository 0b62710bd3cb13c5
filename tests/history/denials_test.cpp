#include "history/records/denials.h"

#include <doctest/doctest.h>

using namespace mcpac;
using history::Denials;

namespace {

gate::Check check(const std::string& reason) {
  gate::Check made;
  made.capability = "fs.read";
  made.layer = "the command line";
  made.rule = "allow fs.read(path within ./data)";
  made.reason = reason;
  made.other_rules = 1;
  made.would_grant = "fs.read(path == \"/etc/passwd\")";
  return made;
}

}  // namespace

TEST_SUITE("execute/denials") {
  TEST_CASE("a denial of the run is told as a forecast is, with the grant that would admit it") {
    Denials denials;
    denials.add(check("path \"/etc/passwd\" is not within ./data"));
    CHECK(history::to_human_text(denials.list().at(0)) ==
          "denied: fs.read: path \"/etc/passwd\" is not within ./data "
          "[allow fs.read(path within ./data)], nor does 1 other rule admit it\n"
          "  fix: --grant 'fs.read(path == \"/etc/passwd\")'");
  }

  TEST_CASE("what a path was taken for stands below its denial") {
    Denials denials;
    gate::Check relative = check("path \"a\" is not within ./data");
    relative.taken_for = "it is /w/a, counted from the root of fs";
    denials.add(relative);
    CHECK(history::to_human_text(denials.list().at(0))
              .find("\n  path: it is /w/a, counted from the root of fs\n") != std::string::npos);
    CHECK(history::to_json(denials.list()[0])["taken_for"] == relative.taken_for);
  }

  TEST_CASE("the same denial many times is one, counted") {
    Denials denials;
    for (int i = 0; i < 3; ++i) denials.add(check("a"));
    REQUIRE(denials.list().size() == 1);
    CHECK(denials.list()[0].calls == 3);
    CHECK(history::to_json(denials.list()[0])["calls"] == 3);
    CHECK(history::to_human_text(denials.list()[0]).find("(3 calls)") != std::string::npos);
  }

  TEST_CASE("a program that invents denials fills neither the memory nor the terminal") {
    Denials denials;
    for (int i = 0; i < 1000; ++i)
      denials.add(check(std::to_string(i) + std::string(100'000, 'x')));
    CHECK(denials.list().size() == 10);
    CHECK(denials.others() == 990);
    CHECK(history::to_human_text(denials.list()[0]).size() < 5'000);
    denials.add(check("0" + std::string(100'000, 'x')));
    CHECK(denials.list()[0].calls == 2);
  }

  TEST_CASE("a denial that no grant lifts says who decides, and shows no escape of a program") {
    Denials denials;
    gate::Check ceiling = check("path \"\x1b[2J\" is not within ./data");
    ceiling.would_grant = "";
    ceiling.layer = "mcpac.policy";
    denials.add(ceiling);
    const std::string text = history::to_human_text(denials.list()[0]);
    CHECK(text.find("no --grant helps: mcpac.policy decides") != std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
  }

  TEST_CASE("what nobody sees is shown in a denial, and its fix names the very value") {
    Denials denials;
    gate::Check hidden = check("path \"/tmp/a\u200cb\" is not within ./data");
    hidden.would_grant = "fs.read(path == \"/tmp/a\u200cb\")";
    denials.add(hidden);
    const std::string text = history::to_human_text(denials.list()[0]);
    CHECK(text.find("path \"/tmp/a\\u200cb\"") != std::string::npos);
    CHECK(text.find("fix: --grant 'fs.read(path == \"/tmp/a\\u200cb\")'") != std::string::npos);
    CHECK(text.find("\u200c") == std::string::npos);
  }

  TEST_CASE("a deny that refuses a call stands, and is named with its place") {
    Denials denials;
    gate::Check denied = check("it is denied by a rule");
    denied.would_grant = "";
    denied.rule = "deny fs.read(path within ./data)";
    denied.layer = "mcpac.policy";
    denied.place = "mcpac.policy:7";
    denials.add(denied);
    CHECK(history::to_human_text(denials.list()[0])
              .ends_with("fix: no --grant helps: `deny fs.read(path within ./data)` "
                         "(mcpac.policy:7) stands"));
  }

  TEST_CASE("a limit that is used up is no reason to raise it, and no grant is named") {
    Denials denials;
    gate::Check used_up = check("its 2 calls are used up");
    used_up.rule = "allow fs.read calls <= 2";
    used_up.would_grant = "";
    used_up.used_up = true;
    denials.add(used_up);
    const std::string text = history::to_human_text(denials.list()[0]);
    CHECK(text.find("fix: no --grant is suggested: a limit of `allow fs.read calls <= 2` (the "
                    "command line) is used up") != std::string::npos);
    used_up.reason = "it ended at 2020-01-01T00:00:00Z";
    used_up.rule = "allow fs.read until 2020-01-01T00:00:00Z";
    used_up.ended = true;
    denials.add(used_up);
    CHECK(history::fix_of(denials.list()[1]) ==
          "a later end in `allow fs.read until 2020-01-01T00:00:00Z` (the command line): until "
          "YYYY-MM-DDThh:mm:ssZ");
    CHECK(text.find("raise") == std::string::npos);
    CHECK(text.find("--grant '") == std::string::npos);
  }
}
