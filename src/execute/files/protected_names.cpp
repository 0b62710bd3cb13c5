#include "execute/files/protected_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "core/file.h"
#include "core/folded_name.h"
#include "core/folds_case.h"
#include "core/printable.h"
#include "core/repository.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;

constexpr auto kNames = std::to_array<ProtectedName>({
#include "execute/files/protected_names.inc"
});

struct NameTable {
  std::unordered_set<std::string_view> whole;
  std::vector<std::string_view> patterns;
};

const NameTable& name_table() {
  static const NameTable table = [] {
    NameTable made;
    for (const ProtectedName& known : kNames) {
      if (known.name.contains('*'))
        made.patterns.push_back(known.name);
      else
        made.whole.insert(known.name);
    }
    return made;
  }();
  return table;
}

// A walk over this many entries takes about a tenth of a second; larger trees want a closer grant.
constexpr std::size_t kMostEntries = 200'000;
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostClosed = 64;

class Walk {
 public:
  Result<void> enter(UniqueFd folder, const fs::path& at, std::size_t depth) {
    if (depth > kDeepest) return too_much(at);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(folder.get()), ::closedir);
    if (!entries) return cannot_list(at);
    const int fd = folder.release();  // the stream closes it
    RepositoryParts parts;
    FoldingLook folding(fd, at);
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string_view name = static_cast<const char*>(entry->d_name);
      if (name == "." || name == "..") continue;
      if (++seen_ > kMostEntries) return too_much(at);
      parts.add(name);
      folding.add(name);
      if (auto done = look_at(fd, *entry, at / name, depth); !done) return done;
    }
    if (found.folding.empty() && folding.folds(devices_)) found.folding = at;
    const bool is_repository = parts.is_whole(NamesCompared::kAsWritten) ||
                               (parts.is_whole(NamesCompared::kFolded) && folding.folds(devices_));
    if (is_repository) found.names.push_back(at);
    return {};
  }
  // What we cannot list, a program of ours may all the same: it can change the modes of what is
  // ours, and reach known names in what it may enter.
  Result<void> cannot_list(const fs::path& at) {
    if (found.closed.size() == kMostClosed) return too_much(at);
    found.closed.push_back(at);
    return {};
  }
  ProtectedFound found;

 private:
  static std::unexpected<Error> too_much(const fs::path& at) {
    return fail(ErrorId::kFilesRefused,
                fmt::format("{} holds too much to look through for protected names",
                            printable(at.string())),
                {.fix = "grant a smaller folder read-write"});
  }

  Result<void> look_at(int folder, const dirent& entry, const fs::path& path, std::size_t depth) {
    const bool is_protected = is_protected_name(static_cast<const char*>(entry.d_name));
    const bool may_be_folder = entry.d_type == DT_DIR || entry.d_type == DT_UNKNOWN;
    if (!is_protected && !may_be_folder) return {};
    struct stat info {};
    if (::fstatat(folder, static_cast<const char*>(entry.d_name), &info, AT_SYMLINK_NOFOLLOW) != 0)
      return {};  // gone since it was listed
    if (is_protected) {
      keep(info, path);
      return {};
    }
    if (!S_ISDIR(info.st_mode)) return {};
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    UniqueFd inner(::openat(folder, static_cast<const char*>(entry.d_name), kFlags));
    if (!inner) return unopened(folder, entry, info, path);
    return enter(std::move(inner), path, depth + 1);
  }

  // It is gone since, or another's that lets nobody in, or closed.
  Result<void> unopened(int folder, const dirent& entry, const struct stat& info,
                        const fs::path& path) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return {};
    const bool enters = ::faccessat(folder, static_cast<const char*>(entry.d_name), X_OK,
                                    AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0;
    return info.st_uid != ::geteuid() && !enters ? Result<void>() : cannot_list(path);
  }

  void keep(const struct stat& info, const fs::path& path) {
    const bool can_be_held = S_ISREG(info.st_mode) || S_ISDIR(info.st_mode);
    (can_be_held ? found.names : found.links).push_back(path);
  }

  std::size_t seen_ = 0;
  FoldingDevices devices_;
};

}  // namespace

bool is_protected_name(std::string_view written) {
  const std::string name = folded(written);
  const NameTable& table = name_table();
  return table.whole.contains(name) ||
         std::ranges::any_of(table.patterns,
                             [&name](std::string_view known) { return fits_pattern(name, known); });
}

bool has_protected_name(const fs::path& path) {
  return std::ranges::any_of(path,
                             [](const fs::path& part) { return is_protected_name(part.native()); });
}

std::span<const ProtectedName> protected_names() {
  return kNames;
}

Result<ProtectedFound> find_protected(int folder, const fs::path& at) {
  UniqueFd readable(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable) return ProtectedFound{.names = {}, .closed = {at}, .links = {}, .folding = {}};
  Walk walk;
  if (auto done = walk.enter(std::move(readable), at, 0); !done) return pass_on(done);
  std::ranges::sort(walk.found.names);
  std::ranges::sort(walk.found.closed);
  std::ranges::sort(walk.found.links);
  return std::move(walk.found);
}

}  // namespace mcpac::execute
