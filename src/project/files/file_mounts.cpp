// SPDX-License-Identifier: Apache-2.0

#include "project/files/file_mounts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/printable.h"
#include "core/shell_quote.h"
#include "project/files/kernel_mounts.h"
#include "project/files/obeyed_commands.h"
#include "project/files/obeyed_places.h"
#include "project/files/open_place.h"

namespace mcpac::project {
namespace {

namespace fs = std::filesystem;

// Mounts that one sandbox takes, less the places of a dynamically linked program's libraries.
constexpr std::size_t kMostMounts = 56;
constexpr std::size_t kMostOfPath = 300;  // of a path that a program may have made
// Of a server, which has no guard beside it: its warden takes 512, with those of the system and of
// folders above these.
constexpr std::size_t kMostOfServer = 256;

// As far as it exists; a folder that is made later is then still recognised by its parent's name.
fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(path, error);
  if (error) real = path.lexically_normal();
  return real.has_filename() ? real : real.parent_path();
}

Result<std::vector<GrantedPlace>> open_all(std::span<const policy::FilePlace> granted,
                                           const ReservedPlaces& reserved) {
  std::map<fs::path, GrantedPlace> places;
  for (const policy::FilePlace& place : granted) {
    auto opened = open_place(place, reserved);
    if (!opened) return pass_on(opened);
    const auto [at, is_new] = places.try_emplace(opened->path, std::move(*opened));
    // Said twice: what either admits, as with rules.
    if (!is_new && place.mode == policy::FileMode::kReadWrite)
      at->second.mode = policy::FileMode::kReadWrite;
  }
  std::vector<GrantedPlace> all;
  for (auto& [path, place] : places) all.push_back(std::move(place));
  return all;
}

using Access = sandbox::Mount::Access;
using Mounts = std::map<fs::path, sandbox::Mount>;

// Laid over a writable folder afterwards, by the order in which the sandbox mounts.
Result<void> hold(const fs::path& path, Mounts& mounts) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  mounts.insert_or_assign(
      path, sandbox::Mount{.host = path,
                           .inside = path,
                           .access = Access::kRead,
                           .identity = {.device = info.st_dev, .inode = info.st_ino}});
  return {};
}

Result<void> hold_reserved(const GrantedPlace& place, const ReservedPlaces& reserved,
                           Mounts& mounts) {
  for (const fs::path& kept : reserved.read_only) {
    const auto rest = rest_below(kept, place.identity);
    if (!rest) continue;
    if (auto held = hold(place.path / *rest, mounts); !held) return held;
  }
  return {};
}

Result<void> refuse_closed(const ProtectedFound& found) {
  if (found.closed.empty()) return {};
  return fail(ErrorId::kFilesRefused,
              fmt::format("{} cannot be looked through for protected names",
                          printable(found.closed.front().string(), kMostOfPath)),
              {.why = "a program that may write beside it could open it, and write such a name",
               .fix = "make it readable (chmod u+rx), or grant a smaller folder read-write"});
}

// Where a link leads in the end, also where nothing lies there yet. The link itself where that
// cannot be said.
fs::path end_of_link(const fs::path& link) {
  constexpr int kMostLinks = 16;
  fs::path at = link;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!fs::is_symlink(at, error)) return real_path(at);
    const fs::path target = fs::read_symlink(at, error);
    if (error) break;
    at = real_path(at.parent_path()) / target;
  }
  return link;
}

// Limit of the guard, which is more than the folders of a large tree of packages.
constexpr std::size_t kMostFoldersOfKept = 4'000;

// A folder that could be moved away would take what is kept in it along.
Result<void> keep_folders(FileMounts& made) {
  std::set<fs::path> folders;
  for (const auto& [path, identity] : made.kept) {
    const auto holds = [&path](const GrantedPlace& place) {
      return place.mode == policy::FileMode::kReadWrite && lies_in(path, place.path);
    };
    const auto place = std::ranges::find_if(made.places, holds);
    if (place == made.places.end()) continue;
    for (fs::path at = path.parent_path(); at != place->path; at = at.parent_path()) {
      if (!folders.insert(at).second) break;
    }
  }
  if (folders.size() > kMostFoldersOfKept) {
    return fail(ErrorId::kFilesRefused,
                fmt::format("{} folders with protected names in them are more than {}",
                            folders.size(), kMostFoldersOfKept),
                {.why = "each of them must stay where it is", .fix = "--changeset"});
  }
  for (const fs::path& folder : folders) {
    struct stat info {};
    if (::lstat(folder.c_str(), &info) == 0)
      made.folders_of_kept.push_back({.device = info.st_dev, .inode = info.st_ino});
  }
  return {};
}

// A link may lead elsewhere, as the name itself is kept by the guard or by apply. Where it leads
// into what is granted, what is written there would be obeyed under the link's name.
Result<void> refuse_links(const ProtectedFound& found, const std::vector<GrantedPlace>& places) {
  const auto leads_in = [&](const fs::path& link) {
    std::error_code error;
    if (!fs::is_symlink(link, error)) return false;
    return std::ranges::any_of(places, [&](const GrantedPlace& place) {
      return place.mode == policy::FileMode::kReadWrite &&
             rest_below(end_of_link(link), place.identity).has_value();
    });
  };
  for (const fs::path& link : found.links) {
    if (!leads_in(link)) continue;
    return fail(
        ErrorId::kFilesRefused,
        fmt::format("{} is a link into what is granted, and must not be changed by a program",
                    printable(link.string())),
        {.why = "tools obey what it leads to",
         .fix = "grant a folder without it and without what it leads to, or grant "
                "read-only"});
  }
  return {};
}

sandbox::FileIdentity identity_at(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  return {.device = info.st_dev, .inode = info.st_ino};
}

// What is reserved, also by the names that other mounts give it within these places. Names above a
// place are known by what lies there (rest_below).
Result<ReservedPlaces> with_other_mounts(const ReservedPlaces& reserved,
                                         const std::vector<GrantedPlace>& places) {
  ReservedPlaces all = reserved;
  if (places.empty()) return all;
  auto table = MountTable::read();
  if (!table) return pass_on(table);
  const auto shows_more = [&](const GrantedPlace& place) {
    return table->may_show_more(place.path);
  };
  if (std::ranges::none_of(places, shows_more)) return all;
  const auto place_with = [&](const fs::path& path) {
    return std::ranges::find_if(
        places, [&](const GrantedPlace& place) { return lies_in(path, place.path); });
  };
  for (const fs::path& closed : reserved.closed) {
    for (const fs::path& other : table->elsewhere(closed)) {
      const auto place = place_with(other);
      if (place == places.end()) continue;
      return fail(ErrorId::kFilesRefused,
                  fmt::format("{} cannot be granted: {} in it is {}, or a part of that",
                              printable(place->path.string()), printable(other.string()),
                              printable(closed.string())),
                  {.where = place->said_in,
                   .why = "a program that reaches mcpac's own files could change what is trusted",
                   .fix = fmt::format("umount {}, or grant a smaller folder",
                                      shell_quoted(printable(other.string())))});
    }
  }
  for (const fs::path& shared : reserved.shared) {
    for (const fs::path& other : table->elsewhere(shared)) {
      const auto place = place_with(other);
      if (place == places.end() || place->mode != policy::FileMode::kReadWrite ||
          !rest_below(shared, identity_at(other)))
        continue;
      return fail(ErrorId::kFilesRefused,
                  fmt::format("{} cannot be granted read-write: {} in it is {}",
                              printable(place->path.string()), printable(other.string()),
                              printable(shared.string())),
                  {.where = place->said_in,
                   .why = "other runs keep their programs there",
                   .fix = "grant a folder in it"});
    }
  }
  for (const fs::path& kept : reserved.read_only)
    std::ranges::move(table->elsewhere(kept), std::back_inserter(all.read_only));
  for (const fs::path& obeyed : reserved.obeyed) {
    for (fs::path& other : table->elsewhere(real_path(obeyed))) all.obeyed.insert(std::move(other));
  }
  return all;
}

// A spelling that only the file system knows would pass every look at a name.
Result<void> refuse_folding(const ProtectedFound& found, NamesKept kept) {
  if (kept != NamesKept::kByGuard || found.folding.empty()) return {};
  return fail(
      ErrorId::kFilesRefused,
      fmt::format("{} lies on a file system that takes names for the same which differ in case, or "
                  "may do so, and cannot be granted read-write",
                  printable(found.folding.string())),
      {.why = "names that tools obey (.git, .envrc, …) have more spellings there than can be held",
       .fix = "--changeset"});
}

// What is kept in the place; its names, which are to be mounted over, are added.
Result<void> find_kept(const GrantedPlace& place, NamesKept kept, FileMounts& made,
                       std::vector<fs::path>& names, ObeyedPlaces& obeyed) {
  auto found = find_protected(place.handle.get(), place.path);
  if (!found) return pass_on(found);
  if (auto done = obeyed.add(*found); !done) return done;
  if (auto done = refuse_closed(*found); !done) return done;
  if (auto done = refuse_links(*found, made.places); !done) return done;
  if (auto done = refuse_folding(*found, kept); !done) return done;
  for (const fs::path& path : found->links) made.kept.emplace(path, identity_at(path));
  for (fs::path& path : found->names) {
    if (path == place.path) {
      return fail(ErrorId::kFilesRefused,
                  fmt::format("{} is a git repository by what it holds, and cannot be granted "
                              "read-write",
                              printable(path.string())),
                  {.why = "git runs what its configuration names", .fix = "grant it read-only"});
    }
    made.kept.emplace(path, identity_at(path));
    names.push_back(std::move(path));
  }
  return {};
}

// A file .git names any folder as that of its repository, also one that is none.
std::string remedy_for(const fs::path& git_file) {
  if (git_file.empty()) return "grant it read-only";
  return fmt::format(
      "grant it read-only; or, if {0} names a repository that is not there any more: rm {0}",
      shell_quoted(printable(git_file.string())));
}

// The first link on the way from the place to what lies in it, that itself left out; empty: none.
fs::path link_on_the_way(const fs::path& place, const fs::path& rest) {
  fs::path at = place;
  std::error_code error;
  for (const fs::path& part : rest.parent_path()) {
    at /= part;
    if (fs::is_symlink(at, error)) return at;
  }
  return {};
}

// No mount covers a link: it stays where a folder above it is held, as node_modules is.
Result<void> check_link(const GrantedPlace& place, const fs::path& link, const fs::path& named,
                        const ObeyedPlaces& obeyed) {
  std::error_code error;
  const bool is_held = std::ranges::any_of(obeyed.all(), [&](const fs::path& folder) {
    return folder != link && folder != place.path && lies_in(folder, place.path) &&
           lies_in(link, folder) && fs::is_directory(fs::symlink_status(folder, error));
  });
  if (is_held || has_protected_name(link.parent_path().lexically_relative(place.path))) return {};
  const fs::path real = fs::weakly_canonical(named, error);
  return fail(
      ErrorId::kFilesRefused,
      fmt::format("{} cannot be given to write: {} in it is a link to what mcpac starts or "
                  "obeys",
                  printable(place.path.string()), printable(link.string(), kMostOfPath)),
      {.why = "a server that may write there could lead the link elsewhere, and no mount holds one",
       .fix = fmt::format("give the folders in it that the server writes in; or name what the link "
                          "leads to by its real path: {}",
                          printable(real.string(), kMostOfPath))});
}

// What the configuration of git, Mercurial or mcpac names in a place, also where the place is
// mounted elsewhere, too. What is there is mounted over itself like a protected name.
Result<void> keep_obeyed(const GrantedPlace& place, NamesKept kept, const ObeyedPlaces& obeyed,
                         FileMounts& made, std::vector<fs::path>& names) {
  for (const fs::path& named : obeyed.all()) {
    const auto identity = identity_at(named);
    if (lies_in(place.path, named) || rest_below(place.path, identity)) {
      return fail(
          ErrorId::kFilesRefused,
          fmt::format("{} cannot be granted read-write", printable(place.path.string())),
          {.why = fmt::format("git, Mercurial or mcpac run or obey what lies in {}, by their "
                              "configuration or for what it holds",
                              printable(named.string())),
           .fix = remedy_for(obeyed.git_file_of(named))});
    }
    const auto rest = rest_below(named, place.identity);
    if (!rest) continue;
    fs::path path = place.path / *rest;
    if (has_protected_name(*rest)) continue;  // held already
    made.kept_places.push_back(path.string());
    // Behind a link it lies elsewhere, and is held there by its real name.
    if (fs::path link = link_on_the_way(place.path, *rest); !link.empty()) {
      if (kept == NamesKept::kByMounts) {
        if (auto stays = check_link(place, link, named, obeyed); !stays) return stays;
      }
      path = std::move(link);
      made.kept_places.push_back(path.string());
    }
    const auto there = identity_at(path);
    if (there == sandbox::FileIdentity{} || !made.kept.emplace(path, there).second) continue;
    std::error_code error;
    if (!fs::is_symlink(path, error)) names.push_back(path);
  }
  return {};
}

// As many as there is room for. First the folders that are repositories by what they hold: the
// guard knows names, and theirs says nothing. Then nearest to the root.
Result<void> hold_kept(std::vector<fs::path> names, NamesKept kept,
                       const std::vector<std::string>& by_guard, Mounts& mounts) {
  const auto by_place = [&by_guard](const fs::path& path) {
    return std::ranges::find(by_guard, path.string()) != by_guard.end();
  };
  const auto has_name = [](const fs::path& path) {
    return is_protected_name(path.filename().native());
  };
  std::ranges::sort(names, {}, [&](const fs::path& path) {
    return std::tuple(has_name(path), std::distance(path.begin(), path.end()), path);
  });
  const std::size_t most = kept == NamesKept::kByMounts ? kMostOfServer : kMostMounts;
  for (const fs::path& path : names) {
    if (mounts.size() < most || mounts.contains(path)) {
      if (auto held = hold(path, mounts); !held) return held;
    } else if (kept == NamesKept::kByMounts) {
      return fail(
          ErrorId::kFilesRefused,
          fmt::format("{} is a name that tools obey, and there is no room to mount over it: "
                      "a server has {} places",
                      printable(path.string(), kMostOfPath), most),
          {.why = "what it wrote there, others would run",
           .fix = "name the folders that it works in, or give it read-only"});
    } else if (kept == NamesKept::kByGuard && !has_name(path) && !by_place(path)) {
      return fail(
          ErrorId::kFilesRefused,
          fmt::format("{} is a git repository by what it holds, and there is no room to mount over "
                      "it: a run has {} places",
                      printable(path.string()), kMostMounts),
          {.why = "git runs what its configuration names, and nothing else would hold it",
           .fix = "--changeset"});
    }
  }
  return {};
}

// Where the links on the way to `path` lie, with that of its last name.
std::vector<fs::path> links_on_the_way(const fs::path& path) {
  constexpr std::size_t kMostLinks = 40;  // as the kernel's
  std::vector<fs::path> links;
  std::vector<fs::path> ahead;  // the next name last
  const auto put_ahead = [&ahead](const fs::path& names) {
    const std::vector<fs::path> all(names.begin(), names.end());
    ahead.insert(ahead.end(), all.rbegin(), all.rend());
  };
  put_ahead(path.relative_path());
  fs::path at = "/";
  while (!ahead.empty() && links.size() < kMostLinks) {
    const fs::path name = std::move(ahead.back());
    ahead.pop_back();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(at / name, error))) {
      at /= name;
      continue;
    }
    links.push_back(at / name);
    const fs::path target = fs::read_symlink(at / name, error);
    if (target.is_absolute()) at = "/";
    put_ahead(target.relative_path());
  }
  return links;
}

// No mount holds a link, and beside a server no guard does: where it may write, it could put
// another in its stead, which leads to what it wrote.
Result<void> refuse_obeyed_links(const ReservedPlaces& reserved, const Mounts& mounts) {
  const auto is_writable = [&](const fs::path& path) {
    for (fs::path at = path; at.has_relative_path(); at = at.parent_path()) {
      if (const auto over = mounts.find(at); over != mounts.end())
        return over->second.access == Access::kReadWrite;
    }
    return false;
  };
  for (const fs::path& obeyed : reserved.obeyed) {
    for (const fs::path& link : links_on_the_way(obeyed)) {
      if (!is_writable(link)) continue;
      return fail(
          ErrorId::kFilesRefused,
          fmt::format("{} is a link in what a server may write, and mcpac obeys what it leads to",
                      printable(link.string(), kMostOfPath)),
          {.why = fmt::format("the server could make it lead elsewhere; {} is named by it",
                              printable(obeyed.string(), kMostOfPath)),
           .fix = "put what it leads to there itself, or name that; or give the server smaller "
                  "folders, or that one read-only"});
    }
  }
  return {};
}

fs::path work_directory_for(const std::vector<GrantedPlace>& places) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const bool is_visible = !error && std::ranges::any_of(places, [&](const GrantedPlace& place) {
    return lies_in(place.path, here) || (place.is_folder && lies_in(here, place.path));
  });
  const bool is_file = std::ranges::find(places, here, &GrantedPlace::path) != places.end() &&
                       !fs::is_directory(here, error);
  return is_visible && !is_file ? here : fs::path("/");
}

// The very file that was there when the run began. Its folder can be moved by others, with what is
// held in it, and another be made in its place.
bool was_there(const fs::path& path, const FileMounts& files) {
  const auto known = files.kept.find(path);
  return known != files.kept.end() && identity_at(path) == known->second;
}

}  // namespace

bool FileMounts::writes() const {
  return std::ranges::find(places, policy::FileMode::kReadWrite, &GrantedPlace::mode) !=
         places.end();
}

std::vector<fs::path> closed_places(const Folders& folders) {
  std::vector<fs::path> closed;
  for (const fs::path& own :
       {folders.state, folders.cache, folders.runtime, folders.settings, folders.answers}) {
    if (!own.empty()) closed.push_back(real_path(own));
  }
  return closed;
}

ReservedPlaces reserved_places(const Project& project, const Folders& folders,
                               std::span<const fs::path> sources) {
  ReservedPlaces reserved;
  reserved.closed = closed_places(folders);
  if (!folders.temporary.empty()) reserved.shared.push_back(real_path(folders.temporary));
  for (const fs::path& own : {project.config_file, project.lock_file(), project.policy_file(),
                              project.headers(), folders.libexec, folders.front()})
    reserved.read_only.push_back(real_path(own));
  reserved.obeyed = files_obeyed_for(project, folders);
  for (const fs::path& source : sources) reserved.read_only.push_back(real_path(source));
  return reserved;
}

std::vector<std::string> guarded_names() {
  std::vector<std::string> names;
  for (const ProtectedName& known : protected_names()) names.emplace_back(known.name);
  return names;
}

Result<FileMounts> mounts_of(std::span<const policy::FilePlace> granted,
                             const ReservedPlaces& by_own_names, NamesKept kept) {
  auto places = open_all(granted, by_own_names);
  if (!places) return pass_on(places);
  auto everywhere = with_other_mounts(by_own_names, *places);
  if (!everywhere) return pass_on(everywhere);
  const ReservedPlaces& reserved = *everywhere;
  FileMounts made;
  made.places = std::move(*places);
  Mounts mounts;
  for (const GrantedPlace& place : made.places) {
    const bool writes = place.mode == policy::FileMode::kReadWrite;
    mounts.insert_or_assign(place.path,
                            sandbox::Mount{.host = place.path,
                                           .inside = place.path,
                                           .access = writes ? Access::kReadWrite : Access::kRead,
                                           .identity = place.identity});
  }
  const auto in_each_written = [&](const auto& hold) -> Result<void> {
    for (const GrantedPlace& place : made.places) {
      if (place.mode != policy::FileMode::kReadWrite || !place.is_folder) continue;
      if (auto held = hold(place); !held) return held;
    }
    return {};
  };
  auto held = in_each_written(
      [&](const GrantedPlace& place) { return hold_reserved(place, reserved, mounts); });
  std::vector<fs::path> names;
  ObeyedPlaces obeyed;
  for (const fs::path& path : reserved.obeyed) obeyed.add_place(path);
  if (held)
    held = in_each_written(
        [&](const GrantedPlace& place) { return find_kept(place, kept, made, names, obeyed); });
  for (const GrantedPlace& place : made.places) {
    if (held && place.mode == policy::FileMode::kReadWrite) held = obeyed.add_above(place.path);
  }
  for (const GrantedPlace& place : made.places) {
    if (held && place.mode == policy::FileMode::kReadWrite)
      held = keep_obeyed(place, kept, obeyed, made, names);
  }
  if (held) held = hold_kept(std::move(names), kept, made.kept_places, mounts);
  if (held && kept == NamesKept::kByMounts) held = refuse_obeyed_links(reserved, mounts);
  if (held && kept == NamesKept::kByGuard) held = keep_folders(made);
  if (!held) return pass_on(held);
  if (mounts.size() > (kept == NamesKept::kByMounts ? kMostOfServer : kMostMounts)) {
    return fail(
        ErrorId::kFilesRefused,
        fmt::format("{} places to mount are more than {}", mounts.size(), kMostMounts),
        {.why = "each place that is granted is one", .fix = "grant folders that hold several"});
  }
  for (auto& [path, mount] : mounts) made.mounts.push_back(std::move(mount));
  made.work_directory = work_directory_for(made.places);
  return made;
}

Result<ProtectedFound> new_protected_names(const FileMounts& files) {
  ProtectedFound made;
  for (const GrantedPlace& place : files.places) {
    if (place.mode != policy::FileMode::kReadWrite || !place.is_folder) continue;
    auto found = find_protected(place.handle.get(), place.path);
    if (!found) return pass_on(found);
    for (fs::path& path : found->names) {
      if (!was_there(path, files)) made.names.push_back(std::move(path));
    }
    for (fs::path& path : found->links) {
      if (!was_there(path, files)) made.names.push_back(std::move(path));
    }
    std::ranges::move(found->closed, std::back_inserter(made.closed));
  }
  return made;
}

std::string file_with_name(const fs::path& path) {
  struct statx info {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &info) != 0)
    return path.string();
  return fmt::format("{}:{}:{}:{}.{} {}", info.stx_dev_major, info.stx_dev_minor, info.stx_ino,
                     info.stx_btime.tv_sec, info.stx_btime.tv_nsec, path.string());
}

}  // namespace mcpac::project
