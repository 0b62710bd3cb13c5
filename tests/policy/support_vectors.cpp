#include "policy/support_vectors.h"

#include <fmt/format.h>

#include "core/call_arguments.h"
#include "policy/rules/compiled.h"
#include "policy/support_inclusion.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

// What the gate does with a call: look up, complete, decide. All of a line are in flight together,
// so nothing is settled.
std::string answer(const World& world, Authority& authority, const Json& call) {
  const auto permission = permission_of(call.at("permission").get<std::string>());
  if (!permission) return "invalid";
  Json arguments = world.fill(call.at("arguments"));
  const auto tool = world.tools.find(*permission);
  if (tool != world.tools.end()) {
    const auto schema = JsonSchema::compile(tool->second).value();
    if (authority.complete(*permission, *schema, arguments)) return "invalid";
  } else if (!is_control(*permission)) {
    return "invalid";
  }
  return to_string(authority.decide(*permission, arguments).effect);
}

// As the door of the gate reads it.
std::optional<Json> call_of(const Json& line) {
  if (line.contains("call")) return line["call"];
  auto parsed = parse_call(line.at("call_raw").get<std::string>());
  return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

std::optional<Difference> run_decisions(const Json& line, const Json& tools) {
  const auto world = world_of(line, tools);
  const std::string expect = line.at("expect");
  auto authority = world->load(layers_of(*world, line));
  if (!authority) {
    if (expect == "load_error") return std::nullopt;
    return Difference{expect, "load_error: " + authority.error().to_text()};
  }
  if (expect == "load_error") return Difference{expect, "it loads"};
  const auto call = call_of(line);
  if (!line.contains("calls")) {
    const std::string got = call ? answer(*world, *authority, *call) : "invalid";
    return got == expect ? std::nullopt : std::optional(Difference{expect, got});
  }
  for (const auto& step : line["calls"]) {
    const auto at = step.at("at_ms").get<std::int64_t>();
    world->clock.set(std::chrono::milliseconds(at));
    const Json& made = step.contains("call") ? step["call"] : call.value();
    const std::string got = answer(*world, *authority, made);
    const auto wanted = step.at("expect").get<std::string>();
    if (got != wanted)
      return Difference{fmt::format("{} at {} ms", wanted, at), fmt::format("{}", got)};
  }
  return std::nullopt;
}

std::string statements(const World& world, const Json& line, const char* side) {
  std::string text;
  for (const auto& statement : line.at(side))
    text += world.fill(statement.get<std::string>()) + "\n";
  return text;
}

std::optional<Difference> run_inclusion(const Json& line, const Json& tools) {
  const std::string expect = line.at("expect");
  const World world("2026-06-01T12:00:00Z", tools);
  auto wider = policy_of(world, statements(world, line, "parent"));
  auto narrower = policy_of(world, statements(world, line, "child"));
  const Inclusion got = wider.includes(narrower);
  if (const auto* undecided = std::get_if<Undecided>(&got))
    return Difference{expect, "undecided: " + undecided->why};
  const bool included = std::holds_alternative<Included>(got);
  if (included != (expect == "included"))
    return Difference{expect, included ? "included" : "not_included"};
  if (included) return std::nullopt;
  std::string wrong = why_no_witness(world, wider, narrower, std::get<Excess>(got));
  return wrong.empty() ? std::nullopt : std::optional(Difference{expect, std::move(wrong)});
}

}  // namespace

std::optional<Difference> run_vector(const Json& line, const Json& tools) {
  return line.contains("child") ? run_inclusion(line, tools) : run_decisions(line, tools);
}

}  // namespace mcpac::policy::testing
