// What the sandbox tests share: runs of the hostile program, and environments that lack something.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sandbox/sandbox.h"

namespace mcpac::sandbox::test {

std::filesystem::path warden_program();
std::filesystem::path hostile_program();

// What a compiler's job admits.
inline constexpr Admits kCompiler =
    Admits{}.with(ReadsFiles{}).with(WritesFiles{}).with(Compiles{});

// A spec that runs `hostile WORDS…` with moderate limits.
Spec hostile(std::vector<std::string> words, Admits admits = {});

struct Outcome {
  Verdict verdict;
  std::string output;
  Tier tier = Tier::kA;
};
// Runs it to its end and collects standard output (at most 1 MiB, then the reading end is closed).
Result<Outcome> run(Warden& warden, Spec spec);

// "exit 10 EACCES", "violated", "timed out", … or "error MCPAC-E0603 …": one line to compare with.
std::string describe(const Result<Outcome>& outcome);
// describe(run()) with a warden of its own.
std::string run_once(const Spec& spec);

// The same program without any sandbox: "exit 0 …".
std::string run_outside(const std::vector<std::string>& words);

// Calls `body` in a child process and returns its text; "died" when it ended otherwise.
std::string in_child(const std::function<std::string()>& body);
// Ids of an ordinary user for this process; for use inside in_child().
bool become_user(unsigned id = 4242);
// Docker's default profile, in what matters here: no namespaces, no mounts, no clone3. Inside
// in_child().
enum class Lacking { kNamespaces, kNamespacesAndLandlock, kMounts, kFilters, kListener, kTracing };
bool lack(Lacking what);

// Whether the kernel can hold servers without namespaces: Landlock's scopes. Where not, that the
// case is skipped was said.
bool can_serve_in_tier_b();

}  // namespace mcpac::sandbox::test
