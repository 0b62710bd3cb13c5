// Readings of a value: what servers take off, decode and round is denied like the value itself, and
// nothing is admitted for the sake of its dress.
#include "policy/match/readings.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>

#include "core/file.h"
#include "places.h"
#include "policy/support_inclusion.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

// A dress is put on here by other means than readings.cpp takes it off.
struct Dress {
  std::string name;
  std::function<std::string(const std::string&)> put_on;
};

std::string as_json(const Json& value) {
  return value.dump();
}

// Every character as an escape of JSON, which no comparison of texts sees through.
std::string escaped(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
  return out + "\"";
}

const std::vector<Dress>& dresses() {
  static const std::vector<Dress> kDresses = {
      {"a blank before it", [](const auto& t) { return " " + t; }},
      {"blanks and line breaks around it", [](const auto& t) { return "\t\n" + t + "\r\n "; }},
      {"a no-break space", [](const auto& t) { return "\u00a0" + t; }},
      {"a zero-width space and a byte-order mark",
       [](const auto& t) { return "\u200b" + t + "\ufeff"; }},
      {"an ideographic space", [](const auto& t) { return t + "\u3000"; }},
      {"a variation selector", [](const auto& t) { return "\ufe0f" + t; }},
      {"quotes", [](const auto& t) { return "\"" + t + "\""; }},
      {"quotes in blanks in quotes", [](const auto& t) { return "' \"" + t + "\" '"; }},
      {"typographic quotes", [](const auto& t) { return "\u201c" + t + "\u201d"; }},
      {"angle brackets", [](const auto& t) { return "<" + t + ">"; }},
      {"a quote at one end", [](const auto& t) { return "`" + t; }},
      {"a list in a text", [](const auto& t) { return as_json(Json::array({t})); }},
      {"a member in a text",
       [](const auto& t) {
         return as_json({{"a", {{"b", t}}}});
       }},
      {"a name of a member",
       [](const auto& t) {
         return as_json({{t, 1}});
       }},
      {"a member that comes twice",
       [](const auto& t) { return "{\"p\": " + as_json(Json(t)) + ", \"p\": \"x\"}"; }},
      {"beside what only Python reads",
       [](const auto& t) { return "[NaN, -Infinity, " + as_json(Json(t)) + "]"; }},
      {"escapes of JSON", [](const auto& t) { return "[" + escaped(t) + "]"; }},
      {"a string of JSON", [](const auto& t) { return escaped(t); }},
      {"a text in a text in a text",
       [](const auto& t) {
         return as_json(Json::array({as_json(Json::array({as_json(Json::array({t}))}))}));
       }},
      {"texts deeper than anybody looks",
       [](std::string t) {
         for (int depth = 0; depth < 9; ++depth) t = as_json(Json::array({t}));
         return t;
       }},
  };
  return kDresses;
}

Decision decided(const World& world, const std::string& rules, const std::string& tool,
                 const Json& call) {
  auto authority = policy_of(world, rules);
  return authority.decide(Permission::parse(tool).value(), call);
}

// Of a rule that tests `key`: what it says of a value, and of the value in every dress.
void denies_in_every_dress(const World& world, const std::string& rule, const std::string& value) {
  REQUIRE(decided(world, rule, "kv.get", {{"key", value}}).effect == Effect::kDeny);
  for (const auto& dress : dresses()) {
    CAPTURE(dress.name);
    CHECK(decided(world, rule, "kv.get", {{"key", dress.put_on(value)}}).effect == Effect::kDeny);
  }
}

struct Pair {
  const char* test;
  const char* value;
};
constexpr Pair kPairs[] = {
    {"within ./secret", "secret/key"},
    {"within ./secret", "${BASE}/secret/a/b"},
    {"within ~/.ssh", "${HOME}/.ssh/id_rsa"},
    {"matches ./secret/*.pem", "./secret/a.pem"},
    {"host evil.example", "https://evil.example/a"},
    {"ip in {10.0.0.0/8}", "http://10.1.2.3/"},
    {"scheme http", "http://a.example/"},
    {"== \"drop\"", "drop"},
    {"in {\"drop\", \"truncate\"}", "truncate"},
    {"like \"rm *\"", "rm -r x"},
    {"re /(?i)rm .*/", "RM x"},
    {"starts \"git push\"", "git push x"},
    {"ends \".pem\"", "a.pem"},
};

Json corpus(const std::string& name) {
  const auto path = mcpac::testing::in_source("tests/codegen/data/" + name + ".json");
  return parse_json(read_file(path).value()).value();
}

}  // namespace

TEST_SUITE("policy/readings") {
  TEST_CASE("a deny and an ask catch a value in every dress that a server takes off") {
    World world;
    for (const auto& [test, value] : kPairs) {
      CAPTURE(std::string(test));
      const std::string filled = world.fill(std::string(value));
      denies_in_every_dress(world, fmt::format("allow kv.get\ndeny kv.get(key {})", test), filled);
      denies_in_every_dress(world, fmt::format("allow kv.get\ndeny *.*(* {})", test), filled);
      for (const auto& dress : dresses()) {
        CAPTURE(dress.name);
        CHECK(decided(world, fmt::format("allow kv.get\nask kv.get(key {})", test), "kv.get",
                      {{"key", dress.put_on(filled)}})
                  .effect == Effect::kAsk);
      }
    }
  }

  TEST_CASE("an allow admits a value in a dress only where it admits what is in it") {
    World world;
    world.put("data/a.txt", "file");
    for (const auto& [test, value] : kPairs) {
      CAPTURE(std::string(test));
      const std::string rule = fmt::format("allow kv.get(key {})", test);
      for (const char* inside :
           {"drop", "other", "/etc/hostname", "secret/key", "https://other.example/", "rm x"}) {
        const bool admits = decided(world, rule, "kv.get", {{"key", inside}}).allowed();
        for (const auto& dress : dresses()) {
          CAPTURE(dress.name);
          CAPTURE(std::string(inside));
          const bool dressed =
              decided(world, rule, "kv.get", {{"key", dress.put_on(inside)}}).allowed();
          CHECK((admits || !dressed));
        }
      }
    }
    // An exception and an inequality are passed by no dress either.
    for (const auto& dress : dresses()) {
      CAPTURE(dress.name);
      CHECK_FALSE(decided(world, "allow kv.get(key within ./ except {./secret})", "kv.get",
                          {{"key", dress.put_on("secret/key")}})
                      .allowed());
      CHECK_FALSE(
          decided(world, "allow kv.get(key != \"drop\")", "kv.get", {{"key", dress.put_on("drop")}})
              .allowed());
      CHECK_FALSE(decided(world, "allow kv.get(key like \"*\" except {\"drop\"})", "kv.get",
                          {{"key", dress.put_on("drop")}})
                      .allowed());
    }
  }

  TEST_CASE("what people send every day is admitted as before") {
    World world;
    world.put("data/a.txt", "file");
    const auto allowed = [&](const std::string& rule, const std::string& key) {
      CAPTURE(rule);
      CAPTURE(key);
      CHECK(decided(world, rule, "kv.get", {{"key", key}}).allowed());
    };
    allowed("allow kv.get(key within ./data)", "data/a.txt");
    allowed("allow kv.get(key within ./data)", "data/it's (1) [draft].txt");
    allowed("allow kv.get(key starts \"<html>\")", "<html>a</html>");
    allowed("allow kv.get(key starts \"\\\"\")", "\"quoted\" words");
    allowed("allow kv.get(key == \" a \")", " a ");
    allowed("allow kv.get(key in {\"[1]\", \"<a>\"})", "<a>");
    allowed("allow kv.get(key len 1..20)", "{\"a\": \"\", \"b\": 2}");
    allowed("allow kv.get(key like \"*\")", "{\"a\": \"b\"}\n");
    allowed("allow kv.get\ndeny *.*(* within ~/.ssh)",
            "Dear all,\n\n\"see\" [the list] {below}.\n");
    allowed("allow kv.get\ndeny *.*(* within ~/.ssh)",
            R"({"name": "x", "scripts": {"test": "node --test"}, "files": ["lib/"]})");
    // A lock file of a package manager: thousands of words, and none is looked up.
    Json packages = Json::object();
    for (int i = 0; i < 3000; ++i)
      packages[fmt::format("node_modules/p{}", i)] = {{"version", fmt::format("1.0.{}", i)}};
    allowed("allow kv.get\ndeny *.*(* within ~/.ssh)", packages.dump());
    CHECK(decided(world, "allow kv.get\ndeny *.*(* within ./secret)", "kv.get",
                  {{"key", R"({"a": "secret/key"})"}})
              .effect == Effect::kDeny);
    // What is equal is meant as it is written: the value without its blank is another one.
    CHECK_FALSE(decided(world, "allow kv.get(key == \" a \")", "kv.get", {{"key", "a"}}).allowed());
  }

  TEST_CASE("a deny of a path below a host catches its URL however it is written") {
    World world;
    const std::string rule =
        "allow http.get\ndeny http.get(url host a.com starts \"https://a.com/secret\")";
    const auto effect = [&](const std::string& url) {
      return decided(world, rule, "http.get", {{"url", url}}).effect;
    };
    for (const char* url :
         {"https://a.com/secret", "https://A.COM/secret", "https://a.com./secret",
          "https://a.com:443/secret", "https://u@a.com/secret", "https:a.com/secret",
          "https:\\\\a.com\\secret", "https://a.com/;/secret", "https://a.com/%2fsecret",
          "https://a.com/./secret", "https://a.com//secret", "https://a.com/%73ecret",
          " https://a.com/secret", "\"https://a.com/secret\"", "[\"https://A.com/secret\"]"}) {
      CAPTURE(std::string(url));
      CHECK(effect(url) == Effect::kDeny);
    }
    for (const char* url : {"https://a.com/public", "https://a.com/a;v=1/b?re=/secret",
                            "https://b.com/secret", "https://a.com/a%2Fsecret"}) {
      CAPTURE(std::string(url));
      CHECK(effect(url) == Effect::kAllow);
    }
  }

  TEST_CASE("what a rule excepts, and a place in a dress, is no reason for a grant") {
    World world;
    const auto fix = [&](const std::string& rule, const std::string& key) {
      auto authority = policy_of(world, rule);
      return authority.explain(Permission::parse("kv.get").value(), {{"key", key}})
          .decision.would_grant;
    };
    CHECK(fix("allow kv.get(key within ./ except {./secret})", "secret/key").empty());
    CHECK(fix("allow kv.get(key within ./data)", "[\"/etc/hostname\"]").empty());
    CHECK_FALSE(fix("allow kv.get(key within ./data)", "other/a.txt").empty());
  }

  TEST_CASE("a denial says what the value may be taken for") {
    World world;
    const auto denied =
        decided(world, "allow kv.get(key within ./)", "kv.get", {{"key", "[\"/etc/hostname\"]"}});
    CHECK(denied.reason.find("which a server may take for \"/etc/hostname\"") != std::string::npos);
  }

  TEST_CASE("an integer is the nearest double as well") {
    World world;
    const auto set = [](const std::string& number) {
      return Json{{"key", "k"}, {"value", parse_json(number).value()}};
    };
    const std::string deny = "allow kv.set\ndeny kv.set(value == 9007199254740992)";
    CHECK(decided(world, deny, "kv.set", set("9007199254740993")).effect == Effect::kDeny);
    CHECK(decided(world, deny, "kv.set", set("9007199254740994")).allowed());
    const std::string range = "allow kv.set\ndeny kv.set(value >= 1152921504606846976)";
    CHECK(decided(world, range, "kv.set", set("1152921504606846975")).effect == Effect::kDeny);
    CHECK(decided(world, range, "kv.set", set("1152921504606840000")).allowed());
    const std::string allow = "allow kv.set(key any, value < 9007199254740993)";
    CHECK(decided(world, allow, "kv.set", set("9007199254740991")).allowed());
    CHECK_FALSE(decided(world, allow, "kv.set", set("9007199254740995")).allowed());
    const std::string not_it = "allow kv.set(key any, value != 9007199254740992)";
    CHECK_FALSE(decided(world, not_it, "kv.set", set("9007199254740993")).allowed());
    CHECK(decided(world, "allow kv.set(key any, value == 9007199254740993)", "kv.set",
                  set("9007199254740993"))
              .allowed());
  }

  TEST_CASE("numbers in a JSON text are caught where a list of values names them") {
    World world;
    CHECK(decided(world, "allow kv.set\ndeny kv.set(value in {7, \"x\"})", "kv.set",
                  {{"key", "k"}, {"value", "[1, 7]"}})
              .effect == Effect::kDeny);
  }

  TEST_CASE("a text with more readings than anybody holds against rules is unreadable") {
    World world;
    Json many = Json::array();
    for (std::size_t i = 0; i <= kMaxReadings; ++i) many.push_back(fmt::format("a{}", i));
    const Json call = {{"key", many.dump()}};
    CHECK_FALSE(decided(world, "allow kv.get(key like \"*\")", "kv.get", call).allowed());
    CHECK(decided(world, "allow kv.get\ndeny kv.get(key == \"x\")", "kv.get", call).effect ==
          Effect::kDeny);
    CHECK(decided(world, "allow kv.get\ndeny *.*(* == \"x\")", "kv.get", call).effect ==
          Effect::kDeny);
    // A list of numbers holds no texts, however long it is.
    const std::string numbers = Json(std::vector<int>(50'000, 1)).dump();
    CHECK(decided(world, "allow kv.get\ndeny *.*(* within ./secret)", "kv.get", {{"key", numbers}})
              .allowed());
  }

  TEST_CASE("over the tools of real servers no dress passes a deny of any argument of theirs") {
    int tried = 0;
    for (const char* server : {"filesystem", "github-go", "everything", "memory", "shortcut"}) {
      World world;
      Json tools = Json::object();
      const Json listing = corpus(server);
      for (const auto& tool : listing.at("tools"))
        tools[fmt::format("s.{}", tool.at("name").get<std::string>())] = tool.at("inputSchema");
      world.add_tools(tools);
      for (const auto& [name, schema] : tools.items()) {
        const Json properties = schema.value("properties", Json::object());
        for (const auto& [argument, property] : properties.items()) {
          if (property.value("type", Json()) != "string" || property.contains("enum")) continue;
          CAPTURE(name);
          CAPTURE(argument);
          const std::string quoted = as_json(Json(argument));
          for (const auto& [test, value] : {kPairs[0], kPairs[4], kPairs[8]}) {
            auto authority =
                policy_of(world, fmt::format("allow {0}\ndeny {0}({1} {2})", name, quoted, test));
            for (const auto& dress : dresses()) {
              const Json call = {{argument, dress.put_on(world.fill(std::string(value)))}};
              CHECK(authority.decide(Permission::parse(name).value(), call).effect ==
                    Effect::kDeny);
              ++tried;
            }
          }
        }
      }
    }
    MESSAGE(tried << " calls");
    CHECK(tried > 5000);
  }

  TEST_CASE("inclusion knows dresses: a wider rule that is passed by one does not include") {
    World world;
    const auto includes = [&](const std::string& wider, const std::string& narrower) {
      return std::holds_alternative<Included>(
          policy_of(world, wider).includes(policy_of(world, narrower)));
    };
    CHECK_FALSE(includes("allow kv.get(key != \"a\")\nallow kv.get(key == \"a\")",
                         "allow kv.get"));  // " a" is neither
    CHECK(includes("allow kv.get(key like \"a*\")", "allow kv.get(key == \"a\")"));
    CHECK(includes("allow kv.get(key within ./data)", "allow kv.get(key within ./data/x)"));
  }
}

}  // namespace mcpac::policy::testing
