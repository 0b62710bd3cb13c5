// ProjectTurn: one writer of a project at a time.
//
// `generate` and `lock accept` read mcpac.lock, merge and write; two at once would each write what
// the other has not seen. Who writes holds an advisory lock on the project's folder itself, so that
// no file is left behind, and reads mcpac.lock while holding it. Readers need no turn: files are
// replaced whole, and headers that do not fit the lock are refused. On a file system without such
// locks (some network ones) the turn is not held; the digests still are.
#pragma once

#include "core/file.h"
#include "execute/project/project.h"

namespace mcpac::execute {

class ProjectTurn {
 public:
  // Waits until it is our turn.
  explicit ProjectTurn(const Project& project);

 private:
  UniqueFd folder_;
};

}  // namespace mcpac::execute
