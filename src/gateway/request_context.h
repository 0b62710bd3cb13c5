// SPDX-License-Identifier: Apache-2.0

// Request context: the `_meta` of one request, and with it the era it belongs to.
//
// A request of revision 2026-07-28 names its revision and the client's capabilities each time, one
// of the `initialize` era names neither. So the era is a property of the request, and one channel
// may carry both: a client that probes with `server/discover` and then initializes, say.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"
#include "ipc/json_rpc.h"

namespace mcpac::gateway {

enum class Era : std::uint8_t { kInitialize, kStateless };

// Errors that MCP has numbers for.
inline constexpr std::int64_t kHeaderMismatch = -32020;
inline constexpr std::int64_t kMissingCapability = -32021;
inline constexpr std::int64_t kUnsupportedVersion = -32022;

struct RequestContext {
  Era era = Era::kInitialize;
  Json capabilities;        // of kStateless: what_it_answers()
  Json progress_token;      // a string or integer; null: progress is not wanted
  std::string log_level{};  // of kStateless; empty: logs are not wanted
};

// An error is the answer: a revision that we do not speak, or members that are not what they must
// be.
[[nodiscard]] std::expected<RequestContext, ipc::ErrorObject> read_context(const Json& params);

// Of a client's capabilities those that say which questions it answers, without what else stands
// there: a request may wait long, and a client write much. What is no object says none.
[[nodiscard]] Json what_it_answers(const Json& capabilities);

// The revision that `_meta` names, or nothing.
[[nodiscard]] std::optional<std::string> version_in(const Json& params);

// A result in the form of its era: kStateless wants `resultType` and says who answered.
[[nodiscard]] Json in_form(Era era, Json result);
// The same of what a server answered in the end: complete, whatever it says of itself. A question
// passes through ask_by_result() alone, or a server would show its own in the gateway's name
// (2026-07-28, InputRequiredResult).
[[nodiscard]] Json complete_in_form(Era era, Json result);
// What kStateless wants besides of lists and of server/discover.
[[nodiscard]] Json cacheable(Era era, Json result);
// And of the content of a resource: as long as its server says, and for this client alone, since
// others were granted other things.
[[nodiscard]] Json cacheable_resource(Era era, Json result);

}  // namespace mcpac::gateway
