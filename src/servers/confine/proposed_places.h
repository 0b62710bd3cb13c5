// SPDX-License-Identifier: Apache-2.0

// Proposed places: paths for a server's sandbox, proposed from the names in its entry.
//
// A proposal, for a person to see before it is written: nothing is given by it alone. It reads
// little, since what it misses shows when the server is tried and what it adds would be open
// without intent: whole arguments of the server itself (not those of its launcher), values behind
// "=", items of lists of whole paths, and variables of the entry.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "mcp/server_config.h"
#include "project/folders.h"
#include "project/project.h"

namespace mcpac::servers {

struct ProposedPlace {
  std::string text;  // as "files" of a "sandbox" has it: "./data:rw"
  std::string why;   // "args[2] names it"
};

struct ProposedPlaces {
  std::vector<ProposedPlace> places;  // none in another that gives as much
  std::vector<std::string> notes;     // what is named and not proposed, with why

  [[nodiscard]] std::vector<std::string> files() const;
};

// A folder that is named: to write. A file: to read. A database, and what is called the server's
// data (MEMORY_FILE_PATH, --log), also where it is not there yet: its folder, to write, as such
// files are replaced and have journals beside them; the file alone where that folder holds more
// than the server's own (is_foreign()). Not what is the server's program, nor `/`, nor a folder
// that your home lies in.
//
// `server` is a stdio server of `project`. Errors of its start: a secret that is missing, a program
// that cannot be confined (launch_profile.h).
[[nodiscard]] Result<ProposedPlaces> proposed_places(const project::Project& project,
                                                     const project::Folders& folders,
                                                     const mcp::ServerConfig& server);

}  // namespace mcpac::servers
