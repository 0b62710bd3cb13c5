#include "execute/project/claimed_needs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/ascii.h"
#include "core/offer.h"
#include "core/printable.h"
#include "execute/project/project_place.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;
using Kind = Claim::Kind;

// What its entry gives a confined server, read once for all of its tools.
class GivenByEntry {
 public:
  GivenByEntry(const Project& project, const mcp::ServerConfig& server)
      : folder_(project.folder), variables_(server.environment) {
    const OrderedJson entry = mcp::to_json(server);
    const auto sandbox = entry.find("sandbox");
    if (sandbox == entry.end() || !sandbox->is_object()) return;
    for (const auto& text : strings_of(*sandbox, "files")) places_.push_back(place_of(text));
    network_ = strings_of(*sandbox, "network");
  }

  [[nodiscard]] bool gives(const Claim& claim) const {
    switch (claim.kind()) {
      case Kind::kReadFiles: return gives_files(claim, false);
      case Kind::kWriteFiles: return gives_files(claim, true);
      case Kind::kNetwork: return gives_network(claim);
      case Kind::kProgram: return claim.target.empty() || is_of_every_sandbox(claim.target);
      case Kind::kVariable: return claim.target.empty() || gives_variable(claim.target);
      case Kind::kOther: break;
    }
    return true;  // nothing in an entry is about it
  }

 private:
  struct Given {
    fs::path path;
    bool is_writable = false;
  };

  static std::vector<std::string> strings_of(const OrderedJson& object, const char* name) {
    std::vector<std::string> texts;
    const auto found = object.find(name);
    if (found == object.end() || !found->is_array()) return texts;
    for (const OrderedJson& one : *found) {
      if (one.is_string()) texts.push_back(one.get<std::string>());
    }
    return texts;
  }

  [[nodiscard]] fs::path path_of(std::string_view text) const {
    fs::path path;
    if (text == "~" || text.starts_with("~/")) {
      path = fs::path(home_of_user()) / text.substr(std::min<std::size_t>(text.size(), 2));
    } else {
      path = folder_ / text;
    }
    path = path.lexically_normal();
    return path.has_filename() || path == path.root_path() ? path : path.parent_path();
  }

  [[nodiscard]] Given place_of(std::string_view text) const {
    const bool is_writable = text.ends_with(":rw");
    if (is_writable || text.ends_with(":ro")) text.remove_suffix(3);
    return {path_of(text), is_writable};
  }

  [[nodiscard]] bool gives_files(const Claim& claim, bool to_write) const {
    if (!claim.argument.empty()) return true;  // with the rules that let it through
    const auto fits = [&](const Given& place) { return place.is_writable || !to_write; };
    if (claim.target.empty()) return std::ranges::any_of(places_, fits);
    const fs::path wanted = path_of(claim.target);
    // Folders of its own, in memory (confine_servers.cpp); a project there is none of them.
    for (const fs::path own : {"/tmp", "/var/tmp"}) {
      if (claim.target.starts_with('/') && lies_below(wanted, own) && !lies_below(wanted, folder_))
        return true;
    }
    return std::ranges::any_of(
        places_, [&](const Given& place) { return fits(place) && lies_below(wanted, place.path); });
  }

  static bool lies_below(const fs::path& path, const fs::path& folder) {
    const fs::path rest = path.lexically_relative(folder);
    return !rest.empty() && *rest.begin() != "..";
  }

  [[nodiscard]] bool gives_network(const Claim& claim) const {
    if (claim.target.empty() || !claim.argument.empty()) return !network_.empty();
    return std::ranges::any_of(network_, [&](const std::string& one) {
      return one == "any" || one == "*:*" || covers(one, claim.target);
    });
  }

  // "*.github.com:443" covers "github.com:443" and "api.github.com:443", ":*" every port.
  static bool covers(const std::string& given, const std::string& wanted) {
    const std::string low = lowered(given);
    const auto colon = low.rfind(':');
    const auto wanted_colon = wanted.rfind(':');
    if (colon == std::string::npos || wanted_colon == std::string::npos) return low == wanted;
    const std::string_view port = std::string_view(low).substr(colon + 1);
    if (port != "*" && port != std::string_view(wanted).substr(wanted_colon + 1)) return false;
    std::string_view host = std::string_view(low).substr(0, colon);
    const std::string_view wanted_host = std::string_view(wanted).substr(0, wanted_colon);
    if (!host.starts_with("*.")) return host == wanted_host;
    host.remove_prefix(2);
    return wanted_host == host ||
           (wanted_host.ends_with(host) &&
            wanted_host.substr(0, wanted_host.size() - host.size()).ends_with('.'));
  }

  // What /usr has, which every confined server has.
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
    return variables_.contains(name) || name.starts_with("LC_") ||
           std::ranges::find(kAlways, name) != kAlways.end();
  }

  fs::path folder_;
  const std::map<std::string, std::string>& variables_;  // of the project's server
  std::vector<Given> places_;
  std::vector<std::string> network_;
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

ToolNeeds needs_by(const GivenByEntry& given, const codegen::LockedServer& server,
                   const codegen::LockedTool& tool) {
  ToolNeeds needs;
  auto claims = claims_of_tool(tool.definition).list;
  std::ranges::copy(claims_about(server.claims, tool.name), std::back_inserter(claims));
  for (const bool required : {true, false}) {
    for (const Claim& claim : claims) {
      if (claim.required == required && !given.gives(claim))
        needs.unmet.push_back({claim, line_for(claim)});
    }
  }
  return needs;
}

}  // namespace

ToolNeeds needs_of(const Project& project, const codegen::LockedServer& server,
                   const codegen::LockedTool& tool) {
  const auto* config = project.config.find(server.name);
  if (config == nullptr || !config->sandbox) return {};
  return needs_by(GivenByEntry(project, *config), server, tool);
}

NeedsOfTools unmet_needs(const Project& project, const codegen::Lock& lock) {
  NeedsOfTools all;
  for (const auto& server : lock.servers) {
    const auto* config = project.config.find(server.name);
    if (config == nullptr || !config->sandbox) continue;
    const GivenByEntry given(project, *config);
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
  std::string names;
  std::size_t count = 0;
  for (const auto& one : needs.unmet) {
    if (needs.is_withheld() && !one.claim.required) break;
    if (++count > kNamedClaims) continue;
    names += (names.empty() ? "" : "; ") + words_of(one.claim);
  }
  if (count > kNamedClaims) names += fmt::format("; {} more", count - kNamedClaims);
  return fmt::format("{}: it says it needs: {}{}, which its entry does not give",
                     needs.is_withheld() ? "not offered" : "degraded", names,
                     needs.is_withheld() ? " (required)" : "");
}

Error withheld_error(const Permission& tool, const ToolNeeds& needs) {
  std::string lines;
  std::set<std::string> seen;
  for (const auto& one : needs.unmet) {
    if (one.claim.required && seen.insert(one.line).second)
      lines += (lines.empty() ? "" : ", ") + one.line;
  }
  return {ErrorId::kToolWithheld, fmt::format("{} is {}", tool.text(), needs_text(needs)),
          fmt::format("server {}", tool.server()),
          "its server is confined, and says that the tool cannot work without it: a claim of the "
          "server, which grants nothing",
          fmt::format("in the entry of {} in mcpac.json, where it is meant to have that: {}; or do "
                      "not call the tool",
                      tool.server(), printable(lines, 2'000))};
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

}  // namespace mcpac::execute
