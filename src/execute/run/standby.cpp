#include "execute/run/standby.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "mcp/environment.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFromFile = "${file:";

bool reads_files(const mcp::ServerConfig& server) {
  const auto named = [](const std::string& text) {
    return text.find(kFromFile) != std::string::npos;
  };
  return named(server.command) || named(server.working_directory) ||
         std::ranges::any_of(server.arguments, named) ||
         std::ranges::any_of(server.environment,
                             [&](const auto& entry) { return named(entry.second); });
}

std::set<std::string> preparable(const mcp::Config& config, const std::set<std::string>& names) {
  std::set<std::string> servers;
  for (const std::string& name : names) {
    const auto* server = config.find(name);
    if (server != nullptr && !server->disabled && !server->is_http() && !reads_files(*server))
      servers.insert(name);
  }
  return servers;
}

// A regular file that is exchanged or written has another stamp.
std::string stamp_of(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return fmt::format("{}: {}:{} {} {}.{} {}.{}\n", file.native(), info.st_dev, info.st_ino,
                     info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec);
}

// The program of each server and the files among its arguments: a script that was edited is
// another server.
std::string stamps_of(const mcp::Config& config, const std::set<std::string>& names) {
  std::string stamps;
  for (const std::string& name : names) {
    const auto* server = config.find(name);
    if (server == nullptr) continue;
    const fs::path folder = server->working_directory;
    const auto program =
        mcp::find_program(server->command, mcp::make_environment(server->environment));
    stamps += stamp_of(program ? folder / *program : folder / server->command);
    for (const std::string& argument : server->arguments) stamps += stamp_of(folder / argument);
  }
  return stamps;
}

// Digests of definitions stand for them (codegen/lock).
bool is_same(const codegen::Lock& a, const codegen::Lock& b) {
  return std::ranges::equal(a.servers, b.servers, [](const auto& x, const auto& y) {
    return x.name == y.name && x.identity == y.identity &&
           std::ranges::equal(x.tools, y.tools, [](const auto& s, const auto& t) {
             return s.name == t.name && s.digest == t.digest;
           });
  });
}

bool is_same(const mcp::Config& a, const mcp::Config& b) {
  return std::ranges::equal(a.servers, b.servers, [](const auto& x, const auto& y) {
    return x.name == y.name && mcp::to_json(x) == mcp::to_json(y);
  });
}

}  // namespace

Result<std::unique_ptr<Standby>> Standby::prepare(const fs::path& config_file,
                                                  const Folders& folders,
                                                  const std::set<std::string>& servers) {
  std::unique_ptr<Standby> made(new Standby);
  // As in a run, the warden starts before anything else is open.
  auto warden = sandbox::Warden::start(folders.warden());
  if (!warden) return pass_on(warden);
  made->warden_ = std::move(*warden);
  auto project = load_project(config_file);
  if (!project) return pass_on(project);
  made->project_ = std::move(*project);
  auto lock = load_lock(made->project_);
  if (!lock) return pass_on(lock);
  made->lock_ = std::move(*lock);
  const auto chosen = preparable(made->project_.config, servers);
  made->programs_ = stamps_of(made->project_.config, chosen);
  made->host_ = std::make_unique<Host>(made->project_.config, made->lock_);
  made->host_->start(chosen);
  return made;
}

Standby::~Standby() = default;

std::optional<sandbox::Warden> Standby::take_warden() {
  return std::exchange(warden_, std::nullopt);
}

bool Standby::fits(const Project& project, const codegen::Lock& lock) const {
  return project.config_file == project_.config_file && is_same(project.config, project_.config) &&
         is_same(lock, lock_) && stamps_of(project_.config, host_->started()) == programs_ &&
         host_->on_loop([this] { return host_->upstreams().all_well(); });
}

std::unique_ptr<Host> Standby::take_host(const Project& project, const codegen::Lock& lock) {
  if (!host_) return nullptr;
  if (fits(project, lock)) return std::move(host_);
  host_.reset();  // two of a server at the same time could stand in each other's way
  return nullptr;
}

Result<sandbox::Warden> warden_for_run(Standby* standby, const Folders& folders,
                                       sandbox::Explore explore) {
  auto warden = standby == nullptr ? std::nullopt : standby->take_warden();
  if (warden) return std::move(*warden);
  return sandbox::Warden::start(folders.warden(), explore);
}

std::unique_ptr<Host> host_for_run(Standby* standby, const Project& project,
                                   const codegen::Lock& lock) {
  auto host = standby == nullptr ? nullptr : standby->take_host(project, lock);
  return host ? std::move(host) : std::make_unique<Host>(project.config, lock);
}

}  // namespace mcpac::execute
