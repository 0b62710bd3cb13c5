// SPDX-License-Identifier: Apache-2.0

// Authority: the rights of one run or client, decided for one call at a time.
//
// It is a stack of layers, each a set of rules (docs/grants.md). A call needs
// every layer, the strictest answer wins, nothing matching means denied; a lower layer can never
// add. The authority is fixed when the run starts. Pure: text and values in, decisions out; the
// file system is seen through PathResolver only. Not thread-safe: one gate owns one authority.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/json_schema.h"
#include "core/permission.h"
#include "core/work.h"
#include "policy/decision.h"
#include "policy/environment.h"
#include "policy/evidence.h"
#include "policy/explanation.h"
#include "policy/foresight.h"
#include "policy/inclusion.h"
#include "policy/layers.h"
#include "policy/places.h"
#include "policy/server_reach.h"
#include "policy/standing.h"

namespace mcpac::policy {

struct IpAddress;

class Authority {
 public:
  // Every layer loads or none does: an error carries line, column, reason and fix.
  static Result<Authority> load(const std::vector<LayerText>& layers,
                                const Environment& environment);
  Authority(Authority&&) noexcept;
  Authority& operator=(Authority&&) noexcept;
  ~Authority();

  // What arguments go through before any rule: defaults filled in, the URLs that rules read as such
  // in the one spelling that is decided and sent (docs/grants.md), held against the schema.
  [[nodiscard]] std::optional<SchemaViolation> complete(const Permission& permission,
                                                        const JsonSchema& schema,
                                                        Json& arguments) const;

  // Decides one call whose arguments are complete. A decision that allows charges the meters of the
  // rules that matched (policy/meter.h), under a reservation that must be ended by settle() or
  // give_back(); the second time each does nothing.
  // `found`, where given, receives what it rests on, as explain() tells it.
  // `approved`: the ask rules that an approver said yes to, for this very call. These admit it; any
  // other ask rule, a deny, and a layer that does not admit it win as before. How much of the file
  // system one decision looks at is bounded: beyond that the call is denied (Decision::too_large).
  [[nodiscard]] Decision decide(const Permission& permission, const Json& arguments,
                                Explanation* found = nullptr,
                                std::span<const AskRule> approved = {});
  // The same, and what it rests on; what the file system answered only at AuditLevel::kArgs.
  [[nodiscard]] Decision decide(const Permission& permission, const Json& arguments,
                                std::span<const AskRule> approved, Evidence& evidence,
                                Lifted lifted = Lifted::kNothing);
  // What decide() would answer now, and why. Reserves nothing.
  [[nodiscard]] Explanation explain(const Permission& permission, const Json& arguments) const;
  // Nothing was sent: as if the call had not been decided.
  void give_back(std::uint64_t reservation);
  // The call has ended with a result of so many bytes of JSON text (0: without one). False: the
  // result does not fit into `bytes in` any more, and must not be delivered.
  [[nodiscard]] bool settle(std::uint64_t reservation, std::uint64_t result_bytes);

  // What decide() will say of a call that a source makes, as far as that is certain before the run.
  // With Lifted::kUngranted a layer that refuses it still is what is told.
  [[nodiscard]] Foresight foresee(const Permission& permission, const CallInSource& call,
                                  Lifted lifted = Lifted::kNothing) const;
  // The same without why, for one of many: not kDenied where it could be allowed. What it takes is
  // spent of `work`; where that does not suffice to tell, it could not.
  [[nodiscard]] Outlook outlook(const Permission& permission, const CallInSource& call,
                                Work& work) const;

  // The rule that admits the call of a source and little else, as after --grant: as exact as what
  // is known of it, with the tests and limits of the rule of the first layer that comes nearest.
  // With `beside`, another source of rules that has to admit the call as well: the narrower of what
  // is the least to either, one rule for both.
  [[nodiscard]] LeastRule least_rule(const Permission& permission, const CallInSource& call,
                                     const Authority* beside = nullptr) const;

  // What the first layer, the run's own, grants of a call that it admitted, as statements of a
  // policy: exactly this call, where a rule without limits admits it; else the rules that admit it,
  // of this tool alone. Without arguments: every rule of that layer that could have admitted a call
  // of the tool. Never more than the layer grants.
  [[nodiscard]] std::vector<std::string> granted_of(const Permission& permission,
                                                    const Json* arguments) const;

  // `where` is the text of a Narrow, empty for the whole tool.
  [[nodiscard]] Coverage coverage(const Permission& permission, std::string_view where) const {
    return standing(permission, where).coverage;
  }
  // The same for one of many, as outlook().
  [[nodiscard]] Coverage coverage(const Permission& permission, std::string_view where,
                                  Work& work) const;
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
  // Which places calls of this server can name from now on (policy/server_reach.h). `only_read`:
  // tools that say of themselves that they only read.
  [[nodiscard]] ServerReach reach(const std::string& server, const std::set<Permission>& only_read,
                                  Callers callers) const;
  // Where the first `deny network` of any layer stands; nothing: there is none.
  [[nodiscard]] std::optional<std::string> network_denied() const;
  // Kinds of places that the run's own layer names, for "granted but never declared".
  [[nodiscard]] DeclaredPlaces named_places() const;
  // A host as the program names it (an IPv6 address with or without square brackets), before any
  // name is looked up (docs/grants.md, "Files and network").
  [[nodiscard]] NetworkAnswer decide_network(std::string_view host, std::uint16_t port) const;
  // The address that is dialled for this host: it must be asked for each, so that no name leads to
  // a private, loopback, link-local or metadata address, or to this machine, where that was not
  // granted by itself.
  [[nodiscard]] NetworkAnswer decide_address(std::string_view host, const IpAddress& address,
                                             std::uint16_t port,
                                             AddressOf whose = AddressOf::kOthers) const;

  // Allows that an ask beside them makes mute, layer by layer.
  [[nodiscard]] std::vector<AskedAllow> asked_allows() const;
  // Of all layers the rules whose `until` is over now: they admit nothing, in this run or a later.
  [[nodiscard]] std::vector<LayerRules::Rule> ended_rules() const;
  // Of all rules with limits: how much is used.
  [[nodiscard]] std::vector<RuleMeters> meters() const;
  // The rules of all layers, printed canonically, one a line.
  [[nodiscard]] std::string print() const;
  [[nodiscard]] std::vector<LayerRules> layers() const;
  // The rules, printed with this target alone, whose wildcard (`server.*`, `*.*`) covers the tool.
  [[nodiscard]] std::vector<LayerRules::Rule> wildcards_over(const Permission& permission) const;
  // How much of a call of this tool the rules that speak of it let the audit log keep.
  [[nodiscard]] AuditLevel audit_level(const Permission& permission) const;

  // What the file system said of the bases of path tests when they were loaded.
  [[nodiscard]] const std::vector<PathFact>& loaded_paths() const;

  // For replay: decisions made again (history/records/replay.h) -----------------------------------
  // Whether an answer for this tool may hang on the arguments.
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
