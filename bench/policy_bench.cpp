// What one decision costs with 100 rules in force.
//
// Method: one layer of 100 rules over 50 tools, of all kinds of tests but paths (a path test costs
// system calls, measured on its own); 20 warm-up rounds, then batches of 1,000 decisions, each
// batch timed with the steady clock; printed is the median over 201 batches, and the 99th
// percentile of the batches.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "policy/authority.h"
#include "policy/system_path_resolver.h"

namespace {

using namespace mcpac;
using namespace mcpac::policy;

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

void measure(const char* name, Authority& authority, const char* tool, const Json& arguments) {
  const Permission permission = Permission::of("server", tool).value();
  constexpr int kBatch = 1000;
  std::vector<double> batches;
  std::size_t allowed = 0;
  for (int batch = -20; batch < 201; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kBatch; ++i)
      allowed += authority.decide(permission, arguments).allowed() ? 1 : 0;
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (batch >= 0) batches.push_back(took.count() / kBatch);
  }
  std::ranges::sort(batches);
  fmt::print("{:<44} median {:6.2f} us   p99 of batches {:6.2f} us   ({})\n", name, batches[100],
             batches[198], allowed > 0 ? "allowed" : "refused");
}

}  // namespace

int main() {
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
  measure("100 rules, path within, resolved on disk", *authority, "tool2",
          {{"path", "/usr/share/doc"}});
}
