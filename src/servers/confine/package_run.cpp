// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/package_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/ascii.h"
#include "core/printable.h"
#include "project/list_servers.h"

namespace mcpac::servers {
namespace {

namespace fs = std::filesystem;
using Installer = PackageRun::Installer;

// Launchers as their documentation has them. Options are words; those with a value take it behind
// "=" or as the next word. What is not here is refused, as it might change what is installed.
struct PackageLauncher {
  std::string_view words;
  Installer installer;
  std::string_view from;   // the package, where the first word is its program's name
  std::string_view with;   // more packages
  std::string_view kept;   // with a value; handed to the installer
  std::string_view flags;  // without one; of the launcher alone
};
constexpr std::string_view kNpmFlags =
    "-y --yes -q --quiet -s --silent --prefer-online --prefer-offline --ignore-existing";
constexpr std::string_view kUvKept =
    "-p --python --index --default-index -i --index-url --extra-index-url -f --find-links "
    "--prerelease --index-strategy --exclude-newer";
constexpr std::string_view kUvFlags =
    "-q --quiet -v --verbose --isolated --refresh -U --upgrade -n --no-cache --no-progress "
    "--native-tls --no-config";
// Of the options that are kept: those that say where packages come from, and by which Python.
constexpr std::string_view kPlaces =
    "--registry --index --default-index -i --index-url --extra-index-url -f --find-links";
constexpr std::string_view kPythons = "-p --python";
constexpr std::array kPackageLaunchers = {
    PackageLauncher{"npx", Installer::kNpm, "-p --package", "", "--registry", kNpmFlags},
    PackageLauncher{"npm exec", Installer::kNpm, "--package", "", "--registry", kNpmFlags},
    PackageLauncher{"npm x", Installer::kNpm, "--package", "", "--registry", kNpmFlags},
    PackageLauncher{"bunx", Installer::kNpm, "-p --package", "", "", "--bun --verbose --silent"},
    PackageLauncher{"bun x", Installer::kNpm, "-p --package", "", "", "--bun --verbose --silent"},
    PackageLauncher{"pnpx", Installer::kNpm, "--package", "", "", "-s --silent"},
    PackageLauncher{"pnpm dlx", Installer::kNpm, "--package", "", "", "-s --silent"},
    PackageLauncher{"yarn dlx", Installer::kNpm, "-p --package", "", "", "-q --quiet"},
    PackageLauncher{"uvx", Installer::kUv, "--from", "--with", kUvKept, kUvFlags},
    PackageLauncher{"uv tool run", Installer::kUv, "--from", "--with", kUvKept, kUvFlags},
    PackageLauncher{"pipx run", Installer::kPipx, "--spec", "", "--python --index-url -i",
                    "--no-cache -q --quiet -v --verbose"},
};

bool is_among(std::string_view word, std::string_view list) {
  while (!list.empty()) {
    const auto one = list.substr(0, list.find(' '));
    if (one == word) return true;
    list.remove_prefix(std::min(list.size(), one.size() + 1));
  }
  return false;
}

bool is_npm_name(std::string_view name) {
  const bool has_scope = name.starts_with('@');
  if (has_scope) name.remove_prefix(1);
  const auto is_plain = [](std::string_view part) {
    return !part.empty() && part[0] != '.' && std::ranges::all_of(part, [](char c) {
      return is_alphanumeric(c) || std::string_view("._~-").contains(c);
    });
  };
  const auto slash = name.find('/');
  if (!has_scope) return slash == std::string_view::npos && is_plain(name);
  return slash != std::string_view::npos && is_plain(name.substr(0, slash)) &&
         is_plain(name.substr(slash + 1));
}

// Names of registries alone: what a folder, a URL or a repository holds is built before it runs.
bool is_of_registry(const PackageRun& run, const std::string& package) {
  if (package.size() > 512 ||
      std::ranges::any_of(package, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return false;
  if (run.installer == Installer::kNpm) {
    const std::string name = npm_name(package);
    std::string_view version = std::string_view(package).substr(name.size());
    if (version.starts_with("@npm:")) {
      const std::string real(version.substr(5));
      return is_npm_name(name) && is_npm_name(npm_name(real)) &&
             real.find_first_of("/:", npm_name(real).size()) == std::string::npos;
    }
    return is_npm_name(name) && version.find_first_of("/:") == std::string_view::npos;
  }
  return !package.empty() && is_alphanumeric(package[0]) &&
         package.find_first_of("/\\:") == std::string::npos;
}

// "3.12", "python3.12", "cpython@3.12", ">=3.10": what an installer finds by itself. No path, which
// might be a program of the project.
bool is_version_of_python(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text[0] != '.' && text[0] != '-' &&
         std::ranges::all_of(text, [](char c) {
           return is_alphanumeric(c) || std::string_view(".-+@=<>~!*,_").contains(c);
         });
}

// An address, or a whole path: "https://a.example/simple", "name=https://…", "/srv/wheels". One
// that is relative would be another one for each project, and the installation is theirs together.
bool is_whole_place(std::string_view text) {
  if (text.starts_with('/')) return true;
  const auto end = text.find("://");
  if (end == std::string_view::npos) return false;
  const auto scheme = text.substr(0, end).substr(text.substr(0, end).rfind('=') + 1);
  return scheme == "https" || scheme == "http" || scheme == "file";
}

class RunReader {
 public:
  RunReader(const PackageLauncher& launcher, std::span<const std::string> words, std::size_t begin)
      : launcher_(launcher), words_(words), at_(begin) {
    run_.installer = launcher.installer;
    run_.launcher = launcher.words;
  }

  Result<std::optional<PackageRun>> read() {
    while (at_ < words_.size() && words_[at_].starts_with('-')) {
      if (words_[at_] == "--") {
        ++at_;
        break;
      }
      if (auto read = read_option(); !read) return pass_on(read);
    }
    if (at_ == words_.size())
      return refuse_packages(fmt::format("{} runs no package", run_.launcher),
                             "it downloads what it runs, and no word says what",
                             fmt::format("write its name: {} PACKAGE", run_.launcher));
    const std::string first = words_[at_++];
    if (run_.packages.empty())
      run_.packages.push_back(first);
    else
      run_.program = first;
    run_.packages.insert(run_.packages.end(), more_.begin(), more_.end());
    if (auto own = skip_dashes(); !own) return pass_on(own);
    for (const std::string& package : run_.packages) {
      if (is_of_registry(run_, package)) continue;
      return refuse_packages(
          fmt::format("\"{}\" is no name of a package that mcpac installs", printable(package)),
          "a folder, an address or a repository is built before it runs, by programs of its own",
          kInstallYourself);
    }
    if (run_.program.contains('/') || run_.program.starts_with('.'))
      return refuse_packages(
          fmt::format("\"{}\" is no name of a program in a package", printable(run_.program)), "",
          "write the program itself as \"command\"");
    run_.first_own = at_;
    return std::optional(std::move(run_));
  }

 private:
  Result<void> read_option() {
    const std::string& word = words_[at_++];
    if (is_among(word, launcher_.flags)) return {};
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const bool is_from = is_among(name, launcher_.from);
    const bool is_with = is_among(name, launcher_.with);
    if (!is_from && !is_with && !is_among(name, launcher_.kept)) return unknown(name);
    if (equals == std::string::npos && at_ == words_.size())
      return refuse_packages(fmt::format("{} {} has no value", run_.launcher, name), "", "");
    const std::string value = equals == std::string::npos ? words_[at_++] : word.substr(equals + 1);
    if (!is_from && !is_with) {
      if (auto fits = check_value(name, value); !fits) return fits;
    }
    if (is_from)
      run_.packages.push_back(value);
    else if (is_with)
      more_.push_back(value);
    else
      run_.options.insert(run_.options.end(), {name, value});
    return {};
  }

  [[nodiscard]] Result<void> check_value(const std::string& name, const std::string& value) const {
    if (launcher_.installer != Installer::kNpm && is_among(name, kPythons) &&
        !is_version_of_python(value))
      return refuse_packages(
          fmt::format("{} {} {} is no version of Python", run_.launcher, name, printable(value)),
          "the installer would run that program with all that you have",
          "write a version: " + name + " 3.12; or " + kInstallYourself);
    if (is_among(name, kPlaces) && !is_whole_place(value))
      return refuse_packages(
          fmt::format("{} {} {} is no address and no whole path", run_.launcher, name,
                      printable(value)),
          "servers of several projects share what is installed, and a relative path is another one "
          "for each",
          "write it from https:// or / on; or " + std::string(kInstallYourself));
    return {};
  }

  [[nodiscard]] Result<void> unknown(const std::string& name) const {
    const bool is_shell = name == "-c" || name == "--call" || name == "--shell-mode";
    return refuse_packages(
        fmt::format("{} with {} cannot be confined", run_.launcher, printable(name)),
        is_shell ? "a command of a shell says nothing of what is installed"
                 : "mcpac installs what a launcher would run, and does not know what that option "
                   "changes",
        is_shell ? kInstallYourself : fmt::format("leave it out; or {}", kInstallYourself));
  }

  // "npm exec PACKAGE -- ARGS": npm takes the options before the dashes for its own.
  Result<void> skip_dashes() {
    if (!launcher_.words.starts_with("npm ")) return {};
    const auto dashes =
        std::ranges::find(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end(), "--");
    const bool had_dashes = at_ >= 2 && words_[at_ - 2] == "--";
    if (had_dashes) return {};
    for (auto word = words_.begin() + static_cast<std::ptrdiff_t>(at_); word != dashes; ++word) {
      if (word->starts_with('-'))
        return refuse_packages(
            fmt::format("{} takes {} for an option of its own", run_.launcher, printable(*word)),
            "options of the server stand behind \"--\"",
            fmt::format("{} -- {} {} …", run_.launcher, run_.packages.front(), printable(*word)));
    }
    if (at_ < words_.size() && words_[at_] == "--") ++at_;
    return {};
  }

  const PackageLauncher& launcher_;
  std::span<const std::string> words_;
  std::size_t at_;
  std::vector<std::string> more_;
  PackageRun run_;
};

// Number of its words that are the launcher's; 0: it is another.
std::size_t begins_with(std::span<const std::string> words, std::string_view launcher) {
  std::size_t count = 0;
  for (; !launcher.empty(); ++count) {
    const auto word = launcher.substr(0, launcher.find(' '));
    if (count == words.size()) return 0;
    const std::string given = count == 0 ? fs::path(words[0]).filename().string() : words[count];
    if (given != word) return 0;
    launcher.remove_prefix(std::min(launcher.size(), word.size() + 1));
  }
  return count;
}

}  // namespace

std::unexpected<Error> refuse_packages(std::string what, std::string why, std::string fix) {
  return fail(ErrorId::kServerStart, std::move(what),
              {.why = std::move(why), .fix = std::move(fix)});
}

std::string npm_name(const std::string& package) {
  return package.substr(0, package.find('@', package.starts_with('@') ? 1 : 0));
}

std::string python_name(std::string_view package) {
  if (const auto slash = package.rfind('/'); slash != std::string_view::npos)
    package.remove_prefix(slash + 1);
  package = package.substr(0, package.find_first_of("[]@=<>!~;, "));
  if (package.ends_with(".git")) package.remove_suffix(4);
  std::string name;
  for (const char c : package) {
    const bool is_mark = c == '_' || c == '.' || c == '-';
    if (!is_mark)
      name += to_lower(c);
    else if (!name.ends_with('-'))
      name += '-';
  }
  return name;
}

bool is_of_installer(std::string_view variable) {
  const std::string name = lowered(variable);
  const bool is_theirs = name.starts_with("npm_config_") || name.starts_with("uv_") ||
                         name.starts_with("pip_") || name.starts_with("pipx_");
  constexpr std::array<std::string_view, 9> kSources = {"registry", "index",    "find_links",
                                                        "auth",     "token",    "username",
                                                        "password", "no_proxy", "https_proxy"};
  return is_theirs && std::ranges::any_of(
                          kSources, [&](std::string_view source) { return name.contains(source); });
}

std::vector<std::string> sources_of(std::span<const std::string> variables) {
  std::vector<std::string> sources;
  for (const std::string& variable : variables) {
    const std::string name = lowered(std::string_view(variable).substr(0, variable.find('=')));
    if (is_of_installer(name) && (name.contains("registry") || name.contains("index") ||
                                  name.contains("find_links") || name.contains("proxy")))
      sources.push_back(variable);
  }
  std::ranges::sort(sources);
  return sources;
}

std::string PackageRun::text() const {
  return fmt::format("{}", fmt::join(packages, ", "));
}

Result<std::optional<PackageRun>> package_run_of(std::span<const std::string> words) {
  for (const PackageLauncher& launcher : kPackageLaunchers) {
    if (const auto begin = begins_with(words, launcher.words); begin > 0)
      return RunReader(launcher, words, begin).read();
  }
  return std::nullopt;
}

Result<std::optional<PackageRun>> package_run_of(const mcp::ServerConfig& server) {
  std::vector<std::string> words = {project::server_text(server.command, "command")};
  for (const std::string& argument : server.arguments)
    words.push_back(project::server_text(argument, "args"));
  auto run = package_run_of(words);
  if (!run && run.error().where.empty()) run.error().where = "server " + server.name;
  if (!run || !*run) return run;
  std::vector<std::string> variables;
  for (const auto& [name, value] : server.environment)
    variables.push_back(fmt::format("{}={}", name, project::server_text(value, "env")));
  (*run)->sources = sources_of(variables);
  return run;
}

}  // namespace mcpac::servers
