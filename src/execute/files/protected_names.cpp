#include "execute/files/protected_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "core/file.h"
#include "core/printable.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;

constexpr auto kNames = std::to_array<std::string_view>({
    ".git",        ".hg",          ".svn",
    ".gitmodules", ".husky",  // hooks and commands of version control
    ".vscode",     ".idea",        ".devcontainer",
    ".envrc",  // run when a folder is opened or entered
    ".mcp.json",   ".mcpac*",      "mcpac.json",
    "mcpac.lock",  "mcpac.policy",  // which servers, what rules
    ".profile",    ".bash*",       ".zsh*",
    ".zprofile",   ".zlogin",      ".zlogout",  // shells
    ".ssh",        ".gnupg",       ".gitconfig",
    ".netrc",      ".npmrc",       ".aws",  // keys, and where they go
});

struct CodePoints {
  char32_t first;
  char32_t last;
};
// Ignored where names are folded (Default_Ignorable_Code_Point of Unicode).
constexpr auto kUnseen = std::to_array<CodePoints>({{0xad, 0xad},
                                                    {0x34f, 0x34f},
                                                    {0x61c, 0x61c},
                                                    {0x115f, 0x1160},
                                                    {0x17b4, 0x17b5},
                                                    {0x180b, 0x180f},
                                                    {0x200b, 0x200f},
                                                    {0x202a, 0x202e},
                                                    {0x2060, 0x206f},
                                                    {0x3164, 0x3164},
                                                    {0xfe00, 0xfe0f},
                                                    {0xfeff, 0xfeff},
                                                    {0xffa0, 0xffa0},
                                                    {0xfff0, 0xfff8},
                                                    {0x1bca0, 0x1bca3},
                                                    {0x1d173, 0x1d17a},
                                                    {0xe0000, 0xe0fff}});

// The code point that `text` begins with and its length; a byte that begins none stands for itself.
std::pair<char32_t, std::size_t> first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned lead = byte(0);
  const std::size_t size = lead >= 0xf0U ? 4 : lead >= 0xe0U ? 3 : lead >= 0xc0U ? 2 : 1;
  if (size == 1 || size > text.size()) return {lead, 1};
  char32_t point = lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) point = point << 6U | (byte(i) & 0x3fU);
  return {point, size};
}

// Lower case and without what is ignored, as far as it can make a plain letter.
std::string folded(std::string_view name) {
  constexpr char32_t kLongS = 0x17f;
  constexpr char32_t kKelvin = 0x212a;
  std::string plain;
  while (!name.empty()) {
    const auto [point, size] = first_of(name);
    const bool unseen = std::ranges::any_of(kUnseen, [&](const CodePoints& range) {
      return point >= range.first && point <= range.last;
    });
    const bool upper = point >= 'A' && point <= 'Z';
    if (upper)
      plain += static_cast<char>(point - 'A' + 'a');
    else if (point == kLongS)
      plain += 's';
    else if (point == kKelvin)
      plain += 'k';
    else if (!unseen || size == 1)
      plain += name.substr(0, size);
    name.remove_prefix(size);
  }
  return plain;
}

// A walk over this many entries takes about a tenth of a second; larger trees want a closer grant.
constexpr std::size_t kMostEntries = 200'000;
constexpr std::size_t kDeepest = 64;

class Walk {
 public:
  Result<void> enter(UniqueFd folder, const fs::path& at, std::size_t depth) {
    if (depth > kDeepest) return too_much(at);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(folder.get()), ::closedir);
    if (!entries) return {};          // what we cannot list, the program cannot either
    const int fd = folder.release();  // the stream closes it
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string_view name = static_cast<const char*>(entry->d_name);
      if (name == "." || name == "..") continue;
      if (++seen_ > kMostEntries) return too_much(at);
      if (auto done = look_at(fd, *entry, at / name, depth); !done) return done;
    }
    return {};
  }
  std::vector<fs::path> found;

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
    if (is_protected) return keep(info, path);
    if (!S_ISDIR(info.st_mode)) return {};
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    UniqueFd inner(::openat(folder, static_cast<const char*>(entry.d_name), kFlags));
    if (!inner) return {};
    return enter(std::move(inner), path, depth + 1);
  }

  Result<void> keep(const struct stat& info, const fs::path& path) {
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
      return fail(ErrorId::kFilesRefused,
                  fmt::format("{} is a link or special file, and must not be changed by a program",
                              printable(path.string())),
                  {.why = "it would run code of the program later, and only files and folders can "
                          "be held read-only",
                   .fix = "grant a folder without it, or grant read-only"});
    }
    found.push_back(path);
    return {};
  }

  std::size_t seen_ = 0;
};

}  // namespace

bool is_protected_name(std::string_view written) {
  const std::string name = folded(written);
  return std::ranges::any_of(kNames, [name](std::string_view known) {
    return known.ends_with('*') ? name.starts_with(known.substr(0, known.size() - 1))
                                : name == known;
  });
}

bool has_protected_name(const fs::path& path) {
  return std::ranges::any_of(path,
                             [](const fs::path& part) { return is_protected_name(part.native()); });
}

std::span<const std::string_view> protected_names() {
  return kNames;
}

Result<std::vector<fs::path>> find_protected(int folder, const fs::path& at) {
  UniqueFd readable(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable) return std::vector<fs::path>{};
  Walk walk;
  if (auto done = walk.enter(std::move(readable), at, 0); !done) return pass_on(done);
  std::ranges::sort(walk.found);
  return std::move(walk.found);
}

}  // namespace mcpac::execute
