#include "policy/support_mounts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <string_view>
#include <thread>

#include "support_fuse.h"

namespace mcpac::policy::testing {
namespace {

std::string skipped(std::string_view what) {
  return fmt::format("skipped: {}: {}", what, std::strerror(errno));
}

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
  std::thread([device = device_.get()] {
    mcpac::testing::FoldingTree(device, {{1, 1, "", S_IFDIR | 0755U},
                                         {2, 1, "secret", S_IFDIR | 0755U},
                                         {3, 2, "key", S_IFREG | 0644U},
                                         {4, 1, "open", S_IFDIR | 0755U},
                                         {5, 4, "a.key", S_IFREG | 0644U}})
        .serve();
  }).detach();
  return {};
}

}  // namespace mcpac::policy::testing
