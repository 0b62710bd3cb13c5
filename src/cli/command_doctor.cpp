// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/persons_word.h"
#include "cli/run_options.h"
#include "cli/settings.h"
#include "core/printable.h"
#include "run/check/server_root.h"
#include "sandbox/sandbox.h"
#include "toolchain/toolchain.h"

namespace mcpac::cli {
namespace {

void check_toolchain(Context& context, Json& checks) {
  const auto toolchain = toolchain::ask_driver(context.folders.llvm);
  checks.push_back({{"name", "clang 19 and lld 19"},
                    {"works", toolchain.has_value()},
                    {"detail", toolchain ? context.folders.llvm.string() : toolchain.error().what},
                    {"remedy", toolchain ? "" : toolchain.error().fix}});
  std::error_code error;
  for (const auto& program :
       {context.folders.warden(), context.folders.analyzer(), context.folders.keeper()}) {
    const bool there = std::filesystem::exists(program, error);
    checks.push_back({{"name", program.filename().string()},
                      {"works", there},
                      {"detail", program.string()},
                      {"remedy", there ? "" : "install mcpac with its libexec folder"}});
  }
  const auto headers = context.folders.llvm / "include/c++/v1/print";
  const bool libcxx = std::filesystem::exists(headers, error) &&
                      std::filesystem::exists(context.folders.llvm / "lib/libc++.a", error);
  checks.push_back({{"name", "libc++ 19"},
                    {"works", libcxx},
                    {"detail", headers.parent_path().string()},
                    {"remedy", libcxx ? "" : "apt-get install libc++-19-dev libc++abi-19-dev"}});
  const bool json = std::filesystem::exists("/usr/include/nlohmann/json.hpp", error);
  checks.push_back({{"name", "nlohmann json"},
                    {"works", json},
                    {"detail", "/usr/include/nlohmann"},
                    {"remedy", json ? "" : "apt-get install nlohmann-json3-dev"}});
}

// No tier asks for the others: without them it is as strong, and says or limits less.
bool is_layer(std::string_view capability) {
  constexpr std::array<std::string_view, 5> kOfNoTier{"cgroup limits", "id maps for mounts",
                                                      "ids of its own for each child",
                                                      "crash watch", "seccomp listener"};
  return std::ranges::find(kOfNoTier, capability) == kOfNoTier.end();
}

struct DoctorOptions {
  std::string accept;  // a tier by name; empty: nothing is accepted
};

void accept(Context& context, const std::string& name) {
  const auto tier = to_tier(name);
  const auto home = account_home();
  if (auto word = word_for_accepting(tier); !word) return context.fail(word.error());
  if (auto done = accept_tier(home, tier); !done) return context.fail(done.error());
  if (tier == sandbox::Tier::kA)
    context.say("only tier A is accepted from now on");
  else
    context.say(fmt::format("tier {} is accepted from now on ({}); --min-tier A asks for more",
                            name, tier_setting(home).file.string()));
}

// Names of the servers that are started here, with a sandbox or without one.
std::vector<std::string> servers_with(const Result<project::Project>& project, bool sandbox) {
  std::vector<std::string> names;
  if (!project) return names;
  for (const auto& server : project->config.servers) {
    if (!server.is_http() && server.sandbox.has_value() == sandbox) names.push_back(server.name);
  }
  return names;
}

// Which tier a confined server is started in; empty: it is refused.
std::string tier_of_servers(const std::string& machine, sandbox::Tier accepted,
                            const Json& checks) {
  if (machine == "A") return machine;
  // Below, Landlock does not hold signals (sandbox/prepare.cpp).
  constexpr int kScopes = 6;
  const bool has_scopes = std::ranges::any_of(checks, [](const Json& check) {
    const auto detail = check.value("detail", std::string());
    return check.value("name", std::string()) == "landlock" && detail.starts_with("ABI ") &&
           std::atoi(detail.c_str() + 4) >= kScopes;
  });
  return machine == "B" && accepted >= sandbox::Tier::kB && has_scopes ? machine : std::string();
}

void print_confined(const std::vector<std::string>& confined,
                    const std::vector<std::string>& unconfined, const std::string& tier) {
  const std::string_view words =
      tier == "B" ? " (tier B: Landlock alone holds their files, their network is none or all; "
                    "docs/confined-servers.md)"
      : tier.empty()
          ? " (refused on this machine: tier B is not accepted, or Landlock is older than ABI 6)"
          : "";
  if (!confined.empty()) fmt::print("confined servers: {}{}\n", fmt::join(confined, ", "), words);
  if (unconfined.empty()) return;
  fmt::print(
      "not confined: {}: they have all that you have, and rules about paths hold by how these are "
      "read alone; to confine one: \"sandbox\" in its entry, or mcpac server confine NAME "
      "--learn\n",
      fmt::join(unconfined, ", "));
}

void doctor(Context& context, const DoctorOptions& options) {
  if (!options.accept.empty()) {
    accept(context, options.accept);
    if (context.exit_code != 0) return;
  }
  const auto home = account_home();
  const auto accepted = accepted_tier(home);
  Json checks = Json::array();
  check_toolchain(context, checks);
  std::string tier = "none";
  bool fine = false;
  auto warden = sandbox::Warden::start(context.folders.warden());
  auto probe = warden ? warden->probe() : Result<sandbox::Probe>(std::unexpected(warden.error()));
  if (!probe) {
    checks.push_back({{"name", "sandbox"},
                      {"works", false},
                      {"detail", probe.error().what},
                      {"remedy", probe.error().fix}});
  } else {
    for (const auto& capability : probe->capabilities) {
      checks.push_back({{"name", capability.name},
                        {"works", capability.works},
                        {"detail", capability.detail},
                        {"remedy", capability.remedy},
                        // Tier A is all layers: what it does without is none of them.
                        {"needed", probe->tier != sandbox::Tier::kA && is_layer(capability.name)}});
    }
    if (probe->tier) tier = sandbox::to_string(*probe->tier);
    fine = probe->tier && *probe->tier <= accepted;
  }
  for (std::size_t i = 0; i < 5 && i < checks.size(); ++i)
    fine = fine && checks[i]["works"].get<bool>();
  context.exit_code = fine ? 0 : static_cast<int>(ExitCode::kUnavailable);
  // Without a project there are no servers to speak of.
  const auto project = context.project();
  const auto rootless = project ? run::servers_without_root(*project) : std::vector<std::string>();
  const auto confined = servers_with(project, true);
  const auto unconfined = servers_with(project, false);
  const std::string servers_tier = tier_of_servers(tier, accepted, checks);
  if (context.json)
    return context.print(
        {{"confined", confined},
         {"confined_tier", servers_tier.empty() ? Json(nullptr) : Json(servers_tier)},
         {"unconfined", unconfined},
         {"checks", checks},
         {"tier", tier},
         {"accepted_tier", sandbox::to_string(accepted)},
         {"without_root", rootless},
         {"ready", fine}});
  for (const Json& check : checks) {
    const bool needed = check.value("needed", true);
    const bool works = check["works"].get<bool>();
    fmt::print("{} {:<28} {}\n",
               works    ? "ok     "
               : needed ? "MISSING"
                        : "without",
               check["name"].get<std::string>(), check["detail"].get<std::string>());
    if (!check["remedy"].get<std::string>().empty())
      fmt::print("        {}: {}\n",
                 works || needed ? "fix"
                 : tier == "A"   ? "more than tier A"
                                 : "more, which no tier needs",
                 check["remedy"].get<std::string>());
  }
  fmt::print("sandbox tier: {}\n", tier);
  const Setting setting = tier_setting(home);
  if (accepted != sandbox::Tier::kA)
    fmt::print("accepted: tier {} and better ({})\n", sandbox::to_string(accepted),
               setting.file.string());
  for (const Setting& one : {setting, off_switch_setting(home)}) {
    if (!one.refused.empty())
      fmt::print("note: a setting is not taken: {}\n", printable(one.refused));
  }
  if (tier == "B") {
    fmt::print(
        "tier B has no namespaces: Landlock and the system-call filter hold programs, files are "
        "granted read-only, servers are confined without a network or with all of it{}\n",
        accepted >= sandbox::Tier::kB
            ? ""
            : "; accept it by --min-tier B, or for all runs by `mcpac doctor --accept-tier B`");
  }
  if (tier == "C") {
    fmt::print(
        "in tier C nothing is compiled: a program that was built elsewhere runs (`mcpac run`){}\n",
        accepted == sandbox::Tier::kC
            ? ""
            : " once the tier is accepted, by --min-tier C or by `mcpac doctor --accept-tier C`");
  }
  print_confined(confined, unconfined, servers_tier);
  for (const auto& line : rootless) fmt::print("note: {}\n", line);
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("doctor", "check the toolchain and what sandbox this machine gives");
  add_common_options(*command, context);
  auto options = std::make_shared<DoctorOptions>();
  command
      ->add_option("--accept-tier", options->accept,
                   "accept this tier and better from now on, for every run of this user: A, B or C")
      ->check(CLI::IsMember({"A", "B", "C"}));
  command->callback([&context, options] { doctor(context, *options); });
}

}  // namespace mcpac::cli
