// SPDX-License-Identifier: Apache-2.0

// Precompile: the slow steps behind Prepared, each into a folder of the cache.
//
// The runtime (the standard library and templates/) is compiled once per toolchain and mcpac. The
// headers of the servers are a small precompiled header chained to it, made once per lock: a new
// tool costs tenths of a second, not ten. A folder appears whole or not at all.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/file_stamp.h"
#include "project/folders.h"
#include "sandbox/sandbox.h"
#include "toolchain/child/stage.h"
#include "toolchain/prepared_cache.h"
#include "toolchain/toolchain.h"

namespace mcpac::toolchain {

// Path below servers/ -> bytes, already held against the lock.
using Headers = std::map<std::string, std::string>;

struct CompilerPlace {
  const project::Folders& folders;
  sandbox::Warden& warden;
  sandbox::Tier lowest_tier;
  StopSignal stop;
};

// Makes `target`: include/, runtime.pch, runtime.o, symbols (library_symbols.h), toolchain.json.
[[nodiscard]] Result<void> precompile_runtime(const Headers& runtime,
                                              const std::filesystem::path& target,
                                              const CompilerPlace& place);

// What agent.hpp has in a namespace of ours (warm_tools.hpp), so that a program that calls one of
// these tools (C++ names: "mcp::filesystem::read_text_file") finds what clang makes of their
// templates made already. Nothing for more tools than help: clang reads every specialisation that a
// header holds as soon as it needs one (docs/adr/0010).
[[nodiscard]] std::string warmed_tools(const std::vector<std::string>& tools);

// Makes `target` from the folder of the runtime, whose files it shares (hard links: clang holds a
// precompiled header against the size and time of what it was made from), and agent.pch. `warmed`
// as warmed_tools() gives it: left out where clang does not compile it.
[[nodiscard]] Result<void> precompile_servers(const Headers& servers, const std::string& warmed,
                                              const std::filesystem::path& runtime,
                                              const std::filesystem::path& target,
                                              const CompilerPlace& place);

// The commands that a folder of the runtime was made with; an error where it is not whole. It
// counts as used.
[[nodiscard]] Result<Toolchain> load_runtime(const std::filesystem::path& folder);

// A folder of the second kind.
struct Prepared {
  std::filesystem::path folder;
  Toolchain toolchain{};  // the commands that it was made with
  FileStamp stamp{};      // of the file that says them
  FolderUse use{};        // it stays as long as this
};
// An error where it is not whole. `known`: what was loaded before; it is the answer where that is
// the folder, and the file is the same.
[[nodiscard]] Result<Prepared> load_servers(const std::filesystem::path& folder,
                                            const Prepared* known = nullptr);

}  // namespace mcpac::toolchain
