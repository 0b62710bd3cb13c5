// SPDX-License-Identifier: Apache-2.0

// Toolchain: the exact clang and lld commands that build an agent.
//
// The driver is asked once (`clang++ -###`, which reads no source) and its answer kept beside the
// precompiled header. After that the two real programs, `clang -cc1` and `ld.lld`, are started
// directly: no driver, so nothing in the build of untrusted source ever needs to start a process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "sandbox/sandbox.h"

namespace mcpac::toolchain {

// Places inside the sandboxes of the analyzer and the compiler. They are the same in both, and the
// same as when the precompiled header was made: clang compares paths.
namespace inside {
inline constexpr char kPrepared[] = "/mcpac";                // prepared headers, read-only
inline constexpr char kInclude[] = "/mcpac/include";         // mcpac.hpp and its relations
inline constexpr char kRuntimePch[] = "/mcpac/runtime.pch";  // the runtime alone
inline constexpr char kAgentHeader[] = "/mcpac/agent.hpp";   // includes <mcpac.hpp> and kWarmTools
inline constexpr char kPch[] = "/mcpac/agent.pch";           // the servers, chained to the runtime
// Calls of their tools (precompile.h).
inline constexpr char kWarmTools[] = "/mcpac/include/mcpac/warm_tools.hpp";
inline constexpr char kSource[] = "/source";        // the snapshot of the program's source
inline constexpr char kOutput[] = "/output";        // where the compiler may write
inline constexpr char kAddresses[] = "/addresses";  // of what the runner has, for an image
inline constexpr char kFirstInput[] = "/addresses/first.ld";  // says nothing (waiting_build.h)
}  // namespace inside

struct Toolchain {
  // clang -cc1 …: kInclude/mcpac/warm.hpp -> kOutput/runtime.pch
  std::vector<std::string> make_runtime;
  // clang -cc1 …: kOutput/runtime.pch -> kOutput/runtime.o
  std::vector<std::string> compile_runtime;
  // clang -cc1 …: kAgentHeader on top of kRuntimePch -> kOutput/agent.pch
  std::vector<std::string> make_pch;
  // clang -cc1 …: "{source}", the lead of a program, -> kOutput/agent.o
  std::vector<std::string> compile;
  // ld.lld …: kOutput/agent.o + kPrepared/runtime.o, random_device.o -> kOutput/agent
  std::vector<std::string> link;
  // clang -cc1 …: "{source}", a part of the runner -> "{object}"; no precompiled header
  std::vector<std::string> compile_runner;
  // ld.lld …: "{objects}" with everything of the libraries -> kOutput/runner
  std::vector<std::string> link_runner;
  // ld.lld …: kFirstInput + "{objects}" + kPrepared/image_table.o + addresses -> kOutput/agent, an
  // image for it
  std::vector<std::string> link_image;
  // The runner made with these; empty as long as there is none.
  std::string runner_digest;
  // driver-style flags for libclang, equal in meaning to `compile`
  std::vector<std::string> analyze;
};

[[nodiscard]] Json to_json(const Toolchain& toolchain);
[[nodiscard]] Result<Toolchain> toolchain_from_json(const Json& json);

// Asks the driver below `llvm`.
[[nodiscard]] Result<Toolchain> ask_driver(const std::filesystem::path& llvm);

// Mounts of a compiler, linker or analyzer process: the toolchain, read-only.
[[nodiscard]] std::vector<sandbox::Mount> toolchain_mounts(const std::filesystem::path& llvm);
// A text that changes when another clang is installed.
[[nodiscard]] std::string toolchain_identity(const std::filesystem::path& llvm);

}  // namespace mcpac::toolchain
