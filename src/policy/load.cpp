// SPDX-License-Identifier: Apache-2.0

#include "policy/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/json_schema.h"
#include "core/nearest_name.h"
#include "core/shell_quote.h"
#include "policy/compare/reachable.h"
#include "policy/decide/canonical_urls.h"
#include "policy/decide/decide.h"
#include "policy/rules/compiled.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

// Self-tests: `match` and `not_match` of a policy file, run whenever it is loaded.

// They look at the file's own rules alone, in `layer`, with nothing used up. kSelfTestFailed for
// the first that fails.
[[nodiscard]] Result<void> run_self_tests(const std::vector<const ast::SelfTest*>& tests,
                                          const CompiledLayer& layer, const SourceText& source,
                                          const Environment& environment);

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

Result<void> run_self_tests(const std::vector<const ast::SelfTest*>& tests,
                            const CompiledLayer& layer, const SourceText& source,
                            const Environment& environment) {
  for (const auto* test : tests) {
    if (auto done = run(*test, layer, source, environment); !done) return done;
  }
  return {};
}

}  // namespace

namespace {

Result<void> add(const ast::Rule& rule, const SourceText& source, Loader& loader) {
  if (auto added = loader.add(rule, source); !added) return added;
  return check_reachable(rule, source, loader.environment);
}

// The statements of a file that hold: those outside of blocks, those of policy blocks, and those of
// the profiles that are used. A profile that is not used is checked all the same, then left out.
class FileLoader {
 public:
  FileLoader(const ast::File& file, const SourceText& source, const Environment& environment)
      : file_(file), source_(source), environment_(environment) {}

  // The whole file, and these of its profiles besides those that it uses; each that is found is
  // taken off the list.
  Result<void> load(CompiledLayer& layer, std::set<std::string>& profiles) {
    if (auto done = collect_profiles(); !done) return done;
    Taken base;
    for (const auto& item : file_.items) {
      if (const auto* statement = std::get_if<ast::Statement>(&item)) {
        if (auto done = take(*statement, base); !done) return done;
      } else if (const auto& block = std::get<ast::Block>(item);
                 block.kind == ast::Block::Kind::kPolicy) {
        if (auto done = take_all(block, base); !done) return done;
      }
    }
    Taken held = base;
    if (auto done = take_profiles(profiles, held); !done) return done;
    if (auto done = check_unused(held); !done) return done;
    if (auto done = add_rules(held, layer); !done) return done;
    return test(base);
  }

  // Of a file that is none of the layer's: these of its profiles, and nothing else.
  Result<void> load_profiles(CompiledLayer& layer, std::set<std::string>& profiles) {
    if (auto done = collect_profiles(); !done) return done;
    Taken held;
    if (auto done = take_profiles(profiles, held); !done) return done;
    return add_rules(held, layer);
  }
  [[nodiscard]] std::vector<std::string> profile_names() const {
    std::vector<std::string> names;
    for (const auto& [name, block] : profiles_) names.push_back(name);
    return names;
  }

 private:
  // Statements that hold together, and the profiles that they use.
  struct Taken {
    std::set<std::string, std::less<>> used{};
    std::vector<const ast::Rule*> rules{};
    std::vector<const ast::Statement*> places{};
    std::vector<const ast::SelfTest*> tests{};
  };

  Result<void> collect_profiles() {
    for (const auto& item : file_.items) {
      const auto* block = std::get_if<ast::Block>(&item);
      if (block == nullptr || block->kind != ast::Block::Kind::kProfile) continue;
      if (!profiles_.emplace(block->name, block).second) {
        return source_.error(ErrorId::kRuleSyntax, block->at,
                             fmt::format("there are two profiles {}", print_string(block->name)));
      }
    }
    return {};
  }

  Result<void> take_profiles(std::set<std::string>& wanted, Taken& into) const {
    for (const auto& [name, block] : profiles_) {
      if (wanted.erase(name) == 0 || !into.used.insert(name).second) continue;
      if (auto done = take_all(*block, into); !done) return done;
    }
    return {};
  }

  Result<void> take_all(const ast::Block& block, Taken& into) const {
    for (const auto& statement : block.statements) {
      if (auto done = take(statement, into); !done) return done;
    }
    return {};
  }

  Result<void> take(const ast::Statement& statement, Taken& into) const {
    if (const auto* rule = std::get_if<ast::Rule>(&statement)) into.rules.push_back(rule);
    if (is_place(statement)) into.places.push_back(&statement);
    if (const auto* test = std::get_if<ast::SelfTest>(&statement)) into.tests.push_back(test);
    const auto* use = std::get_if<ast::Use>(&statement);
    if (use == nullptr) return {};
    const auto found = profiles_.find(use->profile);
    if (found == profiles_.end()) {
      const auto names = profile_names();
      return source_.error(ErrorId::kRuleUnknownName, use->at,
                           fmt::format("there is no profile {}", print_string(use->profile)),
                           "'use' names a profile of the same file",
                           names.empty() ? std::string("the file has none: profile \"…\" { … }")
                                         : did_you_mean(use->profile, names));
    }
    // Using a profile twice, or in a circle, adds nothing the second time.
    if (!into.used.insert(use->profile).second) return {};
    return take_all(*found->second, into);
  }

  // What a file's tests say must not hang on the profile that a run is given, nor on whether a run
  // or `policy check` loads it: those outside of profiles are judged by the rules outside, those of
  // a profile by these and its own.
  Result<void> test(const Taken& base) const {
    if (auto done = test(base.tests, base.rules); !done) return done;
    for (const auto& [name, block] : profiles_) {
      if (base.used.contains(name)) continue;
      Taken with = base;
      with.tests.clear();
      with.used.insert(name);
      if (auto done = take_all(*block, with); !done) return done;
      if (auto done = test(with.tests, with.rules); !done) return done;
    }
    return {};
  }

  Result<void> test(const std::vector<const ast::SelfTest*>& tests,
                    const std::vector<const ast::Rule*>& rules) const {
    if (tests.empty()) return {};
    CompiledLayer own;
    Loader loader{environment_, own};
    for (const auto* rule : rules) {
      if (auto done = add(*rule, source_, loader); !done) return done;
    }
    return run_self_tests(tests, own, source_, environment_);
  }

  Result<void> check_unused(const Taken& held) const {
    CompiledLayer scratch;
    Loader loader{environment_, scratch};
    for (const auto& [name, block] : profiles_) {
      if (held.used.contains(name)) continue;
      for (const auto& statement : block->statements) {
        if (auto done = add_place(statement, source_, environment_, scratch.places); !done)
          return done;
        const auto* rule = std::get_if<ast::Rule>(&statement);
        if (rule == nullptr) continue;
        if (auto done = add(*rule, source_, loader); !done) return done;
      }
    }
    return {};
  }

  Result<void> add_rules(const Taken& held, CompiledLayer& layer) const {
    Loader into_layer{environment_, layer};
    for (const auto* rule : held.rules) {
      if (auto done = add(*rule, source_, into_layer); !done) return done;
    }
    for (const auto* place : held.places) {
      if (auto done = add_place(*place, source_, environment_, layer.places); !done) return done;
    }
    return {};
  }

  const ast::File& file_;
  const SourceText& source_;
  const Environment& environment_;
  std::map<std::string, const ast::Block*, std::less<>> profiles_;
};

Result<void> load_flags(const std::vector<std::string>& texts, Effect effect,
                        const std::string& name, Loader& loader) {
  for (const auto& text : texts) {
    const SourceText source{name, text};
    auto rule = parse_rule(source, effect);
    if (!rule) return pass_on(rule);
    if (auto added = add(*rule, source, loader); !added) return added;
  }
  return {};
}

// What a statement is told to be, as its option says it.
Error as_option(Error error, std::string_view flag, const std::string& statement) {
  std::string& fix = error.fix;
  const bool is_path = fix.starts_with('/') || fix.starts_with("./") || fix.starts_with("~/");
  const auto network = fix.find("network ");
  if (flag == "--network" && network != std::string::npos)
    fix.insert(network, "--");
  else if (flag == "--files" && is_path)
    fix = fmt::format("--files {}",
                      shell_quoted(fix + (statement.ends_with(" read-write") ? ":rw" : "")));
  return error;
}

Result<void> load_places(const LayerText& text, bool flags, const Environment& environment,
                         LayerPlaces& places) {
  places.declared = text.declared;
  for (const auto& statement : text.places) {
    const char* flag = statement.starts_with("files")  ? "--files"
                       : statement.starts_with("deny") ? "--deny"
                                                       : "--network";
    const SourceText source{flags ? flag : text.name, statement};
    auto parsed = parse_place(source);
    const auto told = [&](Error& error) {
      return std::unexpected(flags ? as_option(std::move(error), flag, statement)
                                   : std::move(error));
    };
    if (!parsed) return told(parsed.error());
    if (auto added = add_place(*parsed, source, environment, places); !added)
      return told(added.error());
  }
  return {};
}

}  // namespace

Result<CompiledLayer> load_layer(const LayerText& text, const Environment& environment) {
  CompiledLayer layer;
  layer.name = text.name;
  Loader loader{environment, layer};
  const bool flags = text.name == "the command line";
  for (const auto& [texts, effect, flag] : {std::tuple{&text.grants, Effect::kAllow, "--grant"},
                                            std::tuple{&text.asks, Effect::kAsk, "--ask"},
                                            std::tuple{&text.denies, Effect::kDeny, "--deny"}}) {
    if (auto done = load_flags(*texts, effect, flags ? flag : text.name, loader); !done)
      return pass_on(done);
  }
  if (auto done = load_places(text, flags, environment, layer.places); !done) return pass_on(done);
  std::set<std::string> profiles(text.profiles.begin(), text.profiles.end());
  std::vector<std::string> known;
  const auto read = [&](const PolicyFile& file, bool whole) -> Result<void> {
    const std::string name = !file.name.empty() ? file.name : flags ? "--policy" : text.name;
    const SourceText source{name, file.text};
    auto parsed = parse_file(source);
    if (!parsed) return pass_on(parsed);
    FileLoader loads(*parsed, source, environment);
    auto done = whole ? loads.load(layer, profiles) : loads.load_profiles(layer, profiles);
    for (auto& profile : loads.profile_names()) known.push_back(std::move(profile));
    return done;
  };
  for (const auto& file : text.files) {
    if (auto done = read(file, true); !done) return pass_on(done);
  }
  for (const auto& file : text.profile_files) {
    if (auto done = read(file, false); !done) return pass_on(done);
  }
  if (profiles.empty()) return layer;
  return fail(ErrorId::kRuleUnknownName,
              fmt::format("there is no profile {}", print_string(*profiles.begin())),
              {.where = "--profile",
               .why = "a profile is one of a --policy file or of mcpac.policy",
               .fix = known.empty() ? std::string("these have none: profile \"…\" { … }")
                                    : did_you_mean(*profiles.begin(), known)});
}

}  // namespace mcpac::policy
