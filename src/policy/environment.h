// What an authority is loaded for: the tools that rules may name, the world that they are read
// against.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "core/permission.h"
#include "core/quantity.h"
#include "core/work.h"

namespace mcpac::policy {

// What rules may name: the tools of the lock with their input schemas. A rule that names anything
// else is a load error.
using ToolSchemas = std::map<Permission, Json>;

// The world of path tests, handed in so that policy itself does no I/O (docs/grants.md).
class PathResolver {
 public:
  virtual ~PathResolver() = default;
  // The real place of `path` (absolute; ".." is taken where the file system stands then): existing
  // components resolved, the rest kept. An error for a dangling link, a loop or an unreadable
  // folder: then no allow admits the path, and every deny and ask catches it. `work`, where given,
  // is what it may take: where that does not suffice nothing of it is left, and it is an error.
  [[nodiscard]] virtual Result<std::string> resolve(std::string_view path,
                                                    Work* work = nullptr) const = 0;
  // The real place of `components` below `base` (absolute, resolved), as RESOLVE_BENEATH walks: an
  // error as soon as a link is absolute or anything leaves the base, even when it comes back.
  [[nodiscard]] virtual Result<std::string> resolve_beneath(
      std::string_view base, const std::vector<std::string>& components,
      Work* work = nullptr) const = 0;
};

// Where the anchors of path tests point, and what relative values in a call are relative to.
struct Bases {
  std::string current_directory;             // "./"
  std::string home;                          // "~/"
  std::map<std::string, std::string> roots;  // "@server/": a server's declared root, absolute
  // What deny and ask resolve relative values against as well: where a local server was started,
  // when not in the current directory; and which servers run on another machine (lexical decisions
  // only).
  std::map<std::string, std::string> working_directories;
  std::set<std::string> remote_servers;
  friend bool operator==(const Bases&, const Bases&) = default;
};

struct Environment {
  const ToolSchemas* tools = nullptr;      // borrowed, outlives the authority
  const PathResolver* resolver = nullptr;  // borrowed, may be null: then only lexical decisions
  const Clock* clock = nullptr;            // borrowed
  Bases bases;
  // What a call costs, as the user's configuration says; a tool without a price costs nothing.
  std::map<Permission, Money> prices = {};
  // Decisions are made again from a record, which bounds what is asked: an older one may hold more
  // than a call may ask today.
  bool is_replay = false;
};

}  // namespace mcpac::policy
