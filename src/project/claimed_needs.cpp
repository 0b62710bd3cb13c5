// SPDX-License-Identifier: Apache-2.0

#include "project/claimed_needs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/ascii.h"
#include "core/offer.h"
#include "core/printable.h"
#include "mcp/secrets.h"
#include "policy/text/printer.h"
#include "project/project_place.h"

namespace mcpac::project {
namespace {

namespace fs = std::filesystem;
using Kind = Claim::Kind;

// Whether and why a start does not give something.
struct Answer {
  bool is_given = true;
  std::string held_back = {};
  bool is_of_rules = false;
};

// Places of a confined server's start, read once for all of its tools.
class GivenAtStart {
 public:
  // `rules`: of this server; null: they are not known.
  GivenAtStart(const Project& project, const mcp::ServerConfig& server, const ServerPlaces* rules)
      : project_(project), server_(server), rules_(rules) {
    mcp::SecretValues secrets;  // nothing of these is said
    const auto expanded = [&](const std::vector<std::string>& texts) {
      std::vector<std::string> all;
      for (const std::string& text : texts) {
        auto value = secrets.expand(text, "sandbox");
        if (value)
          all.push_back(std::move(*value));
        else
          is_readable_ = false;
      }
      return all;
    };
    for (const auto& text : expanded(server.sandbox->files)) {
      auto place = place_of_entry(text, project, server.name);
      places_.push_back({.path = place.path, .mode = place.mode, .rules = {}});
    }
    network_ = expanded(server.sandbox->network);
    if (rules_ != nullptr)
      places_.insert(places_.end(), rules_->given.begin(), rules_->given.end());
  }

  [[nodiscard]] Answer gives(const Claim& claim) const {
    switch (claim.kind()) {
      case Kind::kReadFiles: return gives_files(claim, false);
      case Kind::kWriteFiles: return gives_files(claim, true);
      case Kind::kNetwork: return gives_network(claim);
      case Kind::kProgram: return {claim.target.empty() || is_of_every_sandbox(claim.target)};
      case Kind::kVariable: return {claim.target.empty() || gives_variable(claim.target)};
      case Kind::kOther: break;
    }
    return {};  // nothing in an entry is about it
  }

 private:
  using Place = ServerPlaces::Place;

  static std::string rules_of(const Place& place) {
    return place.rules.empty() ? std::string("a rule") : place.rules.front();
  }

  [[nodiscard]] Answer gives_files(const Claim& claim, bool to_write) const {
    if (!claim.argument.empty() || !is_readable_) return {};  // or with the rules that admit it
    const auto fits = [&](const Place& place) {
      return place.mode == policy::FileMode::kReadWrite || !to_write;
    };
    const Answer missing{.is_given = false, .is_of_rules = rules_ == nullptr};
    if (claim.target.empty()) return std::ranges::any_of(places_, fits) ? Answer{} : missing;
    const fs::path wanted = place_of_entry(claim.target + ":ro", project_, server_.name).path;
    const fs::path folder = place_of_entry(".", project_, server_.name).path;
    // Folders of its own, in memory (confine_servers.cpp); a project there is none of them, and in
    // tier B they are the host's.
    for (const fs::path own : {"/tmp", "/var/tmp"}) {
      if (claim.target.starts_with('/') && lies_in(wanted, own) && !lies_in(wanted, folder) &&
          tier_of_start() == sandbox::Tier::kA)
        return {};
    }
    if (rules_ != nullptr) {
      if (auto held = held_by(rules_->absent, wanted)) return *held;
      if (auto held = held_by(rules_->read_only, wanted); held && to_write) return *held;
    }
    const bool is_given = std::ranges::any_of(
        places_, [&](const Place& place) { return fits(place) && lies_in(wanted, place.path); });
    return is_given ? Answer{} : missing;
  }

  // Asks the machine where a person accepted B.
  // Commands that know no rules start nothing, and withhold nothing for a tier.
  [[nodiscard]] sandbox::Tier tier_of_start() const {
    return rules_ != nullptr ? rules_->tier : sandbox::Tier::kA;
  }

  static std::optional<Answer> held_by(const std::vector<Place>& held, const fs::path& wanted) {
    const auto found =
        std::ranges::find_if(held, [&](const Place& place) { return lies_in(wanted, place.path); });
    if (found == held.end()) return std::nullopt;
    return Answer{.is_given = false, .held_back = rules_of(*found)};
  }

  // By the policy's own order of places: what the claim names lies in what the entry names.
  [[nodiscard]] Answer gives_network(const Claim& claim) const {
    if (rules_ != nullptr && rules_->network_denied)
      return {.is_given = false, .held_back = *rules_->network_denied};
    if (!is_readable_) return {};
    if (claim.target.empty() || !claim.argument.empty()) return {!network_.empty()};
    const auto given = authority_of_network({network_layer(server_.name, network_)});
    // One that is no place refuses the start, which says so.
    if (!given) return {};
    const auto wanted = authority_of_network({network_layer(server_.name, {claim.target})});
    return {wanted && given->beyond(*wanted).empty()};
  }

  // Programs of /usr, which every confined server has.
  static bool is_of_every_sandbox(const std::string& program) {
    constexpr std::array kFolders = {"/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"};
    if (program.contains('/'))
      return program.starts_with("/usr/") && ::access(program.c_str(), X_OK) == 0;
    return std::ranges::any_of(kFolders, [&](const char* folder) {
      return ::access((fs::path(folder) / program).c_str(), X_OK) == 0;
    });
  }

  [[nodiscard]] bool gives_variable(const std::string& name) const {
    constexpr std::array<std::string_view, 5> kAlways = {"PATH", "LANG", "TZ", "HOME", "TMPDIR"};
    // Those that lead to its proxy (servers/server_network.h).
    constexpr std::array<std::string_view, 5> kOfNetwork = {
        "http_proxy", "https_proxy", "all_proxy", "no_proxy", "node_use_env_proxy"};
    const bool is_of_network = std::ranges::find(kOfNetwork, lowered(name)) != kOfNetwork.end();
    return server_.environment.contains(name) || name.starts_with("LC_") ||
           std::ranges::find(kAlways, name) != kAlways.end() ||
           (is_of_network && !network_.empty());
  }

  const Project& project_;
  const mcp::ServerConfig& server_;
  const ServerPlaces* rules_;
  std::vector<Place> places_;  // of both
  std::vector<std::string> network_;
  bool is_readable_ = true;  // every reference leads somewhere
};

std::string text_of_place(const Claim& claim) {
  std::string path = claim.target;
  if (path == "~" || path.starts_with("~/")) path = home_of_user() + path.substr(1);
  return path + (claim.kind() == Kind::kWriteFiles ? ":rw" : "");
}

std::string line_for(const Claim& claim) {
  const bool is_named = !claim.target.empty();
  switch (claim.kind()) {
    case Kind::kReadFiles:
    case Kind::kWriteFiles:
      return fmt::format(R"("sandbox": {{"files": [{}]}})",
                         Json(is_named                            ? text_of_place(claim)
                              : claim.kind() == Kind::kWriteFiles ? "./PATH:rw"
                                                                  : "./PATH")
                             .dump());
    case Kind::kNetwork:
      return fmt::format(R"("sandbox": {{"network": [{}]}})",
                         Json(is_named ? claim.target : "HOST:PORT").dump());
    case Kind::kVariable: return fmt::format(R"("env": {{"{0}": "${{env:{0}}}"}})", claim.target);
    case Kind::kProgram:
    case Kind::kOther: break;
  }
  return fmt::format("install {} below /usr: no \"sandbox\" gives programs of other folders",
                     claim.target);
}

ToolNeeds needs_by(const GivenAtStart& given, const codegen::LockedServer& server,
                   const codegen::LockedTool& tool) {
  ToolNeeds needs;
  auto claims = claims_of_tool(tool.definition).list;
  std::ranges::copy(claims_about(server.claims, tool.name), std::back_inserter(claims));
  std::vector<ToolNeeds::Unmet> optional;
  std::vector<ToolNeeds::Unmet> of_rules;
  for (const Claim& claim : claims) {
    Answer answer = given.gives(claim);
    if (answer.is_given) continue;
    ToolNeeds::Unmet unmet{claim, line_for(claim), std::move(answer.held_back), answer.is_of_rules};
    auto& list = !claim.required ? optional : unmet.withholds() ? needs.unmet : of_rules;
    list.push_back(std::move(unmet));
  }
  std::ranges::move(of_rules, std::back_inserter(needs.unmet));
  std::ranges::move(optional, std::back_inserter(needs.unmet));
  return needs;
}

const ServerPlaces* rules_for(const PlacesOfServers* rules, const std::string& server) {
  static const ServerPlaces kNone;
  if (rules == nullptr) return nullptr;
  const auto found = rules->find(server);
  return found == rules->end() ? &kNone : &found->second;
}

}  // namespace

policy::LayerText network_layer(const std::string& server, const std::vector<std::string>& places) {
  policy::LayerText layer;
  layer.name = fmt::format("sandbox.network of server {}", server);
  for (const std::string& place : places)
    layer.places.push_back("network " + (place == "any" ? place : policy::print_string(place)));
  return layer;
}

Result<policy::Authority> authority_of_network(const std::vector<policy::LayerText>& layers) {
  static const policy::ToolSchemas kNone;
  policy::Environment environment;
  environment.tools = &kNone;
  return policy::Authority::load(layers, environment);
}

ToolNeeds needs_of(const Project& project, const codegen::LockedServer& server,
                   const codegen::LockedTool& tool, const PlacesOfServers* rules) {
  const auto* config = project.config.find(server.name);
  if (config == nullptr || !config->sandbox) return {};
  return needs_by(GivenAtStart(project, *config, rules_for(rules, server.name)), server, tool);
}

NeedsOfTools unmet_needs(const Project& project, const codegen::Lock& lock,
                         const PlacesOfServers* rules) {
  NeedsOfTools all;
  for (const auto& server : lock.servers) {
    const auto* config = project.config.find(server.name);
    if (config == nullptr || !config->sandbox) continue;
    const GivenAtStart given(project, *config, rules_for(rules, server.name));
    for (const auto& tool : server.tools) {
      auto needs = needs_by(given, server, tool);
      auto permission = Permission::of(server.name, tool.name);
      if (permission && !needs.unmet.empty()) all.emplace(*permission, std::move(needs));
    }
  }
  return all;
}

std::string needs_text(const ToolNeeds& needs) {
  constexpr std::size_t kNamedClaims = 4;
  if (needs.unmet.empty()) return "";
  const bool is_withheld = needs.is_withheld();
  const bool is_of_rules = !is_withheld && needs.unmet.front().claim.required;
  std::string names;
  std::string held;
  std::size_t count = 0;
  std::size_t missing = 0;
  for (const auto& one : needs.unmet) {
    if (is_withheld ? !one.withholds() : is_of_rules && !one.claim.required) break;
    if (one.held_back.empty()) ++missing;
    if (held.empty()) held = one.held_back;
    if (++count <= kNamedClaims) names += (names.empty() ? "" : "; ") + words_of(one.claim);
  }
  if (count > kNamedClaims) names += fmt::format("; {} more", count - kNamedClaims);
  std::string why = missing == 0 ? "" : ", which its entry does not give";
  if (is_of_rules) why += ", and rules of a run may";
  if (!held.empty()) why += fmt::format("{}denied by {}", missing == 0 ? ", " : "; or ", held);
  return fmt::format("{}: it says it needs: {}{}{}",
                     is_withheld   ? "not offered"
                     : is_of_rules ? "in need of a rule"
                                   : "degraded",
                     names, is_withheld || is_of_rules ? " (required)" : "", why);
}

std::string needs_remedy(const ToolNeeds& needs) {
  std::set<std::string> lines;
  std::set<std::string> rules;
  std::string text;
  for (const auto& one : needs.unmet) {
    if (!one.claim.required) continue;
    if (!one.held_back.empty())
      rules.insert(one.held_back);
    else if (lines.insert(one.line).second)
      text += (text.empty() ? "" : ", ") + one.line;
  }
  if (!rules.empty())
    text += fmt::format("{}take out what denies it: {}", text.empty() ? "" : "; ",
                        fmt::join(rules, ", "));
  return text.empty() ? needs.unmet.front().line : text;
}

Error withheld_error(const Permission& tool, const ToolNeeds& needs) {
  return {ErrorId::kToolWithheld, fmt::format("{} is {}", tool.text(), needs_text(needs)),
          fmt::format("server {}", tool.server()),
          "its server is confined, and says that the tool cannot work without it: a claim of the "
          "server, which grants nothing",
          fmt::format("in the entry of {} in mcpac.json, where it is meant to have that: {}; or do "
                      "not call the tool",
                      tool.server(), printable(needs_remedy(needs), 2'000))};
}

ClaimedEntries entries_of_claims(const codegen::LockedServer& server) {
  // By place or host; what is written is read as well.
  std::map<std::string, std::pair<bool, std::string>> files;
  std::map<std::string, std::string> network;
  const auto add = [&](const Claim& claim, const std::string& who) {
    if (claim.target.empty()) return;
    const std::string reason = fmt::format("the server says: {} {} ({})", who, words_of(claim),
                                           claim.required ? "required" : "optional");
    if (claim.kind() == Kind::kNetwork) {
      network.emplace(claim.target, reason);
    } else if (claim.kind() == Kind::kReadFiles || claim.kind() == Kind::kWriteFiles) {
      const bool to_write = claim.kind() == Kind::kWriteFiles;
      Claim to_read = claim;
      to_read.effect = "FsRead";
      auto [place, is_new] = files.try_emplace(text_of_place(to_read), to_write, reason);
      if (!is_new && to_write && !place->second.first) place->second = {true, reason};
    }
  };
  for (const Claim& claim : server.claims)
    add(claim, claim.tool.empty() ? server.name : claim.tool);
  for (const auto& tool : server.tools) {
    for (const Claim& claim : claims_of_tool(tool.definition).list)
      add(claim, printable(tool.name, 100));
  }
  ClaimedEntries entries;
  for (const auto& [path, said] : files)
    entries.files.push_back({path + (said.first ? ":rw" : ""), said.second});
  for (const auto& [host, reason] : network) entries.network.push_back({host, reason});
  return entries;
}

}  // namespace mcpac::project
