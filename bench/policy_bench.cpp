// SPDX-License-Identifier: Apache-2.0

// What one decision costs with 100 rules in force, and what it costs to compare two sets of 50.
//
// Decisions: one layer of 100 rules over 50 tools, of all kinds of tests; a path test costs system
// calls and is measured on its own. 20 warm-up rounds, then batches of 1,000 decisions, each batch
// timed with the steady clock; printed is the median over 201 batches, and the 99th percentile of
// the batches. Comparisons: every pair of sets 3 times to warm up and 51 times timed.
// Lists of paths, each another file that is not there, so that each is walked: five calls, the
// longest one is printed.
// `bench_policy WORDS`: only what has the words in its name.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "policy/authority.h"
#include "policy/match/system_path_resolver.h"

namespace {

using namespace mcpac;
using namespace mcpac::policy;

// What is measured; empty: all.
std::string_view g_wanted;

bool is_wanted(std::string_view name) {
  return name.contains(g_wanted);
}

ToolSchemas tools() {
  const Json schema = Json::parse(R"({"type": "object", "properties": {"path": {"type": "string"},
    "title": {"type": "string"}, "count": {"type": "integer"}, "url": {"type": "string"}},
    "additionalProperties": false})");
  ToolSchemas all;
  for (int i = 0; i < 50; ++i)
    all.emplace(Permission::of("server", fmt::format("tool{}", i)).value(), schema);
  return all;
}

LayerText rules() {
  LayerText layer;
  layer.name = "the command line";
  for (int i = 0; i < 30; ++i)
    layer.grants.push_back(
        fmt::format("server.tool{}(title len 0..80 one-line, ?count 1..100)", i));
  for (int i = 0; i < 30; ++i)
    layer.grants.push_back(
        fmt::format("server.tool{}(title re /[a-z ]+/, ?url host api.example.com)", i));
  for (int i = 0; i < 20; ++i)
    layer.denies.push_back(fmt::format("server.tool{}(title starts \"secret\")", i));
  for (int i = 0; i < 17; ++i) layer.asks.push_back(fmt::format("server.tool{}(count > 50)", i));
  layer.denies.emplace_back("*.*(* like \"*BEGIN PRIVATE KEY*\")");
  layer.grants.emplace_back("server.tool1(path within /usr/share, ..) calls <= 1000000000");
  layer.grants.emplace_back("server.tool2(path within /usr/share)");
  return layer;
}

// As the gate asks, which records; or with what would admit a denied call, which the gate works out
// once a kind of denial.
enum class Asked : std::uint8_t { kByGate, kWithFix };

void measure(const char* name, Authority& authority, const char* tool, const Json& arguments,
             Asked asked = Asked::kByGate) {
  if (!is_wanted(name)) return;
  const Permission permission = Permission::of("server", tool).value();
  constexpr int kBatch = 1000;
  std::vector<double> batches;
  std::size_t allowed = 0;
  for (int batch = -20; batch < 201; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kBatch; ++i) {
      Evidence evidence;
      const Decision decision = asked == Asked::kByGate
                                    ? authority.decide(permission, arguments, {}, evidence)
                                    : authority.decide(permission, arguments);
      allowed += decision.allowed() ? 1 : 0;
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (batch >= 0) batches.push_back(took.count() / kBatch);
  }
  std::ranges::sort(batches);
  fmt::print("{:<44} median {:6.2f} us   p99 of batches {:6.2f} us   ({})\n", name, batches[100],
             batches[198], allowed > 0 ? "allowed" : "refused");
}

// Fifty rules over ten tools: every kind of test, denies over all strings. `width` moves the bounds
// of what is allowed, so that a smaller one is included in a larger one. An ask is the same in all:
// one that catches less would admit less where nothing else does, and one that catches more would
// ask about what the other allows.
// `Alike`: whether all tools have the same texts and folders, or each its own.
enum class Alike { kYes, kNo };

LayerText fifty_rules(int width, Alike alike = Alike::kYes) {
  LayerText layer;
  layer.name = "mcpac.policy";
  for (int tool = 0; tool < 10; ++tool) {
    const std::string own = alike == Alike::kYes ? "" : std::to_string(tool);
    layer.grants.push_back(fmt::format("server.tool{}(title len 0..{} one-line, ?count 1..{})",
                                       tool, 80 + width, 100 + width));
    layer.grants.push_back(
        fmt::format("server.tool{}(title re /[a-z ]+/, ?url host {{api.example.com, "
                    "*.example.org}})",
                    tool));
    layer.grants.push_back(fmt::format(
        "server.tool{}(path within ./data{} except {{./data{}/.git}}, ..)", tool, own, own));
    layer.asks.push_back(fmt::format("server.tool{}(count > 50)", tool));
    layer.denies.push_back(fmt::format("server.tool{}(title starts \"secret{}\")", tool, own));
  }
  return layer;
}

void measure_inclusion(const char* name, const Authority& wider, const Authority& narrower) {
  if (!is_wanted(name)) return;
  std::vector<double> times;
  std::size_t included = 0;
  for (int round = -3; round < 51; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    included += std::holds_alternative<Included>(wider.includes(narrower)) ? 1 : 0;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (round >= 0) times.push_back(took.count());
  }
  std::ranges::sort(times);
  fmt::print("{:<44} median {:6.2f} ms   max {:6.2f} ms   ({})\n", name, times[25], times.back(),
             included > 0 ? "included" : "not included");
  for (const auto& one : wider.beyond(narrower)) {
    if (const auto* undecided = std::get_if<Undecided>(&one)) {
      fmt::print("  undecided: {} {}\n", undecided->permission.text(), undecided->why);
    } else {
      const auto& excess = std::get<Excess>(one);
      fmt::print("  {} {} {}\n", excess.permission.text(), to_text(excess.arguments), excess.limit);
    }
    break;
  }
}

// A tool that takes a list of paths; `audit` is how much of its calls is recorded.
int measure_lists(const std::string& audit) {
  if (!is_wanted("audit " + audit)) return 0;
  const Permission permission = Permission::of("server", "many").value();
  const ToolSchemas tools = {
      {permission, Json::parse(R"({"type": "object", "properties": {"paths": {"type": "array",
         "items": {"type": "string"}}}, "additionalProperties": false})")}};
  const SystemPathResolver resolver;
  const SystemClock clock;
  const Environment environment{
      .tools = &tools, .resolver = &resolver, .clock = &clock, .bases = {}};
  LayerText layer;
  layer.name = "the command line";
  layer.grants.push_back("server.many(paths[*] within /usr/share) audit " + audit);
  layer.denies.emplace_back("server.many(paths[*] within /etc)");
  auto authority = Authority::load({layer}, environment);
  if (!authority) {
    fmt::print(stderr, "{}\n", authority.error().to_text());
    return 1;
  }
  for (const int count : {100, 1'000, 5'000, 20'000, audit == "args" ? 26'000 : 800'000}) {
    for (const bool is_inside : {true, false}) {
      Json paths = Json::array();
      for (int i = 1; i < count; ++i) paths.push_back(fmt::format("/usr/share/{:06}", i));
      paths.push_back(is_inside ? "/usr/share/z" : "/usr/z");
      const Json arguments = {{"paths", std::move(paths)}};
      double longest = 0;
      std::string outcome;
      for (int round = 0; round < 5 && longest < 1'000; ++round) {
        Evidence evidence;
        const auto begin = std::chrono::steady_clock::now();
        const Decision decision = authority->decide(permission, arguments, {}, evidence);
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        longest = std::max(longest, took.count());
        outcome = decision.allowed() ? "allowed" : "refused: " + decision.reason.substr(0, 60);
      }
      fmt::print("audit {}, {:6} paths, {:<21} {:10.2f} ms   ({})\n", audit, count,
                 is_inside ? "all inside" : "the last one outside", longest, outcome);
    }
  }
  return 0;
}

// Ten places that no string of any call may name.
LayerText ten_denied_places() {
  LayerText layer;
  layer.name = "the command line";
  layer.grants = {"*.*"};
  for (const char* place : {"~/.ssh", "~/.aws", "~/.gnupg", "~/.config", "~/.kube", "~/.docker",
                            "~/secret", "~/.netrc", "~/.npmrc", "/etc"})
    layer.denies.push_back(fmt::format("*.*(* within {})", place));
  return layer;
}

// A text that is a JSON list of so many texts, in which each deny looks for its place.
void measure_json_texts(const Environment& environment) {
  auto authority = Authority::load({ten_denied_places()}, environment);
  const Permission permission = Permission::of("server", "tool0").value();
  for (const auto& [name, item] : {std::pair{"words", "word{}"},
                                   {"paths", "/usr/share/{}"},
                                   {"names and values", "key{} = some value of it"}}) {
    for (const int count : {100, 1'000, 9'000}) {
      const std::string what = fmt::format("10 denied places, JSON of {} {}", count, name);
      if (!is_wanted(what)) continue;
      Json list = Json::array();
      for (int i = 0; i < count; ++i) list.push_back(fmt::format(fmt::runtime(item), i));
      const Json arguments = {{"title", to_text(list)}};
      double longest = 0;
      bool is_allowed = false;
      for (int round = 0; round < 5; ++round) {
        Evidence evidence;
        const auto begin = std::chrono::steady_clock::now();
        is_allowed = authority->decide(permission, arguments, {}, evidence).allowed();
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        longest = std::max(longest, took.count());
      }
      fmt::print("{:<44} longest {:8.2f} ms   ({})\n", what, longest,
                 is_allowed ? "allowed" : "refused");
    }
  }
}

// What a client waits for at first: which of so many tools may be called at all.
void measure_tools_under_denies() {
  const std::string what = "10 denied places, coverage of 400 tools";
  if (!is_wanted(what)) return;
  ToolSchemas all;
  for (int i = 0; i < 400; ++i) {
    Json schema = tools().begin()->second;
    schema["properties"][fmt::format("own{}", i % 7)] = {{"type", "string"}, {"maxLength", 9 * i}};
    all.emplace(Permission::of(fmt::format("server{}", i % 5), fmt::format("tool{}", i)).value(),
                std::move(schema));
  }
  Environment environment{.tools = &all, .resolver = nullptr, .clock = nullptr, .bases = {}};
  environment.bases.current_directory = "/tmp";
  environment.bases.home = "/root";
  const auto begin = std::chrono::steady_clock::now();
  auto authority = Authority::load({ten_denied_places()}, environment);
  std::size_t open = 0;
  for (const auto& [permission, schema] : all)
    open += authority->coverage(permission, "") == Coverage::kMissing ? 0 : 1;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{:<44} once    {:8.2f} ms   ({} may be called)\n", what, took.count(), open);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) g_wanted = argv[1];
  const auto all = tools();
  const SystemPathResolver resolver;
  const SystemClock clock;
  Environment environment{.tools = &all, .resolver = &resolver, .clock = &clock, .bases = {}};
  environment.bases.current_directory = "/tmp";
  environment.bases.home = "/root";
  auto authority = Authority::load({rules()}, environment);
  if (!authority) {
    fmt::print(stderr, "{}\n", authority.error().to_text());
    return 1;
  }
  measure("100 rules, allowed by text tests", *authority, "tool5",
          {{"title", "hello there"}, {"count", 5}});
  measure("100 rules, denied, with nearest rule", *authority, "tool5",
          {{"title", "A\nB"}, {"count", 5}});
  measure("100 rules, denied, with its fix", *authority, "tool5", {{"title", "A\nB"}, {"count", 5}},
          Asked::kWithFix);
  measure("100 rules, path within, resolved on disk", *authority, "tool2",
          {{"path", "/usr/share/doc"}});
  measure("100 rules, path within, walked for its end", *authority, "tool2",
          {{"path", "/usr/share/doc/is-not-there"}});
  auto guarded_rules = rules();
  for (const char* place : {"~/.ssh", "~/.gnupg", "/etc/ssl"})
    guarded_rules.denies.push_back(fmt::format("*.*(* within {})", place));
  auto guarded = Authority::load({guarded_rules}, environment);
  if (!guarded) {
    fmt::print(stderr, "{}\n", guarded.error().to_text());
    return 1;
  }
  measure("103 rules, three denied places, a folder", *guarded, "tool2",
          {{"path", "/usr/share/doc"}});
  measure("103 rules, three denied places, a new file", *guarded, "tool2",
          {{"path", "/usr/share/doc/is-not-there"}});
  measure_json_texts(environment);
  measure_tools_under_denies();
  const auto small = Authority::load({fifty_rules(0)}, environment);
  const auto large = Authority::load({fifty_rules(20)}, environment);
  const auto own_small = Authority::load({fifty_rules(0, Alike::kNo)}, environment);
  const auto own_large = Authority::load({fifty_rules(20, Alike::kNo)}, environment);
  for (const auto* loaded : {&small, &large, &own_small, &own_large}) {
    if (*loaded) continue;
    fmt::print(stderr, "{}\n", loaded->error().to_text());
    return 1;
  }
  measure_inclusion("50 rules in the same 50 rules", *small, *small);
  measure_inclusion("50 rules, bounds that differ", *large, *small);
  measure_inclusion("the other way round, with a witness", *small, *large);
  measure_inclusion("50 rules, bounds and tools that differ", *own_large, *own_small);
  return measure_lists("args") + measure_lists("hash");
}
