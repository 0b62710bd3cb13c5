#include "policy/support_mounts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <string_view>
#include <thread>
#include <vector>

#include "core/ascii.h"

namespace mcpac::policy::testing {
namespace {

std::string skipped(std::string_view what) {
  return fmt::format("skipped: {}: {}", what, std::strerror(errno));
}

struct Node {
  std::uint64_t id;
  std::uint64_t parent;
  std::string_view name;
  bool is_folder;
};
constexpr std::array<Node, 5> kNodes = {Node{1, 1, "", true}, Node{2, 1, "secret", true},
                                        Node{3, 2, "key", false}, Node{4, 1, "open", true},
                                        Node{5, 4, "a.key", false}};

class Server {
 public:
  explicit Server(int device) : device_(device) {}

  void run() {
    std::vector<char> request(std::size_t{1} << 17U);
    while (true) {
      const auto size = ::read(device_, request.data(), request.size());
      if (size < static_cast<ssize_t>(sizeof(fuse_in_header))) {
        if (size < 0 && errno == EINTR) continue;
        return;
      }
      fuse_in_header header{};
      std::memcpy(&header, request.data(), sizeof header);
      handle(header, request.data() + sizeof header);
    }
  }

 private:
  void handle(const fuse_in_header& header, const char* body) {
    const Node* node = nullptr;
    for (const auto& one : kNodes) {
      if (one.id == header.nodeid) node = &one;
    }
    switch (header.opcode) {
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET: return;
      case FUSE_INIT: {
        fuse_init_in asked{};
        std::memcpy(&asked, body, sizeof(std::uint32_t) * 4);
        fuse_init_out out{};
        out.major = FUSE_KERNEL_VERSION;
        out.minor = std::min<std::uint32_t>(asked.minor, 31);
        out.max_write = 4096;
        return reply(header, out);
      }
      case FUSE_LOOKUP: return look_up(header, body);
      case FUSE_GETATTR: {
        if (node == nullptr) return fail(header, ENOENT);
        fuse_attr_out out{};
        out.attr = attributes(*node);
        return reply(header, out);
      }
      case FUSE_OPEN:
      case FUSE_OPENDIR: return reply(header, fuse_open_out{});
      case FUSE_READDIR: {
        fuse_read_in asked{};
        std::memcpy(&asked, body, sizeof asked);
        return list(header, asked.offset);
      }
      case FUSE_STATFS: return reply(header, fuse_statfs_out{});
      case FUSE_RELEASE:
      case FUSE_RELEASEDIR: return send(header, 0, {});
      default: return fail(header, ENOSYS);
    }
  }

  static fuse_attr attributes(const Node& node) {
    fuse_attr attr{};
    attr.ino = node.id;
    attr.mode = node.is_folder ? S_IFDIR | 0755U : S_IFREG | 0644U;
    attr.nlink = 1;
    return attr;
  }

  void look_up(const fuse_in_header& header, std::string_view name) {
    for (const auto& node : kNodes) {
      if (node.id == 1 || node.parent != header.nodeid || lowered(node.name) != lowered(name))
        continue;
      fuse_entry_out out{};
      out.nodeid = node.id;
      out.attr = attributes(node);
      return reply(header, out);
    }
    fail(header, ENOENT);
  }

  void list(const fuse_in_header& header, std::uint64_t offset) {
    std::string entries;
    std::uint64_t at = 0;
    for (const auto& node : kNodes) {
      if (node.id == 1 || node.parent != header.nodeid || at++ < offset) continue;
      fuse_dirent entry{};
      entry.ino = node.id;
      entry.off = at;
      entry.namelen = static_cast<std::uint32_t>(node.name.size());
      entry.type = node.is_folder ? S_IFDIR >> 12U : S_IFREG >> 12U;
      std::string text(FUSE_NAME_OFFSET, '\0');
      std::memcpy(text.data(), &entry, FUSE_NAME_OFFSET);
      text += node.name;
      text.resize(FUSE_DIRENT_ALIGN(text.size()));
      entries += text;
    }
    send(header, 0, entries);
  }

  template <class Out>
  void reply(const fuse_in_header& header, const Out& out) {
    send(header, 0, {reinterpret_cast<const char*>(&out), sizeof out});
  }
  void fail(const fuse_in_header& header, int error) { send(header, -error, {}); }
  void send(const fuse_in_header& header, int error, std::string_view payload) {
    fuse_out_header out{};
    out.len = static_cast<std::uint32_t>(sizeof out + payload.size());
    out.error = error;
    out.unique = header.unique;
    std::string all(reinterpret_cast<const char*>(&out), sizeof out);
    all += payload;
    static_cast<void>(::write(device_, all.data(), all.size()));
  }

  int device_;
};

}  // namespace

std::string in_own_mounts(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    std::string answer;
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0) {
      answer = skipped("no mounts of one's own");
    } else {
      answer = body();
    }
    static_cast<void>(::write(ends[1], answer.data(), answer.size()));
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string answer = read_descriptor(ends[0], "the child", 1U << 20U).value_or("it said nothing");
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return "the child ended otherwise: " + answer;
  if (!answer.starts_with("skipped: ")) return answer;
  std::cout << answer << '\n';
  return {};
}

std::string bind_mount(const std::string& from, const std::string& to) {
  if (::mount(from.c_str(), to.c_str(), "", MS_BIND, nullptr) != 0) return skipped("no bind mount");
  return {};
}

std::string FoldingFolder::mount(const std::string& at) {
  device_ = UniqueFd(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!device_) return skipped("no /dev/fuse");
  const auto options = fmt::format("fd={},rootmode=40000,user_id={},group_id={}", device_.get(),
                                   ::getuid(), ::getgid());
  if (::mount("folding", at.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
    return skipped("no file system of one's own");
  std::thread([device = device_.get()] { Server(device).run(); }).detach();
  return {};
}

}  // namespace mcpac::policy::testing
