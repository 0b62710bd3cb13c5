// SPDX-License-Identifier: Apache-2.0

#include "project/files/open_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "core/ascii.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "project/files/kernel_mounts.h"
#include "project/files/protected_names.h"

namespace mcpac::project {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> kSystem{"/proc", "/sys", "/dev", "/run/credentials"};

std::unexpected<Error> refuse(const policy::FilePlace& place, std::string_view what,
                              std::string why, std::string fix) {
  return fail(ErrorId::kFilesRefused, fmt::format("{} {}", printable(place.path), what),
              {.where = place.said_in, .why = std::move(why), .fix = std::move(fix)});
}

// Not one component may be a link: the rules of every layer compare paths as they are written, so a
// link below one of them would lead past it.
UniqueFd open_without_links(const fs::path& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

std::unexpected<Error> cannot_open(const policy::FilePlace& place, int error) {
  const std::string meant = with_known_mode(place.path);
  if (error == ENOENT && !meant.empty()) {
    return refuse(place, "is not there", kModes, "--files " + shell_quoted(printable(meant)));
  }
  if (error != ELOOP) {
    return fail(
        ErrorId::kFilesRefused,
        fmt::format("{} cannot be opened: {}", printable(place.path),
                    std::system_category().message(error)),
        {.where = place.said_in,
         .why = "what is granted must be there when the run begins",
         .fix = error == ENOENT ? "make it, or name what is there: " + making(place.path) : ""});
  }
  std::error_code ignored;
  const fs::path real = fs::weakly_canonical(place.path, ignored);
  return refuse(place, "leads through a link",
                "rules compare paths as they are written, so a link could lead past one",
                real.empty() ? "grant a place that no link leads to"
                             : fmt::format("grant the real place: {}", printable(real.string())));
}

Result<void> check_closed(const policy::FilePlace& place, const fs::path& path,
                          const ReservedPlaces& reserved) {
  if (path == "/") {
    return refuse(place, "is everything, and cannot be granted", "",
                  "grant the folder that the program works on");
  }
  for (const fs::path system : kSystem) {
    if (!lies_in(path, system)) continue;
    return refuse(place, "cannot be granted", "it is the kernel's view of the host, not files",
                  "leave it out, and grant the folder that the program works on");
  }
  for (const fs::path& closed : reserved.closed) {
    const bool inside = lies_in(path, closed);
    if (!inside && !lies_in(closed, path)) continue;
    return refuse(place,
                  inside ? "is mcpac's own, and cannot be granted"
                         : fmt::format("cannot be granted: {} lies in it", closed.string()),
                  "a program that reaches mcpac's own files could change what is trusted",
                  "grant a smaller folder");
  }
  return {};
}

// The folder of a program in one of settings, or what lies in it.
bool is_settings_of_one(const fs::path& path, const ReservedPlaces& reserved) {
  return std::ranges::any_of(reserved.settings, [&](const fs::path& settings) {
    if (path == settings || !lies_in(path, settings)) return false;
    const fs::path below = path.lexically_relative(settings);
    std::error_code error;
    return !has_protected_name(below) && !is_protected_settings(below.begin()->native()) &&
           fs::is_directory(fs::symlink_status(settings / *below.begin(), error));
  });
}

Result<void> check_writable(const policy::FilePlace& place, const fs::path& path,
                            const ReservedPlaces& reserved) {
  for (const fs::path& kept : reserved.read_only) {
    if (!lies_in(path, kept)) continue;
    return refuse(place, "cannot be granted read-write",
                  fmt::format("{} decides what runs", kept.string()), "grant it read-only");
  }
  for (const fs::path& shared : reserved.shared) {
    if (!lies_in(shared, path)) continue;
    return refuse(place, "cannot be granted read-write",
                  fmt::format("other runs keep their programs in {}", shared.string()),
                  "grant a folder in it");
  }
  if (has_protected_name(path) && !is_settings_of_one(path, reserved)) {
    const auto settings = std::ranges::find_if(
        reserved.settings, [&](const fs::path& folder) { return lies_in(path, folder); });
    return refuse(place, "cannot be granted read-write",
                  "a name in it is protected: what lies there runs later, or holds keys",
                  settings == reserved.settings.end()
                      ? std::string("grant it read-only")
                      : fmt::format("grant it read-only; or have the server write in a folder of "
                                    "its own, {}/NAME, which it may be given read-write",
                                    printable(settings->string())));
  }
  return {};
}

sandbox::FileIdentity identity_of(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  return {.device = info.st_dev, .inode = info.st_ino};
}

// The same by what lies there, and not by its name: a folder can be mounted twice, and where case
// is folded be written twice.
Result<void> check_identity(const policy::FilePlace& place, const GrantedPlace& opened,
                            const ReservedPlaces& reserved) {
  for (const fs::path& closed : reserved.closed) {
    if (!rest_below(opened.path, identity_of(closed)) && !rest_below(closed, opened.identity))
      continue;
    return refuse(place, "is or holds mcpac's own under another name, and cannot be granted",
                  "a program that reaches mcpac's own files could change what is trusted",
                  "grant a smaller folder");
  }
  if (place.mode == policy::FileMode::kReadOnly) return {};
  for (const fs::path& kept : reserved.read_only) {
    if (!rest_below(opened.path, identity_of(kept))) continue;
    return refuse(place, "cannot be granted read-write",
                  fmt::format("it is {}, which decides what runs", kept.string()),
                  "grant it read-only");
  }
  for (const fs::path& shared : reserved.shared) {
    if (!rest_below(shared, opened.identity)) continue;
    return refuse(
        place, "cannot be granted read-write",
        fmt::format("it is or holds {}, where other runs keep their programs", shared.string()),
        "grant a folder in it");
  }
  return {};
}

}  // namespace

std::string with_known_mode(std::string_view text) {
  constexpr std::array<std::string_view, 7> kToWrite{"w",   "wr",  "rw",        "write",
                                                     "rw+", "rwx", "read-write"};
  constexpr std::array<std::string_view, 7> kToRead{"r",    "ro",        "rx",      "x",
                                                    "read", "read-only", "readonly"};
  for (const std::string_view pattern : {"/**", "/*"}) {
    if (text.ends_with(pattern) && text.size() > pattern.size())
      return std::string(text.substr(0, text.size() - pattern.size()));
  }
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string mode = lowered(text.substr(colon + 1));
  const std::string path(text.substr(0, colon));
  const std::string plain = with_known_mode(path);  // "data/*:RW"
  const std::string& place = plain.empty() ? path : plain;
  if (std::ranges::find(kToWrite, mode) != kToWrite.end()) return place + ":rw";
  return std::ranges::find(kToRead, mode) != kToRead.end() ? place : std::string();
}

std::string making(const fs::path& path) {
  std::error_code error;
  const fs::path plain = path.has_filename() ? path : path.parent_path();
  const bool is_file = path.has_filename() && plain.has_extension();
  const bool has_parent = fs::is_directory(plain.parent_path(), error);
  const auto quoted = [](const fs::path& one) { return shell_quoted(printable(one.string())); };
  if (!is_file) return fmt::format("mkdir {}{}", has_parent ? "" : "-p ", quoted(plain));
  return fmt::format("{}touch {}",
                     has_parent ? "" : fmt::format("mkdir -p {} && ", quoted(plain.parent_path())),
                     quoted(plain));
}

std::optional<fs::path> rest_below(const fs::path& path, const sandbox::FileIdentity& folder) {
  if (folder == sandbox::FileIdentity{}) return std::nullopt;
  for (fs::path at = path;; at = at.parent_path()) {
    if (identity_of(at) == folder) return at == path ? fs::path() : path.lexically_relative(at);
    if (at == at.parent_path()) return std::nullopt;
  }
}

Result<GrantedPlace> open_place(const policy::FilePlace& place, const ReservedPlaces& reserved) {
  fs::path path = fs::path(place.path).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "/a/b/" is "/a/b"
  if (!path.is_absolute()) return refuse(place, "is not an absolute path", "", "");
  if (auto open = check_closed(place, path, reserved); !open) return pass_on(open);
  if (place.mode == policy::FileMode::kReadWrite) {
    if (auto open = check_writable(place, path, reserved); !open) return pass_on(open);
  }
  GrantedPlace opened{.path = path,
                      .mode = place.mode,
                      .said_in = place.said_in,
                      .is_folder = false,
                      .identity = {},
                      .handle = open_without_links(path)};
  struct stat info {};
  if (!opened.handle || ::fstat(opened.handle.get(), &info) != 0) return cannot_open(place, errno);
  opened.is_folder = S_ISDIR(info.st_mode);
  if (!opened.is_folder && !S_ISREG(info.st_mode))
    return refuse(place, "is neither a folder nor a regular file", "", "");
  opened.identity = {.device = info.st_dev, .inode = info.st_ino};
  if (auto open = check_identity(place, opened, reserved); !open) return pass_on(open);
  auto kernel = kernel_mount_in(opened.handle.get(), path);
  if (!kernel) return pass_on(kernel);
  if (!kernel->empty()) {
    return refuse(place, fmt::format("cannot be granted: {} is the kernel's", printable(*kernel)),
                  "proc, sys and devices are the host itself, wherever they are mounted",
                  "grant a smaller folder");
  }
  return opened;
}

}  // namespace mcpac::project
