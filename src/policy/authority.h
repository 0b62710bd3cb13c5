// Authority: what one run or client may do, decided for one call at a time.
//
// It is a stack of layers, each a set of rules (docs: grants.md, sections 1 and 2). A call needs
// every layer, the strictest answer wins, nothing matching means denied; a lower layer can never
// add. The authority is fixed when the run starts. Pure: text and values in, decisions out; the
// file system is seen through PathResolver only. Not thread-safe: one gate owns one authority.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "core/permission.h"
#include "policy/effect.h"
#include "policy/foresight.h"
#include "policy/inclusion.h"

namespace mcpac::policy {

// What rules may name: the tools of the lock with their input schemas. A rule that names anything
// else is a load error.
using ToolSchemas = std::map<Permission, Json>;

// The world of path tests, handed in so that policy itself does no I/O (grants.md, section 4).
class PathResolver {
 public:
  virtual ~PathResolver() = default;
  // The real place of `path` (absolute; ".." is taken where the file system stands then): existing
  // components resolved, the rest kept. An error for a dangling link, a loop or an unreadable
  // folder: then no allow admits the path, and every deny and ask catches it.
  [[nodiscard]] virtual Result<std::string> resolve(std::string_view path) const = 0;
  // The real place of `components` below `base` (absolute, resolved), as RESOLVE_BENEATH walks: an
  // error as soon as a link is absolute or anything leaves the base, even when it comes back.
  [[nodiscard]] virtual Result<std::string> resolve_beneath(
      std::string_view base, const std::vector<std::string>& components) const = 0;
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

// Texts of one layer: `--grant`, `--ask`, `--deny` values, and whole policy files.
struct LayerText {
  std::string name;  // "the command line", "mcpac.policy": stands in explanations
  std::vector<std::string> grants;
  std::vector<std::string> asks;
  std::vector<std::string> denies;
  std::vector<std::string> files;  // the text of policy files (not their paths)
};

struct Environment {
  const ToolSchemas* tools = nullptr;      // borrowed, outlives the authority
  const PathResolver* resolver = nullptr;  // borrowed, may be null: then only lexical decisions
  const Clock* clock = nullptr;            // borrowed
  Bases bases;
};

// One answer. `rule` is the printed rule that decided, or the nearest one that missed; `reason`
// says why.
struct Decision {
  Effect effect = Effect::kDeny;
  std::string rule;
  std::string reason;
  std::string
      would_grant;  // the --grant text that would admit exactly this call; empty when allowed
  std::string layer;
  std::size_t other_rules = 0;  // of that layer, that speak of the tool and missed as well
  [[nodiscard]] bool allowed() const { return effect == Effect::kAllow; }
};

// How a declared permission stands to the grants, before anything runs.
enum class Coverage : std::uint8_t {
  kCovered,      // every call is admitted by some allow rule without tests, and no deny or ask can
                 // match
  kConditional,  // some rule admits some calls: each is decided when it is made
  kMissing,      // no rule can admit any call
};

class Authority {
 public:
  // Every layer loads or none does: an error carries line, column, reason and fix.
  static Result<Authority> load(const std::vector<LayerText>& layers,
                                const Environment& environment);
  Authority(Authority&&) noexcept;
  Authority& operator=(Authority&&) noexcept;
  ~Authority();

  // Decides one call whose arguments passed the schema and have defaults filled in. A decision that
  // allows reserves its meters (`calls <= 3`); settle() gives a reservation back when nothing was
  // sent.
  [[nodiscard]] Decision decide(const Permission& permission, const Json& arguments);
  void give_back(const Permission& permission, const Json& arguments);

  // What decide() will say of a call that a source makes, as far as that is certain before the run.
  [[nodiscard]] Foresight foresee(const Permission& permission, const CallInSource& call) const;

  // `where` is the text of a Narrow, empty for the whole tool.
  [[nodiscard]] Coverage coverage(const Permission& permission, std::string_view where) const;
  // Granted tools by name, for "granted but never declared" warnings: bare selectors only.
  [[nodiscard]] std::vector<Permission> named_tools() const;
  // Is every call that `narrower` admits admitted by this authority, and no limit of its rules
  // higher? Both must have been loaded for the same tools and places (policy/inclusion.h).
  [[nodiscard]] Inclusion includes(const Authority& narrower,
                                   const InclusionBudget& budget = {}) const;
  // The same tool by tool: what stands against the inclusion, and nothing where it holds.
  [[nodiscard]] std::vector<Inclusion> beyond(const Authority& narrower,
                                              const InclusionBudget& budget = {}) const;
  // The rules of all layers, printed canonically, one a line.
  [[nodiscard]] std::string print() const;

 private:
  struct Impl;
  explicit Authority(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mcpac::policy
