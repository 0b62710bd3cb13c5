#include "execute/servers/confine_servers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/printable.h"
#include "execute/files/file_mounts.h"
#include "execute/files/open_place.h"
#include "execute/project/project_place.h"
#include "execute/servers/launch_profile.h"
#include "execute/servers/learn.h"
#include "mcp/child_process.h"
#include "mcp/environment.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;
using sandbox::Mount;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
// Memory of the machine, which no other limit of a server counts.
constexpr std::uint64_t kPrivateFolder = 256 * kMebibyte;
constexpr std::uint64_t kSharedMemory = 64 * kMebibyte;

// What libc and libraries of languages look for: names, times, certificates, the linker's caches.
// Not resolv.conf: there is no network to ask.
constexpr std::array kOfEtc = {"/etc/ld.so.cache",
                               "/etc/ld.so.conf",
                               "/etc/ld.so.conf.d",
                               "/etc/nsswitch.conf",
                               "/etc/passwd",
                               "/etc/group",
                               "/etc/hosts",
                               "/etc/host.conf",
                               "/etc/localtime",
                               "/etc/timezone",
                               "/etc/ssl/certs",
                               "/etc/ssl/openssl.cnf",
                               "/etc/ca-certificates.conf",
                               "/etc/pki/tls/certs",
                               "/etc/alternatives",
                               "/etc/mime.types",
                               "/etc/services",
                               "/etc/protocols",
                               "/etc/locale.alias",
                               "/etc/python3",
                               "/etc/python3.11",
                               "/etc/magic",
                               "/etc/fonts"};
constexpr std::array kDevices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                 "/dev/urandom"};

using ByPlace = std::map<fs::path, Mount>;

void put(ByPlace& into, Mount mount) {
  fs::path inside = mount.inside;
  into.insert_or_assign(std::move(inside), std::move(mount));
}

void put_link(ByPlace& into, const fs::path& at, const fs::path& text) {
  put(into, {.host = text, .inside = at, .kind = Mount::Kind::kLink});
}

void add_system(ByPlace& mounts) {
  std::error_code error;
  for (const fs::path folder : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    const auto type = fs::symlink_status(folder, error).type();
    if (type == fs::file_type::symlink) {
      put_link(mounts, folder, fs::read_symlink(folder, error));
    } else if (type == fs::file_type::directory) {
      put(mounts, {.host = folder, .inside = folder, .access = Mount::Access::kReadExecute});
    }
  }
  for (const fs::path file : kOfEtc) {
    const auto type = fs::status(file, error).type();
    if (type == fs::file_type::regular || type == fs::file_type::directory)
      put(mounts, {.host = file, .inside = file});
  }
}

void add_own(ByPlace& mounts) {
  for (const fs::path device : kDevices)
    put(mounts, {.host = device, .inside = device, .kind = Mount::Kind::kDevice});
  put_link(mounts, "/dev/fd", "/proc/self/fd");
  put_link(mounts, "/dev/stdin", "/proc/self/fd/0");
  put_link(mounts, "/dev/stdout", "/proc/self/fd/1");
  put_link(mounts, "/dev/stderr", "/proc/self/fd/2");
  put(mounts, {.host = {}, .inside = "/proc", .kind = Mount::Kind::kProcesses});
  for (const fs::path& folder : {fs::path("/tmp"), fs::path("/var/tmp"), fs::path(kConfinedHome)})
    put(mounts,
        {.host = {}, .inside = folder, .kind = Mount::Kind::kPrivate, .size = kPrivateFolder});
  put(mounts,
      {.host = {}, .inside = "/dev/shm", .kind = Mount::Kind::kPrivate, .size = kSharedMemory});
}

// "PATH", "PATH:ro", "PATH:rw"; a relative one from the folder of mcpac.json.
policy::FilePlace place_of(std::string_view text, const Project& project,
                           const std::string& server) {
  policy::FilePlace place;
  place.said_in =
      fmt::format("{}: mcpServers.{}.sandbox.files", project.config_file.string(), server);
  if (text.ends_with(":rw")) {
    place.mode = policy::FileMode::kReadWrite;
    text.remove_suffix(3);
  } else if (text.ends_with(":ro")) {
    text.remove_suffix(3);
  }
  // The folder by its real name: a place that leads through a link is refused.
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(project.folder, error);
  fs::path path = ((error ? project.folder : folder) / text).lexically_normal();
  if (!path.has_filename() && path != path.root_path()) path = path.parent_path();
  place.path = path.string();
  return place;
}

Result<FileMounts> mounts_of_entry(const Project& project, const Folders& folders,
                                   const mcp::ConfinedSpawn& confined) {
  std::vector<policy::FilePlace> places;
  for (const std::string& text : confined.places) {
    if (text.empty()) {
      return fail(
          ErrorId::kFilesRefused, "a place of \"sandbox\" is an empty text",
          {.where = "server " + confined.server, .fix = R"(write "./data" or "./data:rw")"});
    }
    places.push_back(place_of(text, project, confined.server));
  }
  // No guard stands beside a server, whose processes are many: what is there of protected names
  // stays as it is.
  auto made = mounts_of(places, reserved_places(project, folders, {}), NamesKept::kByApply);
  if (made) return made;
  // Its advice is for the command line of a run.
  Error error = std::move(made.error());
  if (error.fix.starts_with("--changeset"))
    error.fix = "name smaller folders, or give it read-only";
  if (error.where.empty()) error.where = "server " + confined.server;
  return std::unexpected(std::move(error));
}

// The folder that it starts in, without links, as those are not in the sandbox.
Result<fs::path> start_of(const mcp::SpawnOptions& options) {
  std::error_code error;
  fs::path start = fs::current_path(error);
  if (!options.working_directory.empty())
    start = fs::canonical(start / options.working_directory, error);
  if (error) {
    return fail(ErrorId::kServerStart,
                fmt::format("cannot start in \"{}\": {}", printable(options.working_directory),
                            error.message()),
                {.fix = "check \"cwd\""});
  }
  return start;
}

bool is_in_tree(const ByPlace& mounts, const fs::path& path) {
  return std::ranges::any_of(mounts, [&](const auto& entry) {
    return entry.second.kind == Mount::Kind::kHost && lies_in(path, entry.first);
  });
}

// Variables that are about a folder of its own. Those of its entry stay.
void add_variables(std::vector<std::string>& environment) {
  for (const auto& [name, value] :
       {std::pair("HOME", kConfinedHome), std::pair("TMPDIR", "/tmp")}) {
    const std::string begin = fmt::format("{}=", name);
    const bool is_set = std::ranges::any_of(
        environment, [&](const std::string& variable) { return variable.starts_with(begin); });
    if (!is_set) environment.push_back(begin + value);
  }
}

// What was given of the user's home is in the server's own home as well, where it looks for it,
// with all that lies over parts of it: all of that, or where there is no room nothing. Not what is
// of the project, which is named by its own paths. Behind all other mounts.
void add_to_own_home(ByPlace& mounts, const fs::path& project) {
  constexpr std::size_t kMostMounts = 120;  // of the warden's 128
  ByPlace more;
  for (const fs::path& home : homes_of_servers()) {
    const bool has_project = !lies_in(home, project);
    for (const auto& [at, mount] : mounts) {
      const bool is_given =
          (mount.kind == Mount::Kind::kHost && mount.access != Mount::Access::kReadExecute) ||
          mount.kind == Mount::Kind::kAbsent;
      if (!is_given || at == home || !lies_in(at, home) || (has_project && lies_in(at, project)))
        continue;
      Mount again = mount;
      again.inside = fs::path(kConfinedHome) / at.lexically_relative(home);
      put(more, std::move(again));
    }
  }
  if (mounts.size() + more.size() <= kMostMounts) mounts.merge(more);
}

// One warden for the confined servers of a project, as others are asked from other threads and live
// as long as their run.
class ServerWarden {
 public:
  explicit ServerWarden(fs::path program) : program_(std::move(program)) {}

  Result<sandbox::Child> spawn(const sandbox::Spec& spec) {
    const std::scoped_lock alone(mutex_);
    // One that was killed is replaced once; its children went with it.
    for (const bool again : {true, false}) {
      if (!warden_) {
        auto started = sandbox::Warden::start(program_);
        if (!started) return pass_on(started);
        warden_.emplace(std::move(*started));
      }
      auto child = warden_->spawn(spec);
      if (child || child.error().id != ErrorId::kWardenFailed || !again) return child;
      warden_.reset();
    }
    return fail(ErrorId::kWardenFailed, "the sandbox's warden does not answer");
  }

 private:
  fs::path program_;
  std::mutex mutex_;
  std::optional<sandbox::Warden> warden_;
};

class InSandbox final : public mcp::ConfinedProcess {
 public:
  InSandbox(sandbox::Child child, std::shared_ptr<ServerWarden> warden)
      : warden_(std::move(warden)), child_(std::move(child)) {}
  [[nodiscard]] int end_descriptor() const override { return child_.end_descriptor(); }
  void kill() override { child_.kill(sandbox::Verdict::Kind::kKilled); }

 private:
  std::shared_ptr<ServerWarden> warden_;  // outlives its child
  sandbox::Child child_;
};

std::string remedy_for(const Error& error, const std::string& server) {
  if (error.id != ErrorId::kTierTooLow && error.id != ErrorId::kSandboxUnavailable &&
      error.id != ErrorId::kSandboxLayerFailed)
    return error.fix;
  return fmt::format(
      "`mcpac doctor` says what is missing on this machine; without \"sandbox\" in the entry of {} "
      "it "
      "runs with all that you have",
      server);
}

class ServerConfiner final : public mcp::Confiner {
 public:
  ServerConfiner(std::shared_ptr<const Project> project, Folders folders,
                 std::shared_ptr<ServerWarden> warden)
      : project_(std::move(project)), folders_(std::move(folders)), warden_(std::move(warden)) {}

  [[nodiscard]] Result<std::unique_ptr<mcp::ConfinedProcess>> start(
      const std::string& server, const mcp::SpawnOptions& options,
      const mcp::ConfinedEnds& ends) const override {
    auto spec = confined_spec(*project_, folders_, options);
    if (!spec) return pass_on(spec);
    spec->standard_input = ends.standard_input;
    spec->standard_output = ends.standard_output;
    spec->standard_error = ends.standard_error;
    spec->channel = ends.control;
    if (options.observer) spec->observer = options.observer->socket();
    auto child = warden_->spawn(*spec);
    if (!child) {
      Error error = std::move(child.error());
      error.fix = remedy_for(error, server);
      error.what = fmt::format("cannot confine server {}: {}", server, error.what);
      return std::unexpected(std::move(error));
    }
    return std::make_unique<InSandbox>(std::move(*child), warden_);
  }

  [[nodiscard]] std::shared_ptr<mcp::Refusals> look_at_refusals(
      const std::string& server) const override {
    return refusals_of(project_, folders_, server);
  }

 private:
  std::shared_ptr<const Project> project_;
  Folders folders_;
  std::shared_ptr<ServerWarden> warden_;
};

}  // namespace

std::vector<fs::path> homes_of_servers() {
  std::vector<fs::path> homes;
  const auto add = [&](const fs::path& home) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(home, error);
    if (home.is_absolute() && !error && real != real.root_path() &&
        std::ranges::find(homes, real) == homes.end())
      homes.push_back(real);
  };
  add(home_of_user());
  constexpr std::string_view kHome = "HOME=";
  for (const std::string& variable : mcp::make_environment({})) {
    if (variable.starts_with(kHome)) add(variable.substr(kHome.size()));
  }
  return homes;
}

Result<sandbox::Spec> confined_spec(const Project& project, const Folders& folders,
                                    const mcp::SpawnOptions& options) {
  const auto start = start_of(options);
  if (!start) return std::unexpected(start.error());
  std::error_code error;
  const ForeignFolders foreign = {fs::weakly_canonical(project.folder, error),
                                  home_of_user(),
                                  folders.state,
                                  folders.cache,
                                  folders.runtime,
                                  folders.temporary};
  auto profile = launch_profile_of(options, *start, foreign);
  if (!profile) return pass_on(profile);
  auto places = mounts_of_entry(project, folders, *options.confined);
  if (!places) return pass_on(places);

  ByPlace mounts;
  add_system(mounts);
  add_own(mounts);
  for (const fs::path& tree : profile->trees)
    put(mounts, {.host = tree, .inside = tree, .access = Mount::Access::kReadExecute});
  for (Mount& mount : places->mounts) put(mounts, std::move(mount));
  for (const auto& [at, text] : profile->links) {
    // What is there by a place shows its link already.
    if (is_in_tree(mounts, at) || mounts.contains(at)) continue;
    if (text.native().size() > 100) continue;  // then the program is not found, and that is said
    put_link(mounts, at, text);
  }
  add_to_own_home(mounts, foreign.front());
  if (!is_in_tree(mounts, *start) && !mounts.contains(*start) && *start != "/")
    put(mounts, {.host = {}, .inside = *start, .kind = Mount::Kind::kFolder});

  sandbox::Spec spec;
  spec.program = options.keeper;
  spec.arguments = {"confined", (*start / options.program).lexically_normal().string()};
  spec.arguments.insert(spec.arguments.end(), options.arguments.begin(), options.arguments.end());
  spec.environment = options.environment;
  add_variables(spec.environment);
  for (auto& [at, mount] : mounts) spec.mounts.push_back(std::move(mount));
  spec.work_directory = *start;
  spec.admits = sandbox::Admits{}.with(sandbox::Serves{});
  spec.limits.file_size = std::numeric_limits<std::uint64_t>::max();
  spec.limits.processes = 512;
  spec.limits.open_files = 512;
  return spec;
}

void confine_servers(Project& project, const Folders& folders) {
  const auto is_confined = [](const mcp::ServerConfig& server) {
    return server.sandbox.has_value();
  };
  if (std::ranges::none_of(project.config.servers, is_confined)) return;
  // Before it refers to a confiner: that would keep itself alive.
  const auto copy = std::make_shared<const Project>(project);
  const auto confiner = std::make_shared<ServerConfiner>(
      copy, folders, std::make_shared<ServerWarden>(folders.warden()));
  for (auto& server : project.config.servers) {
    if (is_confined(server)) server.confiner = confiner;
  }
}

}  // namespace mcpac::execute
