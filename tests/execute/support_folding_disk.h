// FoldingDisk: a file system that folds case, mounted at a folder, with one file, Notes.txt: ext4
// with casefold, else vfat, else a small FUSE server of ours, which only answers to looks. Where
// the machine makes none of them it says why not.
#pragma once

#include <fcntl.h>
#include <linux/fuse.h>
#include <strings.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/file.h"

namespace mcpac::testing {

// Serves one folder with Notes.txt in it until its device is gone.
class FoldingServer {
 public:
  explicit FoldingServer(int device) : device_(device) {}
  [[noreturn]] void serve() {
    constexpr unsigned kPatience = 60;
    ::alarm(kPatience);
    std::vector<char> request(std::size_t{1} << 20U);
    for (;;) {
      const ssize_t size = ::read(device_, request.data(), request.size());
      fuse_in_header head{};
      if (size < static_cast<ssize_t>(sizeof head)) ::_exit(0);
      std::memcpy(&head, request.data(), sizeof head);
      answer(head, request.data() + sizeof head);
    }
  }

 private:
  static constexpr std::uint64_t kFile = 2;
  static constexpr const char* kName = "Notes.txt";  // 9 bytes

  template <class T>
  void reply(const fuse_in_header& to, const T& body) {
    std::vector<char> bytes(sizeof(fuse_out_header) + sizeof body);
    fuse_out_header head{};
    head.len = static_cast<std::uint32_t>(bytes.size());
    head.unique = to.unique;
    std::memcpy(bytes.data(), &head, sizeof head);
    std::memcpy(bytes.data() + sizeof head, &body, sizeof body);
    if (::write(device_, bytes.data(), bytes.size()) < 0) ::_exit(1);
  }
  void refuse(const fuse_in_header& to, int error) {
    fuse_out_header head{};
    head.len = sizeof head;
    head.error = -error;
    head.unique = to.unique;
    if (::write(device_, &head, sizeof head) < 0) ::_exit(1);
  }
  static fuse_attr attributes(std::uint64_t node) {
    fuse_attr made{};
    made.ino = node;
    made.mode = node == kFile ? S_IFREG | 0666U : S_IFDIR | 0777U;
    made.nlink = 1;
    return made;
  }
  void list(const fuse_in_header& to, std::uint64_t offset) {
    constexpr std::size_t kEntry =
        FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + std::string_view(kName).size());
    std::vector<char> bytes(sizeof(fuse_out_header) + (offset == 0 ? kEntry : 0));
    fuse_out_header head{};
    head.len = static_cast<std::uint32_t>(bytes.size());
    head.unique = to.unique;
    std::memcpy(bytes.data(), &head, sizeof head);
    if (offset == 0) {
      const std::uint64_t places[2] = {kFile, 1};
      const std::uint32_t words[2] = {9, S_IFREG >> 12U};
      char* const entry = bytes.data() + sizeof head;
      std::memcpy(entry, places, sizeof places);
      std::memcpy(entry + sizeof places, words, sizeof words);
      std::memcpy(entry + FUSE_NAME_OFFSET, kName, std::string_view(kName).size());
    }
    if (::write(device_, bytes.data(), bytes.size()) < 0) ::_exit(1);
  }
  void answer(const fuse_in_header& head, const char* body) {
    switch (head.opcode) {
      case FUSE_INIT: {
        fuse_init_out init{};
        init.major = FUSE_KERNEL_VERSION;
        init.minor = FUSE_KERNEL_MINOR_VERSION;
        init.max_write = 4096;
        return reply(head, init);
      }
      case FUSE_LOOKUP: {
        if (::strcasecmp(body, kName) != 0) return refuse(head, ENOENT);
        fuse_entry_out found{};
        found.nodeid = kFile;
        found.attr = attributes(kFile);
        return reply(head, found);
      }
      case FUSE_GETATTR: {
        fuse_attr_out found{};
        found.attr = attributes(head.nodeid);
        return reply(head, found);
      }
      case FUSE_OPENDIR: return reply(head, fuse_open_out{});
      case FUSE_READDIR: {
        fuse_read_in asked{};
        std::memcpy(&asked, body, sizeof asked);
        return list(head, asked.offset);
      }
      case FUSE_STATFS: return reply(head, fuse_statfs_out{});
      case FUSE_FORGET: return;
      default: return refuse(head, ENOSYS);
    }
  }
  int device_;
};

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
    if (server_ == 0) FoldingServer(device.get()).serve();
    return server_ > 0;
  }
  std::filesystem::path at_;
  std::string image_;
  std::string why_not_;
  pid_t server_ = -1;
};

}  // namespace mcpac::testing
