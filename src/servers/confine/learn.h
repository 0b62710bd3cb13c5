// SPDX-License-Identifier: Apache-2.0

// Learn: the smallest "sandbox" that a server's entry needs, from what it has already, from what it
// was seen to do, from what its entry names, and from what others claim of it; each line with its
// reason.
//
// A proposal is for a person to read. What every confined server has (confine_servers.h) is left
// out of it; what holds keys, belongs to other programs or is as large as a home is not proposed,
// whatever the server did, and said with the line that one would write.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "mcp/child_process.h"
#include "mcp/server_config.h"
#include "project/folders.h"
#include "project/project.h"
#include "sandbox/observe.h"

namespace mcpac::servers {

struct ProposedLine {
  std::string text;    // as an item of "files" or "network": "./data:rw", "api.github.com:443"
  std::string reason;  // "created ./data/memory.json"
};

struct Proposal {
  std::vector<ProposedLine> files;
  std::vector<ProposedLine> network;
  std::vector<ProposedLine> left;   // used, and not proposed
  std::vector<ProposedLine> taken;  // lines of its entry that are no longer there, with why
  std::vector<std::string> notes;   // what no line can give, and what may be missing here
};

// The value of "sandbox" that a proposal comes to: true, or an object.
[[nodiscard]] OrderedJson entry_of(const Proposal& proposal);

struct ProposalFrom {
  const project::Project& project;
  const project::Folders& folders;
  const mcp::ServerConfig& server;
  std::vector<ProposedLine> first{};    // entries of files beside its own: what is claimed
  const sandbox::Seen* seen = nullptr;  // null: nothing was observed
};

// The end of the advice for a server that lacks something: the command that finds what it uses.
[[nodiscard]] std::string learn_advice(const std::string& server);

// Begins with the "sandbox" that the entry has, whose lines stay; else with what `server add
// --confine` would give (proposed_places.h), but for keys and what is mcpac's own. Only where
// something was observed is a line taken away: one that no start would be given.
//
// Reads the disk, and starts nothing. kServerStart where the server cannot be confined at all.
[[nodiscard]] Result<Proposal> propose(const ProposalFrom& from);

// The approved part of a server in mcpac.lock, or what would be approved.
struct EntryForLock {
  std::string identity;  // mcp::ServerConfig::identity()
  OrderedJson entry;     // mcp::ServerConfig::entry()
};
// Of `server` as it is written: where it is observed, of the entry that its observer was begun
// with.
[[nodiscard]] EntryForLock entry_for_lock(const mcp::ServerConfig& server);

// A server's calls, seen (sandbox/observe.h); for ServerConfig::observer.
class ServerObserver final : public mcp::Observer {
 public:
  // `options`: of what a server with its user's files does, or of what a confined one is refused.
  // `written`: the server as mcpac.json has it, which is compared with the lock whatever is started
  // to be observed (without its sandbox, or the installed program of a launcher).
  [[nodiscard]] static Result<std::shared_ptr<ServerObserver>> begin(
      sandbox::ObserveOptions options, const mcp::ServerConfig& written);
  // Of an observation that another process of ours has (learn_session.h).
  [[nodiscard]] static std::shared_ptr<ServerObserver> joined(sandbox::ObserverEnd end,
                                                              const mcp::ServerConfig& written);
  [[nodiscard]] int enter_child() const override { return entrance().enter_child(); }
  [[nodiscard]] int socket() const override { return entrance().socket(); }
  [[nodiscard]] const EntryForLock& written() const { return written_; }
  // Of one that was begun here: how many starts it saw, and, at its end, all that it saw.
  [[nodiscard]] std::size_t starts() const { return observation_ ? observation_->starts() : 0; }
  [[nodiscard]] sandbox::Seen end() { return observation_ ? observation_->end() : sandbox::Seen(); }

 private:
  explicit ServerObserver(EntryForLock written) : written_(std::move(written)) {}
  [[nodiscard]] const sandbox::ObserverEnd& entrance() const {
    return observation_ ? observation_->entrance() : *joined_;
  }
  std::unique_ptr<sandbox::Observation> observation_;  // or
  std::optional<sandbox::ObserverEnd> joined_;
  EntryForLock written_;
};

// Of a server that has all that its user has.
[[nodiscard]] sandbox::ObserveOptions options_for_learning();

// Looks at one start of a confined server, and says what it wanted and did not get: "it tried to
// open ~/.config/x, which it was not given", with the lines that would give it. Null where nothing
// can be observed.
[[nodiscard]] std::shared_ptr<mcp::Refusals> refusals_of(
    std::shared_ptr<const project::Project> project, const project::Folders& folders,
    const std::string& server);

}  // namespace mcpac::servers
