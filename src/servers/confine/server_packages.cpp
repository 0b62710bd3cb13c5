// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/server_packages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <initializer_list>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/ascii.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/printable.h"
#include "mcp/environment.h"
#include "mcp/proxy.h"
#include "mcp/secrets.h"
#include "project/private_folder.h"

namespace mcpac::servers {
namespace {

namespace fs = std::filesystem;
using Installer = PackageRun::Installer;

constexpr const char* kRecord = "installed.json";
constexpr const char* kComplete = ".mcpac-complete";  // in an installation that counted once

// By the installed package, and not by its entry: two servers share one.
fs::path package_folder(const PackageRun& run, const project::Folders& folders) {
  const Json key = {{"installer", static_cast<int>(run.installer)},
                    {"packages", run.packages},
                    {"program", run.program},
                    {"options", run.options},
                    {"sources", run.sources}};
  std::error_code error;
  const fs::path cache = fs::weakly_canonical(folders.cache, error);
  return (error ? folders.cache : cache) / "server-packages" /
         sha256_hex(to_text(key)).substr(0, 32);
}

Json record_of(const InstalledServer& server) {
  return {{"folder", server.folder.filename().string()},
          {"program", server.program.lexically_relative(server.folder).string()},
          {"versions", server.versions},
          {"left_out", server.left_out},
          {"scripts", server.scripts == InstallScripts::kRun}};
}

// One of the packages' own programs.
struct PackagePrograms {
  std::map<std::string, fs::path> by_name;
  std::string of_package;  // which of them a launcher runs that names none; empty: it is not clear
};

Json read_package_json(const fs::path& file) {
  const auto text = read_file(file);
  return text ? parse_json(*text).value_or(Json()) : Json();
}

// By the rule of npx: the only program, or the one that is called as its package.
PackagePrograms npm_programs(const PackageRun& run, const fs::path& folder) {
  PackagePrograms programs;
  for (const std::string& package : run.packages) {
    const std::string name = npm_name(package);
    const Json manifest = read_package_json(folder / "node_modules" / name / "package.json");
    const std::string short_name = name.substr(name.find('/') + 1);
    std::map<std::string, std::string> bins;
    if (manifest.is_object() && manifest.contains("bin")) {
      const Json& bin = manifest["bin"];
      if (bin.is_string()) {
        bins.emplace(short_name, bin.get<std::string>());
      } else {
        for (const auto& [program, file] : bin.items())
          if (file.is_string()) bins.emplace(program, file.get<std::string>());
      }
    }
    std::set<std::string> files;
    for (const auto& [program, file] : bins) {
      files.insert(file);
      programs.by_name.emplace(program, folder / "node_modules/.bin" / program);
    }
    if (package != run.packages.front()) continue;
    if (bins.contains(short_name))
      programs.of_package = short_name;
    else if (files.size() == 1)
      programs.of_package = bins.begin()->first;
  }
  return programs;
}

PackagePrograms python_programs(const PackageRun& run, const fs::path& folder) {
  PackagePrograms programs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "bin", error))
    programs.by_name.emplace(entry.path().filename().string(), entry.path());
  const std::string name = python_name(run.packages.front());
  for (const auto& [program, path] : programs.by_name) {
    if (python_name(program) == name) programs.of_package = program;
  }
  if (programs.of_package.empty() && programs.by_name.size() == 1)
    programs.of_package = programs.by_name.begin()->first;
  return programs;
}

Result<fs::path> find_installed_program(const PackageRun& run, const fs::path& folder) {
  const PackagePrograms programs =
      run.installer == Installer::kNpm ? npm_programs(run, folder) : python_programs(run, folder);
  const std::string& wanted = run.program.empty() ? programs.of_package : run.program;
  std::vector<std::string> names;
  for (const auto& [name, path] : programs.by_name) names.push_back(name);
  const auto found = programs.by_name.find(wanted);
  std::error_code error;
  if (found != programs.by_name.end() && fs::exists(found->second, error)) return found->second;
  const std::string& package = run.packages.front();
  const std::string option = run.installer == Installer::kNpm  ? "--package"
                             : run.installer == Installer::kUv ? "--from"
                                                               : "--spec";
  if (names.empty())
    return refuse_packages(
        fmt::format("{} has no program", printable(run.text())),
        "a package of a library alone is installed, and nothing of it can be started",
        "check the name of the package; its README says how its server is started");
  return refuse_packages(
      run.program.empty() ? fmt::format("{} has several programs: {}", printable(package),
                                        printable(fmt::format("{}", fmt::join(names, ", "))))
                          : fmt::format("{} has no program {}: it has {}", printable(run.text()),
                                        printable(run.program),
                                        printable(fmt::format("{}", fmt::join(names, ", ")))),
      "none of them is the one that was meant, by its name",
      fmt::format("{} {} {} {}", run.launcher, option, printable(package), printable(names[0])));
}

// "mcp_server-1.2.dist-info" in any site-packages below.
std::string python_version(const fs::path& folder, const std::string& package) {
  const std::string name = python_name(package);
  std::error_code error;
  for (const char* root : {"tools", "venvs"}) {
    for (const auto& venv : fs::directory_iterator(folder / root, error)) {
      for (const auto& python : fs::directory_iterator(venv.path() / "lib", error)) {
        for (const auto& entry : fs::directory_iterator(python.path() / "site-packages", error)) {
          std::string info = entry.path().filename().string();
          if (!info.ends_with(".dist-info")) continue;
          info.resize(info.size() - std::string_view(".dist-info").size());
          const auto dash = info.rfind('-');
          if (dash != std::string::npos && python_name(info.substr(0, dash)) == name)
            return info.substr(dash + 1);
        }
      }
    }
  }
  return "unknown";
}

std::map<std::string, std::string> versions_of(const PackageRun& run, const fs::path& folder) {
  std::map<std::string, std::string> versions;
  for (const std::string& package : run.packages) {
    if (run.installer != Installer::kNpm) {
      versions.emplace(python_name(package), python_version(folder, package));
      continue;
    }
    const std::string name = npm_name(package);
    const Json manifest = read_package_json(folder / "node_modules" / name / "package.json");
    const bool is_said =
        manifest.is_object() && manifest.contains("version") && manifest["version"].is_string();
    versions.emplace(name, is_said ? manifest["version"].get<std::string>() : "unknown");
  }
  return versions;
}

std::vector<std::string> with_scripts(const fs::path& folder) {
  std::vector<std::string> names;
  const Json lock = read_package_json(folder / "node_modules/.package-lock.json");
  if (!lock.is_object() || !lock.contains("packages") || !lock["packages"].is_object())
    return names;
  for (const auto& [place, package] : lock["packages"].items()) {
    if (!package.is_object() || !package.contains("hasInstallScript")) continue;
    const auto at = place.rfind("node_modules/");
    names.push_back(at == std::string::npos ? place : place.substr(at + 13));
  }
  return names;
}

struct InstallCommand {
  std::vector<std::string> words;
  std::vector<std::string> variables;
};

InstallCommand command_of(const PackageRun& run, const fs::path& folder, InstallScripts scripts) {
  InstallCommand command;
  auto& words = command.words;
  const bool runs = scripts == InstallScripts::kRun;
  switch (run.installer) {
    case Installer::kNpm:
      // One that does not reach its registry is silent for as long as it tries again.
      words = {"npm",
               "install",
               "--prefix",
               folder.string(),
               "--no-audit",
               "--no-fund",
               "--omit=dev",
               "--loglevel=error",
               "--no-progress",
               "--prefer-online",
               "--fetch-retries=2",
               "--fetch-retry-mintimeout=500",
               "--fetch-retry-maxtimeout=2000"};
      words.emplace_back(runs ? "--ignore-scripts=false" : "--ignore-scripts");
      words.insert(words.end(), run.options.begin(), run.options.end());
      words.emplace_back("--");
      words.insert(words.end(), run.packages.begin(), run.packages.end());
      break;
    case Installer::kUv:
      words = {"uv", "tool", "install"};
      if (!runs) words.emplace_back("--no-build");
      words.insert(words.end(), run.options.begin(), run.options.end());
      for (std::size_t i = 1; i < run.packages.size(); ++i)
        words.insert(words.end(), {"--with", run.packages[i]});
      words.insert(words.end(), {"--", run.packages[0]});
      command.variables = {"UV_TOOL_DIR=" + (folder / "tools").string(),
                           "UV_TOOL_BIN_DIR=" + (folder / "bin").string()};
      break;
    case Installer::kPipx: {
      words = {"pipx", "install"};
      words.insert(words.end(), run.options.begin(), run.options.end());
      if (!runs) words.emplace_back("--pip-args=--only-binary=:all:");
      words.push_back(run.packages[0]);
      command.variables = {"PIPX_HOME=" + folder.string(),
                           "PIPX_BIN_DIR=" + (folder / "bin").string()};
      break;
    }
  }
  return command;
}

// In `parent`, for us alone; gone with all that is in it unless it is kept.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& parent) {
    std::string name = (parent / "vXXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    std::error_code ignored;
    if (!kept_ && !path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  fs::path path_;
  bool kept_ = false;
};

// What neither counts nor did so until now. One that is new may be that of another command.
void remove_old(const fs::path& place, const fs::path& current, const fs::path& before) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& entry : fs::directory_iterator(place, error)) {
    if (entry.path() == current || entry.path() == before || !entry.is_directory(error)) continue;
    const bool was_left = now - entry.last_write_time(error) > std::chrono::hours(1);
    const bool is_whole = fs::exists(entry.path() / kComplete, error);
    if (was_left || is_whole) fs::remove_all(entry.path(), error);
  }
}

constexpr std::size_t kMostSaid = 8'192;          // of an installer, for its error
constexpr std::chrono::minutes kInstallTime{15};  // native code, where scripts build it

// Its output and status; ended where it takes too long.
Result<std::pair<std::string, int>> run_to_end(const std::string& program,
                                               std::vector<std::string> words,
                                               std::vector<std::string> variables,
                                               const fs::path& folder) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorId::kServerStart, "cannot make a pipe for the installer");
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  };
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), 2);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, pointers(words).data(),
                                  pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return fail(ErrorId::kServerStart,
                fmt::format("cannot start {}: {}", program, std::system_category().message(error)));
  theirs.reset();
  std::string said;
  const auto end = std::chrono::steady_clock::now() + kInstallTime;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd ready{ours.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0) {
      ::kill(pid, SIGKILL);
      said += fmt::format("\nended by mcpac after {} minutes", kInstallTime.count());
      break;
    }
    std::array<char, 4096> piece{};
    const ssize_t size = ::read(ours.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    said.append(piece.data(), static_cast<std::size_t>(size));
    if (said.size() > kMostSaid) said.erase(0, said.size() - kMostSaid);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return std::pair(std::move(said), status);
}

// What to do where an installer failed, by what it said. `line`: as it was started.
std::string installer_advice(const PackageRun& run, const std::string& server,
                             std::string_view said, InstallScripts scripts,
                             const std::string& line) {
  const auto says = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return said.contains(word); });
  };
  if (says({"E404", "ETARGET", "No matching distribution", "not found in the package registry",
            "No solution found"}))
    return fmt::format(
        "check the name and the version of {}: the registry that was asked does not have it",
        printable(run.text()));
  if (const std::string network = mcp::network_advice(said); !network.empty())
    return fmt::format("{}; try it: {}", network, line);
  // npm runs no scripts without them, and fails for nothing that they would have made.
  if (scripts == InstallScripts::kRun || run.installer == Installer::kNpm)
    return fmt::format("try it: {}", line);
  return fmt::format(
      "try it: {}; where it says that something must be built: mcpac server install {} --scripts "
      "(of an entry of mcpac.json), which runs programs of its packages with all that you have",
      line, server);
}

Result<void> run_installer(const PackageRun& run, const mcp::ServerConfig& server,
                           const fs::path& folder, InstallScripts scripts) {
  mcp::SecretValues secrets;
  std::map<std::string, std::string> own;
  for (const auto& [name, raw] : server.environment) {
    auto value = secrets.expand(raw, fmt::format("mcpServers.{}.env.{}", server.name, name));
    if (!value) return pass_on(value);
    if (is_of_installer(name)) own.emplace(name, std::move(*value));
  }
  InstallCommand command = command_of(run, folder, scripts);
  std::vector<std::string> variables = mcp::make_environment(own);
  auto program = mcp::find_program(command.words[0], variables);
  if (!program)
    return refuse_packages(
        fmt::format("{} is not there to install {}", command.words[0], printable(run.text())),
        fmt::format("what {} would run is installed by {}, which is looked for in your own PATH{}",
                    run.launcher, command.words[0],
                    server.environment.contains("PATH") ? ", and not in that of the entry" : ""),
        fmt::format("install {}; or {}", command.words[0], kInstallYourself));
  for (std::string& variable : command.variables) variables.push_back(std::move(variable));
  auto ended = run_to_end(*program, command.words, std::move(variables), folder);
  if (!ended) return pass_on(ended);
  const auto& [said, status] = *ended;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return refuse_packages(
      fmt::format("{} could not install {}", command.words[0], printable(run.text())),
      "it last wrote:\n" + printable_lines(secrets.redact(said)),
      installer_advice(run, server.name, said, scripts,
                       printable(fmt::format("{}", fmt::join(command.words, " ")))));
}

}  // namespace

std::string InstalledServer::text() const {
  std::string all;
  for (const auto& [name, version] : versions)
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", name, version);
  return all;
}

std::optional<InstalledServer> installed_server(const PackageRun& run,
                                                const project::Folders& folders) {
  const fs::path place = package_folder(run, folders);
  const Json record = read_package_json(place / kRecord);
  if (!record.is_object()) return std::nullopt;
  const auto text = [&](const char* member) {
    return record.contains(member) && record[member].is_string() ? record[member].get<std::string>()
                                                                 : std::string();
  };
  InstalledServer server;
  server.folder = place / text("folder");
  server.program = server.folder / text("program");
  std::error_code error;
  if (text("folder").empty() || text("program").empty() || !fs::exists(server.program, error))
    return std::nullopt;
  const Json versions = record.value("versions", Json::object());
  for (const auto& [name, version] : versions.items()) {
    if (version.is_string()) server.versions.emplace(name, version.get<std::string>());
  }
  const Json left_out = record.value("left_out", Json::array());
  for (const Json& name : left_out) {
    if (name.is_string()) server.left_out.push_back(name.get<std::string>());
  }
  if (record.value("scripts", Json(false)) == true) server.scripts = InstallScripts::kRun;
  return server;
}

Result<InstalledServer> install_server(const PackageRun& run, const mcp::ServerConfig& server,
                                       const project::Folders& folders, InstallScripts scripts) {
  const fs::path place = package_folder(run, folders);
  if (auto made = project::make_private(folders.cache); !made) return pass_on(made);
  if (auto made = project::make_private(place); !made) return pass_on(made);
  // Where it stays: a venv has the paths of its programs in it. Gone again where anything fails.
  NewFolder fresh(place);
  if (fresh.path().empty())
    return fail(ErrorId::kFileUnwritable, fmt::format("cannot make a folder in {}", place.string()),
                {.where = place.string()});
  if (run.installer == Installer::kNpm) {
    // Else npm looks for the project in the folders above.
    if (auto written = write_file_atomic(fresh.path() / "package.json", "{\"private\": true}\n");
        !written)
      return pass_on(written);
  }
  if (auto done = run_installer(run, server, fresh.path(), scripts); !done) return pass_on(done);
  auto program = find_installed_program(run, fresh.path());
  if (!program) return pass_on(program);
  InstalledServer installed{.folder = fresh.path(),
                            .program = std::move(*program),
                            .versions = versions_of(run, fresh.path()),
                            .left_out = {},
                            .scripts = scripts};
  if (run.installer == Installer::kNpm && scripts == InstallScripts::kLeftOut)
    installed.left_out = with_scripts(fresh.path());
  if (auto marked = write_file_atomic(fresh.path() / kComplete, ""); !marked)
    return pass_on(marked);
  const auto before = installed_server(run, folders);
  if (auto kept = write_file_atomic(place / kRecord, to_text(record_of(installed)), 0600); !kept)
    return pass_on(kept);
  fresh.keep();
  remove_old(place, fresh.path(), before ? before->folder : fs::path());
  return installed;
}

mcp::ServerConfig as_installed(mcp::ServerConfig server, const PackageRun& run,
                               const InstalledServer& installed) {
  server.command = installed.program.string();
  // `first_own` counts the command, too.
  const auto launcher = std::min(run.first_own, server.arguments.size() + 1);
  server.arguments.erase(
      server.arguments.begin(),
      server.arguments.begin() + static_cast<std::ptrdiff_t>(launcher == 0 ? 0 : launcher - 1));
  std::string& path = server.environment["PATH"];
  if (path.empty()) {
    for (const std::string& variable : mcp::make_environment({})) {
      if (variable.starts_with("PATH=")) path = variable.substr(5);
    }
  }
  path = fmt::format("{}:{}", installed.program.parent_path().string(), path);
  return server;
}

Result<ServerStart> server_start(const mcp::SpawnOptions& options,
                                 const project::Folders& folders) {
  ServerStart start{.options = options};
  std::vector<std::string> words = options.arguments;
  if (words.empty()) return start;
  auto run = package_run_of(words);
  if (!run) return pass_on(run);
  if (!*run) return start;
  (*run)->sources = sources_of(options.environment);
  const auto installed = installed_server(**run, folders);
  if (!installed) {
    const std::string name = options.confined ? options.confined->server : "NAME";
    return fail(
        ErrorId::kServerStart, fmt::format("{} is not installed", printable((*run)->text())),
        {.where = "server " + name,
         .why = fmt::format("a confined server reaches no registry, so what {} would download is "
                            "installed before, by a command of its own",
                            (*run)->launcher),
         .fix = fmt::format("mcpac server install {}", name)});
  }
  start.options.program = installed->program.string();
  start.options.arguments = {installed->program.string()};
  start.options.arguments.insert(start.options.arguments.end(),
                                 words.begin() + static_cast<std::ptrdiff_t>((*run)->first_own),
                                 words.end());
  start.trees = {installed->folder};
  const fs::path bin = installed->program.parent_path();
  for (std::string& variable : start.options.environment) {
    if (variable.starts_with("PATH="))
      variable = fmt::format("PATH={}:{}", bin.string(), variable.substr(5));
  }
  std::error_code error;
  for (const char* root : {"tools", "venvs"}) {
    for (const auto& venv : fs::directory_iterator(installed->folder / root, error)) {
      const fs::path python = venv.path() / "bin/python";
      if (fs::exists(python, error)) start.programs.push_back(python);
    }
  }
  return start;
}

}  // namespace mcpac::servers
