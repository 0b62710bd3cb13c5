// SPDX-License-Identifier: Apache-2.0

#include "cli/settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "core/file.h"

namespace mcpac::cli {
namespace {

namespace fs = std::filesystem;
using sandbox::Tier;

constexpr std::string_view kTierName = "accepted-tier";
constexpr std::string_view kOffSwitchName = "no-permission-check";

// Why others could have written what is opened here; empty where they could not.
std::string others_may_write(int fd, const fs::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0)
    return fmt::format("{}: {}", path.string(), std::system_category().message(errno));
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return fmt::format("{} belongs to another user (uid {})", path.string(), info.st_uid);
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("others may write {} (mode {:o}): chmod go-w it", path.string(),
                       info.st_mode & 07777U);
  return {};
}

std::string not_opened(const fs::path& path, int error) {
  return error == ELOOP
             ? path.string() + " is a link"
             : fmt::format("{}: {}", path.string(), std::system_category().message(error));
}

// The folder, reached from the home folder on through folders that are the user's alone.
UniqueFd open_own_folder(const fs::path& home, const fs::path& folder, std::string& refused) {
  std::error_code error;
  const fs::path top = fs::canonical(home, error);
  const fs::path real = error ? fs::path() : fs::canonical(folder, error);
  if (error) {
    if (error != std::errc::no_such_file_or_directory) refused = not_opened(folder, error.value());
    return {};
  }
  const fs::path rest = real.lexically_relative(top);
  if (rest.empty() || *rest.begin() == "..") {
    refused = fmt::format("{} leads out of the home folder, to {}", folder.string(), real.string());
    return {};
  }
  constexpr int kFolderAlone = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  fs::path at = top;
  UniqueFd fd(::open(top.c_str(), kFolderAlone));
  for (auto step = rest.begin(); fd; ++step) {
    refused = others_may_write(fd.get(), at);
    if (!refused.empty()) return {};
    if (step == rest.end()) return fd;
    at /= *step;
    fd = UniqueFd(::openat(fd.get(), step->c_str(), kFolderAlone));
  }
  refused = not_opened(at, errno);
  return {};
}

}  // namespace

fs::path account_home() {
  const passwd* user = ::getpwuid(::geteuid());
  const fs::path home = user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "";
  return home.is_absolute() ? home : fs::path();
}

fs::path settings_folder(const fs::path& home) {
  return home.empty() ? home : home / ".config" / "mcpac";
}

Setting read_setting(const fs::path& home, std::string_view name) {
  Setting setting;
  if (home.empty()) {
    setting.refused = "the system's record of users has no home folder for this account";
    return setting;
  }
  const fs::path folder = settings_folder(home);
  setting.file = folder / name;
  const UniqueFd own = open_own_folder(home, folder, setting.refused);
  if (!own) return setting;
  const UniqueFd fd(::openat(own.get(), std::string(name).c_str(),
                             O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) {
    if (errno != ENOENT) setting.refused = not_opened(setting.file, errno);
    return setting;
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    setting.refused = setting.file.string() + " is no file";
    return setting;
  }
  setting.refused = others_may_write(fd.get(), setting.file);
  if (!setting.refused.empty()) return setting;
  std::array<char, 16> text{};
  const ssize_t size = ::read(fd.get(), text.data(), text.size());
  if (size > 0) setting.text.assign(text.data(), static_cast<std::size_t>(size));
  return setting;
}

Setting off_switch_setting(const fs::path& home) {
  Setting setting = read_setting(home, kOffSwitchName);
  const bool is_there = !setting.text.empty() && setting.refused.empty();
  if (is_there && !is_allowed(setting))
    setting.refused = setting.file.string() + " does not say `allowed`, on one line";
  return setting;
}

bool is_allowed(const Setting& off_switch) {
  return off_switch.refused.empty() && off_switch.text == "allowed\n";
}

Setting tier_setting(const fs::path& home) {
  return read_setting(home, kTierName);
}

Tier accepted_tier(const fs::path& home) {
  const Setting setting = tier_setting(home);
  return setting.text == "B\n" ? Tier::kB : setting.text == "C\n" ? Tier::kC : Tier::kA;
}

Result<void> accept_tier(const fs::path& home, Tier tier) {
  const auto refuse = [](const fs::path& file, const std::string& why) {
    return fail(ErrorId::kFileUnwritable,
                file.empty() ? why : fmt::format("cannot change {}: {}", file.string(), why));
  };
  Setting setting = tier_setting(home);
  if (setting.file.empty()) return refuse({}, setting.refused);
  std::error_code error;
  if (tier == Tier::kA) {
    fs::remove(setting.file, error);
    if (error) return refuse(setting.file, error.message());
    return {};
  }
  fs::create_directories(setting.file.parent_path(), error);
  if (error) return refuse(setting.file, error.message());
  auto written = write_file_atomic(setting.file, sandbox::to_string(tier) + "\n", 0600);
  if (!written) return written;
  setting = tier_setting(home);
  if (!setting.refused.empty()) return refuse(setting.file, setting.refused);
  return {};
}

}  // namespace mcpac::cli
