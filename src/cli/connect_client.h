// SPDX-License-Identifier: Apache-2.0

// `mcpac connect` for one client's configuration: adds our entry, and removes it again.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "core/error.h"
#include "project/clients/client_file.h"
#include "project/clients/client_kind.h"
#include "project/clients/connection_record.h"

namespace mcpac::cli {

struct ConnectOptions {
  std::string client;
  std::string file;
  std::string name = "mcpac";
  std::string tool_names = "plain";
  std::vector<std::string> grants;
  std::vector<std::string> asks;
  std::vector<std::string> denies;
  std::vector<std::string> policies;
  bool code = false;  // programs, too: mcpac serve --code
  bool adopt = false;
  bool confine = false;     // try what is adopted in a sandbox, and confine what starts so
  bool no_confine = false;  // ask no question about that
  bool undo = false;
  bool dry_run = false;
  bool list = false;
};

[[nodiscard]] project::ConnectionRecords connection_records(const Context& context);

// Both say what they did, and with options.dry_run only what they would do. `file` is read already.
// With --adopt an error, when all is written, where the client still reaches servers past mcpac:
// those that stay in `file`, and those of its other configurations (`places`).
[[nodiscard]] Result<void> connect_client(Context& context, const project::ClientKind& kind,
                                          project::ClientFile& file,
                                          const project::ClientPlaces& places,
                                          const ConnectOptions& options);
[[nodiscard]] Result<void> disconnect_client(Context& context, const project::ClientKind& kind,
                                             project::ClientFile& file,
                                             const ConnectOptions& options);

}  // namespace mcpac::cli
