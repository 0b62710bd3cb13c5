// Paths: `within` and `matches`, lexically and as the file system resolves them (docs/grants.md).
//
// An allow needs all readings inside, a deny or ask is content with one. A text with ".." has two
// on the disk: the kernel goes up from where a link leads, and many servers tidy the text first.
// What the server opens later is a name, and the directory may change in between: decisions bind
// names, the server's own root and the sandbox bind files.
#include <algorithm>
#include <functional>

#include "policy/match/path_pattern.h"
#include "policy/match/path_readings.h"

namespace mcpac::policy {
namespace {

class PathMatcher final : public Matcher {
 public:
  PathMatcher(PathPattern pattern, std::vector<PathPattern> exceptions,
              const Environment& environment)
      : pattern_(std::move(pattern)),
        exceptions_(std::move(exceptions)),
        resolver_(environment.resolver),
        bases_(environment.bases) {}

  Outcome match(const Json& value, const CallView& call) const override {
    if (!value.is_string()) return Outcome::kWrongType;
    const auto& text = value.get_ref<const std::string&>();
    const bool lexical = call.lexical || !resolves(call.server);
    const Look look = lexical ? Look::kLexical : Look::kResolved;
    if (call.any_string) return any_holds(text, call, look) ? Outcome::kPass : Outcome::kFail;
    const auto path = read_path_value(text);
    if (!path) return Outcome::kUnreadable;
    return holds(*path, call, look) ? Outcome::kPass : Outcome::kFail;
  }
  // An allow hangs on it where the text alone would admit, a deny or ask where it would not catch.
  bool asks_file_system(const Json& value, const CallView& call) const override {
    if (!value.is_string() || !resolves(call.server)) return false;
    const auto& text = value.get_ref<const std::string&>();
    if (call.any_string) {
      return !path_readings(text, bases_.home).empty() && !any_holds(text, call, Look::kLexical);
    }
    const auto path = read_path_value(text);
    return path && holds(*path, call, Look::kLexical) == (call.reading == Reading::kAdmit);
  }
  Types types() const override { return kStringType; }

 private:
  enum class Look : std::uint8_t { kLexical, kResolved };

  [[nodiscard]] bool is_remote(const std::string& server) const {
    return bases_.remote_servers.contains(server);
  }
  [[nodiscard]] bool resolves(const std::string& server) const {
    return resolver_ != nullptr && !is_remote(server);
  }

  [[nodiscard]] bool holds(const PathValue& path, const CallView& call, Look look) const {
    return call.reading == Reading::kAdmit ? admits(path, call.server, look)
                                           : catches(path, call.server, look);
  }

  // "*": any reading is enough, for only a deny or an ask looks at any string.
  [[nodiscard]] bool any_holds(const std::string& text, const CallView& call, Look look) const {
    return std::ranges::any_of(path_readings(text, bases_.home),
                               [&](const auto& path) { return holds(path, call, look); });
  }

  [[nodiscard]] bool admits(const PathValue& path, const std::string& server, Look look) const {
    Components raw = path.components;
    if (!path.absolute) {
      const auto root = bases_.roots.find(server);
      if (root == bases_.roots.end() && !pattern_.relative_to_here()) return false;
      Components start =
          split(root == bases_.roots.end() ? bases_.current_directory : root->second);
      raw.insert(raw.begin(), start.begin(), start.end());
    }
    const PathBase& base = pattern_.base_for(server);
    return admits_below(raw, base.written, base.real, server, look) ||
           (base.real != base.written && admits_below(raw, base.real, base.real, server, look));
  }

  // `base` is the name by which the value must enter the base; ".." may only stand strictly below
  // it.
  [[nodiscard]] bool admits_below(const Components& raw, const Components& base,
                                  const Components& real, const std::string& server,
                                  Look look) const {
    if (!begins_with(raw, base)) return false;
    const Components below(raw.begin() + static_cast<std::ptrdiff_t>(base.size()), raw.end());
    std::size_t depth = 0;
    for (const auto& component : below) {
      if (component == ".." && depth == 0) return false;
      depth += component == ".." ? std::size_t{0} - 1 : 1;
    }
    const Components lexical = collapse(below);
    if (!pattern_.fits(lexical)) return false;
    Components whole = base;
    whole.insert(whole.end(), lexical.begin(), lexical.end());
    if (excepted(whole, server)) return false;
    if (look == Look::kLexical) return true;
    return lies_below(below, real, server) &&
           (lexical.size() == below.size() || lies_below(lexical, real, server));
  }

  // Where these components lead on the disk.
  [[nodiscard]] bool lies_below(const Components& below, const Components& real,
                                const std::string& server) const {
    const auto resolved = resolver_->resolve_beneath(join(real), below);
    if (!resolved) return false;
    const Components found = split(*resolved);
    return begins_with(found, real) && pattern_.fits(std::span(found).subspan(real.size())) &&
           !excepted(found, server);
  }

  [[nodiscard]] bool catches(const PathValue& path, const std::string& server, Look look) const {
    if (path.absolute) return catches_at({}, path.components, server, look);
    const auto root = bases_.roots.find(server);
    if (root != bases_.roots.end() && catches_at(root->second, path.components, server, look))
      return true;
    if (is_remote(server)) return root == bases_.roots.end();
    const auto working = bases_.working_directories.find(server);
    const auto& here =
        working == bases_.working_directories.end() ? bases_.current_directory : working->second;
    return catches_at(here, path.components, server, look);
  }

  [[nodiscard]] bool catches_at(std::string_view start, const Components& components,
                                const std::string& server, Look look) const {
    Components raw = split(start);
    raw.insert(raw.end(), components.begin(), components.end());
    const Components lexical = collapse(raw);
    if (look == Look::kLexical)
      return pattern_.covers(lexical, server) && !excepted(lexical, server);
    bool inside = pattern_.covers(lexical, server);
    bool out = excepted(lexical, server);
    for (const Components& asked : {std::cref(raw), std::cref(lexical)}) {
      const auto resolved = resolver_->resolve(join(asked));
      if (!resolved) return true;
      const Components real = split(*resolved);
      inside = inside || pattern_.covers(real, server);
      out = out && excepted(real, server);
      if (lexical.size() == raw.size()) break;  // no "..": the same question
    }
    return inside && !out;
  }

  [[nodiscard]] bool excepted(const Components& path, const std::string& server) const {
    return std::ranges::any_of(exceptions_, [&](const auto& e) { return e.covers(path, server); });
  }

  PathPattern pattern_;
  std::vector<PathPattern> exceptions_;
  const PathResolver* resolver_;
  Bases bases_;
};

}  // namespace

Checked<MatcherPtr> compile_path(const ast::Test& test, const ast::PathTest& path,
                                 const std::vector<ast::Exception>& exceptions,
                                 const World& world) {
  const auto kind = path.kind == ast::PathTest::Kind::kWithin ? PathPattern::Kind::kWithin
                                                              : PathPattern::Kind::kMatches;
  auto pattern = PathPattern::compile(path.path, test.at, kind, world);
  if (!pattern) return std::unexpected(pattern.error());
  std::vector<PathPattern> excepted;
  for (const auto& exception : exceptions) {
    const auto* name = std::get_if<ast::PathException>(&exception.body);
    if (name == nullptr) continue;
    auto compiled =
        PathPattern::compile(name->path, exception.at, PathPattern::Kind::kException, world);
    if (!compiled) return std::unexpected(compiled.error());
    excepted.push_back(std::move(*compiled));
  }
  return std::make_unique<PathMatcher>(std::move(*pattern), std::move(excepted), world.environment);
}

}  // namespace mcpac::policy
