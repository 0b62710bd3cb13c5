// PathPattern: the path of a `within`, a `matches` or an exception, with its anchor put in place.
//
// The base is the directory that the pattern names (of a glob, its part before the first wildcard).
// It is resolved once, when the rule is loaded, and may itself be a link; it is known by its
// written and by its real name from then on.
#pragma once

#include <map>
#include <span>
#include <string>

#include "policy/environment.h"
#include "policy/match/matcher.h"
#include "policy/match/path_value.h"

namespace mcpac::policy {

// What the loader knows when it compiles one target.
struct World {
  const Environment& environment;
  std::vector<std::string> servers;  // that the target covers
  Effect effect = Effect::kAllow;
};

struct PathBase {
  Components written;
  Components real;
};

class PathPattern {
 public:
  enum class Kind : std::uint8_t { kWithin, kMatches, kException };
  static Checked<PathPattern> compile(const std::string& text, ast::Offset at, Kind kind,
                                      const World& world);

  [[nodiscard]] const PathBase& base_for(const std::string& server) const;
  [[nodiscard]] bool relative_to_here() const { return relative_to_here_; }  // "./"
  // What stands below the base, by components, and whether everything below that is covered, too.
  [[nodiscard]] const Components& glob() const { return glob_; }
  [[nodiscard]] bool everything_below() const { return everything_below_; }
  // Does the rest of a path, below the base, fit?
  [[nodiscard]] bool fits(std::span<const std::string> below) const;
  // Is this whole path covered, by the written or by the real name of the base?
  [[nodiscard]] bool covers(const Components& path, const std::string& server) const;

 private:
  Components glob_;  // below the base; empty: everything below
  bool everything_below_ = false;
  bool relative_to_here_ = false;
  std::map<std::string, PathBase> by_server_;  // "@server/"
  PathBase base_;
};

}  // namespace mcpac::policy
