// Limits that count: bytes and costs (calls, rates and times are in the vectors).
#include "policy/rules/meter.h"

#include <doctest/doctest.h>

#include "core/quantity.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

Permission tool(const char* text) {
  return Permission::parse(text).value();
}

const Json kSmall{{"key", "a"}};  // {"key":"a"}: 11 bytes

}  // namespace

TEST_CASE("sizes are powers of a thousand, and amounts are exact to the millionth") {
  CHECK(parse_size("64KB") == 64'000U);
  CHECK(parse_size("10") == 10U);
  CHECK(parse_size("2GB") == 2'000'000'000U);
  for (const char* text : {"", "KB", "1kB", "1 KB", "-1", "1.5MB", "99999999999999999", "1KiB"})
    CHECK_FALSE_MESSAGE(parse_size(text).has_value(), text);
  CHECK(parse_money("1.00 USD") == Money{1'000'000, "USD"});
  CHECK(parse_money("0.000001 EUR") == Money{1, "EUR"});
  for (const char* text : {"1", "1 usd", "1.0000001 USD", "-1 USD", "1e3 USD", ".5 USD", "1. USD"})
    CHECK_FALSE_MESSAGE(parse_money(text).has_value(), text);
  CHECK(to_text(Money{20'000, "USD"}) == "0.02 USD");
  CHECK(to_text(Money{1, "USD"}) == "0.000001 USD");
}

TEST_CASE("bytes out are reserved when a call is decided and given back when it is not sent") {
  const World world;
  auto authority = world.grant({"kv.get bytes out <= 25"}).value();
  const Decision first = authority.decide(tool("kv.get"), kSmall);
  const Decision second = authority.decide(tool("kv.get"), kSmall);
  CHECK(first.allowed());
  CHECK(second.allowed());
  const Decision third = authority.decide(tool("kv.get"), kSmall);
  CHECK_FALSE(third.allowed());
  CHECK(third.reason ==
        "the call sends 11 bytes, and of its bytes out <= 25 per run there are 3 left");
  authority.give_back(second.reservation);
  CHECK(authority.decide(tool("kv.get"), kSmall).allowed());
}

TEST_CASE("a call that was sent keeps its bytes out, whatever came of it") {
  const World world;
  auto authority = world.grant({"kv.get bytes out <= 11"}).value();
  const Decision sent = authority.decide(tool("kv.get"), kSmall);
  CHECK(authority.settle(sent.reservation, 0));
  authority.give_back(sent.reservation);
  CHECK_FALSE(authority.decide(tool("kv.get"), kSmall).allowed());
}

TEST_CASE("results in flight together are never delivered beyond bytes in") {
  const World world;
  auto authority = world.grant({"kv.get bytes in <= 100"}).value();
  const Decision one = authority.decide(tool("kv.get"), kSmall);
  const Decision two = authority.decide(tool("kv.get"), kSmall);
  const Decision three = authority.decide(tool("kv.get"), kSmall);
  REQUIRE(three.allowed());
  CHECK(three.counts_result);
  CHECK(authority.settle(two.reservation, 60));
  CHECK_FALSE(authority.settle(one.reservation, 41));
  CHECK_FALSE(authority.settle(three.reservation, 1));  // what did not fit has used it up
  const Decision later = authority.decide(tool("kv.get"), kSmall);
  CHECK_FALSE(later.allowed());
  CHECK(later.reason == "its bytes in <= 100 per run are used up");
}

TEST_CASE("a result is delivered when a rule without that limit lets the call through as well") {
  const World world;
  auto authority =
      world.grant({"kv.get bytes in <= 1", "kv.get(key == \"a\")", "kv.set bytes in <= 1"}).value();
  const Decision decision = authority.decide(tool("kv.get"), kSmall);
  CHECK(authority.settle(decision.reservation, 500));
}

TEST_CASE("a ceiling's bytes in hold as well as the run's own") {
  const World world;
  LayerText run{
      .name = "the command line", .grants = {"kv.get"}, .asks = {}, .denies = {}, .files = {}};
  LayerText ceiling = run;
  ceiling.name = "mcpac.policy";
  ceiling.grants = {"kv.get bytes in <= 10"};
  auto authority = world.load({run, ceiling}).value();
  const Decision decision = authority.decide(tool("kv.get"), kSmall);
  REQUIRE(decision.allowed());
  CHECK_FALSE(authority.settle(decision.reservation, 11));
}

TEST_CASE("costs add up over all tools of a rule, by the prices of the configuration") {
  World world;
  world.prices.emplace(tool("kv.get"), *parse_money("0.40 USD"));
  world.prices.emplace(tool("kv.clear"), *parse_money("0.30 USD"));
  auto authority = world.grant({"kv.get, kv.clear, kv.set cost <= 1.00 USD"}).value();
  CHECK(authority.decide(tool("kv.get"), kSmall).allowed());
  CHECK(authority.decide(tool("kv.clear"), Json::object()).allowed());
  const Decision dear = authority.decide(tool("kv.get"), kSmall);
  CHECK_FALSE(dear.allowed());
  CHECK(dear.reason ==
        "the call costs 0.40 USD, and of its cost <= 1.00 USD per run there is 0.30 USD left");
  CHECK(authority.decide(tool("kv.clear"), Json::object()).allowed());
  CHECK(authority.decide(tool("kv.set"), {{"key", "a"}, {"value", 1}}).allowed());  // has no price
}

TEST_CASE(
    "a rate that is used up is said as it was written, and holds again when its time is over") {
  World world;
  auto authority = world.grant({"kv.get rate 1/min"}).value();
  CHECK(authority.decide(tool("kv.get"), kSmall).allowed());
  const Decision refused = authority.decide(tool("kv.get"), kSmall);
  CHECK(refused.reason == "its rate 1/min is used up");
  REQUIRE(authority.meters().size() == 1);
  CHECK(authority.meters()[0].meters.at(0).used == "1");
  CHECK(authority.meters()[0].meters.at(0).limit == "1/min");
  world.clock.set(std::chrono::seconds(60));
  CHECK(authority.decide(tool("kv.get"), kSmall).allowed());
}

TEST_CASE("a limit in another currency than the price, or of nothing, does not load") {
  World world;
  world.prices.emplace(tool("kv.get"), *parse_money("0.40 EUR"));
  CHECK_FALSE(world.grant({"kv.get cost <= 1.00 USD"}).has_value());
  CHECK_FALSE(world.grant({"kv.set bytes in <= 0"}).has_value());
  CHECK_FALSE(world.grant({"kv.set bytes out <= 1"}).has_value());
  CHECK(world.grant({"kv.set cost <= 1.00 USD"}).has_value());
}

TEST_CASE("of two policies the one that lets more bytes or costs through is the wider") {
  const World world;
  const auto includes = [&](const char* wider, const char* narrower) {
    const auto w = world.grant({wider}).value();
    const auto n = world.grant({narrower}).value();
    return std::holds_alternative<Included>(w.includes(n));
  };
  CHECK(includes("kv.get", "kv.get bytes out <= 1MB cost <= 1 USD"));
  CHECK(includes("kv.get bytes in <= 2MB", "kv.get bytes in <= 1MB calls <= 3"));
  CHECK_FALSE(includes("kv.get bytes in <= 1MB", "kv.get bytes in <= 2MB"));
  CHECK_FALSE(includes("kv.get bytes out <= 1MB", "kv.get"));
  CHECK_FALSE(includes("kv.get cost <= 1 USD", "kv.get cost <= 1 EUR"));
  CHECK_FALSE(includes("kv.get cost <= 1 USD", "kv.get"));
}

}  // namespace mcpac::policy::testing
