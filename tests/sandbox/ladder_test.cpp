// Machines that lack a piece, simulated by a filter around the whole host: refused by default,
// weaker only when asked for by name, and never without the system-call filter.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/file.h"
#include "sandbox/landlock.h"
#include "sandbox/prepare.h"
#include "sandbox/step.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

// What `spec` gives on a machine that lacks something; for an ordinary user unless `as_root`.
enum class Who { kRoot, kUser };
std::string on_machine(Lacking what, Who who, const std::function<std::string(Warden&)>& body) {
  return in_child([&]() -> std::string {
    if (who == Who::kUser && ::geteuid() == 0 && !become_user()) return "no user";
    if (!lack(what)) return "no filter";
    auto warden = Warden::start(warden_program());
    if (!warden) return warden.error().to_text();
    return body(*warden);
  });
}

std::string run_at(Warden& warden, Spec spec, Tier lowest) {
  spec.lowest_tier = lowest;
  const auto outcome = run(warden, std::move(spec));
  return outcome ? "tier " + to_string(outcome->tier) + ": " + describe(outcome)
                 : to_string(outcome.error().id);
}

std::string three_tiers(Warden& warden) {
  std::string text;
  for (const Tier lowest : {Tier::kA, Tier::kB, Tier::kC}) {
    text += run_at(warden, hostile({"open", "/etc/passwd"}), lowest) + "\n";
  }
  return text;
}

std::string probed_tier(Warden& warden) {
  const auto probe = warden.probe();
  if (!probe) return probe.error().to_text();
  std::string text = probe->tier ? "tier " + to_string(*probe->tier) : "no tier";
  for (const Capability& capability : probe->capabilities) {
    if (!capability.works && capability.name != "cgroup limits")  // cgroup_test.cpp
      text += "; no " + capability.name + (capability.remedy.empty() ? " (no remedy)" : "");
  }
  return text;
}

}  // namespace

TEST_SUITE("sandbox/ladder") {
  TEST_CASE("this machine gives tier A, and every capability says that it works") {
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    CHECK(probed_tier(*warden) == "tier A");
    CHECK(in_child([]() -> std::string {
            if (::geteuid() == 0 && !become_user()) return "no user";
            auto of_user = Warden::start(warden_program());
            return of_user ? probed_tier(*of_user) : of_user.error().what;
          }) == "tier A");
  }

  TEST_CASE("without namespaces a run is refused, and tier B runs when it is accepted") {
    const std::string expected = "MCPAC-E0603\ntier B: exit 10 EACCES\ntier B: exit 10 EACCES\n";
    CHECK(on_machine(Lacking::kNamespaces, Who::kUser, three_tiers) == expected);
    if (::geteuid() == 0)
      CHECK(on_machine(Lacking::kNamespaces, Who::kRoot, three_tiers) == expected);
  }

  TEST_CASE("namespaces without mounts are no namespaces: tier B") {
    CHECK(on_machine(Lacking::kMounts, Who::kUser, three_tiers) ==
          "MCPAC-E0603\ntier B: exit 10 EACCES\ntier B: exit 10 EACCES\n");
  }

  TEST_CASE("without namespaces and Landlock only tier C runs") {
    CHECK(on_machine(Lacking::kNamespacesAndLandlock, Who::kUser, three_tiers) ==
          "MCPAC-E0603\nMCPAC-E0603\ntier C: exit 10 EACCES\n");
  }

  TEST_CASE("nothing writes files where only an old Landlock would hold those that may be read") {
    const auto refused_with = [](int abi) {
      Stock stock;
      stock.machine.filter = true;
      stock.machine.landlock_abi = abi;
      Spec spec = hostile({"hello"}, kCompiler);
      spec.lowest_tier = Tier::kB;
      const auto plan = prepare(stock, spec, {}, 0);
      return plan ? std::string("planned") : plan.error().text;
    };
    CHECK(refused_with(2).ends_with("a file that may only be read could be emptied"));
    if (landlock_abi() >= 3) CHECK(refused_with(3) == "planned");
  }

  TEST_CASE("without a system-call filter nothing runs at any tier") {
    CHECK(on_machine(Lacking::kFilters, Who::kUser, three_tiers) ==
          "MCPAC-E0600\nMCPAC-E0600\nMCPAC-E0600\n");
  }

  TEST_CASE("in tier B root is still gone, and a process can signal nobody but itself") {
    if (::geteuid() != 0) {
      MESSAGE("skipped: needs root");
      return;
    }
    CHECK(on_machine(Lacking::kNamespaces, Who::kRoot, [](Warden& warden) {
            return run_at(warden, hostile({"identity"}), Tier::kB);
          }).starts_with("tier B: exit 0 9"));
    const std::string ours = std::to_string(::getpid());
    CHECK(on_machine(Lacking::kNamespaces, Who::kRoot, [&](Warden& warden) {
            return run_at(warden, hostile({"signal-other", ours}), Tier::kB) + "; " +
                   run_at(warden, hostile({"signal-self"}), Tier::kB) + "; " +
                   run_at(warden, hostile({"fork"}), Tier::kB);
          }) == "tier B: exit 10 EPERM; tier B: exit 0; tier B: exit 10 EPERM");
  }

  TEST_CASE("in tier B a compiler reads its mounts and nothing else") {
    const auto folder = TemporaryFolder::create("/tmp", "mcpac-test-ladder");
    REQUIRE(folder);
    std::filesystem::permissions(folder->path(), std::filesystem::perms(0755));
    const auto body = [&](Warden& warden) {
      Spec spec = hostile({"list", "/usr/lib/gcc"}, kCompiler);
      spec.mounts = {{"/usr/lib/gcc", "/usr/lib/gcc"}};
      std::string text = run_at(warden, spec, Tier::kB);
      spec.arguments = {"hostile", "open", "/etc/passwd"};
      text += "; " + run_at(warden, spec, Tier::kB);
      // Without a mount namespace nothing can be shown under another name.
      spec.mounts = {{"/usr/lib/gcc", "/elsewhere"}};
      return text + "; " + run_at(warden, spec, Tier::kB);
    };
    CHECK(on_machine(Lacking::kNamespaces, Who::kUser, body) ==
          "tier B: exit 0 x86_64-linux-gnu ; tier B: exit 10 EACCES; MCPAC-E0603");
  }

  TEST_CASE("in tier C nothing that opens files runs, as nothing would decide which") {
    const auto body = [](Warden& warden) {
      return run_at(warden, hostile({"hello"}, kCompiler), Tier::kC) + "; " +
             run_at(warden, hostile({"hello"}, Admits{}.with(OpensLibraries{})), Tier::kC);
    };
    CHECK(on_machine(Lacking::kNamespacesAndLandlock, Who::kUser, body) ==
          "MCPAC-E0603; MCPAC-E0603");
  }

  TEST_CASE("the remedy for a tier is none that the same command would refuse") {
    const auto remedy = [](Spec spec, Tier lowest) {
      return [spec = std::move(spec), lowest](Warden& warden) mutable {
        spec.lowest_tier = lowest;
        const auto refused = run(warden, spec);
        if (refused) return std::string("it ran");
        return to_string(refused.error().id) + ": " + refused.error().fix;
      };
    };
    const std::string doctor =
        "MCPAC-E0603: `mcpac doctor` says what is missing and what to do about it";
    CHECK(on_machine(Lacking::kNamespaces, Who::kUser, remedy(hostile({"hello"}), Tier::kA)) ==
          doctor +
              "; tier B is accepted by --min-tier B, or once by `mcpac doctor --accept-tier B`");
    CHECK(on_machine(Lacking::kNamespacesAndLandlock, Who::kUser,
                     remedy(hostile({"hello"}), Tier::kB)) ==
          doctor +
              "; tier C is accepted by --min-tier C, or once by `mcpac doctor --accept-tier C`");
    // What no tier below gives.
    CHECK(on_machine(Lacking::kNamespacesAndLandlock, Who::kUser,
                     remedy(hostile({"hello"}, kCompiler), Tier::kB)) ==
          doctor + "; in tier C a program runs that was built elsewhere (`mcpac run`)");
    CHECK(on_machine(Lacking::kNamespaces, Who::kUser,
                     remedy(hostile({"hello"}, Admits{}.with(WritesFiles{})), Tier::kA)) ==
          "MCPAC-E0603: programs write files in tier A only: grant the files read-only (--files "
          "DIR), or `mcpac doctor` says what is missing and what to do about it");
  }

  TEST_CASE("what is missing is named once, with a remedy for its cause") {
    CHECK(on_machine(Lacking::kNamespaces, Who::kUser, probed_tier) ==
          "tier B; no user namespaces, mount namespace with a root of its own, network namespace, "
          "pid namespace, ipc namespace, uts namespace, cgroup namespace");
    CHECK(on_machine(Lacking::kFilters, Who::kUser, probed_tier).ends_with("; no seccomp"));
  }

  TEST_CASE("a limit of namespaces is told as that, and not as a full disk") {
    const Failure full{.layer = Layer::kNamespaces, .error = ENOSPC};
    CHECK(error_text(full).find("user.max_user_namespaces") != std::string::npos);
    CHECK(error_text({.layer = Layer::kRoot, .error = ENOSPC}) ==
          "ENOSPC (No space left on device)");
    // With the real limit: none are left below this one.
    const auto body = []() -> std::string {
      if (::unshare(CLONE_NEWUSER) != 0) return "no user namespace here";
      const auto limit = [](const char* file, const char* text) {
        const UniqueFd opened(::open(file, O_WRONLY | O_CLOEXEC));
        return opened && ::write(opened.get(), text, std::strlen(text)) > 0;
      };
      if (!limit("/proc/sys/user/max_user_namespaces", "0")) return "no limit can be set here";
      auto warden = Warden::start(warden_program());
      if (!warden) return warden.error().to_text();
      const auto probe = warden->probe();
      if (!probe) return probe.error().to_text();
      for (const Capability& capability : probe->capabilities) {
        if (!capability.works && capability.name.starts_with("user namespaces"))
          return capability.detail + ": " + capability.remedy;
      }
      return "nothing is missing";
    };
    const std::string said = in_child([&]() -> std::string {
      if (::geteuid() == 0 && !become_user()) return "no user";
      return body();
    });
    if (said.starts_with("no ")) {
      MESSAGE("skipped: " << said);
      return;
    }
    CHECK_MESSAGE(said.starts_with("namespaces: ENOSPC (the system's limit of namespaces"), said);
    CHECK_MESSAGE(said.find(": sysctl -w user.max_user_namespaces=") != std::string::npos, said);
  }
}

}  // namespace mcpac::sandbox::test
