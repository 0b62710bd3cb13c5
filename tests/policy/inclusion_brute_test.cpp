// Inclusion against brute force: random pairs of policies over small tools, and every call of a
// small domain asked of both real decisions. The seeds are fixed, so a failure comes back.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

#include "policy/support_inclusion.h"

namespace mcpac::policy::testing {
namespace {

using Texts = std::vector<std::string>;
using Random = std::mt19937;

const std::string& pick(Random& random, const Texts& from) {
  return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random)];
}

// One tool: rules are put together from these brackets' arguments, calls from these values.
struct Field {
  std::string name;
  Texts tests;  // complete arguments, with presence; "" leaves it out
  std::vector<std::optional<Json>> values;
};
struct Domain {
  std::string tool;
  std::vector<Field> fields;
  bool has_any_string = false;
};

std::string rule_of(Random& random, const Domain& domain) {
  static const Texts kEffects = {"allow", "allow", "allow", "allow", "ask", "deny", "deny"};
  const std::string& effect = pick(random, kEffects);
  const bool allows = effect == "allow";
  Texts args;
  for (const auto& field : domain.fields) {
    std::string arg = pick(random, field.tests);
    if (!allows && arg.starts_with('?')) arg.erase(0, 1);
    if (effect == "deny") arg = arg.substr(0, arg.find(" except"));
    // A deny or ask names fewer arguments.
    if (arg.empty() || (!allows && random() % 2 == 0)) continue;
    args.push_back(arg);
  }
  if (!allows && domain.has_any_string && random() % 4 == 0)
    args = {pick(random, {"* == \"a\"", "* starts \"a\"", "* within ./d", "* host a.com",
                          "* host *.a.com", "* re /.*b.*/", "* one-line"})};
  if (allows && random() % 3 == 0) args.emplace_back("..");
  if (args.empty()) return fmt::format("{} {}", effect, domain.tool);
  return fmt::format("{} {}({})", effect, domain.tool, fmt::join(args, ", "));
}

// Rules that cannot load (tests that exclude each other) are drawn again.
std::string policy_text(Random& random, const World& world, const Domain& domain) {
  std::string text;
  const std::size_t count = 1 + random() % 3;
  for (std::size_t made = 0; made < count;) {
    const std::string rule = rule_of(random, domain) + "\n";
    if (!world.load(
            {LayerText{.name = "p", .grants = {}, .asks = {}, .denies = {}, .files = {rule}}}))
      continue;
    text += rule;
    ++made;
  }
  return text;
}

// Every call of the domain.
std::vector<Json> calls_of(const Domain& domain) {
  std::vector<Json> calls = {Json::object()};
  for (const auto& field : domain.fields) {
    std::vector<Json> next;
    for (const auto& call : calls) {
      for (const auto& value : field.values) {
        Json more = call;
        if (value) more[field.name] = *value;
        next.push_back(std::move(more));
      }
    }
    calls = std::move(next);
  }
  return calls;
}

// JSON texts as values; "absent" for none.
std::vector<std::optional<Json>> values(const Texts& texts) {
  std::vector<std::optional<Json>> made;
  for (const auto& text : texts)
    made.push_back(text == "absent" ? std::nullopt : std::optional(parse_json(text).value()));
  return made;
}

struct Tally {
  int included = 0;
  int excess = 0;
  int undecided = 0;
};

void compare(const World& world, const Domain& domain, const std::vector<Json>& calls,
             Random& random, Tally& tally) {
  const std::string wider_text = policy_text(random, world, domain);
  const std::string narrower_text = policy_text(random, world, domain);
  auto wider = policy_of(world, wider_text);
  auto narrower = policy_of(world, narrower_text);
  const Inclusion got = wider.includes(narrower);
  const std::string both = fmt::format("wider:\n{}narrower:\n{}", wider_text, narrower_text);
  if (const auto* excess = std::get_if<Excess>(&got)) {
    ++tally.excess;
    const std::string why = why_no_witness(world, wider, narrower, *excess);
    CHECK_MESSAGE(why.empty(), both << why);
    return;
  }
  const bool included = std::holds_alternative<Included>(got);
  ++(included ? tally.included : tally.undecided);
  if (!included) return;
  const auto permission = permission_of(domain.tool).value();
  for (const auto& call : calls) {
    const auto more = effect_of(world, narrower, permission, call);
    if (!more || *more == Effect::kDeny) continue;
    const auto less = effect_of(world, wider, permission, call);
    CHECK_MESSAGE(*more >= *less, both << "is said to be included, but " << to_text(call));
  }
}

const std::vector<std::optional<Json>> kStrings = {"",
                                                   "a",
                                                   "b",
                                                   "ab",
                                                   "ba",
                                                   "abc",
                                                   "aab",
                                                   "b\n",
                                                   "./d",
                                                   "d/e",
                                                   "./d/e/f.txt",
                                                   "./d/../x",
                                                   "./d/e/../y",
                                                   "../z",
                                                   "/",
                                                   "https://a.com/p",
                                                   "http://b.a.com:8080/",
                                                   "a\x01",
                                                   "./dd",
                                                   "a\nb",
                                                   "AB",
                                                   "a\u2028b",
                                                   "a.com",
                                                   "//a.com/x",
                                                   "ssh://b.a.com",
                                                   "git@a.com:x",
                                                   "d//e/./f.txt"};

const Texts kStringTests = {"s == \"a\"",
                            "s != \"a\"",
                            "s in {\"a\", \"ab\", \"ba\"}",
                            "s like \"a*\"",
                            "s like \"*b\"",
                            "s like \"a*\" except {\"ab*\"}",
                            "s starts \"ab\"",
                            "s ends \"b\"",
                            "s re /[ab]+/",
                            "s re /a(b|c)*/",
                            "s re /(ab?){1,2}/",
                            "s len 1..2",
                            "s len 0..3",
                            "s one-line",
                            "s re /a.*/",
                            "s re /(?s)a.*/",
                            "s re /(?i)ab?/",
                            "s re /^a$|.*b$/",
                            "s any",
                            "s len 2..9 starts \"a\"",
                            "s != \"ab\" like \"a*\""};

void run(const Domain& domain, const char* schema, int pairs, unsigned seed, int most_undecided) {
  World world;
  Json tools = Json::object();
  tools[domain.tool] = parse_json(schema).value();
  world.add_tools(tools);
  const auto calls = calls_of(domain);
  Random random(seed);
  Tally tally;
  for (int i = 0; i < pairs; ++i) compare(world, domain, calls, random, tally);
  MESSAGE(domain.tool << ": " << tally.included << " included, " << tally.excess
                      << " with a witness, " << tally.undecided << " undecided");
  // The pairs are of both kinds, or nothing was tested.
  CHECK(tally.included > pairs / 20);
  CHECK(tally.excess > pairs / 20);
  CHECK(tally.undecided <= most_undecided);
}

}  // namespace

TEST_SUITE("policy/inclusion") {
  TEST_CASE("inclusion agrees with brute force on tests of strings") {
    run({"x.text", {{"s", kStringTests, kStrings}}, true},
        R"({"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"],
            "additionalProperties": false})",
        600, 1, 6);
  }

  TEST_CASE("inclusion agrees with brute force on strings of which the schema says more") {
    Texts optional = {"", "s absent"};
    Texts required;
    for (const auto& test : kStringTests) {
      optional.push_back("?" + test);
      required.push_back("t" + test.substr(1));
    }
    std::vector<std::optional<Json>> perhaps = kStrings;
    perhaps.emplace_back(std::nullopt);
    run({"x.limited", {{"s", optional, perhaps}, {"t", required, kStrings}}, true},
        R"({"type": "object", "properties": {
            "s": {"type": "string", "minLength": 2, "maxLength": 4.0, "default": "ab"},
            "t": {"type": "string", "minLength": 3.0}}, "required": ["t"],
            "additionalProperties": false})",
        300, 7, 6);
  }

  TEST_CASE("inclusion agrees with brute force on paths, and is always decided") {
    run({"x.path",
         {{"s",
           {"s within ./d", "s within ./d/e", "s within ./", "s matches ./d/*",
            "s matches ./**/*.txt", "s within ./ except {./d}", "s within ./d except {./d/e/*.txt}",
            "s == \"./d/e\"", "s any", "s within /", "s matches ./d/**/f.txt", "s != \"./d\""},
           kStrings}}},
        R"({"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"],
            "additionalProperties": false})",
        250, 2, 0);
  }

  TEST_CASE("inclusion agrees with brute force on URLs, and is always decided") {
    run({"x.url",
         {{"s",
           {"s host a.com", "s host *.a.com", "s host *", "s host *.a.com except {b.a.com}",
            "s host a.com scheme https", "s scheme {http, https}",
            "s port {8080, 443} host *.a.com", "s ip in {10.0.0.0/8}",
            "s ip in {10.1.0.0/16, 127.0.0.0/8}", "s any", "s == \"https://a.com/p\""},
           {"https://a.com/", "http://a.com/", "https://b.a.com/", "http://b.a.com:8080/",
            "https://c.org:443/", "ftp://a.com/", "http://10.0.0.1/", "http://10.1.2.3:8080/",
            "http://127.0.0.1/", "http://localhost/", "x", "https://a.com/p"}}}},
        R"({"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"],
            "additionalProperties": false})",
        250, 3, 0);
  }

  TEST_CASE("inclusion agrees with brute force on numbers, truth values and absence") {
    const std::vector<std::optional<Json>> numbers = {-1, 0, 0.5, 1, 1.5, 2, 3, 10, 99.5};
    run({"x.number",
         {{"n",
           {"n 0..2", "n > 0", "n >= 1 < 3", "n in {0, 1.5, 10}", "n != 1", "n any", "n <= 0.5",
            "n 0..10 except {1..2}", "n > 2"},
           numbers},
          {"k",
           {"", "?k 0..2", "k == 1", "k absent", "?k any", "k > 1"},
           {std::nullopt, 0, 1, 2, 3}},
          {"b", {"", "?b == true", "b any", "b absent", "?b any"}, {std::nullopt, true, false}},
          {"m", {"", "?m == \"x\"", "m != \"x\"", "?m any"}, {std::nullopt, "x", "y"}}}},
        R"({"type": "object", "properties": {"n": {"type": "number"}, "k": {"type": "integer"},
            "b": {"type": "boolean"}, "m": {"type": "string", "enum": ["x", "y"], "default": "x"}},
            "required": ["n"], "additionalProperties": false})",
        500, 4, 0);
  }

  TEST_CASE("inclusion agrees with brute force on lists, members and free-form values") {
    const Texts tests_of_list = {
        "xs[*] == \"a\"", "xs[*] in {\"a\", \"b\"}", "xs any",        "xs size 1..2",
        "xs size 0..1",   "xs[*] starts \"a\"",      "xs[*] len 1..1"};
    const Texts tests_of_object = {"",
                                   "?o.p == 1",
                                   "o.p > 0, o.q any",
                                   "?o any",
                                   "o.p any",
                                   "?o.q == \"a\", ?o.p any",
                                   "?o.q != \"b\""};
    const Texts tests_of_anything = {"",          "?f == \"a\"", "?f any",
                                     "f[*] == 1", "?f.z != 1",   "f absent"};
    const Field list{
        "xs", tests_of_list,
        values({"[]", R"(["a"])", R"(["b"])", R"(["a", "b"])", R"(["ab", "a", "c"])"})};
    const Field object{
        "o", tests_of_object,
        values({"absent", "{}", R"({"p": 1})", R"({"p": 2, "q": "a"})", R"({"q": "b"})"})};
    const Field anything{"f", tests_of_anything,
                         values({"absent", R"("a")", "1", "null", "[1, 1]", R"(["a"])",
                                 R"({"z": 2})", R"({"a": 1})"})};
    run(Domain{"x.nested", {list, object, anything}, true},
        R"({"type": "object", "properties": {"xs": {"type": "array", "items": {"type": "string"}},
            "o": {"type": "object", "properties": {"p": {"type": "number"}, "q": {"type": "string"}},
            "additionalProperties": false}, "f": {}}, "required": ["xs"],
            "additionalProperties": false})",
        400, 5, 2);
  }

  TEST_CASE("inclusion agrees with brute force where tests of all kinds meet in one argument") {
    Texts tests = kStringTests;
    tests.insert(tests.end(),
                 {"s within ./d", "s matches ./d/*", "s host *.a.com", "s starts \"./d\" within ./",
                  "s host a.com starts \"https:\"", "s host *.a.com starts \"https://a.com/s\"",
                  "s scheme https like \"*a.com/s*\""});
    auto strings = kStrings;
    for (const char* url : {"https://a.com/s", "https://a.com//s", "https://a.com/%73",
                            "https://a.com/x/../s", "https://a.com/x"})
      strings.emplace_back(url);
    run({"x.mixed", {{"s", tests, strings}}, true},
        R"({"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"],
            "additionalProperties": false})",
        250, 6, 6);
  }
}

}  // namespace mcpac::policy::testing
