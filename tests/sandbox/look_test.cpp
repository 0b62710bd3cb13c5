// Looks into a child's memory: what is there is read, and a page that never comes holds up nobody.
#include "sandbox/look.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "core/file.h"
#include "sandbox/support_sandbox.h"
#include "support_fuse.h"

namespace mcpac::sandbox::test {
namespace {

constexpr std::size_t kPage = 4096;
constexpr unsigned kPatience = 60;  // seconds; the server's end lets everything go that hangs

// One file, which can be opened and never be read.
class StalledServer : public mcpac::testing::FuseServer {
 public:
  using FuseServer::FuseServer;

 private:
  static fuse_attr attributes(std::uint64_t node) {
    fuse_attr attributes{};
    attributes.ino = node;
    attributes.size = kPage;
    attributes.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755U : S_IFREG | 0644U;
    attributes.nlink = 1;
    return attributes;
  }
  void answer(const fuse_in_header& head, const char*) override {
    constexpr std::uint64_t kForLong = 1000;
    constexpr std::uint64_t kFile = 2;
    if (head.opcode == FUSE_LOOKUP) {
      fuse_entry_out out{};
      out.nodeid = kFile;
      out.entry_valid = out.attr_valid = kForLong;
      out.attr = attributes(kFile);
      reply(head, out);
    } else if (head.opcode == FUSE_GETATTR) {
      fuse_attr_out out{};
      out.attr_valid = kForLong;
      out.attr = attributes(head.nodeid);
      reply(head, out);
    } else if (head.opcode == FUSE_OPEN) {
      reply(head, fuse_open_out{});
    } else if (head.opcode != FUSE_READ) {
      refuse(head, ENOSYS);
    }
  }
};

struct Victim {
  pid_t pid = -1;
  std::array<std::uintptr_t, 2> texts{};  // one that is there, one that never comes
};

Victim start_victim(const std::filesystem::path& file) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  Victim victim;
  victim.pid = ::fork();
  if (victim.pid == 0) {
    static const char here[] = "/here";
    const int fd = ::open(file.c_str(), O_RDONLY);
    void* const far = ::mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE, fd, 0);
    const std::array<std::uintptr_t, 2> texts{reinterpret_cast<std::uintptr_t>(here),
                                              reinterpret_cast<std::uintptr_t>(far)};
    if (far == MAP_FAILED || ::write(ends[1], &texts, sizeof texts) != sizeof texts) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ends[1]);
  const bool told = ::read(ends[0], &victim.texts, sizeof victim.texts) == sizeof victim.texts;
  ::close(ends[0]);
  return told ? victim : Victim{};
}

std::string text_at(const ChildMemory& memory, std::uintptr_t address) {
  constexpr std::uint64_t kCounter = 7;
  const Sight sight = look_at(memory, kCounter, std::nullopt, address);
  if (sight.stand.frame_count != 1 || sight.stand.frames[0] != kCounter) return "no counter";
  return "\"" + std::string(sight.text.data()) + "\"";
}

// In a mount namespace of its own, with which all of it goes.
std::string look_at_stalled_file() {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return "skipped: no mount namespace";
  UniqueFd device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  const std::string options =
      "fd=" + std::to_string(device.get()) + ",rootmode=40000,user_id=0,group_id=0";
  if (!device || ::mount("stalled", "/mnt", "fuse", 0, options.c_str()) != 0)
    return "skipped: no FUSE";
  const pid_t server = ::fork();
  if (server == 0) {
    ::alarm(kPatience);
    StalledServer(device.get()).serve();
    ::_exit(0);
  }
  device.reset();
  const Victim victim = start_victim("/mnt/file");
  std::string text = "no victim";
  if (victim.pid > 0) {
    const ChildMemory memory(victim.pid);
    text = text_at(memory, victim.texts[0]) + " " + text_at(memory, victim.texts[1]);
    ::kill(victim.pid, SIGKILL);
  }
  if (::waitpid(server, nullptr, WNOHANG) != 0) text += ", but only when its server had gone";
  ::kill(server, SIGKILL);
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  return text;
}

}  // namespace

TEST_SUITE("sandbox/look") {
  TEST_CASE("a page that never comes is given up, and one that is there is read") {
    if (::geteuid() != 0) {
      MESSAGE("skipped: needs root");
      return;
    }
    const std::string text = in_child(look_at_stalled_file);
    if (text.starts_with("skipped")) {
      MESSAGE(text);
      return;
    }
    CHECK(text == "\"/here\" \"\"");
  }
}

}  // namespace mcpac::sandbox::test
