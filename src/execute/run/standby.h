// Standby: what a run needs and what can be started before the run is known: its warden, and the
// servers that the last run of the project used.
//
// A run takes these parts only where it would start the same ones now: the same entries of
// mcpac.json, the same lock, unchanged programs of servers, and servers that neither failed, died
// nor drifted meanwhile. Whatever differs is shut down first, and the run starts its own. Serves
// one run. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "codegen/lock.h"
#include "execute/host/host.h"
#include "execute/project/project.h"
#include "sandbox/sandbox.h"

namespace mcpac::execute {

class Standby {
 public:
  // Returns at once; servers go on starting. Of `servers` are left out: those that mcpac.json does
  // not know or has disabled, those behind a URL (their sessions end by the server's rules), and
  // those that read a file when they start (${file:…} may say something else by then). SIGINT,
  // SIGTERM and SIGHUP must be blocked already: the threads made here inherit that.
  [[nodiscard]] static Result<std::unique_ptr<Standby>> prepare(
      const std::filesystem::path& config_file, const Folders& folders,
      const std::set<std::string>& servers);
  ~Standby();
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

  [[nodiscard]] std::optional<sandbox::Warden> take_warden();
  // Null where a run of this project and lock would start other servers.
  [[nodiscard]] std::unique_ptr<Host> take_host(const Project& project, const codegen::Lock& lock);

 private:
  Standby() = default;
  [[nodiscard]] bool fits(const Project& project, const codegen::Lock& lock) const;

  std::optional<sandbox::Warden> warden_;
  Project project_;
  codegen::Lock lock_;
  std::string programs_;        // of the servers, as they lay on the disk before the start
  std::unique_ptr<Host> host_;  // borrows project_ and lock_, also after it was taken
};

// The parts as a run takes them: of `standby`, or else (or with null) its own.
[[nodiscard]] Result<sandbox::Warden> warden_for_run(
    Standby* standby, const Folders& folders, sandbox::Explore explore = sandbox::Explore::kAtOnce);
[[nodiscard]] std::unique_ptr<Host> host_for_run(Standby* standby, const Project& project,
                                                 const codegen::Lock& lock);

}  // namespace mcpac::execute
