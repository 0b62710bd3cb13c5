// SPDX-License-Identifier: Apache-2.0

#include "sandbox/prepare.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "sandbox/descriptors.h"
#include "sandbox/landlock.h"
#include "sandbox/namespaces.h"
#include "sandbox/observe.h"
#include "sandbox/seccomp.h"

namespace mcpac::sandbox {
namespace {

std::unexpected<Refused> refuse(Refused::Kind kind, Failure failure, std::string text) {
  return std::unexpected(Refused{kind, failure, std::move(text)});
}

std::unexpected<Refused> bad_request(std::string text) {
  return refuse(Refused::Kind::kBadRequest, {.layer = Layer::kRequest, .error = EINVAL},
                std::move(text));
}

// ".." would leave a mount point that was meant, and a relative path depends on who asks.
bool is_plain_absolute(const std::filesystem::path& path) {
  return path.is_absolute() &&
         std::ranges::none_of(path, [](const auto& part) { return part == ".."; });
}

std::string below_root(const std::filesystem::path& inside) {
  std::string text = inside.lexically_normal().relative_path().native();
  while (text.ends_with('/')) text.pop_back();
  return text;
}

// Through symbolic links of the host, which are its own business, but not through /proc's magic
// ones.
UniqueFd open_mount(const std::string& host) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, host.c_str(), &how, sizeof how)));
}

std::expected<void, Refused> plan_overlay(const Mount& mount, PlannedMount& planned) {
  if (mount.changes.empty()) return {};
  if (!planned.directory || mount.access != Mount::Access::kReadWrite)
    return bad_request("only a writable folder can have its changes elsewhere: " + planned.host);
  if (!is_plain_absolute(mount.changes))
    return bad_request("the folder for changes must be absolute: " + mount.changes.native());
  planned.changes = mount.changes.native();
  const UniqueFd folder = open_mount(planned.changes);
  struct stat info {};
  if (!folder || ::fstat(folder.get(), &info) != 0) {
    return refuse(Refused::Kind::kLayerFailed, {.layer = Layer::kRoot, .error = errno},
                  "cannot open " + planned.changes);
  }
  planned.changes_device = info.st_dev;
  planned.changes_inode = info.st_ino;
  return {};
}

// Devices that give nothing of the host, and take nothing.
bool is_plain_device(const struct stat& info) {
  constexpr unsigned kMemoryDevices = 1;
  if (!S_ISCHR(info.st_mode) || major(info.st_rdev) != kMemoryDevices) return false;
  switch (minor(info.st_rdev)) {
    case 3:               // null
    case 5:               // zero
    case 7:               // full
    case 8:               // random
    case 9: return true;  // urandom
    default: return false;
  }
}

// What is made inside, of nothing of the host.
std::expected<PlannedMount, Refused> plan_made(const Mount& mount, PlannedMount planned) {
  planned.directory = true;
  switch (mount.kind) {
    case Mount::Kind::kLink:
      planned.directory = false;
      if (planned.host.empty() || planned.host.size() > kLongestLink)
        return bad_request("a link leads to 1 to 100 bytes: " + planned.inside);
      return planned;
    case Mount::Kind::kAbsent: {
      struct stat info {};
      if (::stat(planned.host.c_str(), &info) != 0) {
        return refuse(Refused::Kind::kLayerFailed, {.layer = Layer::kRoot, .error = errno},
                      "cannot look at " + planned.host);
      }
      planned.directory = S_ISDIR(info.st_mode);
      return planned;
    }
    case Mount::Kind::kPrivate:
      if (planned.size == 0) return bad_request("a private folder has a size: " + planned.inside);
      return planned;
    default: return planned;
  }
}

std::expected<PlannedMount, Refused> plan_mount(const Mount& mount) {
  const bool has_host = mount.kind == Mount::Kind::kHost || mount.kind == Mount::Kind::kDevice ||
                        mount.kind == Mount::Kind::kAbsent;
  if ((has_host && !is_plain_absolute(mount.host)) || !is_plain_absolute(mount.inside)) {
    return bad_request("a mount must have absolute paths without '..': " + mount.host.native());
  }
  PlannedMount planned;
  planned.host = mount.host.native();
  planned.inside = below_root(mount.inside);
  planned.access = mount.access;
  planned.kind = mount.kind;
  planned.size = mount.size;
  if (planned.inside.empty())
    return bad_request("the root itself cannot be a mount: " + planned.host);
  if (!planned.is_of_host()) return plan_made(mount, std::move(planned));
  planned.handle = open_mount(planned.host);
  struct stat info {};
  if (!planned.handle || ::fstat(planned.handle.get(), &info) != 0) {
    return refuse(Refused::Kind::kLayerFailed, {.layer = Layer::kRoot, .error = errno},
                  "cannot open " + planned.host);
  }
  planned.device = info.st_dev;
  planned.inode = info.st_ino;
  planned.directory = S_ISDIR(info.st_mode);
  const FileIdentity found{.device = info.st_dev, .inode = info.st_ino};
  if (mount.identity != FileIdentity{} && mount.identity != found) {
    return refuse(Refused::Kind::kLayerFailed, {.layer = Layer::kRoot, .error = ESTALE},
                  "another file than the one that was granted lies at " + planned.host);
  }
  if (planned.kind == Mount::Kind::kDevice) {
    if (!is_plain_device(info)) return bad_request("not a device without effect: " + planned.host);
    return planned;
  }
  if (!planned.directory && !S_ISREG(info.st_mode)) {
    return bad_request("only folders and regular files can be mounted: " + planned.host);
  }
  if (auto overlay = plan_overlay(mount, planned); !overlay)
    return std::unexpected(overlay.error());
  return planned;
}

std::size_t depth_of(const PlannedMount& mount) {
  return static_cast<std::size_t>(std::ranges::count(mount.inside, '/'));
}

// A mount inside another comes after it; among equals the order of the spec.
std::expected<void, Refused> plan_mounts(const Spec& spec, Plan& plan) {
  if (spec.mounts.size() > kMostMounts) return bad_request("more than 512 mounts");
  for (const Mount& mount : spec.mounts) {
    auto planned = plan_mount(mount);
    if (!planned) return std::unexpected(std::move(planned.error()));
    const auto place = std::ranges::upper_bound(plan.mounts, depth_of(*planned), {}, depth_of);
    plan.mounts.insert(place, std::move(*planned));
  }
  return {};
}

std::expected<Tier, Refused> choose_tier(const Machine& machine, const Spec& spec) {
  const auto tier = machine.tier();
  if (!tier) {
    return refuse(Refused::Kind::kUnavailable,
                  {.layer = Layer::kSeccomp, .error = machine.filter_error},
                  "the kernel runs no system-call filters");
  }
  if (*tier <= spec.lowest_tier) return *tier;
  const bool landlock_missing = machine.landlock_abi == 0;
  const Failure missing = machine.namespaces && landlock_missing
                              ? Failure{.layer = Layer::kLandlock, .error = machine.landlock_error}
                              : machine.namespaces_failed;
  auto refused = refuse(Refused::Kind::kTierTooLow, missing,
                        "this machine gives tier " + to_string(*tier) + ", the run asks for " +
                            to_string(spec.lowest_tier));
  refused.error().gives = *tier;
  return refused;
}

// Landlock alone has to hold what mounts and namespaces hold elsewhere.
std::expected<void, Refused> check_served_without_root(const Machine& machine, const Spec& spec) {
  constexpr int kScopes = 6;
  if (machine.landlock_abi < kScopes) {
    return refuse(Refused::Kind::kTierTooLow, machine.namespaces_failed,
                  "without namespaces, and with Landlock before ABI 6 (Linux 6.12), a program that "
                  "starts others could signal every process of its user");
  }
  for (const Mount& outer : spec.mounts) {
    if (outer.access != Mount::Access::kReadWrite || outer.kind != Mount::Kind::kHost) continue;
    const std::string folder = outer.inside.lexically_normal().native() + "/";
    for (const Mount& inner : spec.mounts) {
      if (inner.access != Mount::Access::kReadWrite &&
          inner.inside.lexically_normal().native().starts_with(folder)) {
        return refuse(Refused::Kind::kTierTooLow, machine.namespaces_failed,
                      "without a mount namespace " + inner.inside.native() +
                          " cannot be kept from what may write " + outer.inside.native());
      }
    }
  }
  return {};
}

// Without a root of its own a child sees the host's paths, so a mount can neither be renamed nor,
// if Landlock is missing too, be enforced.
std::expected<void, Refused> check_without_root(const Machine& machine, const Spec& spec) {
  if (machine.namespaces) return {};
  const bool serves = spec.admits.has<Serves>();
  const auto is_made = [serves](const Mount& mount) {
    return mount.kind != Mount::Kind::kHost && !(serves && mount.kind == Mount::Kind::kDevice);
  };
  if (std::ranges::any_of(spec.mounts, is_made) || !spec.listens.empty()) {
    return refuse(Refused::Kind::kTierTooLow, machine.namespaces_failed,
                  "without namespaces nothing can be made that only the program sees");
  }
  if (auto served =
          serves ? check_served_without_root(machine, spec) : std::expected<void, Refused>();
      !served)
    return served;
  if (spec.admits.opens_files() && machine.landlock_abi == 0) {
    return refuse(Refused::Kind::kTierTooLow, machine.namespaces_failed,
                  "without namespaces and Landlock nothing decides which files may be opened");
  }
  constexpr int kHoldsTruncation = 3;
  if (spec.admits.has<WritesFiles>() && machine.landlock_abi < kHoldsTruncation) {
    return refuse(
        Refused::Kind::kTierTooLow, machine.namespaces_failed,
        "without namespaces, and with Landlock before ABI 3, a file that may only be read "
        "could be emptied");
  }
  for (const Mount& mount : spec.mounts) {
    if (!mount.changes.empty()) {
      return refuse(
          Refused::Kind::kTierTooLow, machine.namespaces_failed,
          "without a mount namespace changes to " + mount.host.native() + " cannot be kept apart");
    }
    if (mount.host.lexically_normal() != mount.inside.lexically_normal()) {
      return refuse(Refused::Kind::kTierTooLow, machine.namespaces_failed,
                    "without a mount namespace " + mount.host.native() + " cannot appear as " +
                        mount.inside.native());
    }
  }
  return {};
}

// A name that is not there yet cannot be mounted over, and Landlock knows no names.
std::expected<void, Refused> check_names(const Machine& machine, const Spec& spec) {
  if (spec.kept_names.empty() || !spec.admits.has<WritesFiles>()) return {};
  if (machine.namespaces && machine.listener) return {};
  return refuse(
      Refused::Kind::kLayerFailed, {.layer = Layer::kSeccomp, .error = machine.listener_error},
      "without namespaces and a listener for system calls a program could make names that "
      "tools obey (.git, .envrc, …): grant files read-write with --changeset");
}

void plan_identity(const Machine& machine, uid_t own_id, Plan& plan) {
  plan.identity = machine.identity;
  plan.user = own_id;
  if (machine.namespaces) {
    plan.own_root = true;
    plan.namespace_flags = all_namespaces();
    if (plan.identity == Identity::kUserNamespace) plan.namespace_flags |= CLONE_NEWUSER;
  } else {
    // What it may open lies in folders that are the caller's alone, at their own paths.
    if (!plan.mounts.empty() || plan.admits.has<Serves>()) plan.identity = Identity::kKeep;
    plan.empty_root = plan.identity == Identity::kOwnId;
  }
  // RLIMIT_NPROC counts an id in its user namespace; the caller's own has other processes in it.
  plan.count_processes = plan.identity != Identity::kKeep;
}

Result<const std::vector<sock_filter>*> filter_for(Stock& stock, const FilterKey& key) {
  auto& filter = stock.filters[key];
  if (filter.empty()) {
    auto compiled = compile_filter(key);
    if (!compiled) return pass_on(compiled);
    filter = std::move(*compiled);
  }
  return &filter;
}

std::expected<void, Refused> plan_layers(Stock& stock, const Given& given, Plan& plan) {
  // In its own network namespace it talks to itself.
  const bool reaches_itself = plan.admits.has<Serves>() && plan.own_root;
  if (stock.machine.landlock_abi > 0) {
    plan.landlock_abi = stock.machine.landlock_abi;
    plan.ruleset = make_ruleset(
        plan.mounts, given.program, stock.machine.landlock_abi,
        reaches_itself || plan.admits.has<Dials>() ? TcpRules::kNone : TcpRules::kRefuse);
    if (!plan.ruleset) {
      return refuse(Refused::Kind::kLayerFailed, {.layer = Layer::kLandlock, .error = errno},
                    "cannot make the rules");
    }
  }
  // What a server asks is answered; nothing waits for a listener.
  plan.listened = stock.machine.listener && !plan.admits.has<Serves>();
  const FilterKey key{plan.admits, plan.own_root ? Root::kOwn : Root::kOfHost,
                      plan.listened ? Rest::kReport : Rest::kKill,
                      plan.kept_names.empty() ? Names::kAny : Names::kGuarded};
  const auto filter = filter_for(stock, key);
  if (!filter) {
    return refuse(Refused::Kind::kLayerFailed, {.layer = Layer::kSeccomp, .error = EINVAL},
                  filter.error().what);
  }
  plan.filter = **filter;
  return {};
}

std::vector<char*> as_c(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int or_null(int fd) {
  return fd >= 0 ? fd : null_descriptor();
}

void plan_program(Spec& spec, const Given& given, Plan& plan) {
  plan.program = given.program;
  plan.standard_input = or_null(given.standard_input);
  plan.standard_output = or_null(given.standard_output);
  plan.standard_error = or_null(given.standard_error);
  plan.channel = given.channel;
  plan.observer = given.observer;
  if (plan.observer >= 0) plan.observing = observing_filter();
  plan.arguments = as_c(spec.arguments);
  plan.environment = as_c(spec.environment);
}

}  // namespace

void prepare_filter_of_servers(Stock& stock) {
  // What is wrong with it is told when it is used.
  std::ignore = filter_for(stock, {Admits{}.with(Serves{}), Root::kOwn, Rest::kKill, Names::kAny});
}

std::expected<Plan, Refused> prepare(Stock& stock, Spec& spec, const Given& given, uid_t own_id) {
  if (spec.arguments.empty()) return bad_request("arguments must hold argv[0]");
  const bool has_port =
      std::ranges::all_of(spec.listens, [](const Listen& l) { return l.port != 0; });
  if (!has_port || spec.listens.size() > kMostListens ||
      (!spec.listens.empty() && !spec.admits.has<Serves>()))
    return bad_request("what serves listens, on at most 16 ports");
  if (spec.admits.has<Dials>() && !spec.admits.has<Serves>())
    return bad_request("only what serves dials");
  if (spec.limits.open_files > kMostOpenFiles) return bad_request("open_files is at most 512");
  if (given.observer >= 0 && !spec.admits.has<Serves>())
    return bad_request("only a program that serves can be observed");
  if (!is_plain_absolute(spec.work_directory))
    return bad_request("work_directory must be absolute");
  const auto tier = choose_tier(stock.machine, spec);
  if (!tier) return std::unexpected(tier.error());
  if (auto possible = check_without_root(stock.machine, spec); !possible)
    return std::unexpected(possible.error());
  if (auto possible = check_names(stock.machine, spec); !possible)
    return std::unexpected(possible.error());
  Plan plan;
  plan.tier = *tier;
  plan.admits = spec.admits;
  if (spec.admits.has<WritesFiles>()) {
    plan.kept_names = spec.kept_names;
    plan.kept_folders = spec.kept_folders;
    plan.kept_places = spec.kept_places;
  }
  plan.new_file_mask = spec.new_file_mask;
  plan.limits = spec.limits;
  plan.listens = spec.listens;
  plan.work_directory = spec.work_directory.native();
  if (auto planned = plan_mounts(spec, plan); !planned) return std::unexpected(planned.error());
  plan_identity(stock.machine, own_id, plan);
  if (auto planned = plan_layers(stock, given, plan); !planned)
    return std::unexpected(planned.error());
  plan_program(spec, given, plan);
  return plan;
}

}  // namespace mcpac::sandbox
