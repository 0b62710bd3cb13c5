// SPDX-License-Identifier: Apache-2.0

#include "project/files/obeyed_commands.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/private_file.h"
#include "mcp/environment.h"
#include "mcp/server_config.h"
#include "policy/match/path_readings.h"
#include "project/list_servers.h"
#include "project/project_place.h"

namespace mcpac::project {
namespace {

namespace fs = std::filesystem;

constexpr int kMostHops = 16;

bool holds_packages(const fs::path& name) {
  return name == "node_modules" || name == ".venv" || name == "venv";
}

// Names with a version behind them, too: python3.12, node22.
bool is_python(std::string_view name) {
  return name.starts_with("python") || name.starts_with("pypy");
}
bool is_interpreter(std::string_view name) {
  constexpr std::array<std::string_view, 9> kOthers = {"node", "deno", "bun",  "tsx", "ts-node",
                                                       "ruby", "perl", "bash", "sh"};
  return is_python(name) || std::ranges::find(kOthers, name) != kOthers.end();
}

// npm and its like run scripts of package.json besides.
bool runs_packages(std::string_view name) {
  constexpr std::array<std::string_view, 10> kNames = {"npx", "npm",  "pnpx", "pnpm", "yarn",
                                                       "bun", "bunx", "uvx",  "uv",   "pipx"};
  return std::ranges::find(kNames, name) != kNames.end();
}
bool runs_scripts(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {"npm", "pnpm", "yarn", "bun"};
  return std::ranges::find(kNames, name) != kNames.end();
}

class CommandFiles {
 public:
  CommandFiles(fs::path start, const std::vector<std::string>& environment)
      : start_(std::move(start)), environment_(environment) {}

  void add_words(std::span<const std::string> words) {
    bool python = false;
    bool after_interpreter = false;
    bool after_module = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word.empty()) continue;
      add_text(word);
      if (python && (after_module || (word.starts_with("-m") && word.size() > 2))) {
        add_module(after_module ? word : word.substr(2));
        after_module = after_interpreter = false;
        continue;
      }
      after_module = python && word == "-m";
      if (word.front() == '-') continue;
      if (after_interpreter) add_script(start_ / word);
      if (i == 0 && word.find('/') != std::string::npos) files_.insert(normal(start_ / word));
      if (auto found = mcp::find_program(word, environment_)) add_file(start_ / *found);
      const std::string name = fs::path(word).filename().string();
      after_interpreter = is_interpreter(name);
      python = python || is_python(name);
      if (runs_packages(name)) add_packages();
      if (runs_scripts(name)) files_.insert(normal(start_ / "package.json"));
    }
  }

  // As it stands, behind "=" and options, in lists, in JSON, in what a shell is told to run.
  void add_text(const std::string& text) {
    for (const auto& one :
         policy::path_readings(text, home_of_user(), policy::MeantAs::kCommand).named) {
      const std::string path = policy::join(one.path.components);
      add_file(one.path.absolute ? fs::path(path) : start_ / path.substr(1));
    }
  }
  std::set<fs::path> take() { return std::move(files_); }

 private:
  static fs::path normal(const fs::path& path) { return path.lexically_normal(); }

  void add_file(fs::path path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    for (int i = 0; i < kMostHops; ++i) {
      path = normal(path);
      add_one(path);
      if (!fs::is_symlink(path, error)) break;
      const fs::path target = fs::read_symlink(path, error);
      if (error) break;
      path = path.parent_path() / target;
    }
    if (const auto real = fs::canonical(path, error); !error) add_one(real);
  }

  void add_one(const fs::path& file) {
    files_.insert(file);
    fs::path at;
    for (const fs::path& part : file) {
      at /= part;
      if (!holds_packages(part) || at == file) continue;
      files_.insert(at);
      break;
    }
    std::error_code error;
    const fs::path environment = file.parent_path().parent_path();  // of its bin/
    if (fs::exists(environment / "pyvenv.cfg", error)) files_.insert(environment);
  }

  // There or not. Of a folder what an interpreter starts in it.
  void add_script(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files_.insert(normal(path));
      return;
    }
    for (const char* const entry : {"__main__.py", "index.js", "package.json"})
      files_.insert(normal(path / entry));
  }

  void add_module(const std::string& name) {
    const std::string first = name.substr(0, name.find('.'));
    if (first.empty() || first.find('/') != std::string::npos) return;
    files_.insert(normal(start_ / first));
    files_.insert(normal(start_ / (first + ".py")));
  }

  // Looked for in each folder from here to the root, and made there by a program as well.
  void add_packages() {
    for (fs::path at = normal(start_);; at = at.parent_path()) {
      for (const char* const name : {"node_modules", ".venv", "venv"}) files_.insert(at / name);
      if (at == at.parent_path()) return;
    }
  }

  fs::path start_;
  const std::vector<std::string>& environment_;
  std::set<fs::path> files_;
};

// A file of tokens that cannot be read opens nothing (gateway/tokens.h), so nothing is obeyed by
// it.
void add_policies_of_tokens(const Folders& folders, std::set<fs::path>& all) {
  constexpr std::size_t kMostOfTokens = std::size_t{4} << 20U;
  if (folders.state.empty()) return;
  const auto text = read_private_file(folders.tokens(), kMostOfTokens);
  if (!text || !*text) return;
  const auto json = parse_json(**text, folders.tokens().string());
  const Json* tokens = json ? find_member(*json, "tokens") : nullptr;
  if (tokens == nullptr || !tokens->is_array()) return;
  for (const Json& token : *tokens) {
    const fs::path policy = string_member(token, "policy");
    if (policy.is_absolute()) all.insert(policy.lexically_normal());
  }
}

}  // namespace

std::set<fs::path> files_of_command(std::span<const std::string> words, const fs::path& start,
                                    const std::vector<std::string>& environment) {
  CommandFiles files(start, environment);
  files.add_words(words);
  return files.take();
}

std::set<fs::path> files_obeyed_for(const Project& project, const Folders& folders) {
  return files_obeyed_beside(project, folders, {});
}

std::set<fs::path> files_obeyed_beside(const Project& project, const Folders& folders,
                                       std::string_view beside) {
  std::set<fs::path> all(project.obeyed.begin(), project.obeyed.end());
  add_policies_of_tokens(folders, all);
  std::error_code error;
  const fs::path here = fs::current_path(error);
  for (const mcp::ServerConfig& server : project.config.servers) {
    if (server.is_http() || server.name == beside) continue;
    std::vector<std::string> words{server_text(server.command, "command")};
    for (const std::string& one : server.arguments) words.push_back(server_text(one, "args"));
    const auto environment = mcp::make_environment(server.environment);
    const fs::path below = server_text(server.working_directory, "cwd");
    // The next command may be given in another folder: that of the project is the usual one.
    for (const fs::path& base : {here, project.folder}) {
      CommandFiles files((base / below).lexically_normal(), environment);
      files.add_words(words);
      for (const auto& [name, value] : server.environment) files.add_text(value);
      all.merge(files.take());
    }
  }
  return all;
}

void obey(Project& project, const policy::LayerText& rules, std::span<const std::string> approver) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  for (const auto* const files : {&rules.files, &rules.profile_files}) {
    for (const policy::PolicyFile& file : *files) {
      if (!file.name.empty()) project.obeyed.push_back((here / file.name).lexically_normal());
    }
  }
  const auto of_approver = files_of_command(approver, here, mcp::make_environment({}));
  project.obeyed.insert(project.obeyed.end(), of_approver.begin(), of_approver.end());
}

}  // namespace mcpac::project
