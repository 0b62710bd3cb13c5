// FuseServer: a small file system in user space for tests, as the kernel's protocol has it
// (linux/fuse.h): requests are read from the device until it is gone, and a test answers those that
// it is about.
#pragma once

#include <linux/fuse.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpac::testing {

class FuseServer {
 public:
  // Borrowed: /dev/fuse, as it was mounted.
  explicit FuseServer(int device) : device_(device) {}
  FuseServer(const FuseServer&) = delete;
  FuseServer& operator=(const FuseServer&) = delete;
  virtual ~FuseServer() = default;

  // Until the device is gone.
  void serve() {
    std::vector<char> request(std::size_t{1} << 20U);
    for (;;) {
      const ssize_t size = ::read(device_, request.data(), request.size());
      if (size < 0 && errno == EINTR) continue;
      fuse_in_header head{};
      if (size < static_cast<ssize_t>(sizeof head)) return;
      std::memcpy(&head, request.data(), sizeof head);
      const char* const body = request.data() + sizeof head;
      if (head.opcode == FUSE_INIT)
        begin(head, body);
      else if (head.opcode != FUSE_FORGET && head.opcode != FUSE_BATCH_FORGET)
        answer(head, body);
    }
  }

 protected:
  // Any request but those of the beginning and of forgetting. One without a reply waits for ever.
  virtual void answer(const fuse_in_header& head, const char* body) = 0;

  template <class Out>
  void reply(const fuse_in_header& head, const Out& out) {
    send(head, 0, {reinterpret_cast<const char*>(&out), sizeof out});
  }
  void refuse(const fuse_in_header& head, int error) { send(head, -error, {}); }
  void send(const fuse_in_header& head, int error, std::string_view payload) {
    fuse_out_header out{};
    out.len = static_cast<std::uint32_t>(sizeof out + payload.size());
    out.error = error;
    out.unique = head.unique;
    std::string all(reinterpret_cast<const char*>(&out), sizeof out);
    all += payload;
    if (::write(device_, all.data(), all.size()) < 0) errno = 0;  // it was interrupted
  }

 private:
  void begin(const fuse_in_header& head, const char* body) {
    fuse_init_in asked{};
    std::memcpy(&asked, body, sizeof(std::uint32_t) * 4);
    fuse_init_out out{};
    out.major = FUSE_KERNEL_VERSION;
    out.minor = std::min<std::uint32_t>(asked.minor, FUSE_KERNEL_MINOR_VERSION);
    out.max_write = 4096;
    reply(head, out);
  }
  int device_;
};

// A tree of names, which it takes for the same where they differ in case. It only answers to looks.
struct FuseNode {
  std::uint64_t id;
  std::uint64_t parent;  // the root's is 1, as its own is
  std::string_view name;
  std::uint32_t mode;
};

class FoldingTree : public FuseServer {
 public:
  FoldingTree(int device, std::vector<FuseNode> nodes)
      : FuseServer(device), nodes_(std::move(nodes)) {}

 private:
  static std::string in_lower_case(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
  }
  static fuse_attr attributes(const FuseNode& node) {
    fuse_attr made{};
    made.ino = node.id;
    made.mode = node.mode;
    made.nlink = 1;
    return made;
  }
  void answer(const fuse_in_header& head, const char* body) override {
    switch (head.opcode) {
      case FUSE_LOOKUP: return look_up(head, body);
      case FUSE_GETATTR: {
        const auto node = std::ranges::find(nodes_, head.nodeid, &FuseNode::id);
        if (node == nodes_.end()) return refuse(head, ENOENT);
        fuse_attr_out out{};
        out.attr = attributes(*node);
        return reply(head, out);
      }
      case FUSE_OPEN:
      case FUSE_OPENDIR: return reply(head, fuse_open_out{});
      case FUSE_READDIR: {
        fuse_read_in asked{};
        std::memcpy(&asked, body, sizeof asked);
        return list(head, asked.offset);
      }
      case FUSE_STATFS: return reply(head, fuse_statfs_out{});
      case FUSE_RELEASE:
      case FUSE_RELEASEDIR: return send(head, 0, {});
      default: return refuse(head, ENOSYS);
    }
  }
  void look_up(const fuse_in_header& head, std::string_view name) {
    for (const FuseNode& node : nodes_) {
      if (node.id == 1 || node.parent != head.nodeid ||
          in_lower_case(node.name) != in_lower_case(name))
        continue;
      fuse_entry_out out{};
      out.nodeid = node.id;
      out.attr = attributes(node);
      return reply(head, out);
    }
    refuse(head, ENOENT);
  }
  void list(const fuse_in_header& head, std::uint64_t offset) {
    std::string entries;
    std::uint64_t at = 0;
    for (const FuseNode& node : nodes_) {
      if (node.id == 1 || node.parent != head.nodeid || at++ < offset) continue;
      constexpr unsigned kTypeShift = 12;
      fuse_dirent entry{};
      entry.ino = node.id;
      entry.off = at;
      entry.namelen = static_cast<std::uint32_t>(node.name.size());
      entry.type = node.mode >> kTypeShift;
      std::string text(FUSE_NAME_OFFSET, '\0');
      std::memcpy(text.data(), &entry, FUSE_NAME_OFFSET);
      text += node.name;
      text.resize(FUSE_DIRENT_ALIGN(text.size()));
      entries += text;
    }
    send(head, 0, entries);
  }
  std::vector<FuseNode> nodes_;
};

}  // namespace mcpac::testing
