// Workspace: a project folder of its own, the real mcpac, and real servers.
//
// All cases share one prepared project (servers generated, headers precompiled once); a case that
// changes files makes its own. The cache is one for all of them, as it is for a user's projects:
// the runtime is precompiled once. Everything lies in temporary folders that go at the end.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace e2e {

struct Outcome {
  int exit_code = -1;  // 128 + signal when it was ended by one
  std::string out;
  std::string err;
  [[nodiscard]] mcpac::Json json() const;  // of `out`; fails the test when it is none
};

struct RunOptions {
  std::string input{};
  std::filesystem::path folder{};
  std::vector<std::string> environment{};  // "NAME=value", beside the workspace's own
  std::string interrupt_at{};     // SIGINT to the process group, as Ctrl-C, when this was printed
  std::function<bool()> enter{};  // in the process that becomes mcpac; false fails the test
};

class Workspace {
 public:
  // The shared one: servers filesystem (below data/), memory, everything; lock and headers
  // generated.
  static Workspace& shared();
  // Another one for all cases: the fixture server, generated.
  static Workspace& shared_fixture();
  // Another folder with the configuration given; nothing is generated.
  explicit Workspace(const std::string& config);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  Outcome mcpac(std::vector<std::string> arguments, const RunOptions& options = {}) const;
  // `mcpac execute` of source text with --grant.
  Outcome execute(const std::string& source, const std::string& grants,
                  std::vector<std::string> more = {}) const;
  // At a pseudo terminal: each question gets the next of the answers (commas between them).
  Outcome with_person(const std::string& answers, std::vector<std::string> command) const;
  std::filesystem::path write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // What mcpac gets from the workspace: its folders, beside the environment of the test.
  [[nodiscard]] std::vector<std::string> environment() const;
  [[nodiscard]] std::filesystem::path state() const { return folder_ / ".state" / "mcpac"; }
  // What mcpac has for the home folder of its account, by the system's record of users, where
  // has_account() says so: run_program() lays another record over /etc/passwd, in a mount namespace
  // of its own. So no setting and no answer of the tester's own counts.
  [[nodiscard]] std::filesystem::path home() const { return folder_ / ".home"; }
  // False, said loudly, where this machine has no way to do it.
  [[nodiscard]] bool has_account() const;
  // The setting that lets --no-permission-check be; false as has_account().
  [[nodiscard]] bool allow_off_switch() const;
  // What `mcpac doctor --accept-tier` would write; false as has_account().
  [[nodiscard]] bool accept_tier(const std::string& tier) const;

  // XDG_CACHE_HOME of all of them.
  [[nodiscard]] static const std::filesystem::path& shared_cache();

  // Configuration entries of the pinned npm servers and of our own fixture.
  static std::string real_servers();
  static std::string fixture(const std::string& mode);

 private:
  [[nodiscard]] bool set(const std::string& name, const std::string& text) const;
  std::filesystem::path folder_;
};

// Whether the text has the part in it.
[[nodiscard]] bool has(std::string_view text, std::string_view part);

// Any program, to its end or 10 minutes: a guard against hanging, not a measure.
Outcome run_program(const std::vector<std::string>& words,
                    const std::vector<std::string>& environment, const RunOptions& options);

}  // namespace e2e
