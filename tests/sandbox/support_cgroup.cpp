#include "sandbox/support_cgroup.h"

#include <dirent.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "sandbox/cgroup_adopt.h"
#include "sandbox/cgroup_base.h"
#include "sandbox/cgroup_files.h"

namespace mcpac::sandbox::test {
namespace {

// Whoever starts the tests alone in a group that was left to them gets a base, as a host does.
std::expected<cgroup::Base, cgroup::None> base_of_tests() {
  static const cgroup::Adopted adopted = cgroup::Adopted::try_to();
  return cgroup::find_base();
}

}  // namespace

std::optional<TestGroup> TestGroup::make(const std::string& name) {
  auto base = base_of_tests();
  if (!base) {
    MESSAGE("skipped, no control groups here: " << base.error().why);
    return std::nullopt;
  }
  const std::string own = "mcpac-test-" + name + "-" + std::to_string(::getpid());
  const int at = base->folder.get();
  if (::mkdirat(at, own.c_str(), 0755) != 0) {
    MESSAGE("skipped, cannot make a control group below " << base->path);
    return std::nullopt;
  }
  UniqueFd folder = cgroup::open_folder(at, own);
  REQUIRE(folder);
  REQUIRE(cgroup::write(folder.get(), "pids.max", "1000") == 0);
  return TestGroup(std::move(base->folder), std::move(folder), own);
}

TestGroup::~TestGroup() {
  if (!folder_) return;
  std::ignore = cgroup::write(folder_.get(), "cgroup.kill", "1");
  for (int i = 0; i < 100 && cgroup::number(folder_.get(), "cgroup.events", "populated") == 1; ++i)
    ::usleep(10'000);
  for (const auto& name : groups()) ::unlinkat(folder_.get(), name.c_str(), AT_REMOVEDIR);
  ::unlinkat(base_.get(), name_.c_str(), AT_REMOVEDIR);
}

bool TestGroup::enter() const {
  return cgroup::write(folder_.get(), "cgroup.procs", "0") == 0;
}

bool TestGroup::enter_below() const {
  if (cgroup::write(folder(), "cgroup.subtree_control", "+memory +pids") != 0) return false;
  if (::mkdirat(folder(), "below", 0755) != 0) return false;
  const UniqueFd below = cgroup::open_folder(folder(), "below");
  return cgroup::write(below.get(), "cgroup.procs", "0") == 0;
}

void TestGroup::let_somebody_in() const {
  const pid_t first = ::fork();
  if (first == 0) {
    if (::fork() != 0) ::_exit(0);  // nobody waits for the second
    if (!enter()) ::_exit(1);
    for (;;) ::pause();
  }
  ::waitpid(first, nullptr, 0);
  while (cgroup::number(folder(), "cgroup.events", "populated") == 0) ::usleep(1000);
}

bool TestGroup::give_to(unsigned user) const {
  for (const char* name : {".", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"}) {
    if (::fchownat(folder_.get(), name, user, user, 0) != 0) return false;
  }
  return true;
}

std::vector<std::string> TestGroup::groups() const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      ::fdopendir(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), ::closedir);
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = static_cast<const char*>(entry->d_name);
    if (entry->d_type == DT_DIR && name != "." && name != "..") names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> TestGroup::leaves() const {
  auto names = groups();
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("mcpac-run-"); });
  return names;
}

std::string cgroup_row(Warden& warden) {
  const auto probe = warden.probe();
  if (!probe) return probe.error().to_text();
  for (const Capability& capability : probe->capabilities) {
    if (capability.name == "cgroup limits") return capability.works ? "works" : capability.detail;
  }
  return "no row";
}

std::string group_of(const std::string& process) {
  const auto text = mcpac::read_file("/proc/" + process + "/cgroup");
  if (!text) return "?";
  const auto line = text->substr(text->find("0::"));
  const auto path = line.substr(0, line.find('\n'));
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace mcpac::sandbox::test
