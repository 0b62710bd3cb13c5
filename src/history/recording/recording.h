// SPDX-License-Identifier: Apache-2.0

// Recording: the calls of a run, or of the clients of a gateway, and what came of them: what tests
// without servers are answered from (docs/recording.md, ADR 0032).
//
// A file of JSON lines: a header, a line a call, and an end, without which the file counts as torn.
// It is untrusted input: it may come from a repository. Reading is bounded, and nothing in it is a
// path, a command or a permission; what may be called is decided by lock and policy as always.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/permission.h"
#include "gate/servers.h"

namespace mcpac::history {

inline constexpr std::size_t kMaxRecordingBytes = std::size_t{128} << 20U;
inline constexpr std::size_t kMaxRecordedCalls = 100'000;
inline constexpr std::size_t kMaxSaidOfCall = 10'000;
inline constexpr std::size_t kMaxRecordedRequests = 100'000;

// A value from which secrets were taken.
struct Cleaned {
  Json value;
  // JSON pointers (RFC 6901) of texts in it that are known in part alone: where a mark stands
  // (secret_marks.h), any text may have stood.
  std::vector<std::string> hidden{};
};

inline constexpr std::string_view kSeveral = "*";

// Messages of a server about a call before its answer.
struct Said {
  // Of a question ("elicitation/create"); kSeveral: of several at once; empty: a report of
  // progress.
  std::string method{};
  Json said;  // the report, the question's params, or {name: {"method", "params"}}
  // Of a question: what the client answered; none: nothing, until the call was over.
  std::optional<Result<Cleaned>> reply{};
};

struct RecordedCall {
  std::string tool;                  // "server.tool"
  std::optional<Cleaned> arguments;  // none: they could hold an unknown secret
  // Ticks of one clock for all calls, from 1, none twice: a call that began after another ended was
  // made in the knowledge of its answer.
  std::uint64_t began = 0;
  std::uint64_t ended = 0;
  std::vector<Said> said{};
  std::optional<Result<Json>> answer{};       // none: the call was taken back
  std::optional<ipc::ErrorObject> refused{};  // the error of the protocol that the server answered
};

// Capabilities of a server besides answering calls, as it said.
struct RecordedServer {
  std::string name;
  Json capabilities = Json::object();
  bool is_stateless = false;  // of revision 2026-07-28
};

// Requests of a gateway to a server for its clients: lists, completion, subscriptions. No call, so
// it has no place in their order.
struct RecordedRequest {
  std::string server;
  std::string method;
  Json params;
  Result<gate::Servers::Outcome> outcome;
};

struct RecordingHeader {
  std::string mcpac;                           // its version
  std::string lock;                            // SHA-256 of mcpac.lock
  std::string program;                         // SHA-256 of the program; or of nothing: clients
  std::map<std::string, std::string> tools{};  // that were called: digests of their definitions
  // Arguments of the program (--arguments), an object; none: clients, or it could hold an unknown
  // secret.
  std::optional<Cleaned> arguments{};
};

struct Recording {
  RecordingHeader header;
  std::vector<RecordedCall> calls;  // as they began
  std::vector<RecordedServer> servers{};
  std::vector<RecordedRequest> requests{};  // as they were answered
};

// kRecordingLimit: more than a file may hold.
[[nodiscard]] Result<std::string> to_text(const Recording& recording);
// kRecordingInvalid, with the line: no recording, torn, of a later version, beyond the limits.
[[nodiscard]] Result<Recording> parse_recording(std::string_view text, std::string_view where);
// Whether the text begins as a recording does.
[[nodiscard]] bool begins_recording(std::string_view text);

}  // namespace mcpac::history
