// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/tier_b.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "core/abandoned.h"
#include "core/printable.h"
#include "project/files/open_place.h"
#include "servers/confine/confine_servers.h"

namespace mcpac::servers {
namespace {

namespace fs = std::filesystem;
using sandbox::Mount;

constexpr const char* kOfNames[] = {"/etc/resolv.conf", "/etc/hosts"};

bool is_writable(const Mount& mount) {
  return mount.kind == Mount::Kind::kHost && mount.access == Mount::Access::kReadWrite;
}

std::unexpected<Error> cannot_hold(const std::string& server, const Mount& inner,
                                   const Mount& outer) {
  const std::string place = printable(inner.inside.string());
  const std::string given = printable(outer.inside.string());
  const bool absent = inner.kind == Mount::Kind::kAbsent;
  return fail(
      ErrorId::kFilesRefused,
      absent ? fmt::format("{} is denied, and lies in {}, which the server is given", place, given)
             : fmt::format("{} stays as it is, and lies in {}, which the server may write", place,
                           given),
      {.where = "server " + server,
       .why = "this machine gives tier B: Landlock alone holds files, and holds with a folder all "
              "that lies in it",
       .fix = fmt::format("give it smaller folders than {}, beside {}{}; on a machine with tier A "
                          "it is held as it is (`mcpac doctor`)",
                          given, place, absent ? "" : ", or give that read-only")});
}

// What is over a part of what lies around it, but for its home, where the same is shown again.
Result<void> check_parts(const sandbox::Spec& spec, const std::string& server) {
  for (const Mount& inner : spec.mounts) {
    const bool absent = inner.kind == Mount::Kind::kAbsent;
    if ((inner.kind != Mount::Kind::kHost && !absent) || is_writable(inner) ||
        project::lies_in(inner.inside, kConfinedHome))
      continue;
    for (const Mount& outer : spec.mounts) {
      if (outer.kind != Mount::Kind::kHost || outer.inside == inner.inside ||
          !project::lies_in(inner.inside, outer.inside))
        continue;
      if (absent || is_writable(outer)) return cannot_hold(server, inner, outer);
    }
  }
  return {};
}

// The outermost alone: what lies in it is there by it.
Result<void> link_into_home(const sandbox::Spec& spec, const fs::path& home) {
  for (const Mount& mount : spec.mounts) {
    if (mount.kind != Mount::Kind::kHost || mount.host == mount.inside) continue;
    const fs::path at = home / mount.inside.lexically_relative(kConfinedHome);
    std::error_code error;
    bool lies_in_link = false;
    for (fs::path above = at; above != home && above.has_relative_path();
         above = above.parent_path())
      lies_in_link = lies_in_link || fs::is_symlink(fs::symlink_status(above, error));
    if (lies_in_link) continue;
    fs::create_directories(at.parent_path(), error);
    fs::create_symlink(mount.host, at, error);
    if (error) {
      return fail(ErrorId::kFileUnwritable,
                  fmt::format("cannot make {}: {}", at.string(), error.message()),
                  {.where = home.string()});
    }
  }
  return {};
}

void set_own_folder(std::vector<std::string>& environment, const std::string& confined,
                    const std::string& on_disk) {
  std::ranges::replace(environment, confined, on_disk);
}

}  // namespace

Result<FoldersOnDisk> FoldersOnDisk::make(const fs::path& temporary) {
  sweep_abandoned(temporary);
  auto folder = TemporaryFolder::create(temporary, "server-");
  if (!folder) return pass_on(folder);
  FoldersOnDisk made(std::move(*folder));
  for (const fs::path& own : {made.home(), made.temporary()}) {
    std::error_code error;
    fs::create_directory(own, error);
    if (!error) fs::permissions(own, fs::perms::owner_all, error);
    if (error) {
      return fail(ErrorId::kFileUnwritable,
                  fmt::format("cannot make {}: {}", own.string(), error.message()),
                  {.where = temporary.string()});
    }
  }
  return made;
}

Result<WholeNetwork> whole_network(const std::string& server,
                                   const std::vector<std::string>& places,
                                   const project::ServerPlaces& by_rules) {
  if (places.empty() || by_rules.network_denied) return WholeNetwork::kNone;
  if (std::ranges::find(places, "any") != places.end()) return WholeNetwork::kAll;
  return fail(
      ErrorId::kTierTooLow,
      fmt::format("the \"network\" of {} names hosts, which tier B cannot hold", printable(server)),
      {.where = "server " + server,
       .why = "without a network namespace a server has no network, or all of it",
       .fix =
           "leave \"network\" out, or write \"network\": [\"any\"], which here is every address, "
           "also of this machine and its network, unrecorded; `mcpac doctor` says what tier A "
           "lacks"});
}

Result<sandbox::Spec> without_mounts(sandbox::Spec spec, const std::string& server,
                                     WholeNetwork network, const FoldersOnDisk& own) {
  if (auto held = check_parts(spec, server); !held) return pass_on(held);
  if (auto linked = link_into_home(spec, own.home()); !linked) return pass_on(linked);
  std::erase_if(spec.mounts, [](const Mount& mount) {
    return mount.kind != Mount::Kind::kDevice &&
           (mount.kind != Mount::Kind::kHost || mount.host != mount.inside);
  });
  const auto give = [&](const fs::path& place, Mount::Access access) {
    spec.mounts.push_back({.host = place, .inside = place, .access = access});
  };
  give(own.home(), Mount::Access::kReadWrite);
  give(own.temporary(), Mount::Access::kReadWrite);
  if (network == WholeNetwork::kAll) {
    for (const char* file : kOfNames) {
      std::error_code error;
      const bool is_there = std::ranges::any_of(
          spec.mounts, [&](const Mount& mount) { return mount.inside == fs::path(file); });
      if (!is_there && fs::is_regular_file(file, error)) give(file, Mount::Access::kRead);
    }
    spec.admits = spec.admits.with(sandbox::Dials{});
  }
  set_own_folder(spec.environment, fmt::format("HOME={}", kConfinedHome),
                 "HOME=" + own.home().string());
  set_own_folder(spec.environment, "TMPDIR=/tmp", "TMPDIR=" + own.temporary().string());
  spec.arguments.front() = "confined-alone";
  spec.lowest_tier = sandbox::Tier::kB;
  return spec;
}

}  // namespace mcpac::servers
