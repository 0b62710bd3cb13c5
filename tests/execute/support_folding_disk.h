// FoldingDisk: a file system that folds case, mounted at a folder: ext4 with casefold, else vfat.
// Where the machine makes neither it says why not.
#pragma once

#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace mcpac::testing {

class FoldingDisk {
 public:
  explicit FoldingDisk(std::filesystem::path at)
      : at_(std::move(at)), image_(at_.string() + ".img") {
    std::filesystem::create_directories(at_);
    if (::geteuid() != 0) {
      why_not_ = "mounts need root";
    } else if (!try_ext4() && !try_vfat()) {
      why_not_ = "this machine mounts neither ext4 with casefold nor vfat";
    }
  }
  FoldingDisk(const FoldingDisk&) = delete;
  FoldingDisk& operator=(const FoldingDisk&) = delete;
  ~FoldingDisk() {
    if (why_not_.empty()) ::umount2(at_.c_str(), MNT_DETACH);
    std::error_code ignored;
    std::filesystem::remove(image_, ignored);
  }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  [[nodiscard]] static bool does(const std::string& command) {
    return std::system(("{ " + command + "; } >/dev/null 2>&1").c_str()) == 0;  // NOLINT
  }
  [[nodiscard]] bool try_ext4() {
    const std::string at = "'" + at_.string() + "'";
    const std::string image = "'" + image_ + "'";
    if (!does("truncate -s 16M " + image + " && mkfs.ext4 -q -O casefold " + image +
              " && mount -o loop " + image + " " + at))
      return false;
    if (does("rmdir " + at + "/lost+found && chattr +F " + at)) return true;
    ::umount2(at_.c_str(), MNT_DETACH);
    return false;
  }
  [[nodiscard]] bool try_vfat() {
    const std::string image = "'" + image_ + "'";
    return does("truncate -s 16M " + image + " && mkfs.vfat " + image + " && mount -o loop " +
                image + " '" + at_.string() + "'");
  }
  std::filesystem::path at_;
  std::string image_;
  std::string why_not_;
};

}  // namespace mcpac::testing
