// Inclusion against Z3: random pairs of policies over numbers and sets of strings, each asked of
// both. Numbers are reals there; the bounds drawn here are far enough apart for that to be the
// same.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <z3++.h>

#include <random>

#include "policy/support_inclusion.h"

namespace mcpac::policy::testing {
namespace {

using Random = std::mt19937;

// One rule, drawn once and said twice: in the language, and as a formula.
struct Drawn {
  std::string effect;
  std::string text;
  z3::expr formula;
};

class Smt {
 public:
  Smt()
      : a_(context_.real_const("a")),
        b_(context_.real_const("b")),
        key_(context_.real_const("k")) {}

  // Of numbers: rules on a and b; of strings: k stands for one of "k0" to "k5", for the same behind
  // a blank (kDressed more), or any other.
  Drawn number_rule(Random& random) {
    const std::string effect = some_effect(random);
    const auto [ta, fa] = number_test(random, "a", a_);
    const auto [tb, fb] = number_test(random, "b", b_);
    return {effect, fmt::format("x.add({}, {})", ta, tb), fa && fb};
  }
  Drawn string_rule(Random& random) {
    const std::string effect = some_effect(random);
    const auto [tk, fk] = string_test(random, effect != "allow");
    const auto [ta, fa] = number_test(random, "a", a_);
    return {effect, fmt::format("x.put({}, {})", tk, ta), fk && fa};
  }

  // Is there a call that `narrower` answers more generously?
  bool has_excess(const std::vector<Drawn>& wider, const std::vector<Drawn>& narrower) {
    z3::solver solver(context_, "QF_LRA");
    const z3::expr wide_deny = denied(wider);
    const z3::expr narrow_deny = denied(narrower);
    solver.add((!narrow_deny && wide_deny) ||
               (!narrow_deny && !asked(narrower) && !wide_deny && asked(wider)));
    return solver.check() == z3::sat;
  }

 private:
  static constexpr int kDressed = 100;

  static std::string some_effect(Random& random) {
    const auto die = random() % 8;
    return die < 5 ? "allow" : die < 6 ? "ask" : "deny";
  }

  // Half numbers, as the language writes them and as Z3 does.
  static std::pair<std::string, std::string> bound(Random& random) {
    const int halves = static_cast<int>(random() % 21) - 10;
    return {fmt::format("{}", halves / 2.0), fmt::format("{}/2", halves)};
  }

  std::pair<std::string, z3::expr> number_test(Random& random, const char* name, z3::expr& x) {
    auto low = bound(random);
    auto high = bound(random);
    if (std::stod(low.first) > std::stod(high.first)) std::swap(low, high);
    const z3::expr l = context_.real_val(low.second.c_str());
    const z3::expr h = context_.real_val(high.second.c_str());
    switch (random() % 8) {
      case 0: return {fmt::format("{} > {}", name, low.first), x > l};
      case 1: return {fmt::format("{} <= {}", name, high.first), x <= h};
      case 2: return {fmt::format("{} != {}", name, low.first), x != l};
      case 3:
        return {fmt::format("{} in {{{}, {}}}", name, low.first, high.first), x == l || x == h};
      case 4: return {fmt::format("{} any", name), context_.bool_val(true)};
      default: return {fmt::format("{} {}..{}", name, low.first, high.first), x >= l && x <= h};
    }
  }

  // An allow admits what it names and nothing else; a deny or ask catches its other readings, too.
  std::pair<std::string, z3::expr> string_test(Random& random, bool catches) {
    const int one = static_cast<int>(random() % 6);
    const int two = static_cast<int>(random() % 6);
    const auto is = [&](int key) {
      return catches ? key_ == key || key_ == key + kDressed : key_ == key;
    };
    const auto is_not = [&](int key) {
      return catches ? key_ != key : key_ != key && key_ != key + kDressed;
    };
    switch (random() % 4) {
      case 0: return {fmt::format("key == \"k{}\"", one), is(one)};
      case 1: return {fmt::format("key != \"k{}\"", one), is_not(one)};
      case 2: return {fmt::format("key in {{\"k{}\", \"k{}\"}}", one, two), is(one) || is(two)};
      default: return {"key any", context_.bool_val(true)};
    }
  }

  z3::expr some(const std::vector<Drawn>& rules, const char* effect) {
    z3::expr any = context_.bool_val(false);
    for (const auto& rule : rules) {
      if (rule.effect == effect) any = any || rule.formula;
    }
    return any;
  }
  z3::expr denied(const std::vector<Drawn>& rules) {
    return some(rules, "deny") || !(some(rules, "ask") || some(rules, "allow"));
  }
  z3::expr asked(const std::vector<Drawn>& rules) { return some(rules, "ask"); }

  z3::context context_;
  z3::expr a_;
  z3::expr b_;
  z3::expr key_;
};

std::string text_of(const std::vector<Drawn>& rules) {
  std::string text;
  for (const auto& rule : rules) text += rule.effect + " " + rule.text + "\n";
  return text;
}

enum class Over : std::uint8_t { kNumbers, kStrings };

void run(Over over, int pairs, unsigned seed) {
  World world;
  world.add_tools(parse_json(R"({
      "x.add": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                "required": ["a", "b"], "additionalProperties": false},
      "x.put": {"type": "object", "properties": {"key": {"type": "string"}, "a": {"type": "number"}},
                "required": ["key", "a"], "additionalProperties": false}})")
                      .value());
  Random random(seed);
  Smt smt;
  int found = 0;
  for (int i = 0; i < pairs; ++i) {
    std::vector<Drawn> sides[2];
    for (auto& side : sides) {
      const std::size_t count = 1 + random() % 5;
      while (side.size() < count)
        side.push_back(over == Over::kNumbers ? smt.number_rule(random) : smt.string_rule(random));
    }
    auto wider = policy_of(world, text_of(sides[0]));
    auto narrower = policy_of(world, text_of(sides[1]));
    const Inclusion got = wider.includes(narrower);
    const bool expected = smt.has_excess(sides[0], sides[1]);
    const std::string both =
        fmt::format("wider:\n{}narrower:\n{}", text_of(sides[0]), text_of(sides[1]));
    CHECK_MESSAGE(!std::holds_alternative<Undecided>(got), both);
    CHECK_MESSAGE(std::holds_alternative<Excess>(got) == expected,
                  both << "Z3 says " << (expected ? "not included" : "included"));
    if (const auto* excess = std::get_if<Excess>(&got))
      CHECK_MESSAGE(why_no_witness(world, wider, narrower, *excess).empty(), both);
    found += expected ? 1 : 0;
  }
  MESSAGE(pairs << " pairs, " << found << " of them not included");
  CHECK(found > pairs / 20);
  CHECK(found < pairs - pairs / 20);
}

}  // namespace

TEST_SUITE("policy/inclusion") {
  TEST_CASE("inclusion agrees with Z3 on intervals and sets of numbers") {
    run(Over::kNumbers, 1000, 11);
  }
  TEST_CASE("inclusion agrees with Z3 on sets of strings beside numbers") {
    run(Over::kStrings, 1000, 12);
  }
}

}  // namespace mcpac::policy::testing
