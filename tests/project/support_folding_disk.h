// FoldingDisk: a file system that folds case, mounted at a folder, with one file, Notes.txt: ext4
// with casefold, else vfat, else a small FUSE server of ours, which only answers to looks. Where
// the machine makes none of them it says why not.
#pragma once

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "core/file.h"
#include "support_fuse.h"

namespace mcpac::testing {

class FoldingDisk {
 public:
  explicit FoldingDisk(std::filesystem::path at)
      : at_(std::move(at)), image_(at_.string() + ".img") {
    std::filesystem::create_directories(at_);
    if (::geteuid() != 0) {
      why_not_ = "mounts need root";
    } else if (try_ext4() || try_vfat()) {
      std::ofstream(at_ / "Notes.txt") << "text";
    } else if (!try_fuse()) {
      why_not_ = "this machine mounts neither ext4 with casefold nor vfat nor FUSE";
    }
  }
  FoldingDisk(const FoldingDisk&) = delete;
  FoldingDisk& operator=(const FoldingDisk&) = delete;
  ~FoldingDisk() {
    if (why_not_.empty()) ::umount2(at_.c_str(), MNT_DETACH);
    if (server_ > 0) {
      ::kill(server_, SIGKILL);
      ::waitpid(server_, nullptr, 0);
    }
    std::error_code ignored;
    std::filesystem::remove(image_, ignored);
  }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  [[nodiscard]] static bool does(const std::string& command) {
    return std::system(("{ " + command + "; } >/dev/null 2>&1").c_str()) == 0;
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
  [[nodiscard]] bool try_fuse() {
    const UniqueFd device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    if (!device) return false;
    const std::string options =
        "fd=" + std::to_string(device.get()) + ",rootmode=40777,user_id=0,group_id=0,allow_other";
    if (::mount("folding", at_.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
      return false;
    server_ = ::fork();
    if (server_ == 0) {
      constexpr unsigned kPatience = 60;
      ::alarm(kPatience);
      FoldingTree(device.get(), {{1, 1, "", S_IFDIR | 0777U}, {2, 1, "Notes.txt", S_IFREG | 0666U}})
          .serve();
      ::_exit(0);
    }
    return server_ > 0;
  }
  std::filesystem::path at_;
  std::string image_;
  std::string why_not_;
  pid_t server_ = -1;
};

}  // namespace mcpac::testing
