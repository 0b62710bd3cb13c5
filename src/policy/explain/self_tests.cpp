#include "policy/explain/self_tests.h"

#include <fmt/format.h>

#include "core/json_schema.h"
#include "core/nearest_name.h"
#include "policy/decide/canonical_urls.h"
#include "policy/decide/decide.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

// Why the call could not be made at all; nothing where it could, as it would be sent.
Result<std::optional<SchemaViolation>> completed(const CompiledLayer& layer,
                                                 const ToolSchemas& tools,
                                                 const Permission& permission, Json& arguments,
                                                 std::optional<SchemaDefaults>& defaults) {
  const auto tool = tools.find(permission);
  if (tool == tools.end()) return std::optional<SchemaViolation>();
  auto schema = JsonSchema::compile(tool->second, UncheckablePatterns::kLeave);
  if (!schema) return pass_on(schema);
  defaults.emplace(*schema, &tool->second);
  return complete({&layer, 1}, permission, **schema, arguments);
}

Result<void> run(const ast::SelfTest& test, const CompiledLayer& layer, const SourceText& source,
                 const Environment& environment) {
  const auto& selector = test.selector;
  if (!selector.server || !selector.tool)
    return source.error(ErrorId::kRuleSyntax, test.at, "a self-test names one tool");
  auto permission = Permission::of(*selector.server, *selector.tool);
  if (!permission) return pass_on(permission);
  const auto tool = environment.tools->find(*permission);
  if (tool == environment.tools->end() && !is_control(*permission)) {
    std::vector<std::string> names;
    for (const auto& [known, schema] : *environment.tools) names.push_back(known.text());
    return source.error(ErrorId::kRuleUnknownName, test.at,
                        fmt::format("the lock knows no tool {}", print(selector)), "",
                        did_you_mean(permission->text(), names));
  }
  Json arguments = test.arguments;
  std::optional<SchemaDefaults> defaults;
  auto violation = completed(layer, *environment.tools, *permission, arguments, defaults);
  if (!violation) return pass_on(violation);
  const bool wanted = test.expect == ast::SelfTest::Expect::kMatch;
  const std::string text =
      fmt::format("the self-test '{} {} {}' fails", wanted ? "match" : "not_match", print(selector),
                  printable(to_text(test.arguments)));
  if (*violation) {
    const std::string place =
        (*violation)->pointer.empty() ? "the arguments" : (*violation)->pointer;
    return source.error(ErrorId::kSelfTestFailed, test.at, text,
                        fmt::format("the tool takes no such call, whatever the rules say: {} {}",
                                    printable(place), printable((*violation)->message, 200)),
                        "write a call that its schema admits");
  }
  const Json* schema = tool == environment.tools->end() ? nullptr : &tool->second;
  const CallUnderTest call{.permission = *permission,
                           .arguments = arguments,
                           .schema = schema,
                           .demand = {},
                           .defaults = defaults ? defaults->root() : nullptr,
                           .unfilled = defaults ? &defaults->unfilled() : nullptr};
  const Verdict verdict = decide_layer(layer, call, Times{});
  if ((verdict.effect != Effect::kDeny) == wanted) return {};
  return source.error(ErrorId::kSelfTestFailed, test.at, text,
                      verdict.rule == nullptr
                          ? "no rule of this file matches the call"
                          : fmt::format("the call is decided by '{}'", verdict.rule->text),
                      "change the rule or the test");
}

}  // namespace

Result<void> run_self_tests(const std::vector<const ast::SelfTest*>& tests,
                            const CompiledLayer& layer, const SourceText& source,
                            const Environment& environment) {
  for (const auto* test : tests) {
    if (auto done = run(*test, layer, source, environment); !done) return done;
  }
  return {};
}

}  // namespace mcpac::policy
