#include "policy/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/json_schema.h"
#include "core/nearest_name.h"
#include "policy/decide.h"
#include "policy/parser.h"
#include "policy/printer.h"

namespace mcpac::policy {
namespace {

// The statements of a file that hold: those outside of blocks, those of policy blocks, and those of
// the profiles that are used. A profile that is not used is checked all the same, then left out.
class FileLoader {
 public:
  FileLoader(const ast::File& file, const SourceText& source, const Environment& environment)
      : file_(file), source_(source), environment_(environment) {}

  Result<void> load(CompiledLayer& layer) {
    if (auto done = collect_profiles(); !done) return done;
    for (const auto& item : file_.items) {
      if (const auto* statement = std::get_if<ast::Statement>(&item)) {
        if (auto done = take(*statement); !done) return done;
      } else if (const auto& block = std::get<ast::Block>(item);
                 block.kind == ast::Block::Kind::kPolicy) {
        if (auto done = take_all(block); !done) return done;
      }
    }
    if (auto done = check_unused(); !done) return done;
    if (auto done = add_rules(layer); !done) return done;
    return run_self_tests();
  }

 private:
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

  Result<void> take_all(const ast::Block& block) {
    for (const auto& statement : block.statements) {
      if (auto done = take(statement); !done) return done;
    }
    return {};
  }

  Result<void> take(const ast::Statement& statement) {
    if (const auto* rule = std::get_if<ast::Rule>(&statement)) rules_.push_back(rule);
    if (const auto* test = std::get_if<ast::SelfTest>(&statement)) tests_.push_back(test);
    const auto* use = std::get_if<ast::Use>(&statement);
    if (use == nullptr) return {};
    const auto found = profiles_.find(use->profile);
    if (found == profiles_.end()) {
      std::vector<std::string> names;
      for (const auto& [name, block] : profiles_) names.push_back(name);
      return source_.error(ErrorId::kRuleUnknownName, use->at,
                           fmt::format("there is no profile {}", print_string(use->profile)),
                           "'use' names a profile of the same file",
                           did_you_mean(use->profile, names));
    }
    // Using a profile twice, or in a circle, adds nothing the second time.
    if (!used_.insert(use->profile).second) return {};
    return take_all(*found->second);
  }

  Result<void> check_unused() {
    CompiledLayer scratch;
    Loader loader{environment_, scratch};
    for (const auto& [name, block] : profiles_) {
      if (used_.contains(name)) continue;
      for (const auto& statement : block->statements) {
        const auto* rule = std::get_if<ast::Rule>(&statement);
        if (rule == nullptr) continue;
        if (auto done = loader.add(*rule, source_); !done) return done;
      }
    }
    return {};
  }

  Result<void> add_rules(CompiledLayer& layer) {
    Loader into_layer{environment_, layer};
    Loader into_own{environment_, own_};
    for (const auto* rule : rules_) {
      if (auto done = into_layer.add(*rule, source_); !done) return done;
      if (tests_.empty()) continue;
      if (auto done = into_own.add(*rule, source_); !done) return done;
    }
    return {};
  }

  // A file's tests look at the file's rules alone, with nothing used up.
  Result<void> run_self_tests() {
    for (const auto* test : tests_) {
      if (auto done = run(*test); !done) return done;
    }
    return {};
  }

  Result<void> run(const ast::SelfTest& test) {
    const auto& selector = test.selector;
    if (!selector.server || !selector.tool) {
      return source_.error(ErrorId::kRuleSyntax, test.at, "a self-test names one tool");
    }
    auto permission = Permission::of(*selector.server, *selector.tool);
    if (!permission) return pass_on(permission);
    const auto tool = environment_.tools->find(*permission);
    if (tool == environment_.tools->end() && !is_control(*permission)) {
      return source_.error(ErrorId::kRuleUnknownName, test.at,
                           fmt::format("the lock knows no tool {}", print(selector)));
    }
    Json arguments = test.arguments;
    if (tool != environment_.tools->end()) {
      auto schema = JsonSchema::compile(tool->second);
      if (!schema) return pass_on(schema);
      (*schema)->fill_defaults(arguments);
    }
    const Verdict verdict = decide_layer(
        own_, {*permission, arguments, tool == environment_.tools->end() ? nullptr : &tool->second},
        Times{});
    const bool wanted = test.expect == ast::SelfTest::Expect::kMatch;
    if ((verdict.effect != Effect::kDeny) == wanted) return {};
    return source_.error(
        ErrorId::kSelfTestFailed, test.at,
        fmt::format("the self-test '{} {} {}' fails", wanted ? "match" : "not_match",
                    print(selector), printable(to_text(test.arguments))),
        verdict.rule == nullptr ? "no rule of this file matches the call"
                                : fmt::format("the call is decided by '{}'", verdict.rule->text),
        "change the rule or the test");
  }

  const ast::File& file_;
  const SourceText& source_;
  const Environment& environment_;
  std::map<std::string, const ast::Block*, std::less<>> profiles_;
  std::set<std::string, std::less<>> used_;
  std::vector<const ast::Rule*> rules_;
  std::vector<const ast::SelfTest*> tests_;
  CompiledLayer own_;
};

Result<void> load_flags(const std::vector<std::string>& texts, Effect effect,
                        const std::string& name, Loader& loader) {
  for (const auto& text : texts) {
    const SourceText source{name, text};
    auto rule = parse_rule(source, effect);
    if (!rule) return pass_on(rule);
    if (auto added = loader.add(*rule, source); !added) return added;
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
  for (const auto& file : text.files) {
    const SourceText source{flags ? "--policy" : text.name, file};
    auto parsed = parse_file(source);
    if (!parsed) return pass_on(parsed);
    if (auto done = FileLoader(*parsed, source, environment).load(layer); !done)
      return pass_on(done);
  }
  return layer;
}

}  // namespace mcpac::policy
