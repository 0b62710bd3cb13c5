// SPDX-License-Identifier: Apache-2.0

// The warden's protocol: one packet asks, one packet answers, descriptors travel beside them.
//
// Host and warden come from one build, but a packet is still checked: version, bounds, no rest. The
// end of a child is not a packet here; every child has a pipe of its own, on which the warden
// writes one EndReport when it has reaped the child.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sandbox/sandbox.h"
#include "sandbox/step.h"

namespace mcpac::sandbox {

// Below the kernel's default for one packet (wmem_default, 208 KiB).
inline constexpr std::size_t kLargestPacket = std::size_t{128} << 10U;
inline constexpr std::size_t kMostFolders = 4096;  // of Spec::kept_folders
inline constexpr std::size_t kMostStrings = 4096;  // arguments, or environment

struct SpawnRequest {
  Spec spec;  // without program and descriptors; those that came are marked below
  bool has_input = false, has_output = false, has_error = false, has_channel = false,
       has_observer = false;
};
struct ProbeRequest {};
struct RootRequest {};
using Request = std::variant<SpawnRequest, ProbeRequest, RootRequest>;

// With the answer come a pidfd and the reading end of the child's EndReport pipe.
struct Spawned {
  Tier tier = Tier::kA;
};
struct Refused {
  enum class Kind : std::uint8_t {
    kLayerFailed,
    kTierTooLow,
    kUnavailable,
    kBadRequest
  } kind = Kind::kLayerFailed;
  Failure failure;
  std::string text;
  Tier gives = Tier::kA;  // with kTierTooLow: the machine
};
struct RootReply {
  bool own = false;  // a child gets a root of its own (Machine::namespaces)
};
using Reply = std::variant<Spawned, Refused, Probe, RootReply>;

[[nodiscard]] std::string encode_spawn(const Spec& spec);
[[nodiscard]] std::string encode_probe_request();
[[nodiscard]] std::string encode_root_request();
[[nodiscard]] std::optional<Request> decode_request(std::string_view packet);

[[nodiscard]] std::string encode(const Reply& reply);
[[nodiscard]] std::optional<Reply> decode_reply(std::string_view packet);

}  // namespace mcpac::sandbox
