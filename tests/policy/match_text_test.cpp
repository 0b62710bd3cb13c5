// Expressions and long texts: what a test that would take too long answers.
#include <doctest/doctest.h>

#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

Permission matched_tool(std::string_view text) {
  return Permission::parse(text).value();
}

// Two to the power of 400 states, if anybody made them all: RE2 walks over the text state by state.
constexpr const char* kHeavy = "(a|b)*a(a|b){400}c";

Authority policy(const World& world, const std::string& text) {
  return world
      .load({{.name = "run", .grants = {}, .asks = {}, .denies = {}, .files = {PolicyFile(text)}}})
      .value();
}

}  // namespace

TEST_CASE("a text that is too long for its expression is not admitted, and is caught") {
  const World world;
  const std::string heavy = std::string("(key re /") + kHeavy + "/)";
  const Json call = {{"key", std::string(std::size_t{8} << 20, 'a')}};
  auto allows = policy(world, "allow kv.get" + heavy);
  const Decision refused = allows.decide(matched_tool("kv.get"), call);
  CHECK(refused.effect == Effect::kDeny);
  CHECK(refused.reason.find("is too long to be read by 're /") != std::string::npos);
  auto denies = policy(world, "allow kv.get\ndeny kv.get" + heavy);
  CHECK(denies.decide(matched_tool("kv.get"), call).effect == Effect::kDeny);
  auto asks = policy(world, "allow kv.get\nask kv.get" + heavy);
  CHECK(asks.decide(matched_tool("kv.get"), call).effect == Effect::kAsk);
  auto anywhere = policy(world, std::string("allow kv.get\ndeny *.*(* re /") + kHeavy + "/)");
  CHECK(anywhere.decide(matched_tool("kv.get"), call).effect == Effect::kDeny);
}

TEST_CASE("many strings in one call are too long together") {
  const World world;
  Json paths = Json::array();
  for (int i = 0; i < 400; ++i) paths.push_back(std::string(20'000, 'a'));
  auto denies = policy(world, std::string("allow filesystem.read_multiple_files\n"
                                          "deny filesystem.read_multiple_files(paths[*] re /") +
                                  kHeavy + "/)");
  CHECK(denies.decide(matched_tool("filesystem.read_multiple_files"), {{"paths", paths}}).effect ==
        Effect::kDeny);
}

TEST_CASE("a plain expression reads a megabyte, and a heavy one an ordinary text") {
  const World world;
  auto plain = policy(world, "allow kv.get(key re /[a-z\\n ]*/)");
  CHECK(plain.decide(matched_tool("kv.get"), {{"key", std::string(std::size_t{1} << 20, 'x')}})
            .allowed());
  auto heavy = policy(world, std::string("allow kv.get(key re /") + kHeavy + "/)");
  CHECK(heavy.decide(matched_tool("kv.get"), {{"key", std::string(4000, 'a') + "c"}}).allowed());
}

TEST_CASE("the dot of a deny and of an ask matches a line feed, that of an allow does not") {
  const World world;
  const Json call = {{"key", "a\nrm -rf\nb"}};
  const auto effect = [&](const std::string& rules) {
    auto authority = policy(world, rules);
    return authority.decide(matched_tool("kv.get"), call).effect;
  };
  CHECK(effect("allow kv.get\ndeny kv.get(key re /.*rm.*/)") == Effect::kDeny);
  CHECK(effect("allow kv.get\ndeny *.*(* re /.*rm.*/)") == Effect::kDeny);
  CHECK(effect("ask kv.get(key re /.*rm.*/)") == Effect::kAsk);
  CHECK(effect("allow kv.get\ndeny kv.get(key re /(?-s).*rm.*/)") == Effect::kAllow);
  CHECK(effect("allow kv.get(key re /.*rm.*/)") == Effect::kDeny);
  CHECK(effect("allow kv.get(key re /(?s).*rm.*/)") == Effect::kAllow);
}

TEST_CASE("one line has no line break of anybody, and may be one where nobody's is sure") {
  const World world;
  auto allows = policy(world, "allow kv.get(key one-line)");
  auto denies = policy(world, "allow kv.get\ndeny kv.get(key one-line)");
  const auto allowed = [](Authority& authority, const char* text) {
    return authority.decide(matched_tool("kv.get"), {{"key", text}}).allowed();
  };
  for (const char* text : {"a\xE2\x80\xA8"
                           "b",
                           "a\xE2\x80\xA9"
                           "b",
                           "a\xC2\x85"
                           "b",
                           "a\vb", "a\fb",
                           "a\x1e"
                           "b"}) {
    CHECK_MESSAGE(!allowed(allows, text), text);
    CHECK_MESSAGE(!allowed(denies, text), text);
  }
  for (const char* text : {"a\nb", "a\rb"}) {
    CHECK_MESSAGE(!allowed(allows, text), text);
    CHECK_MESSAGE(allowed(denies, text), text);
  }
  for (const char* text : {"", "a\tb", "\xC3\x85", "\xE2\x80\xA6"}) {
    CHECK_MESSAGE(allowed(allows, text), text);
    CHECK_MESSAGE(!allowed(denies, text), text);
  }
}

TEST_CASE("a scheme is compared without case, and nothing else is") {
  const World world;
  const auto allowed = [&](const std::string& rules, const char* text) {
    auto authority = policy(world, rules);
    return authority.decide(matched_tool("kv.get"), {{"key", text}}).allowed();
  };
  const std::string all = "allow kv.get\n";
  CHECK_FALSE(allowed(all + "deny kv.get(key starts \"demo://secret\")", "DEMO://secret/x"));
  CHECK_FALSE(allowed(all + "deny kv.get(key starts \"DEMO://secret\")", "demo://secret/x"));
  CHECK_FALSE(allowed(all + "deny kv.get(key == \"demo://a\")", "Demo://a"));
  CHECK_FALSE(allowed(all + "deny kv.get(key like \"demo://*\")", "DEMO://a"));
  CHECK_FALSE(allowed(all + "deny kv.get(key re /demo:.*/)", "DEMO://a"));
  CHECK_FALSE(allowed("allow kv.get(key != \"demo://a\")", "DEMO://a"));
  CHECK(allowed("allow kv.get(key in {\"demo://a\"})", "DEMO://a"));
  CHECK(allowed(all + "deny kv.get(key starts \"demo://secret\")", "DEMO://SECRET"));
  CHECK(allowed(all + "deny kv.get(key == \"acme\")", "ACME"));
  CHECK(allowed(all + "deny kv.get(key starts \"note: \")", "Note: x"));
  CHECK(world.load({{.name = "run",
                     .grants = {"http.get(url scheme HTTPS host a.com)"},
                     .asks = {},
                     .denies = {},
                     .files = {}}}));
}

}  // namespace mcpac::policy::testing
