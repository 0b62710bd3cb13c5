// A control group as systemd or a container would leave one to mcpac: made by the tests below a
// group that was left to them, and taken away again. It has a limit, as a service may, so that what
// is made for its processes has to stay in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/file.h"
#include "sandbox/sandbox.h"

namespace mcpac::sandbox::test {

class TestGroup {
 public:
  // Nothing where none can be made; that and why is printed, as the test then shows nothing.
  static std::optional<TestGroup> make(const std::string& name);
  TestGroup(TestGroup&&) noexcept = default;
  TestGroup& operator=(TestGroup&&) = delete;
  ~TestGroup();

  [[nodiscard]] int folder() const { return folder_.get(); }
  // Moves this process there; inside in_child().
  [[nodiscard]] bool enter() const;
  // A group in it that passes memory and threads on, for this process; inside in_child().
  [[nodiscard]] bool enter_below() const;
  // A process of somebody else in it, up to its end.
  void let_somebody_in() const;
  // Hands it to an ordinary user, as `Delegate=` with `User=` does.
  [[nodiscard]] bool give_to(unsigned user) const;
  // The groups below it, sorted.
  [[nodiscard]] std::vector<std::string> groups() const;
  // Those of children.
  [[nodiscard]] std::vector<std::string> leaves() const;

 private:
  TestGroup(UniqueFd base, UniqueFd folder, std::string name)
      : base_(std::move(base)), folder_(std::move(folder)), name_(std::move(name)) {}
  UniqueFd base_;
  UniqueFd folder_;
  std::string name_;
};

// "works", or why not: the row of `mcpac doctor`.
[[nodiscard]] std::string cgroup_row(Warden& warden);
// The last part of the group that a process is in.
[[nodiscard]] std::string group_of(const std::string& process);

}  // namespace mcpac::sandbox::test
