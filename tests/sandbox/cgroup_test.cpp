// Limits by control groups, where they are left to mcpac; skipped, and said so, where they are not.
// The tests make groups as systemd or a container would leave them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "core/file.h"
#include "sandbox/cgroup_base.h"
#include "sandbox/cgroup_files.h"
#include "sandbox/cgroup_leaf.h"
#include "sandbox/support_cgroup.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

// At any tier, as groups are none of the layers.
Spec limited(std::vector<std::string> words, Admits admits = {}) {
  Spec spec = hostile(std::move(words), admits);
  spec.lowest_tier = Tier::kC;
  return spec;
}

bool is_root(const char* to) {
  if (::geteuid() == 0) return true;
  MESSAGE("skipped, only root can " << to);
  return false;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// describe(), and the limit that was met.
std::string ending(Warden& warden, const Spec& spec) {
  const auto outcome = run(warden, spec);
  std::string text = describe(outcome);
  if (outcome && outcome->verdict.limit) {
    const auto& limit = *outcome->verdict.limit;
    text += ", " + limit.name + " " + std::to_string(limit.allowed);
    if (limit.used < limit.allowed) text += ", but " + std::to_string(limit.used);
  }
  if (outcome && !outcome->verdict.note.empty()) text += ", " + outcome->verdict.note;
  return text;
}

// What `body` says in a group of its own, with a warden started there.
std::string in_group(const TestGroup& group, const std::function<std::string(Warden&)>& body) {
  return in_child([&]() -> std::string {
    if (!group.enter()) return "not entered";
    auto warden = Warden::start(warden_program());
    return warden ? body(*warden) : warden.error().to_text();
  });
}

// A folder in memory that the program may fill.
struct MemoryPlace {
  TemporaryFolder folder;
  static std::optional<MemoryPlace> make() {
    struct statfs info {};
    for (const char* parent : {"/dev/shm", "/tmp"}) {
      if (::statfs(parent, &info) != 0 || info.f_type != TMPFS_MAGIC) continue;
      auto folder = TemporaryFolder::create(parent, "mcpac-test-cgroup");
      // For a root's children, where the kernel maps no ids in a tmpfs (before 6.3).
      if (folder && ::chmod(folder->path().c_str(), 0777) == 0)
        return MemoryPlace{std::move(*folder)};
    }
    MESSAGE("skipped, no tmpfs here");
    return std::nullopt;
  }
  // Files of 1 MiB each, which is what a file may have: 160 of them, with 64 MiB of memory.
  [[nodiscard]] Spec filled() const {
    Spec spec = limited({"fill-files"}, Admits{}.with(ReadsFiles{}).with(WritesFiles{}));
    spec.mounts = {{folder.path(), folder.path(), Mount::Access::kReadWrite}};
    spec.work_directory = folder.path();
    spec.limits.file_size = kMebibyte;
    spec.limits.memory = 64 * kMebibyte;
    return spec;
  }
};

}  // namespace

TEST_SUITE("sandbox/cgroup") {
  TEST_CASE("a host alone in its group makes room there for its children, and gives it back") {
    const auto group = TestGroup::make("adopt");
    if (!group) return;
    CHECK(in_child([&]() -> std::string {
            if (!group->enter()) return "not entered";
            const std::string before = group_of("self");
            std::string text;
            {
              auto warden = Warden::start(warden_program());
              if (!warden) return warden.error().to_text();
              text = cgroup_row(*warden) + "; " + group_of("self") + "; ";
              auto child = warden->spawn(limited({"stay"}));
              if (!child) return text + child.error().to_text();
              const auto leaves = group->leaves();
              if (leaves.size() != 1) return text + joined(leaves);
              const UniqueFd leaf = cgroup::open_folder(group->folder(), leaves.front());
              const auto most = cgroup::number(leaf.get(), "memory.max");
              text += most == cgroup::group_memory(256 * kMebibyte) ? "memory, " : "no memory, ";
              text += cgroup::number(leaf.get(), "pids.max") == 64 ? "threads, " : "no threads, ";
              text += cgroup::read(leaf.get(), "cgroup.procs") != "" ? "in it" : "empty";
              child->kill(Verdict::Kind::kKilled);
              if (!child->wait()) return text + "not ended";
              if (!group->leaves().empty()) return text + joined(group->leaves());
            }
            if (group_of("self") != before) return text + "; now in " + group_of("self");
            return text + "; nothing left " + joined(group->groups());
          }) == "works; mcpac-host; memory, threads, in it; nothing left ");
  }

  TEST_CASE("a group that others are in is left as it is") {
    const auto group = TestGroup::make("shared");
    if (!group) return;
    group->let_somebody_in();
    CHECK(in_group(*group, [&](Warden& warden) {
            return cgroup_row(warden) + "; " + joined(group->groups()) + "; " +
                   ending(warden, limited({"hello"}));
          }) == "the group of mcpac has limits, and other processes; ; exit 7 hello");
  }

  TEST_CASE("below a group that passes memory and threads on nobody has to move") {
    const auto group = TestGroup::make("below");
    if (!group) return;
    CHECK(in_child([&]() -> std::string {
            if (!group->enter_below()) return "not entered";
            auto warden = Warden::start(warden_program());
            if (!warden) return warden.error().to_text();
            auto child = warden->spawn(limited({"stay"}));
            if (!child) return child.error().to_text();
            return cgroup_row(*warden) + "; " + group_of("self") + "; " +
                   std::to_string(group->leaves().size());
          }) == "works; below; 1");
  }

  TEST_CASE("a container that may write its groups is one, where mcpac is its first process") {
    const auto group = TestGroup::make("container");
    if (!group || !is_root("make a container")) return;
    CHECK(in_child([&]() -> std::string {
            if (!group->enter() || ::unshare(CLONE_NEWCGROUP | CLONE_NEWNS) != 0)
              return "not apart";
            if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
                ::umount2("/sys/fs/cgroup", MNT_DETACH) != 0 ||
                ::mount("none", "/sys/fs/cgroup", "cgroup2", 0, nullptr) != 0)
              return "not mounted";
            auto warden = Warden::start(warden_program());
            if (!warden) return warden.error().to_text();
            return cgroup_row(*warden) + "; " + ending(*warden, limited({"thread-count"})) + "; " +
                   joined(group->groups());
          }) == "works; exit 0 63, processes 64; mcpac-host");
  }

  TEST_CASE("files in a tmpfs are memory: what rlimits do not count ends the program, named") {
    const auto group = TestGroup::make("memory");
    const auto place = MemoryPlace::make();
    if (!group || !place) return;
    const std::string allowed = std::to_string(64 * kMebibyte);
    CHECK(in_group(*group, [&](Warden& warden) { return ending(warden, place->filled()); }) ==
          "memory limit, memory " + allowed);
    // Without groups the same program fills what it likes.
    const auto again = MemoryPlace::make();
    REQUIRE(again);
    group->let_somebody_in();
    CHECK(in_group(*group, [&](Warden& warden) { return ending(warden, again->filled()); }) ==
          "exit 0");
  }

  TEST_CASE("memory that a program asks for is refused before its group is full") {
    const auto group = TestGroup::make("refusal");
    if (!group) return;
    const auto allocating = [&](const char* mebibytes) {
      return in_group(*group, [&](Warden& warden) {
        Spec spec = limited({"allocate", mebibytes});
        spec.limits.memory = 64 * kMebibyte;
        return ending(warden, spec);
      });
    };
    CHECK(allocating("100").starts_with("exit 10 ENOMEM, memory 67108864"));
    CHECK(allocating("48") == "exit 0");
  }

  TEST_CASE("a group above that is full is told from the program's own limit") {
    const auto group = TestGroup::make("above");
    if (!group) return;
    REQUIRE(cgroup::write(group->folder(), "memory.max", std::to_string(96 * kMebibyte)) == 0);
    CHECK(in_group(*group, [](Warden& warden) {
            return ending(warden, limited({"allocate", "200"}));
          }) == "signal 9, as the machine, or a control group around mcpac, had no memory left");
  }

  TEST_CASE("threads that were refused are named, also where the program then ends by itself") {
    const auto group = TestGroup::make("threads");
    if (!group) return;
    const auto body = [](Warden& warden) {
      Spec spec = limited({"thread-count"});
      spec.limits.processes = 9;
      return ending(warden, spec);
    };
    CHECK(in_group(*group, body) == "exit 0 8, processes 9");
    CHECK(in_group(*group, [](Warden& warden) {
            return ending(warden, limited({"threads-work"}));
          }) == "exit 0");
  }

  TEST_CASE("an ordinary user's group works likewise, and counts threads without namespaces") {
    const auto group = TestGroup::make("user");
    if (!group || !is_root("hand a group over")) return;
    REQUIRE(group->give_to(4242));
    const auto of_user = [&](bool with_namespaces) {
      return in_child([&]() -> std::string {
        if (!group->enter() || !become_user()) return "no user";
        if (!with_namespaces && !lack(Lacking::kNamespaces)) return "no filter";
        auto warden = Warden::start(warden_program());
        if (!warden) return warden.error().to_text();
        return cgroup_row(*warden) + "; " + ending(*warden, limited({"thread-count"}));
      });
    };
    CHECK(of_user(true) == "works; exit 0 63, processes 64");
    // There clone3 is hidden, too, so the child goes into its group itself.
    CHECK(of_user(false) == "works; exit 0 63, processes 64");
    CHECK(group->groups().empty());
  }

  TEST_CASE("a program's own group is the highest that its namespace shows") {
    const auto group = TestGroup::make("namespace");
    if (!group || !is_root("enter the namespace to look")) return;
    CHECK(in_group(*group, [&](Warden& warden) -> std::string {
            auto child = warden.spawn(limited({"stay"}));
            if (!child) return child.error().to_text();
            const auto leaves = group->leaves();
            if (leaves.size() != 1) return joined(leaves);
            const UniqueFd leaf = cgroup::open_folder(group->folder(), leaves.front());
            const std::string pid =
                std::to_string(cgroup::number(leaf.get(), "cgroup.procs").value_or(0));
            const std::string outside = group_of(pid) == leaves.front() ? "in it, " : "elsewhere, ";
            const UniqueFd space(::open(("/proc/" + pid + "/ns/cgroup").c_str(), O_RDONLY));
            if (::setns(space.get(), CLONE_NEWCGROUP) != 0) return outside + "not entered";
            const auto inside = mcpac::read_file("/proc/" + pid + "/cgroup");
            return outside + inside.value_or("?").substr(inside.value_or("?").find("0::"));
          }) == "in it, 0::/\n");
  }

  TEST_CASE("the files of its group are not there for a program") {
    const auto group = TestGroup::make("hidden");
    if (!group) return;
    CHECK(in_group(*group, [](Warden& warden) {
            return ending(warden, limited({"list", "/sys/fs/cgroup"}, Admits{}.with(ReadsFiles{})));
          }) == "exit 10 ENOENT");
  }

  TEST_CASE("the group of a killed warden is removed by the next, with whoever is in it") {
    const auto group = TestGroup::make("killed");
    if (!group) return;
    CHECK(in_child([&]() -> std::string {
            if (!group->enter()) return "not entered";
            auto first = Warden::start(warden_program());
            if (!first) return first.error().to_text();
            auto child = first->spawn(limited({"stay"}));
            if (!child) return child.error().to_text();
            const UniqueFd host = cgroup::open_folder(group->folder(), "mcpac-host");
            const auto processes = cgroup::read(host.get(), "cgroup.procs").value_or("");
            for (std::size_t at = 0; at < processes.size(); at = processes.find('\n', at) + 1) {
              const auto pid = static_cast<pid_t>(std::stol(processes.substr(at)));
              if (pid != ::getpid()) ::kill(pid, SIGKILL);
            }
            std::ignore = child->wait();
            std::string text = std::to_string(group->leaves().size()) + " left, ";
            auto next = Warden::start(warden_program());
            if (!next) return next.error().to_text();
            text += cgroup_row(*next) + ", ";
            return text + std::to_string(group->leaves().size()) + " left";
          }) == "1 left, works, 0 left");
  }

  TEST_CASE("the groups of a host that was killed are given back by its warden") {
    const auto group = TestGroup::make("dead");
    if (!group) return;
    CHECK(in_child([&]() -> std::string {
            if (!group->enter()) return "not entered";
            auto warden = Warden::start(warden_program());
            if (!warden) return warden.error().to_text();
            auto child = warden->spawn(limited({"stay"}));
            if (!child) return child.error().to_text();
            if (group->leaves().size() != 1) return joined(group->groups());
            ::kill(::getpid(), SIGKILL);
            return "alive";
          }) == "died");
    for (int i = 0; i < 500 && !group->groups().empty(); ++i) ::usleep(10'000);
    CHECK(joined(group->groups()).empty());
    CHECK_FALSE(cgroup::lists(group->folder(), "cgroup.subtree_control", {"memory"}));
  }

  // A server that runs mcpac itself is in the group of the first one, and did not make it so.
  TEST_CASE("a host that is killed within another one's group takes nothing from that one") {
    const auto group = TestGroup::make("nested");
    if (!group) return;
    const std::string text = in_group(*group, [&](Warden& warden) -> std::string {
      const UniqueFd host = cgroup::open_folder(group->folder(), "mcpac-host");
      const auto count = [&host] {
        const auto processes = cgroup::read(host.get(), "cgroup.procs").value_or("");
        return std::ranges::count(processes, '\n');
      };
      const auto before = count();
      const pid_t nested = ::fork();
      if (nested == 0) {
        auto own = Warden::start(warden_program());
        if (own && cgroup_row(*own) == "works") ::raise(SIGSTOP);
        ::_exit(1);
      }
      int status = 0;
      if (::waitpid(nested, &status, WUNTRACED) != nested || !WIFSTOPPED(status))
        return "no nested";
      if (count() != before + 2) return "not beside us";
      ::kill(nested, SIGKILL);
      ::waitpid(nested, nullptr, 0);
      for (int i = 0; i < 500 && count() != before; ++i) ::usleep(10'000);
      if (count() != before) return "its warden stays";
      if (!cgroup::passes_on(group->folder())) return "turned off";
      auto child = warden.spawn(limited({"stay"}));
      if (!child) return child.error().to_text();
      return std::to_string(group->leaves().size()) + " group";
    });
    CHECK(text == "1 group");
  }

  TEST_CASE("controllers that are taken back end the groups, not the runs") {
    const auto group = TestGroup::make("taken");
    if (!group) return;
    const std::string text = in_group(*group, [&](Warden& warden) {
      const std::string before = ending(warden, limited({"hello"}));
      if (cgroup::write(group->folder(), "cgroup.subtree_control", "-memory -pids") != 0)
        return std::string("not taken back");
      const std::string after = ending(warden, limited({"hello"}));
      return before + ", " + after + ", " + cgroup_row(warden);
    });
    CAPTURE(text);
    CHECK(text.starts_with("exit 7 hello, exit 7 hello, /"));
  }
}

}  // namespace mcpac::sandbox::test
