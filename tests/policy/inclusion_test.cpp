// Inclusion where random pairs do not lead: limits, layers, expressions that are not modelled,
// budgets; and the automata of expressions against RE2.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <re2/re2.h>

#include <random>

#include "core/offer.h"
#include "policy/sets/text_automata.h"
#include "policy/support_inclusion.h"

namespace mcpac::policy::testing {
namespace {

Inclusion compare(const std::string& wider, const std::string& narrower,
                  const InclusionBudget& budget = {}) {
  const World world;
  return policy_of(world, wider).includes(policy_of(world, narrower), budget);
}

bool included(const std::string& wider, const std::string& narrower) {
  return std::holds_alternative<Included>(compare(wider, narrower));
}
bool undecided(const Inclusion& inclusion) {
  return std::holds_alternative<Undecided>(inclusion);
}
std::string limit(const std::string& wider, const std::string& narrower) {
  const auto got = compare(wider, narrower);
  const auto* excess = std::get_if<Excess>(&got);
  return excess == nullptr ? "no excess" : excess->limit;
}

// Whether the automaton accepts the text. Every letter of it is a class of its own in the
// alphabet.
bool accepts(const Nfa& nfa, const std::string& text) {
  const Nfa itself = exactly(text);
  const Alphabet alphabet({nfa, itself});
  Dfa one(nfa, alphabet);
  Dfa two(itself, alphabet);
  int at_one = one.start();
  int at_two = two.start();
  for (const char32_t c : code_points_of(text)) {
    for (std::size_t letter = 0; letter < alphabet.size(); ++letter) {
      if (alphabet.letter(letter) != c) continue;
      at_one = one.step(at_one, letter);
      at_two = two.step(at_two, letter);
      break;
    }
  }
  REQUIRE(two.accepts(at_two));
  return one.accepts(at_one);
}

template <class List>
std::string some_of(const List& pieces, std::size_t most, std::mt19937& random) {
  std::string text;
  for (std::size_t n = random() % (most + 1); n > 0; --n) text += pieces[random() % pieces.size()];
  return text;
}

}  // namespace

TEST_SUITE("policy/inclusion") {
  TEST_CASE("limits are compared as bounds, and the higher one is named") {
    CHECK(limit("allow kv.get calls <= 3", "allow kv.get calls <= 5") ==
          "5 calls, instead of 3 calls");
    CHECK(limit("allow kv.get calls <= 3", "allow kv.get") ==
          "any number of calls, instead of 3 calls");
    CHECK(limit("allow kv.get calls <= 3", "ask kv.get") ==
          "any number of calls, instead of 3 calls");
    CHECK(limit("allow kv.get for 5m", "allow kv.get for 10m") == "for 10m, instead of for 5m");
    CHECK(included("allow kv.get for 10m calls <= 3", "allow kv.get for 5m calls <= 2"));
    CHECK(included("allow kv.get rate 2/s", "allow kv.get calls <= 2"));
  }

  TEST_CASE("limits that draw on one limit add up") {
    const std::string two =
        "allow kv.get(key == \"a\") calls <= 3\nallow kv.get(key == \"b\") calls <= 2\n";
    CHECK(included("allow kv.get calls <= 5", two));
    CHECK_FALSE(included("allow kv.get calls <= 4", two));
  }

  TEST_CASE("a limit that several tools share is not handed out once for each") {
    const std::string apart = "allow kv.get calls <= 3\nallow kv.clear calls <= 3\n";
    CHECK_FALSE(included("allow kv.get, kv.clear calls <= 3", apart));
    CHECK_FALSE(included("allow kv.* calls <= 3", apart));
    CHECK_FALSE(included("allow *.* calls <= 3", apart));
    CHECK_FALSE(
        included("allow kv.* rate 3/min", "allow kv.get rate 3/min\nallow kv.set rate 3/min"));
    CHECK_FALSE(included("allow kv.get, kv.clear cost <= 1.00 USD",
                         "allow kv.get cost <= 1.00 USD\nallow kv.clear cost <= 1.00 USD"));
    CHECK_FALSE(included("allow kv.* bytes in <= 1KB",
                         "allow kv.get bytes in <= 1KB\nallow kv.clear bytes in <= 1KB"));
    // What one tool may do without a limit leaves nothing to the other.
    CHECK_FALSE(included("allow kv.get, kv.clear calls <= 3\nallow kv.clear",
                         "allow kv.get calls <= 3\nallow kv.clear"));
    CHECK(included("allow kv.get, kv.clear calls <= 6", apart));
    CHECK(included("allow kv.* calls <= 6", apart));
    CHECK(included("allow kv.* calls <= 3", "allow kv.* calls <= 3"));
    CHECK(included("allow kv.* calls <= 3", "allow kv.* calls <= 2"));
    CHECK(included("allow kv.* calls <= 3", "allow kv.get calls <= 3"));
    CHECK(included("allow kv.* calls <= 3", "allow kv.* calls <= 3\ndeny kv.set"));
    CHECK(included("allow kv.* calls <= 3", "allow kv.get, kv.clear calls <= 3"));
    CHECK(included("allow kv.get, kv.clear calls <= 3", "allow kv.get, kv.clear calls <= 3"));
    CHECK(included("allow kv.* for 5m", "allow kv.get for 5m\nallow kv.clear for 5m"));
  }

  TEST_CASE("what several rules together may do more often than one limit is shown by a call") {
    const std::string two =
        "allow kv.get(key == \"a\") calls <= 3\nallow kv.get(key == \"b\") calls <= 3\n";
    CHECK(limit("allow kv.get calls <= 5", two) == "6 calls, instead of 5 calls");
    CHECK(included("allow kv.get calls <= 6", two));
    // Both rules are charged with each call: three are all.
    CHECK(included("allow kv.get(key == \"a\") calls <= 5",
                   "allow kv.get(key == \"a\") calls <= 3\nallow kv.get(key starts \"a\") "
                   "calls <= 3\ndeny kv.get(key != \"a\")"));
    const std::string tools = "allow kv.get calls <= 3\nallow kv.clear calls <= 3\n";
    for (const char* wider : {"allow kv.get, kv.clear calls <= 5", "allow kv.* calls <= 5"})
      CHECK(limit(wider, tools) == "6 calls, instead of 5 calls");
    CHECK(limit("allow kv.get, kv.clear calls <= 3\n",
                "allow kv.get(key == \"a\") calls <= 2\nallow kv.clear calls <= 2\n") ==
          "4 calls, instead of 3 calls");
    CHECK(limit("allow kv.* rate 5/min", "allow kv.get rate 3/min\nallow kv.clear rate 3/min") ==
          "6 calls, instead of 5 calls");
    // Whichever tools there are beside them.
    World world;
    for (int i = 0; i < 30; ++i)
      world.add_tools({{fmt::format("kv.a{}", i), Json{{"type", "object"}}}});
    const auto beyond = policy_of(world, "allow kv.* calls <= 5").beyond(policy_of(world, tools));
    REQUIRE(beyond.size() == 2);
    for (const auto& one : beyond) CHECK(std::holds_alternative<Excess>(one));
    // Nobody can call the other tool.
    CHECK(included("allow kv.get, kv.clear calls <= 5", tools + "deny kv.clear"));
    CHECK(limit("allow kv.get(key == \"a\") calls <= 3\nallow kv.get(key == \"b\") calls <= 3",
                "allow kv.get(key in {\"a\", \"b\"}) calls <= 4") == "4 calls, instead of 3 calls");
  }

  TEST_CASE("amounts are compared as bounds, and the higher one is named") {
    CHECK(limit("allow kv.get cost <= 0.80 USD", "allow kv.get cost <= 1.00 USD") ==
          "1.00 USD, instead of 0.80 USD");
    CHECK(limit("allow kv.get cost <= 5.00 USD",
                "allow kv.get(key == \"a\") cost <= 3.00 USD\n"
                "allow kv.get(key == \"b\") cost <= 3.00 USD") == "6.00 USD, instead of 5.00 USD");
    CHECK(limit("allow kv.get bytes out <= 1KB", "allow kv.get bytes out <= 2KB") ==
          "2000 bytes, instead of 1000 bytes");
    CHECK(limit("allow kv.get bytes in <= 1KB", "allow kv.get bytes in <= 2KB bytes out <= 1KB") ==
          "no excess");  // how much it brings in hangs on what it may send
    CHECK(included("allow kv.get cost <= 1.00 USD", "allow kv.get cost <= 0.80 USD"));
    CHECK(undecided(compare("allow kv.get cost <= 1.00 USD", "allow kv.get cost <= 1.00 EUR")));
  }

  TEST_CASE("several layers together are held against a limit") {
    const World world;
    const auto below = world
                           .load({{.name = "run",
                                   .grants = {"kv.get calls <= 7"},
                                   .asks = {},
                                   .denies = {},
                                   .files = {}},
                                  {.name = "ceiling",
                                   .grants = {"kv.get calls <= 6"},
                                   .asks = {},
                                   .denies = {},
                                   .files = {}}})
                           .value();
    const auto got = policy_of(world, "allow kv.get calls <= 5").includes(below);
    const auto* excess = std::get_if<Excess>(&got);
    REQUIRE(excess != nullptr);
    CHECK(excess->limit == "6 calls, instead of 5 calls");
    CHECK(std::holds_alternative<Included>(
        policy_of(world, "allow kv.get calls <= 6").includes(below)));
  }

  TEST_CASE("flags of expressions are compared") {
    CHECK(included("allow kv.get(key starts \"ab\")", "allow kv.get(key re /(?s)ab.*/)"));
    CHECK(included("allow kv.get(key re /(?s)ab.*/)", "allow kv.get(key starts \"ab\")"));
    CHECK_FALSE(included("allow kv.get(key re /ab.*/)", "allow kv.get(key starts \"ab\")"));
    CHECK(included("allow kv.get(key re /(?i)ab/)", "allow kv.get(key in {\"AB\", \"aB\"})"));
    CHECK(std::holds_alternative<Excess>(
        compare("allow kv.get(key re /[a-z]+/)", "allow kv.get(key re /(?i)a(?-i:b)/)")));
    CHECK(included("allow kv.get(key re /^a$|^b$/)", "allow kv.get(key in {\"a\", \"b\"})"));
    CHECK(
        included("allow kv.get(key re /(?P<x>[[:alpha:]])\\x41/)", "allow kv.get(key == \"bA\")"));
  }

  TEST_CASE("a deny is compared with the line feeds that its dot matches") {
    const std::string all = "allow kv.get\n";
    CHECK(included(all + "deny kv.get(key like \"*x*\")", all + "deny kv.get(key re /.*x.*/)"));
    CHECK(included(all + "deny kv.get(key re /.*x.*/)", all + "deny kv.get(key like \"*x*\")"));
    CHECK(included(all + "deny *.*(* like \"*x*\")", all + "deny *.*(* re /.*x.*/)"));
    CHECK_FALSE(included("allow kv.get(key re /.*x.*/)", "allow kv.get(key like \"*x*\")"));
    // The same expression admits less than it denies.
    CHECK(included("allow kv.get(key any)", all + "deny kv.get(key re /[^a].*/)"));
    CHECK(std::holds_alternative<Excess>(
        compare("allow kv.get(key re /.*/)", all + "deny kv.get(key re /a.*/)")));
  }

  TEST_CASE("one line is less to an allow than to a deny") {
    const std::string all = "allow kv.get\n";
    CHECK(included("allow kv.get(key re /[^\\r\\n]*/)", "allow kv.get(key one-line)"));
    CHECK(std::holds_alternative<Excess>(
        compare("allow kv.get(key one-line)", "allow kv.get(key re /[^\\r\\n]*/)")));
    CHECK(std::holds_alternative<Included>(
        compare("allow kv.get(key re /(?s).*[\\r\\n].*/)", all + "deny kv.get(key one-line)")));
  }

  TEST_CASE("rules over any string on hosts are compared with all that they catch") {
    const std::string all = "allow kv.get\n";
    CHECK(included(all + "deny *.*(* host a.com)", all + "deny *.*(* host *.a.com)"));
    const auto got = compare(all + "deny *.*(* host *.a.com)", all + "deny *.*(* host a.com)");
    CHECK(std::holds_alternative<Excess>(got));
    // A name without a scheme is denied below, and not above.
    CHECK(included(all + "deny kv.get(key == \"a.com\")\ndeny *.*(* host a.com)",
                   all + "deny *.*(* host a.com)"));
    CHECK(std::holds_alternative<Excess>(
        compare(all + "deny *.*(* host a.com)", all + "deny *.*(* host a.com scheme https)")));
  }

  TEST_CASE("a deny of a path below a host is compared with every way to route a URL") {
    const std::string host = "allow kv.get(key scheme https host a.com";
    const std::string secret = "deny kv.get(key host a.com starts \"https://a.com/secret/\")";
    const std::string wider = host + ")\n" + secret;
    CHECK(included(wider, host + " starts \"https://a.com/pub/\")"));
    for (const char* narrower :
         {"https://a.com//", "https://a.com/secret;", "https://a.com/secret%2F"})
      CHECK(std::holds_alternative<Excess>(
          compare(wider, host + " starts \"" + std::string(narrower) + "\")")));
    CHECK(included(wider, host + ")\ndeny kv.get(key host a.com starts \"https://a.com/secret\")"));
    CHECK(std::holds_alternative<Excess>(
        compare(wider, host + ")\ndeny kv.get(key host a.com starts \"https://a.com/secret/x\")")));
  }

  TEST_CASE("an approved question is charged to the allows that match as well") {
    CHECK_FALSE(included("ask kv.get(key == \"a\")\nallow kv.get calls <= 3",
                         "ask kv.get(key == \"a\")\nallow kv.get(key != \"a\") calls <= 3"));
    CHECK(included("ask kv.get(key == \"a\")\nallow kv.get calls <= 3",
                   "ask kv.get(key == \"a\")\nallow kv.get calls <= 2"));
  }

  TEST_CASE("an expression that RE2 reads otherwise than it looks is not compared") {
    CHECK_FALSE(included("allow kv.get(key == \"*a\")", "allow kv.get(key re /^*a/)"));
    CHECK_FALSE(included("allow kv.get(key == \"{2}a\")", "allow kv.get(key re /^{2}a/)"));
    CHECK_FALSE(included("allow kv.get(key == \"a\")", "allow kv.get(key re /a{01}/)"));
    CHECK_FALSE(included("allow kv.get(key re /a{0,5}/)", "allow kv.get(key re /a{0,05}/)"));
    CHECK(included("allow kv.get(key == \"a{,3}\")", "allow kv.get(key re /a{,3}/)"));
    CHECK(included("allow kv.get(key == \"{x}\")", "allow kv.get(key re /{x}/)"));
    CHECK(included("allow kv.get(key == \"a\")", "allow kv.get(key re /^a$/)"));
  }

  TEST_CASE("expressions with very many states are given up") {
    const auto rules = [](const std::string& letter, int count) {
      std::string text;
      for (int i = 0; i < count; ++i)
        text += fmt::format("allow kv.get(key re /(a|b)*{}(a|b){{{}}}x{}/)\n", letter, 300 + i, i);
      return text;
    };
    // Without a budget for the size of sets: half a minute and gigabytes.
    for (const int count : {1, 60}) CHECK(undecided(compare(rules("a", count), rules("b", count))));
    CHECK(included(rules("a", 60), rules("a", 60)));
  }

  TEST_CASE("what was found of one tool's strings is not taken for another's where they differ") {
    const auto tool = [](Json path) {
      return Json{{"type", "object"},
                  {"properties", {{"path", std::move(path)}}},
                  {"required", {"path"}},
                  {"additionalProperties", false}};
    };
    const Json any = tool({{"type", "string"}});
    World world("2026-06-01T12:00:00Z",
                Json{{"a.read", any},
                     {"a.short", tool({{"type", "string"}, {"minLength", 3.0}})},
                     {"b.read", any}});
    world.bases.roots = {{"a", "/srv/a"}, {"b", "/srv/b"}};
    const auto beyond = [&](const std::string& wider, const std::string& narrower) {
      std::vector<std::string> tools;
      for (const auto& one : policy_of(world, wider).beyond(policy_of(world, narrower))) {
        REQUIRE(std::holds_alternative<Excess>(one));
        tools.push_back(std::get<Excess>(one).permission.text());
      }
      return tools;
    };
    using Tools = std::vector<std::string>;
    // The schema of one says more: of its shorter strings "aaa" is the first that there is.
    CHECK(beyond("allow a.read(path len 6..100)\nallow a.short(path len 6..100)",
                 "allow a.read(path len 0..100)\nallow a.short(path len 0..100)") ==
          Tools{"a.read", "a.short"});
    // The same text means another folder on another server.
    CHECK(beyond("allow a.read(path within /srv/a)\nallow b.read(path within /srv/a)",
                 "allow a.read(path within @server/)\nallow b.read(path within @server/)") ==
          Tools{"b.read"});
    // The same test with another exception, and read the other way round.
    CHECK(beyond("allow a.read(path within /srv)\nallow b.read(path within /srv except {/srv/x})",
                 "allow a.read(path within /srv)\nallow b.read(path within /srv)") ==
          Tools{"b.read"});
    CHECK(beyond("allow a.read\nallow b.read\ndeny b.read(path within /srv)",
                 "allow a.read(path within /srv)\nallow b.read(path within /srv)") ==
          Tools{"b.read"});
  }

  TEST_CASE("of strings that a schema describes by a pattern its own example is tried") {
    World world;
    world.add_tools({{"a.read", schema_of(Offer::kResource)}});
    const auto compare_here = [&](const std::string& wider, const std::string& narrower) {
      return policy_of(world, wider).includes(policy_of(world, narrower));
    };
    const auto got = compare_here("allow kv.get", "allow a.read");
    REQUIRE(std::holds_alternative<Excess>(got));
    CHECK(std::get<Excess>(got).arguments == Json{{"uri", "file:///a"}});
    CHECK(std::holds_alternative<Excess>(
        compare_here("allow a.read(uri starts \"demo://\")", "allow a.read")));
    CHECK(std::holds_alternative<Included>(
        compare_here("allow a.read", "allow a.read(uri starts \"demo://\")")));
  }

  TEST_CASE("a value is not its schema's default only because the tests cannot tell it from that") {
    const World world("2026-06-01T12:00:00Z",
                      Json{{"a.b",
                            {{"type", "object"},
                             {"properties", {{"path", {{"type", "string"}, {"default", "abc"}}}}},
                             {"additionalProperties", false}}}});
    const auto compare_here = [&](const std::string& wider, const std::string& narrower) {
      return policy_of(world, wider).includes(policy_of(world, narrower));
    };
    CHECK(std::holds_alternative<Included>(
        compare_here("allow a.b()", "allow a.b(path == \"abc\")")));
    const auto got = compare_here("allow a.b()", "allow a.b(path starts \"a\")");
    REQUIRE(std::holds_alternative<Excess>(got));
    CHECK(std::get<Excess>(got).arguments.at("path") != "abc");
    CHECK(std::holds_alternative<Excess>(compare_here("allow a.b()", "allow a.b")));
  }

  TEST_CASE("a budget decides alike for tools that are alike, whichever comes first") {
    const Json tool = {{"type", "object"}, {"properties", {{"path", {{"type", "string"}}}}}};
    const World world("2026-06-01T12:00:00Z", Json{{"a.one", tool}, {"a.two", tool}});
    const std::string rules =
        "allow a.one(path within /srv, ..)\nallow a.two(path within /srv, ..)\n";
    const auto wider = policy_of(world, rules);
    const auto narrower = policy_of(world,
                                    "allow a.one(path within /srv/x len 1..20)\n"
                                    "allow a.two(path within /srv/x len 1..20)\n");
    std::size_t undecided_with = 0;
    for (std::size_t steps = 1; steps < 1'000'000; steps += steps / 8 + 1) {
      CAPTURE(steps);
      const auto beyond = wider.beyond(narrower, {.steps = steps});
      CHECK((beyond.empty() || beyond.size() == 2));
      undecided_with += beyond.empty() ? 0 : 1;
    }
    CHECK(undecided_with > 10);
    CHECK(wider.beyond(narrower).empty());
  }

  TEST_CASE("an expression that is not modelled is equal to itself, and to nothing else") {
    const std::string one = "allow kv.get(key re /\\babc\\b/)";
    CHECK(included(one + "\nallow kv.clear", one));
    CHECK(included(one, "allow kv.get(key re /\\babc\\b/ starts \"a\")"));
    CHECK(undecided(compare("allow kv.get(key re /\\babcd?\\b/)", one)));
    CHECK(std::holds_alternative<Excess>(compare(one, "allow kv.get")));
  }

  TEST_CASE("over budget nothing is said") {
    const std::string rule = "allow kv.get(key like \"*abc*\")";
    CHECK(undecided(compare("allow kv.get(key like \"*ab*\")", rule, {.steps = 5})));
    CHECK(included("allow kv.get(key like \"*ab*\")", rule));
  }

  TEST_CASE("a path that is too long to be one is no path, whatever an expression says of it") {
    const std::string narrow = "allow kv.get(key re /[.]\\/[a-z]+/)";
    CHECK_FALSE(included("allow kv.get(key within ./)", narrow));
    CHECK(included("allow kv.get(key re /[a-z]+/)", "allow kv.get(key re /[a-z]{2}/)"));
  }

  TEST_CASE("a call needs every layer of both sides") {
    const World world;
    const auto layers = [&](const std::string& run, const std::string& ceiling) {
      return world
          .load({{.name = "run", .grants = {}, .asks = {}, .denies = {}, .files = {run}},
                 {.name = "ceiling", .grants = {}, .asks = {}, .denies = {}, .files = {ceiling}}})
          .value();
    };
    const auto both = layers("allow kv.get(key len 0..3)", "allow kv.get(key starts \"a\")");
    const auto one = policy_of(world, "allow kv.get(key starts \"a\" len 0..3)");
    CHECK(std::holds_alternative<Included>(both.includes(one)));
    CHECK(std::holds_alternative<Included>(one.includes(both)));
    const auto less = layers("allow kv.get(key len 0..3)", "allow kv.get(key starts \"ab\")");
    CHECK(std::holds_alternative<Included>(both.includes(less)));
    CHECK(std::holds_alternative<Excess>(less.includes(both)));
  }

  TEST_CASE("policies that were read in different places are not compared") {
    World here;
    const auto wider = policy_of(here, "allow kv.get(key within ./)");
    here.bases.current_directory = "/elsewhere";
    const auto narrower = policy_of(here, "allow kv.get(key within ./)");
    CHECK(undecided(wider.includes(narrower)));
  }

  TEST_CASE("two sets of fifty rules are compared within the budget") {
    std::string wider;
    std::string narrower;
    for (int i = 0; i < 50; ++i) {
      wider += fmt::format(
          "allow github.get_file_contents(owner == \"o{}\", repo like \"r{}*\", path any)\n", i, i);
      narrower += fmt::format(
          "allow github.get_file_contents(owner == \"o{}\", repo == \"r{}x\", path any)\n", i, i);
    }
    CHECK(included(wider, narrower));
    CHECK_FALSE(included(narrower, wider));
  }

  TEST_CASE("the automaton of an expression matches what RE2 matches") {
    std::mt19937 random(7);
    const std::vector<std::string> pieces = {
        "a",   "b",   ".",   "[ab]",  "[^a]",   "(a|b)",   "(ab)", "a*", "b+",  "a?",
        "\\d", "\\w", "\\.", "(?:b)", "b{1,2}", "[a-c]*?", "\\s",  "é",  "(a|)"};
    const std::vector<std::string> letters = {"a", "b", "c", "1", ".", "\n", "é", " "};
    int matched = 0;
    for (int i = 0; i < 400; ++i) {
      std::string pattern = pieces[random() % pieces.size()] + some_of(pieces, 3, random);
      if (random() % 3 == 0) pattern = "(" + pattern + "){0,2}|" + pieces[random() % pieces.size()];
      const auto nfa = regex_automaton(pattern);
      REQUIRE_MESSAGE(nfa.has_value(), pattern);
      const RE2 real(pattern);
      for (int j = 0; j < 60; ++j) {
        const std::string text = some_of(letters, 4, random);
        const bool accepted = accepts(*nfa, text);
        CHECK_MESSAGE(accepted == RE2::FullMatch(text, real), pattern << " on " << text);
        matched += accepted ? 1 : 0;
      }
    }
    CHECK(matched > 1000);
  }

  TEST_CASE("strange expressions have an automaton that matches what RE2 matches, or none") {
    std::mt19937 random(11);
    const std::vector<std::string> pieces = {"a",
                                             "b",
                                             "^",
                                             "$",
                                             "*",
                                             "+",
                                             "?",
                                             "{",
                                             "}",
                                             "{2}",
                                             "{01}",
                                             "{,3}",
                                             "{1,}",
                                             "{0,02}",
                                             "{2,1}",
                                             "{1001}",
                                             "{1 }",
                                             "{a}",
                                             "{0}",
                                             "{00}",
                                             "{+1}",
                                             "{1,2}",
                                             "(",
                                             ")",
                                             "|",
                                             "(?i)",
                                             "(?s)",
                                             "(?m)",
                                             "(?U)",
                                             "(?:",
                                             "(?i-s)",
                                             "(?s:.)",
                                             "(?-i",
                                             "(?i)k",
                                             "(?i)[^s]",
                                             "(?i)\\w",
                                             "(?i)\\W",
                                             "(?i)[a-z]",
                                             "(?i:[[:lower:]])",
                                             "[[:punct:]]",
                                             "(?i:a)",
                                             "(?P<n>a)",
                                             "[",
                                             "]",
                                             "[]a]",
                                             "[^]a]",
                                             "[a-]",
                                             "[-a]",
                                             "[--a]",
                                             "[a-b-c]",
                                             "[\\d-z]",
                                             "[^\\n]",
                                             "[a^]",
                                             "[[:alpha:]]",
                                             "[[:^alpha:]]",
                                             "[[a]",
                                             "[\\]a]",
                                             "\\Q",
                                             "\\E",
                                             "\\Qa*\\E",
                                             "\\pN",
                                             "\\p{L}",
                                             "\\PL",
                                             "\\z",
                                             "\\A",
                                             "\\b",
                                             "\\B",
                                             "\\C",
                                             "\\x41",
                                             "\\x{e9}",
                                             "\\07",
                                             "\\1",
                                             "\\_",
                                             "\\-",
                                             "\\ ",
                                             "\\{",
                                             "\\*",
                                             "\\$",
                                             "\\^",
                                             "\\\\",
                                             "\\a",
                                             "\\v",
                                             "\\n",
                                             ".",
                                             "\\W",
                                             "\\S",
                                             "\\D",
                                             "é",
                                             "[é-ü]",
                                             "\n"};
    const std::vector<std::string> letters = {
        "a", "b", "A", "1", "2", "0",  ",", "{",  "}", "*", "+", "^", "$",      "[",
        "]", "-", "_", "Q", "E", "\\", "é", "\n", " ", "(", "s", "K", "\u212A", "\u017F"};
    int modelled = 0;
    int given_up = 0;
    int matched = 0;
    for (int i = 0; i < 20'000; ++i) {
      std::string pattern = some_of(pieces, 5, random);
      if (random() % 4 == 0) pattern.insert(0, "^");
      if (random() % 4 == 0) pattern += "$";
      RE2::Options quiet;
      quiet.set_log_errors(false);
      const RE2 real(pattern, quiet);
      if (!real.ok()) continue;  // no rule has it
      const auto nfa = regex_automaton(pattern);
      if (!nfa) {
        ++given_up;
        continue;
      }
      ++modelled;
      std::vector<std::string> texts = {pattern, "", "a", "aa", "\n", "a\n"};
      for (int j = 0; j < 8; ++j) texts.push_back(some_of(letters, 4, random));
      for (int j = 0; j < 4; ++j) {
        std::string part = pattern;
        part.erase(random() % (part.size() + 1), 1 + random() % 3);
        if (is_utf8(part)) texts.push_back(std::move(part));
      }
      for (const auto& text : texts) {
        const bool accepted = accepts(*nfa, text);
        CHECK_MESSAGE(accepted == RE2::FullMatch(text, real), pattern << " on " << text);
        matched += accepted ? 1 : 0;
      }
    }
    CHECK(modelled > 500);
    CHECK(given_up > 500);
    CHECK(matched > 500);
  }
}

}  // namespace mcpac::policy::testing
