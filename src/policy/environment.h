// SPDX-License-Identifier: Apache-2.0

// Environment of an authority: the tools that rules may name, the world that they are read against.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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

// By which the kernel knows a file or folder, whatever it is called: valid while it exists.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};

// What stands at a path.
struct Sighting {
  enum class Kind : std::uint8_t { kUnknown, kMissing, kFile, kFolder };
  // As resolve() gives it; where these were asked for, existing components by their own names.
  std::string path;
  Kind kind = Kind::kUnknown;
  // Of "/" and of each component of `path` that exists, in their order; none: not known.
  std::vector<FileId> steps = {};
  // What is missing of `path` may be opened by names that differ in case; looked at where own names
  // were asked for.
  bool folds = false;
  friend bool operator==(const Sighting&, const Sighting&) = default;
};

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
  // As resolve(), with what was found on the way. A resolver that knows no more than resolve() says
  // so: of a Sighting without steps only `path` counts. kOwn: an entry that was opened by another
  // name than its folder has for it, as where case is folded, has that name in `path`; it takes
  // longer.
  enum class Names : std::uint8_t { kAsked, kOwn };
  [[nodiscard]] virtual Result<Sighting> look(std::string_view path, Names /*names*/,
                                              Work* work = nullptr) const {
    auto real = resolve(path, work);
    if (!real) return pass_on(real);
    return Sighting{.path = std::move(*real)};
  }
  // Whether an entry below this folder (absolute, resolved), however deep, may be one that is
  // meant: `is_meant` is asked about each, by its absolute path, and about what a link leads to. A
  // link to a folder outside may lead to any. An error where more are there than are looked at, or
  // some cannot be. `meaning`: what is_meant asks, as records know it. A resolver that cannot look
  // says yes.
  using IsMeant = std::function<bool(const std::string&)>;
  [[nodiscard]] virtual Result<bool> holds(std::string_view /*folder*/,
                                           std::string_view /*meaning*/,
                                           const IsMeant& /*is_meant*/,
                                           Work* /*work*/ = nullptr) const {
    return true;
  }
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
  // Folders among the arguments of a local server's command, absolute: it may count relative values
  // from any of them. Not those that are where it starts, or its root, by another name.
  std::map<std::string, std::vector<std::string>> given_folders = {};
  // Folders of this machine that a server in a container sees by other names: the name there, and
  // the folder. Absolute values below the one mean what is below the other as well, to a deny, an
  // ask and an exception.
  std::map<std::string, std::map<std::string, std::string>> mounts = {};
  // Local servers whose start nothing tells (a shell that changes its folder, a
  // container): an allow admits relative values only where a root is declared.
  std::set<std::string> unknown_starts = {};
  // Tools that act on the one entry which a path names, and on nothing below it: only these may
  // have a folder that a denied or excepted place lies in. By the user's word (mcpac.json).
  std::set<Permission> entry_only = {};
  // False in replays of records from before files were known by their identity, values by all that
  // servers take them for, and folders above a denied place were caught: decisions are made as they
  // were then.
  bool by_identity = true;
  friend bool operator==(const Bases&, const Bases&) = default;
};

// Where relative values in calls to a server may be counted from. An allow needs all of `admit`
// inside, a deny or ask catches what one of `to_catch` does: where the declared root (or, without
// one, where the server starts) and the folders that it was given are; a deny or ask looks where a
// server with a root was started, too. Without doubles.
struct RelativeStarts {
  std::vector<std::string> admit;
  std::vector<std::string> to_catch;
  bool has_root = false;
  bool is_unknown = false;  // Bases::unknown_starts, and no root
};
[[nodiscard]] RelativeStarts relative_starts(const Bases& bases, const std::string& server);

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
  // What $HOME says, for the fix of a rule that has it; never what "~/" is. Empty: unknown.
  std::string home_variable = {};
};

}  // namespace mcpac::policy
