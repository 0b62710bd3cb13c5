#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "execute/build/toolchain.h"
#include "sandbox/sandbox.h"

namespace mcpac::cli {
namespace {

void check_toolchain(Context& context, Json& checks) {
  const auto toolchain = execute::ask_driver(context.folders.llvm);
  checks.push_back({{"name", "clang 19 and lld 19"},
                    {"works", toolchain.has_value()},
                    {"detail", toolchain ? context.folders.llvm.string() : toolchain.error().what},
                    {"remedy", toolchain ? "" : toolchain.error().fix}});
  std::error_code error;
  for (const auto& program : {context.folders.warden(), context.folders.analyzer()}) {
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

void doctor(Context& context) {
  Json checks = Json::array();
  check_toolchain(context, checks);
  std::string tier = "none";
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
                        {"remedy", capability.remedy}});
    }
    if (probe->tier) tier = sandbox::to_string(*probe->tier);
  }
  bool fine = tier == "A";
  for (std::size_t i = 0; i < 5 && i < checks.size(); ++i)
    fine = fine && checks[i]["works"].get<bool>();
  context.exit_code = fine ? 0 : static_cast<int>(ExitCode::kUnavailable);
  if (context.json) return context.print({{"checks", checks}, {"tier", tier}, {"ready", fine}});
  for (const Json& check : checks) {
    fmt::print("{} {:<28} {}\n", check["works"].get<bool>() ? "ok     " : "MISSING",
               check["name"].get<std::string>(), check["detail"].get<std::string>());
    if (!check["remedy"].get<std::string>().empty())
      fmt::print("        fix: {}\n", check["remedy"].get<std::string>());
  }
  fmt::print("sandbox tier: {}\n", tier);
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("doctor", "check the toolchain and what sandbox this machine gives");
  add_common_options(*command, context);
  command->callback([&context] { doctor(context); });
}

}  // namespace mcpac::cli
