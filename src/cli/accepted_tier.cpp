#include "cli/accepted_tier.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <system_error>

#include "cli/context.h"
#include "core/file.h"

namespace mcpac::cli {
namespace {

namespace fs = std::filesystem;
using sandbox::Tier;

}  // namespace

bool is_of_user_alone(int fd) {
  struct stat info {};
  constexpr mode_t kOfOthers = S_IWGRP | S_IWOTH;
  return ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
         (info.st_mode & kOfOthers) == 0;
}

fs::path accepted_tier_file() {
  return configuration_folder() / "accepted-tier";
}

Tier accepted_tier(const fs::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd || !is_of_user_alone(fd.get())) return Tier::kA;
  std::array<char, 8> text{};
  const ssize_t size = ::read(fd.get(), text.data(), text.size());
  if (size != 2 || text[1] != '\n') return Tier::kA;
  return text[0] == 'B' ? Tier::kB : text[0] == 'C' ? Tier::kC : Tier::kA;
}

Result<void> accept_tier(const fs::path& file, Tier tier) {
  std::error_code error;
  if (tier == Tier::kA) {
    fs::remove(file, error);
  } else {
    fs::create_directories(file.parent_path(), error);
    if (!error) return write_file_atomic(file, sandbox::to_string(tier) + "\n", 0600);
  }
  if (error)
    return fail(ErrorId::kFileUnwritable,
                "cannot change " + file.string() + ": " + error.message());
  return {};
}

}  // namespace mcpac::cli
