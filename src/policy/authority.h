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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "core/json_schema.h"
#include "core/permission.h"
#include "core/quantity.h"
#include "policy/decision.h"
#include "policy/evidence.h"
#include "policy/explanation.h"
#include "policy/foresight.h"
#include "policy/inclusion.h"
#include "policy/places.h"

namespace mcpac::policy {

struct IpAddress;

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

// The text of a policy file, and how messages call it; without a name they name the layer.
struct PolicyFile {
  PolicyFile(std::string the_text, std::string the_name = {})  // NOLINT: a text is a file
      : text(std::move(the_text)), name(std::move(the_name)) {}
  PolicyFile(const char* the_text) : text(the_text) {}  // NOLINT: a text is a file
  std::string text;
  std::string name;
};

// Texts of one layer: `--grant`, `--ask`, `--deny` values, and whole policy files.
struct LayerText {
  std::string name;  // "the command line", "mcpac.policy": stands in explanations
  std::vector<std::string> grants;
  std::vector<std::string> asks;
  std::vector<std::string> denies;
  std::vector<PolicyFile> files;
  // Profiles that hold as well, by name: of `files`, or of these, of which nothing else is taken.
  std::vector<std::string> profiles = {};
  std::vector<PolicyFile> profile_files = {};
  // Statements about places, one a text, as options make them: `files ./src read-only`.
  std::vector<std::string> places = {};
  // Of the layer that says what a program declares: it cuts the places of others to the declared
  // kinds, and names none itself.
  std::optional<DeclaredPlaces> declared = {};
};

struct Environment {
  const ToolSchemas* tools = nullptr;      // borrowed, outlives the authority
  const PathResolver* resolver = nullptr;  // borrowed, may be null: then only lexical decisions
  const Clock* clock = nullptr;            // borrowed
  Bases bases;
  // What a call costs, as the user's configuration says; a tool without a price costs nothing.
  std::map<Permission, Money> prices = {};
};

// How a declared permission stands to the grants, before anything runs.
enum class Coverage : std::uint8_t {
  kCovered,      // every call is admitted, read by its text and with no limit used up
  kConditional,  // some rule admits some calls: each is decided when it is made
  kMissing,      // no rule can admit any call
};

// How a declared permission stands to the grants, in full.
struct DeclaredStanding {
  Coverage coverage = Coverage::kMissing;
  // Missing, although rules speak of the tool: a call that is declared and refused, as it would be
  // sent.
  std::optional<Json> refused = {};
  bool is_certain = true;  // false: comparing took too long, and each call will be decided
};

// The rules of one layer, printed canonically.
struct LayerRules {
  struct Rule {
    std::string text;
    std::string place;  // "mcpac.policy:12", "--grant"
    Effect effect = Effect::kAllow;
  };
  std::string name;
  std::vector<Rule> rules;
  // What it says of files and the network, printed canonically.
  struct Place {
    std::string text;
    std::string place;  // "mcpac.policy:12", "--files"
  };
  std::vector<Place> places = {};
  std::optional<DeclaredPlaces> declared = {};
};

class Authority {
 public:
  // Every layer loads or none does: an error carries line, column, reason and fix.
  static Result<Authority> load(const std::vector<LayerText>& layers,
                                const Environment& environment);
  Authority(Authority&&) noexcept;
  Authority& operator=(Authority&&) noexcept;
  ~Authority();

  // What arguments go through before any rule: defaults filled in, the URLs that rules read as such
  // in the one spelling that is decided and sent (grants.md, section 5), held against the schema.
  [[nodiscard]] std::optional<SchemaViolation> complete(const Permission& permission,
                                                        const JsonSchema& schema,
                                                        Json& arguments) const;

  // Decides one call whose arguments are complete. A decision that allows charges the meters of the
  // rules that matched (policy/meter.h), under a reservation that must be ended by settle() or
  // give_back(); the second time each does nothing.
  // `found`, where given, receives what it rests on, as explain() tells it.
  // `approved`: the ask rules that somebody who may answer said yes to, for this very call. These
  // admit it; any other ask rule, a deny, and a layer that does not admit it win as before.
  [[nodiscard]] Decision decide(const Permission& permission, const Json& arguments,
                                Explanation* found = nullptr,
                                std::span<const AskRule> approved = {});
  // The same, and what it rests on; what the file system answered only at AuditLevel::kArgs.
  [[nodiscard]] Decision decide(const Permission& permission, const Json& arguments,
                                std::span<const AskRule> approved, Evidence& evidence);
  // What decide() would answer now, and why. Reserves nothing.
  [[nodiscard]] Explanation explain(const Permission& permission, const Json& arguments) const;
  // Nothing was sent: as if the call had not been decided.
  void give_back(std::uint64_t reservation);
  // The call has ended with a result of so many bytes of JSON text (0: without one). False: the
  // result does not fit into `bytes in` any more, and must not be delivered.
  [[nodiscard]] bool settle(std::uint64_t reservation, std::uint64_t result_bytes);

  // What decide() will say of a call that a source makes, as far as that is certain before the run.
  [[nodiscard]] Foresight foresee(const Permission& permission, const CallInSource& call) const;

  // `where` is the text of a Narrow, empty for the whole tool.
  [[nodiscard]] Coverage coverage(const Permission& permission, std::string_view where) const {
    return standing(permission, where).coverage;
  }
  [[nodiscard]] DeclaredStanding standing(const Permission& permission,
                                          std::string_view where) const;
  // Granted tools by name, for "granted but never declared" warnings: bare selectors only.
  [[nodiscard]] std::vector<Permission> named_tools() const;
  // Is every call that `narrower` admits admitted by this authority, and no limit of its rules
  // higher? Both must have been loaded for the same tools and places (policy/inclusion.h).
  [[nodiscard]] Inclusion includes(const Authority& narrower,
                                   const InclusionBudget& budget = {}) const;
  // The same tool by tool: what stands against the inclusion, and nothing where it holds.
  [[nodiscard]] std::vector<Inclusion> beyond(const Authority& narrower,
                                              const InclusionBudget& budget = {}) const;
  // What rules are read against, and what calls cost, as it was loaded.
  [[nodiscard]] const Bases& bases() const;
  [[nodiscard]] const std::map<Permission, Money>& prices() const;
  // Files and network (policy/places.h) -----------------------------------------------------------
  // What all layers together admit, by path: where two layers say something, the inner path and the
  // lower mode; nothing that lies within another place of the same mode or a wider one.
  [[nodiscard]] std::vector<FilePlace> files() const;
  // What may be reached, where it is known by its text alone; decide_network() and decide_address()
  // answer for one connection.
  [[nodiscard]] std::vector<NetworkPlace> networks() const;
  [[nodiscard]] bool speaks_of_network() const { return !networks().empty(); }
  // Why nothing of a kind is admitted; nothing where something is.
  [[nodiscard]] std::optional<PlaceRefusal> place_refusal(PlaceKind kind) const;
  // Kinds of places that the run's own layer names, for "granted but never declared".
  [[nodiscard]] DeclaredPlaces named_places() const;
  // A host as the program names it (an IPv6 address with or without square brackets), before any
  // name is looked up; grants.md, section 5.
  [[nodiscard]] NetworkAnswer decide_network(std::string_view host, std::uint16_t port) const;
  // The address that is dialled for this host: it must be asked for each, so that no name leads to
  // a private, loopback, link-local or metadata address that was not granted by itself.
  [[nodiscard]] NetworkAnswer decide_address(std::string_view host, const IpAddress& address,
                                             std::uint16_t port) const;

  // Of all rules with limits: how much is used.
  [[nodiscard]] std::vector<RuleMeters> meters() const;
  // The rules of all layers, printed canonically, one a line.
  [[nodiscard]] std::string print() const;
  [[nodiscard]] std::vector<LayerRules> layers() const;
  // How much of a call of this tool the rules that speak of it let the audit log keep.
  [[nodiscard]] AuditLevel audit_level(const Permission& permission) const;

  // What the file system said of the bases of path tests when they were loaded.
  [[nodiscard]] const std::vector<PathFact>& loaded_paths() const;

  // For those who make decisions again (execute/records/replay.h)
  // ------------------------------------- Whether an answer for this tool may hang on the
  // arguments.
  [[nodiscard]] bool weighs_arguments(const Permission& permission) const;
  [[nodiscard]] std::vector<MeterReading> meter_readings(const Permission& permission) const;
  // Charges an allowed call as it was charged then. The reservation is as one of decide().
  std::uint64_t charge_again(const Evidence& then);
  // Decides with limits used as they were then, and charges nothing.
  [[nodiscard]] Decision decide_as_of(const std::vector<MeterReading>& then,
                                      const Permission& permission, const Json& arguments,
                                      Evidence& evidence);

 private:
  struct Impl;
  explicit Authority(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mcpac::policy
