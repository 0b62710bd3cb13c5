// SPDX-License-Identifier: Apache-2.0

// PathPattern: the path of a `within`, a `matches` or an exception, with its anchor put in place.
//
// The base is the directory that the pattern names (of a glob, its part before the first wildcard).
// It is resolved once, when the rule is loaded, and may itself be a link; it is known by its
// written and by its real name from then on.
#pragma once

#include <map>
#include <optional>
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
  // The same by what the folders are, whatever they are called; `base`: what stands at the base. Of
  // a base that is not all there, what is missing must be named.
  [[nodiscard]] bool covers(const Sighting& seen, const Sighting& base) const;
  // Is this folder one that something covered lies in, and not covered itself?
  // kLeftOut: as if nothing were there that a wildcard of the pattern may mean.
  enum class Wildcards : std::uint8_t { kCount, kLeftOut };
  [[nodiscard]] bool lies_below(const Components& folder, const std::string& server,
                                Wildcards wildcards = Wildcards::kCount) const;
  [[nodiscard]] bool lies_below(const Sighting& folder, const Sighting& base) const;
  // Under "*": may this path be covered, where characters that our tables do not know yet may be
  // equal to others than those of ASCII? Of a path without such characters: no.
  [[nodiscard]] bool may_cover(const Components& path, const std::string& server) const;
  // May this path be covered, or be a folder above, where its wildcards are a shell's? kPass: a
  // component of stars alone stands for no name that the pattern writes out last, and a folder
  // above is none. Of a path without wildcards: kNothing.
  enum class Stars : std::uint8_t { kCount, kPass };
  enum class Meant : std::uint8_t { kNothing, kAbove, kCovered };
  [[nodiscard]] Meant may_mean(const Components& path, const std::string& server,
                               Stars stars) const;
  // The one file that a glob without wildcards names; nothing: it may name several.
  [[nodiscard]] std::optional<Components> one_file(const std::string& server) const;
  [[nodiscard]] const std::string& text() const { return text_; }  // as the rule has it

 private:
  // Can more components make these fit?
  [[nodiscard]] bool fits_longer(std::span<const std::string> below) const;

  std::string text_;
  Components glob_;  // below the base; empty: everything below
  bool everything_below_ = false;
  bool relative_to_here_ = false;
  std::map<std::string, PathBase> by_server_;  // "@server/"
  PathBase base_;
};

// What to write for a path without an anchor ("data", "$HOME/data"); empty where nothing certain is
// meant.
[[nodiscard]] std::string with_anchor(const std::string& text, const Environment& environment);

}  // namespace mcpac::policy
