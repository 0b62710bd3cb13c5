// SPDX-License-Identifier: Apache-2.0

// A confined server on a machine without mount namespaces, where a person accepted tier B: Landlock
// alone holds its files, and a filter that knows no other sockets than pairs its network
// (docs/adr/0057). There is no root of its own: it sees the host's paths, is given what Landlock
// can hold, and its own folders lie on disk. What Landlock cannot hold is refused.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/file.h"
#include "sandbox/sandbox.h"
#include "servers/confine/server_places.h"

namespace mcpac::servers {

// Its home and folder for temporary files, for one start. Gone with it, also what the server made
// unreadable or deep; of a host that was killed the next start removes them (core/abandoned.h).
class FoldersOnDisk {
 public:
  // Below the user's own temporary folder. kFileUnwritable.
  [[nodiscard]] static Result<FoldersOnDisk> make(const std::filesystem::path& temporary);
  FoldersOnDisk(FoldersOnDisk&&) = default;
  FoldersOnDisk& operator=(FoldersOnDisk&&) = delete;
  FoldersOnDisk(const FoldersOnDisk&) = delete;
  FoldersOnDisk& operator=(const FoldersOnDisk&) = delete;
  ~FoldersOnDisk() = default;
  [[nodiscard]] std::filesystem::path home() const { return folder_.path() / "home"; }
  [[nodiscard]] std::filesystem::path temporary() const { return folder_.path() / "tmp"; }

 private:
  explicit FoldersOnDisk(TemporaryFolder folder) : folder_(std::move(folder)) {}
  TemporaryFolder folder_;
};

// Network of a server in tier B: none, or all of it without a restriction of destinations.
enum class WholeNetwork : bool { kNone, kAll };

// Whether `places` of its entry ask for all: "any" stands among them. A place that names a host
// cannot be held, so an entry that names others alone is refused (kTierTooLow).
[[nodiscard]] Result<WholeNetwork> whole_network(const std::string& server,
                                                 const std::vector<std::string>& places,
                                                 const project::ServerPlaces& by_rules);

// `spec` is confined_spec()'s. kFilesRefused where it keeps a part of what it gives, with the place
// and what to write. What it shows of the user's home in the server's own becomes a link there.
[[nodiscard]] Result<sandbox::Spec> without_mounts(sandbox::Spec spec, const std::string& server,
                                                   WholeNetwork network, const FoldersOnDisk& own);

}  // namespace mcpac::servers
