// SPDX-License-Identifier: Apache-2.0

#include "cli/confine_entry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/settings.h"
#include "cli/written.h"
#include "core/ascii.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "mcp/environment.h"
#include "mcp/stdio_transport.h"
#include "project/list_servers.h"
#include "project/project_use.h"
#include "servers/confine/confine_servers.h"
#include "servers/confine/learn.h"
#include "servers/confine/proposed_places.h"
#include "servers/confine/server_packages.h"

namespace mcpac::cli {
namespace {

// Of a server that is tried before it is in mcpac.json. One that is silent is told soon: with the
// default a person would wait for ten minutes.
constexpr std::chrono::seconds kTrialTimeout{10};

// The project as it would be with it: what other servers are started from is nothing for this one
// to write.
project::Project project_with(const Context& context, const mcp::ServerConfig& server) {
  mcp::Config config;
  if (auto known = project::load_project(context.config_file, context.folders))
    config = std::move(known->config);
  std::erase_if(config.servers,
                [&](const mcp::ServerConfig& other) { return other.name == server.name; });
  config.servers.push_back(server);
  return project::project_of(std::move(config), context.config_file, context.folders);
}

std::string places_text(const mcp::Confinement& sandbox) {
  return sandbox.files.empty() ? std::string("no files")
                               : fmt::format("{}", fmt::join(sandbox.files, ", "));
}

// A variable that its last words name, which is set here and which it was not given; empty: none.
std::string missing_variable(std::string_view words, const mcp::ServerConfig& server) {
  const auto given = mcp::make_environment(server.environment, mcp::VariablesFor::kConfined);
  const auto is_part = [](char c) { return is_upper(c) || is_digit(c) || c == '_'; };
  for (std::size_t at = 0; at < words.size();) {
    const auto size = static_cast<std::size_t>(std::ranges::find_if_not(words.substr(at), is_part) -
                                               words.substr(at).begin());
    const bool is_whole = (at == 0 || !is_alphanumeric(words[at - 1])) &&
                          (at + size == words.size() || !is_alphanumeric(words[at + size]));
    const std::string name(words.substr(at, size));
    const bool is_given = std::ranges::any_of(
        given, [&](const std::string& one) { return one.starts_with(name + "="); });
    const bool is_own = name == "PWD" || mcp::is_base_variable(name);  // of its sandbox
    if (is_whole && size > 2 && !is_digit(name.front()) && !is_given && !is_own &&
        ::getenv(name.c_str()) != nullptr)
      return name;
    at += std::max<std::size_t>(size, 1);
  }
  return {};
}

// What it was refused at its start, as learn.cpp says it: hosts, and nothing of the disk.
bool is_of_network_alone(std::string_view why) {
  const auto says = [&](std::string_view words) { return why.contains(words); };
  return (says("it tried to reach ") || says("it asked for the address of ")) &&
         !says("it tried to open ") && !says("it tried to find ") && !says("it tried to write ") &&
         !says("it tried to start ");
}

// One advice: that of a start is for an entry that is written already. What was never started
// lacks no files.
void add_way_out(Error& error, const mcp::ServerConfig& confined) {
  const std::string& server = confined.name;
  const std::string learn = servers::learn_advice(server);
  const bool was_started =
      error.fix.ends_with(learn) || error.fix.starts_with(mcp::kConfinedAdvice);
  if (error.fix.ends_with(learn)) error.fix.resize(error.fix.size() - learn.size());
  if (error.fix.starts_with(mcp::kConfinedAdvice)) error.fix.clear();
  std::string way_out = fmt::format(
      "leave out --confine, and `mcpac server confine {} --learn` finds what it needs", server);
  if (const std::string name = missing_variable(error.why, confined); !name.empty()) {
    way_out = fmt::format(
        "a confined server has none of your variables: --env {0}='${{env:{0}}}' gives it that one",
        name);
  } else if (!was_started && !error.fix.empty()) {
    return;
  } else if (!is_of_network_alone(error.why)) {
    way_out = "--files PATH[:rw] gives it those files and no others; or " + way_out;
  } else {
    way_out = "--network HOST:PORT gives it those; or " + way_out;
  }
  if (error.fix.empty() || error.fix.ends_with("; "))
    error.fix += way_out;
  else
    error.fix += "; " + way_out;
}

}  // namespace

Result<mcp::ServerConfig> server_of(const std::string& name, const OrderedJson& entry) {
  const OrderedJson whole{{"mcpServers", {{name, entry}}}};
  auto config = mcp::parse_config(to_text(whole), "its entry");
  if (!config) return pass_on(config);
  return std::move(config->servers.front());
}

Result<mcp::Confinement> proposed_sandbox(const Context& context, const mcp::ServerConfig& server,
                                          const std::vector<std::string>& files,
                                          const std::vector<std::string>& network) {
  if (server.is_http()) {
    return fail(ErrorId::kUsage,
                fmt::format("{} is called over HTTP, and cannot be confined here", server.name),
                {.where = "--confine",
                 .why = "it runs elsewhere: rules alone hold what it is asked",
                 .fix = "leave out --confine"});
  }
  mcp::Confinement sandbox = server.sandbox.value_or(mcp::Confinement());
  std::vector<servers::ProposedPlace> places;
  if (!files.empty()) {
    sandbox.files = files;
    for (const std::string& file : files) places.push_back({file, "--files"});
  } else if (server.sandbox) {
    for (const std::string& file : sandbox.files) places.push_back({file, "its entry"});
  } else {
    auto proposed =
        servers::proposed_places(project_with(context, server), context.folders, server);
    if (!proposed) {
      Error error = std::move(proposed.error());
      if (error.where.empty()) error.where = "server " + server.name;
      return std::unexpected(std::move(error));
    }
    sandbox.files = proposed->files();
    places = std::move(proposed->places);
    for (const std::string& note : proposed->notes)
      context.warn(printable(fmt::format("{}: {}", server.name, note)));
  }
  if (!network.empty()) sandbox.network = network;
  context.say(printable(fmt::format(
      "{} in a sandbox: {}, and {}", server.name, places.empty() ? "no files" : "these files",
      sandbox.network.empty()
          ? "no network"
          : fmt::format("of the network {}", fmt::join(sandbox.network, ", ")))));
  for (const auto& place : places)
    context.say(printable(fmt::format("  {:<24} {}", place.text, place.why)));
  return sandbox;
}

Result<void> ensure_installed(const Context& context, const mcp::ServerConfig& server) {
  if (!server.sandbox || server.disabled) return {};
  auto run = servers::package_run_of(server);
  if (!run) return pass_on(run);
  if (!*run || servers::installed_server(**run, context.folders)) return {};
  return install_packages(context, server, **run, servers::InstallScripts::kLeftOut);
}

Result<void> install_packages(const Context& context, const mcp::ServerConfig& server,
                              const servers::PackageRun& run, servers::InstallScripts scripts) {
  const auto before = servers::installed_server(run, context.folders);
  if (!context.json)
    context.say(printable(fmt::format("{}: installing {} …", server.name, run.text())));
  auto installed = servers::install_server(run, server, context.folders, scripts);
  if (!installed) {
    if (installed.error().where.empty()) installed.error().where = "server " + server.name;
    return pass_on(installed);
  }
  if (context.json) return {};
  context.say(printable(
      before && before->versions != installed->versions
          ? fmt::format("  {} is installed; it was {}", installed->text(), before->text())
          : fmt::format("  {} is installed{}", installed->text(), before ? ", as before" : "")));
  if (!installed->left_out.empty())
    context.warn(printable(fmt::format(
        "{}: install scripts of {} were not run: where a tool fails without what they make, mcpac "
        "server install {} --scripts runs them, as programs with all that you have",
        server.name, fmt::join(installed->left_out, ", "), server.name)));
  return {};
}

Result<std::optional<ServerListing>> start_in_sandbox(const Context& context,
                                                      project::Project project,
                                                      const std::string& name,
                                                      const mcp::Confinement& sandbox) {
  for (auto& server : project.config.servers) {
    if (server.name != name) continue;
    server.sandbox = sandbox;
    server.observer.reset();
  }
  const mcp::ServerConfig* server = project.config.find(name);
  if (server == nullptr || server->disabled) return std::nullopt;
  if (auto installed = ensure_installed(context, *server); !installed) return pass_on(installed);
  servers::confine_servers(project, context.folders, accepted_tier(account_home()));
  const project::ProjectUse use(context.folders, project.config_file);
  auto listed = project::list_servers({*server}, progress_of(context, Counts::kQuiet));
  if (!listed) return pass_on(listed);
  if (listed->empty()) return std::nullopt;
  return std::optional(std::move(listed->front()));
}

Result<void> try_in_sandbox(const Context& context, const mcp::ServerConfig& server) {
  mcp::ServerConfig tried = server;
  if (tried.timeout == mcp::ServerConfig().timeout) tried.timeout = kTrialTimeout;
  const auto listed =
      start_in_sandbox(context, project_with(context, tried), server.name, *server.sandbox);
  if (!listed) {
    Error error = listed.error();
    error.what = fmt::format("{} does not start in a sandbox with {}: {}", server.name,
                             places_text(*server.sandbox), error.what);
    if (error.id != ErrorId::kInterrupted) add_way_out(error, server);
    return std::unexpected(std::move(error));
  }
  if (!*listed) {
    context.say(fmt::format("{}: disabled, and not tried", server.name));
    return {};
  }
  context.say(fmt::format("  it starts so, and lists {}; no call was tried",
                          counted((*listed)->tools.size(), "tool")));
  return {};
}

std::vector<std::string> notes_on_unconfined(const project::Project& held) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> lines;
  std::size_t more = 0;
  for (const auto& server : held.config.servers) {
    if (server.disabled || server.sandbox) continue;
    if (lines.size() == kShown) {
      ++more;
    } else if (server.is_http()) {
      lines.push_back(fmt::format(
          "{} runs elsewhere: rules about its paths hold by how they are read alone", server.name));
    } else {
      lines.push_back(fmt::format(
          "{0} is not confined: rules about its paths hold by how they are read alone; in a "
          "sandbox "
          "the kernel holds them (\"sandbox\" in its entry; mcpac server confine {0} --learn)",
          server.name));
    }
  }
  if (more > 0) lines.push_back(fmt::format("{} more are not confined: mcpac doctor", more));
  return lines;
}

Result<void> confine_entry(const Context& context, const std::string& name, OrderedJson& entry,
                           const std::vector<std::string>& files) {
  auto server = server_of(name, entry);
  if (!server) return pass_on(server);
  auto sandbox = proposed_sandbox(context, *server, files, {});
  if (!sandbox) return pass_on(sandbox);
  server->sandbox = std::move(*sandbox);
  if (auto tried = try_in_sandbox(context, *server); !tried) return tried;
  entry["sandbox"] = mcp::to_json(*server)["sandbox"];
  return {};
}

}  // namespace mcpac::cli
