// How much of a call is recorded: meta, hash, args; and what secrets leave of themselves.
#include <doctest/doctest.h>

#include "gate/secret_places.h"
#include "gate/support_gate.h"

using namespace mcpac;
using namespace mcpac::gate;
using namespace mcpac::gate::testing;

namespace {

Json one_check(const World& world) {
  const auto checks = world.audit.of("CapabilityCheck");
  REQUIRE(checks.size() == 1);
  return checks[0];
}

constexpr const char* kSecret = "s3cret-token";

}  // namespace

TEST_SUITE("gate/levels") {
  TEST_CASE("meta keeps nothing of the arguments, not even where they were denied") {
    for (const char* grant : {"fs.read audit meta", "fs.read(path == \"/b\") audit meta"}) {
      World world({.declared = {"fs.read"}, .grants = {grant}});
      world.call("fs.read", {{"path", "/home/me/diary"}});
      const Json check = one_check(world);
      CHECK(check.at("arguments_digest").is_null());
      CHECK(check.at("target").is_null());
      CHECK(to_text(check).find("diary") == std::string::npos);
      CHECK_FALSE(check.at("reason").is_null());
    }
  }

  TEST_CASE("hash keeps a keyed digest, and a reason quotes no value") {
    World world(
        {.declared = {"fs.read"}, .grants = {"fs.read(path == \"/b\", encoding == \"ascii\")"}});
    world.call("fs.read", {{"path", "/b"}, {"encoding", "zebra"}});
    const Json check = one_check(world);
    CHECK(check.at("level") == "hash");
    CHECK(check.at("arguments_digest").get<std::string>().size() == 64);
    CHECK(to_text(check).find("zebra") == std::string::npos);
    CHECK(check.at("reason") == "encoding is not \"ascii\"");
    CHECK_FALSE(check.contains("arguments"));
  }

  TEST_CASE("args keeps the arguments as they are sent, and why rules missed") {
    World world({.declared = {"fs.read"}, .grants = {"fs.read(path == \"/b\", ..) audit args"}});
    world.call("fs.read", {{"path", "/a"}});
    const Json check = one_check(world);
    CHECK(check.at("arguments") == Json{{"path", "/a"}, {"encoding", "utf-8"}});
    CHECK(check.at("missed")[0].at("why") == check.at("reason"));
    CHECK(to_text(check.at("missed")).find("/a") != std::string::npos);
  }

  TEST_CASE("of several wishes about one tool the least is kept, whoever wishes") {
    SUBCASE("in one layer, also of a rule that does not match") {
      World world({.declared = {"fs.read"},
                   .grants = {"fs.read(path == \"/b\") audit meta", "fs.read audit args"}});
      world.call("fs.read", {{"path", "/a"}});
      CHECK(one_check(world).at("level") == "meta");
    }
    SUBCASE("in another layer") {
      World world({.declared = {"fs.read"},
                   .grants = {"fs.read audit args"},
                   .ceiling = {"fs.* audit hash"}});
      world.call("fs.read", {{"path", "/a"}});
      CHECK(one_check(world).at("level") == "hash");
    }
    SUBCASE("a rule about another tool has no say") {
      World world(
          {.declared = {"fs.read"}, .grants = {"fs.read audit args", "git.commit audit meta"}});
      world.call("fs.read", {{"path", "/a"}});
      CHECK(one_check(world).at("level") == "args");
    }
  }

  TEST_CASE("arguments that no record holds are not sent where they are to be recorded") {
    World world({.declared = {"fs.write"}, .grants = {"fs.write audit args"}});
    const auto answer =
        world.call("fs.write", {{"path", "/a"}, {"text", std::string(kMaxRecordedArguments, 'x')}});
    REQUIRE(answer);
    REQUIRE_FALSE(answer->has_value());
    CHECK(answer->error().kind == ErrorKind::kDenied);
    CHECK(world.upstream.calls.empty());
    CHECK(one_check(world).at("decided_by") == "too_large");
  }

  TEST_CASE(
      "what a schema marks as secret is taken out before anything is kept, and sent as it is") {
    World world({.declared = {"fs.read"}, .grants = {"fs.read audit args"}});
    world.tools[permission("fs.read")].secret_places = SecretPlaces::of(
        {{"properties", {{"path", {{"type", "string"}, {"format", "password"}}}}}});
    world.call("fs.read", {{"path", "/hunter2"}});
    const Json check = one_check(world);
    CHECK(check.at("arguments").at("path") == kRedactedText);
    CHECK(check.at("redacted") == true);
    CHECK(to_text(check).find("hunter2") == std::string::npos);
    CHECK(world.upstream.calls.at(0).arguments.at("path") == "/hunter2");
  }

  TEST_CASE("words about a denial do not say what was taken out of the arguments") {
    World world({.declared = {"fs.read"}, .grants = {"fs.read(path == \"/b\", ..) audit args"}});
    world.tools[permission("fs.read")].secret_places = SecretPlaces::of(
        {{"properties", {{"path", {{"type", "string"}, {"format", "password"}}}}}});
    world.call("fs.read", {{"path", "/hunter2"}});
    const Json check = one_check(world);
    CHECK(check.at("allowed") == false);
    CHECK(check.at("reason") == "path is not \"/b\"");
    CHECK(to_text(check).find("hunter2") == std::string::npos);
  }

  TEST_CASE(
      "secrets of the configuration are taken out, and where they are not known nothing is kept") {
    World world({.declared = {"fs.read"}, .grants = {"fs.read audit args"}});
    world.upstream.secret = kSecret;
    world.call("fs.read", {{"path", kSecret}});
    CHECK(to_text(one_check(world)).find(kSecret) == std::string::npos);
    World stopped({.declared = {"fs.read"}, .grants = {"fs.read audit args"}});
    stopped.upstream.knows_secrets = false;
    stopped.call("fs.read", {{"path", "/a"}});
    CHECK_FALSE(one_check(stopped).contains("arguments"));
  }

  TEST_CASE("secret places are found through references, lists, forms and other members") {
    const Json schema = {
        {"$defs", {{"login", {{"properties", {{"pin", {{"writeOnly", true}}}}}}}}},
        {"properties",
         {{"login", {{"$ref", "#/$defs/login"}}},
          {"logins", {{"items", {{"$ref", "#/$defs/login"}}}}},
          {"either", {{"anyOf", {{{"format", "password"}}, {{"type", "integer"}}}}}}}},
        {"additionalProperties", {{"format", "password"}}}};
    const auto places = SecretPlaces::of(schema);
    REQUIRE(places != nullptr);
    Json arguments = {{"login", {{"pin", 1234}, {"name", "me"}}},
                      {"logins", Json::array({{{"pin", 1}}, {{"name", "you"}}})},
                      {"either", "x"},
                      {"other", "y"}};
    CHECK(places->redact(arguments));
    CHECK(arguments == Json{{"login", {{"pin", kRedactedText}, {"name", "me"}}},
                            {"logins", Json::array({{{"pin", kRedactedText}}, {{"name", "you"}}})},
                            {"either", kRedactedText},
                            {"other", kRedactedText}});
    Json plain = {{"login", {{"name", "me"}}}};
    CHECK_FALSE(places->redact(plain));
    CHECK(SecretPlaces::of({{"properties", {{"a", {{"type", "string"}}}}}}) == nullptr);
  }

  TEST_CASE("secret places are found behind every word that applies a schema") {
    const Json secret = {{"properties", {{"pin", {{"writeOnly", true}}}}}};
    for (const Json& schema :
         {Json{{"dependentSchemas", {{"name", secret}}}},
          Json{{"dependencies", {{"name", secret}}}},
          Json{{"unevaluatedProperties", {{"format", "password"}}}},
          Json{{"if", {{"required", {"name"}}}}, {"then", secret}},
          Json{{"$defs", {{"s", secret}}}, {"allOf", {{{"$dynamicRef", "#s"}}}}}}) {
      CAPTURE(schema);
      const auto places = SecretPlaces::of(schema);
      REQUIRE(places != nullptr);
      Json arguments = {{"name", "me"}, {"pin", "hunter2"}};
      CHECK(places->redact(arguments));
      CHECK(to_text(arguments).find("hunter2") == std::string::npos);
    }
    const auto lists = SecretPlaces::of({{"unevaluatedItems", {{"format", "password"}}}});
    REQUIRE(lists != nullptr);
    Json list = Json::array({"hunter2"});
    CHECK(lists->redact(list));
    CHECK(list == Json::array({kRedactedText}));
  }

  TEST_CASE("a schema that leads in circles ends, and what it cannot reach is taken out") {
    const Json circle = {{"$ref", "#"}, {"properties", {{"a", {{"writeOnly", true}}}}}};
    const auto places = SecretPlaces::of(circle);
    REQUIRE(places != nullptr);
    Json arguments = {{"b", "text"}};
    CHECK(places->redact(arguments));
    CHECK(arguments == kRedactedText);
  }
}
