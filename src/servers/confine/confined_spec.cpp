// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/confined_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/printable.h"
#include "mcp/environment.h"
#include "project/files/kernel_mounts.h"
#include "project/files/obeyed_commands.h"
#include "project/files/open_place.h"
#include "project/project_place.h"
#include "servers/confine/server_packages.h"

namespace mcpac::servers {
namespace {

namespace fs = std::filesystem;
using sandbox::Mount;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
// Memory of the machine, which no other limit of a server counts.
constexpr std::uint64_t kPrivateFolder = 256 * kMebibyte;
constexpr std::uint64_t kSharedMemory = 64 * kMebibyte;

// Files of libc and of languages' libraries: names, times, certificates, the linker's caches. Not
// resolv.conf: without it names are asked of 127.0.0.1, where mcpac answers for a `network`.
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
constexpr std::array kOfSystem = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
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

void add_system(ByPlace& mounts, bool has_network) {
  std::error_code error;
  for (const fs::path folder : kOfSystem) {
    const auto type = fs::symlink_status(folder, error).type();
    if (type == fs::file_type::symlink) {
      put_link(mounts, folder, fs::read_symlink(folder, error));
    } else if (type == fs::file_type::directory) {
      put(mounts, {.host = folder, .inside = folder, .access = Mount::Access::kReadExecute});
    }
  }
  for (const fs::path file : kOfEtc) {
    // Names are asked of mcpac, which reads it, so that what connects is the name and no address.
    if (has_network && file == "/etc/hosts") continue;
    const auto type = fs::status(file, error).type();
    if (type == fs::file_type::regular || type == fs::file_type::directory)
      put(mounts, {.host = file, .inside = file});
  }
}

// `memory`: of its entry, which files in memory pass by where no control group counts them; 0: no
// limit.
void add_own(ByPlace& mounts, std::uint64_t memory) {
  const auto bounded = [&](std::uint64_t size) {
    return memory == 0 ? size : std::min(size, memory);
  };
  for (const fs::path device : kDevices)
    put(mounts, {.host = device, .inside = device, .kind = Mount::Kind::kDevice});
  put_link(mounts, "/dev/fd", "/proc/self/fd");
  put_link(mounts, "/dev/stdin", "/proc/self/fd/0");
  put_link(mounts, "/dev/stdout", "/proc/self/fd/1");
  put_link(mounts, "/dev/stderr", "/proc/self/fd/2");
  put(mounts, {.host = {}, .inside = "/proc", .kind = Mount::Kind::kProcesses});
  for (const fs::path& folder : {fs::path("/tmp"), fs::path("/var/tmp"), fs::path(kConfinedHome)})
    put(mounts, {.host = {},
                 .inside = folder,
                 .kind = Mount::Kind::kPrivate,
                 .size = bounded(kPrivateFolder)});
  put(mounts, {.host = {},
               .inside = "/dev/shm",
               .kind = Mount::Kind::kPrivate,
               .size = bounded(kSharedMemory)});
}

bool lies_in_any(const fs::path& path, const std::vector<project::ServerPlaces::Place>& places) {
  return std::ranges::any_of(places, [&](const project::ServerPlaces::Place& place) {
    return project::lies_in(path, place.path);
  });
}

// Those that can be given now: what is judged when a start of the server is, as it may be started
// again when much has changed. One that cannot be is no reason to start nothing.
void add_places_of_rules(const project::ServerPlaces& by_rules,
                         const project::ReservedPlaces& reserved,
                         std::vector<policy::FilePlace>& places) {
  const auto of_entry = places;
  for (const project::ServerPlaces::Place& place : by_rules.given) {
    // A mount of its own in a place of the entry would only stop moves between the two.
    const bool is_there = std::ranges::any_of(of_entry, [&](const policy::FilePlace& outer) {
      return project::lies_in(place.path, outer.path) &&
             (outer.mode == place.mode || outer.mode == policy::FileMode::kReadWrite);
    });
    if (is_there) continue;
    policy::FilePlace wanted{.path = place.path.string(), .mode = place.mode, .said_in = "rules"};
    if (project::open_place(wanted, reserved)) places.push_back(std::move(wanted));
  }
}

// What it is started from: its own code it may not write, whatever its entry gives. What its own
// words name behind that is its data.
std::set<fs::path> started_from(const mcp::SpawnOptions& options, const LaunchProfile& profile,
                                const fs::path& start) {
  std::vector<std::string> words = {options.program};
  for (std::size_t i = 1; i < std::min(profile.first_own, options.arguments.size()); ++i)
    words.push_back(options.arguments[i]);
  return project::files_of_command(words, start, options.environment);
}

// What a person may have meant for a place that is no path as it stands: no shell reads an entry.
Result<void> check_place_text(std::string_view text, const std::string& where) {
  const auto refuse = [&](std::string what, std::string why, std::string fix) {
    return fail(ErrorId::kFilesRefused, std::move(what),
                {.where = where, .why = std::move(why), .fix = std::move(fix)});
  };
  if (text.empty())
    return refuse("a place of \"sandbox\" is an empty text", "",
                  R"(write "./data" or "./data:rw")");
  std::string_view path = text;
  if (path.ends_with(":rw") || path.ends_with(":ro")) path.remove_suffix(3);
  const bool is_home =
      fs::path(path).lexically_normal() == "~" || fs::path(path).lexically_normal() == "~/";
  if (is_home)
    return refuse(fmt::format("{} is your home, which is never given as a whole", printable(text)),
                  "it holds keys, and settings that other programs obey",
                  R"(name the folders in it that the server needs: "${env:HOME}/.config/NAME")");
  if (path.starts_with('$') || path.starts_with('~')) {
    const std::string home = project::home_of_user();
    const bool is_below = path.starts_with("~/") && !home.empty();
    return refuse(fmt::format("{} is read by no shell here", printable(text)),
                  "\"${env:NAME}\" stands for a variable; all else is a path as it stands",
                  is_below ? fmt::format("write \"{}{}\"", home, printable(text.substr(1)))
                           : std::string("write the whole path"));
  }
  return {};
}

// A mode that there is not is part of a name, which is mostly not there.
Result<void> check_mode(const std::string& text, const policy::FilePlace& place) {
  const bool has_mode = place.mode == policy::FileMode::kReadWrite || text.ends_with(":ro");
  const std::string known =
      project::with_known_mode(has_mode ? std::string_view(text).substr(0, text.size() - 3) : text);
  std::error_code error;
  if (known.empty() || fs::exists(fs::symlink_status(place.path, error))) return {};
  const bool writes = place.mode == policy::FileMode::kReadWrite && !known.ends_with(":rw");
  return fail(ErrorId::kFilesRefused, fmt::format("{} is not there", printable(text)),
              {.where = place.said_in,
               .why = project::kModes,
               .fix = fmt::format("write \"{}{}\"", printable(known), writes ? ":rw" : "")});
}

Result<project::FileMounts> mounts_of_places(const project::Project& project,
                                             const project::Folders& folders,
                                             const mcp::ConfinedSpawn& confined,
                                             const project::ServerPlaces& by_rules,
                                             std::set<fs::path> started) {
  std::vector<policy::FilePlace> places;
  for (const std::string& text : confined.places) {
    if (auto fits = check_place_text(text, "server " + confined.server); !fits)
      return pass_on(fits);
    places.push_back(project::place_of_entry(text, project, confined.server));
    if (auto fits = check_mode(text, places.back()); !fits) return pass_on(fits);
  }
  project::ReservedPlaces reserved = project::reserved_places(project, folders, {});
  reserved.obeyed = project::files_obeyed_beside(project, folders, confined.server);
  reserved.obeyed.merge(started);
  // By the names that they are looked for.
  reserved.obeyed.insert({project.config_file, project.lock_file(), project.policy_file()});
  add_places_of_rules(by_rules, reserved, places);
  // What a person wrote into an entry is that server's own to keep its settings in.
  for (const fs::path& home : homes_of_servers()) reserved.settings.push_back(home / ".config");
  std::erase_if(places,
                [&](const auto& place) { return lies_in_any(place.path, by_rules.absent); });
  // No guard stands beside a server, whose processes are many: what is there of protected names
  // stays as it is.
  auto made = project::mounts_of(places, reserved, project::NamesKept::kByMounts);
  if (made) return made;
  // Its advice is for the command line of a run.
  Error error = std::move(made.error());
  if (error.fix.starts_with("--changeset"))
    error.fix = "name smaller folders, or give it read-only";
  if (error.where.empty()) error.where = "server " + confined.server;
  return std::unexpected(std::move(error));
}

// Names of programs, and of what links them: what a program needs to start.
bool is_of_linker(const fs::path& path) {
  return project::lies_in(path, "/etc/alternatives") || path.native().starts_with("/etc/ld.so.");
}

// The mount that shows what lies there; null: none does.
const Mount* mount_over(const ByPlace& mounts, const fs::path& path) {
  for (fs::path at = path;; at = at.parent_path()) {
    if (const auto found = mounts.find(at); found != mounts.end()) return &found->second;
    if (at == at.parent_path()) return nullptr;
  }
}

// More were not written by a person, and each is a mount.
constexpr std::size_t kMostHeldBack = 40;

// With each place those where another mount shows it, or a part of it, under the same rules.
Result<std::vector<project::ServerPlaces::Place>> with_other_mounts(
    const std::vector<project::ServerPlaces::Place>& places) {
  std::vector<project::ServerPlaces::Place> all = places;
  if (places.empty()) return all;
  auto table = project::MountTable::read();
  if (!table) return pass_on(table);
  for (const project::ServerPlaces::Place& place : places) {
    for (fs::path& path : table->elsewhere(place.path))
      all.push_back({.path = std::move(path), .mode = place.mode, .rules = place.rules});
  }
  return all;
}

// What the program is made of, where another mount shows it in a writable place, too.
Result<void> hold_trees(const std::set<fs::path>& trees, ByPlace& mounts) {
  const auto is_writable = [](const Mount& mount) {
    return mount.kind == Mount::Kind::kHost && mount.access == Mount::Access::kReadWrite;
  };
  std::vector<fs::path> written;
  for (const auto& [at, mount] : mounts) {
    if (is_writable(mount)) written.push_back(at);
  }
  if (written.empty()) return {};
  auto table = project::MountTable::read();
  if (!table) return pass_on(table);
  if (std::ranges::none_of(written, [&](const fs::path& at) { return table->may_show_more(at); }))
    return {};
  for (const fs::path& tree : trees) {
    for (const fs::path& other : table->elsewhere(tree)) {
      for (auto& [at, mount] : mounts) {
        if (is_writable(mount) && project::lies_in(at, other)) mount.access = Mount::Access::kRead;
      }
      const Mount* over = mount_over(mounts, other);
      if (over != nullptr && is_writable(*over)) put(mounts, {.host = other, .inside = other});
    }
  }
  return {};
}

// What the rules hold back of all that is mounted by now. What the program is made of stays.
Result<void> hold_back(const project::ServerPlaces& by_rules, const std::set<fs::path>& trees,
                       ByPlace& mounts) {
  std::size_t count = 0;
  const auto is_tree_in = [&](const fs::path& place) {
    return std::ranges::any_of(trees,
                               [&](const fs::path& tree) { return project::lies_in(tree, place); });
  };
  auto read_only = with_other_mounts(by_rules.read_only);
  if (!read_only) return pass_on(read_only);
  for (const project::ServerPlaces::Place& place : *read_only) {
    const Mount* over = mount_over(mounts, place.path);
    for (auto& [at, mount] : mounts) {
      if (mount.kind == Mount::Kind::kHost && mount.access == Mount::Access::kReadWrite &&
          project::lies_in(at, place.path))
        mount.access = Mount::Access::kRead;
    }
    if (over == nullptr || over->kind != Mount::Kind::kHost ||
        over->access != Mount::Access::kReadWrite)
      continue;
    std::error_code error;
    if (!fs::exists(fs::symlink_status(place.path, error))) continue;
    ++count;
    put(mounts, {.host = place.path, .inside = place.path});
  }
  auto absent = with_other_mounts(by_rules.absent);
  if (!absent) return pass_on(absent);
  for (const project::ServerPlaces::Place& place : *absent) {
    std::erase_if(mounts, [&](const auto& entry) {
      const bool stays =
          is_tree_in(entry.first) || is_of_linker(entry.first) ||
          std::ranges::find(kOfSystem, entry.first) != kOfSystem.end() ||
          (entry.second.kind != Mount::Kind::kHost && entry.second.kind != Mount::Kind::kAbsent);
      return !stays && project::lies_in(entry.first, place.path);
    });
    const Mount* over = mount_over(mounts, place.path);
    if (over == nullptr || over->kind != Mount::Kind::kHost || over->inside == place.path) continue;
    if (is_tree_in(place.path)) {
      // What is given around the program may be more than the program.
      if (over->access == Mount::Access::kReadExecute) continue;
      return fail(
          ErrorId::kFilesRefused,
          fmt::format("{} is denied, lies in what the server is given, and holds its program",
                      printable(place.path.string())),
          {.where = place.rules.empty() ? std::string() : place.rules.front(),
           .why = "the program would be absent with it",
           .fix = "give it smaller folders than " + printable(over->inside.string())});
    }
    std::error_code error;
    const auto type = fs::symlink_status(place.path, error).type();
    if (type == fs::file_type::not_found || type == fs::file_type::none) continue;
    ++count;
    put(mounts, {.host = place.path, .inside = place.path, .kind = Mount::Kind::kAbsent});
  }
  if (count <= kMostHeldBack) return {};
  return fail(ErrorId::kFilesRefused,
              fmt::format("{} denied places in what a server is given are more than {}", count,
                          kMostHeldBack),
              {.why = "each is mounted over", .fix = "deny folders that hold several"});
}

// What is mounted over something in a writable place, so that it is absent or cannot be written,
// does not move; a folder above it could be moved away with it, and another be made in its place
// that the next start takes for it. So each of those is a mount, too.
Result<void> pin_folders_above(ByPlace& mounts) {
  constexpr std::size_t kMostMounts = 400;  // of the warden's 512
  std::vector<fs::path> held;
  for (const auto& [at, mount] : mounts) held.push_back(at);
  for (const fs::path& place : held) {
    const Mount* over =
        place.has_relative_path() ? mount_over(mounts, place.parent_path()) : nullptr;
    if (over == nullptr || over->kind != Mount::Kind::kHost ||
        over->access != Mount::Access::kReadWrite)
      continue;
    const fs::path top = over->inside;
    for (fs::path at = place.parent_path(); at != top && at.has_relative_path();
         at = at.parent_path())
      put(mounts, {.host = at, .inside = at, .access = Mount::Access::kReadWrite});
  }
  if (mounts.size() <= kMostMounts) return {};
  const auto depth = [](const fs::path& path) { return std::distance(path.begin(), path.end()); };
  const fs::path deepest = *std::ranges::max_element(held, {}, depth);
  return fail(
      ErrorId::kFilesRefused,
      "what a server may write holds too many names that tools obey, or denied places",
      {.where = {},
       .why =
           fmt::format("each is mounted over, and so is each folder above it; the deepest is {}, "
                       "{} folders down",
                       printable(deepest.string(), 300), depth(deepest)),
       .fix = "name the folders that it works in, or give them read-only; what the server made so "
              "deep, and nobody needs, remove"});
}

bool is_in_tree(const ByPlace& mounts, const fs::path& path) {
  return std::ranges::any_of(mounts, [&](const auto& entry) {
    return entry.second.kind == Mount::Kind::kHost && project::lies_in(path, entry.first);
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
  constexpr std::size_t kMostMounts = 500;  // of the warden's 512
  ByPlace more;
  for (const fs::path& home : homes_of_servers()) {
    const bool has_project = !project::lies_in(home, project);
    for (const auto& [at, mount] : mounts) {
      // Its program has its own place alone, but where it lies over a part of one that is given.
      const Mount* over = at.has_relative_path() ? mount_over(mounts, at.parent_path()) : nullptr;
      const bool is_over_given = over != nullptr && over->kind == Mount::Kind::kHost &&
                                 over->access != Mount::Access::kReadExecute;
      const bool is_given = (mount.kind == Mount::Kind::kHost &&
                             (mount.access != Mount::Access::kReadExecute || is_over_given)) ||
                            mount.kind == Mount::Kind::kAbsent;
      if (!is_given || at == home || !project::lies_in(at, home) ||
          (has_project && project::lies_in(at, project)))
        continue;
      Mount again = mount;
      again.inside = fs::path(kConfinedHome) / at.lexically_relative(home);
      fs::path inside = again.inside;
      more.try_emplace(std::move(inside), std::move(again));
    }
  }
  if (mounts.size() + more.size() <= kMostMounts) mounts.merge(more);
}

// Nothing of mcpac's own is part of a program, whatever links and variables of its entry say, but
// what was installed for it.
Result<void> refuse_own_trees(const std::set<fs::path>& trees, const project::Folders& folders,
                              const std::vector<fs::path>& installed) {
  const auto closed = project::closed_places(folders);
  const auto lies_in_one_of = [](const fs::path& tree, const std::vector<fs::path>& places) {
    return std::ranges::any_of(
        places, [&](const fs::path& place) { return project::lies_in(tree, place); });
  };
  for (const fs::path& tree : trees) {
    if (!lies_in_one_of(tree, closed) || lies_in_one_of(tree, installed)) continue;
    return fail(ErrorId::kFilesRefused,
                fmt::format("{} is mcpac's own, and no part of a server", printable(tree.string())),
                {.where = {},
                 .why = "its command line or a variable like NODE_PATH leads there",
                 .fix = "start what lies elsewhere"});
  }
  return {};
}

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
  constexpr std::string_view kHome = "HOME=";
  for (const std::string& variable : mcp::make_environment({})) {
    if (variable.starts_with(kHome)) add(variable.substr(kHome.size()));
  }
  add(project::home_of_user());
  return homes;
}

Result<sandbox::Spec> confined_spec(const project::Project& project,
                                    const project::Folders& folders, const mcp::SpawnOptions& given,
                                    const project::ServerPlaces& by_rules,
                                    project::FileMounts* written) {
  const auto start = start_of(given);
  if (!start) return std::unexpected(start.error());
  const auto started = server_start(given, folders);
  if (!started) return std::unexpected(started.error());
  const mcp::SpawnOptions& options = started->options;
  auto profile =
      launch_profile_of(options, *start, foreign_folders(project, folders), started->programs);
  if (!profile) return pass_on(profile);
  auto own = refuse_own_trees(profile->trees, folders, started->trees);
  if (!own) return pass_on(own);
  auto places = mounts_of_places(project, folders, *options.confined, by_rules,
                                 started_from(options, *profile, *start));
  if (!places) return pass_on(places);

  ByPlace mounts;
  add_system(mounts, !options.confined->network.empty());
  add_own(mounts, options.confined->memory);
  profile->trees.insert(started->trees.begin(), started->trees.end());
  for (const fs::path& tree : profile->trees)
    put(mounts, {.host = tree, .inside = tree, .access = Mount::Access::kReadExecute});
  for (Mount& mount : places->mounts) {
    // What it is made of is executed, also where another server is started from it.
    if (mount.access == Mount::Access::kRead && mount.kind == Mount::Kind::kHost &&
        std::ranges::any_of(profile->trees, [&](const fs::path& tree) {
          return project::lies_in(mount.inside, tree);
        }))
      mount.access = Mount::Access::kReadExecute;
    put(mounts, std::move(mount));
  }
  if (auto held = hold_trees(profile->trees, mounts); !held) return pass_on(held);
  if (auto held = hold_back(by_rules, profile->trees, mounts); !held) return pass_on(held);
  if (auto held = pin_folders_above(mounts); !held) return pass_on(held);
  for (const auto& [at, text] : profile->links) {
    // What is there by a place shows its link already.
    if (is_in_tree(mounts, at) || mounts.contains(at)) continue;
    if (text.native().size() > 100) continue;  // then the program is not found, and that is said
    put_link(mounts, at, text);
  }
  add_to_own_home(mounts, foreign_folders(project, folders).front());
  if (!is_in_tree(mounts, *start) && !mounts.contains(*start) && *start != "/")
    put(mounts, {.host = {}, .inside = *start, .kind = Mount::Kind::kFolder});

  if (written != nullptr) *written = std::move(*places);
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
  spec.limits.memory = options.confined->memory;
  spec.limits.processes = 512;
  spec.limits.open_files = 512;
  return spec;
}

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

ForeignFolders foreign_folders(const project::Project& project, const project::Folders& folders) {
  std::error_code error;
  return {fs::weakly_canonical(project.folder, error),
          project::home_of_user(),
          folders.state,
          folders.cache,
          folders.runtime,
          folders.temporary};
}

}  // namespace mcpac::servers
