// SPDX-License-Identifier: Apache-2.0

// JSON-RPC 2.0 as MCP uses it: one message a line, decoded into values, encoded back.
//
// decode() promises that what it returns is well formed: "jsonrpc" is "2.0", an id is a string or a
// 64-bit integer and kept exactly, params are an object, a response has exactly one of result and
// error (a null beside the other one counts as absent), no object anywhere has a member twice.
// Batches (arrays) are refused: MCP dropped them, and one line that is many calls would hide calls
// from a reader. What to do with a bad line is the caller's business: a client of real servers
// skips it as junk, the door of the gate answers it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json.h"

namespace mcpac::ipc {

using Id = std::variant<std::int64_t, std::string>;

inline constexpr std::int64_t kParseError = -32700;
inline constexpr std::int64_t kInvalidRequest = -32600;
inline constexpr std::int64_t kMethodNotFound = -32601;
inline constexpr std::int64_t kInvalidParams = -32602;
inline constexpr std::int64_t kInternalError = -32603;

// `params` is null when the message has none, else an object.
struct Request {
  Id id;
  std::string method;
  Json params;
  // About how much memory it takes, text and values (core/json_cost.h), where it was decoded; else
  // 0.
  std::size_t weight = 0;
  friend bool operator==(const Request& a, const Request& b) {
    return a.id == b.id && a.method == b.method && a.params == b.params;
  }
};

struct Notification {
  std::string method;
  Json params;
  friend bool operator==(const Notification&, const Notification&) = default;
};

// The "error" member of a response. `data` is null when there is none.
struct ErrorObject {
  std::int64_t code = kInternalError;
  std::string message;
  Json data;
  friend bool operator==(const ErrorObject&, const ErrorObject&) = default;
};

// `id` is empty only in an error response to a request whose id could not be read.
struct Response {
  std::optional<Id> id;
  std::expected<Json, ErrorObject> outcome;
  friend bool operator==(const Response& a, const Response& b) {
    return a.id == b.id && a.outcome == b.outcome;
  }
};

using Message = std::variant<Request, Notification, Response>;

// Why a line is no message, as the error that the sender should get: kParseError for text that is
// not JSON or has duplicate members, kInvalidRequest for the rest, with the id when it could be
// read: of text that is not JSON, where its brackets and quotes close and it has one "id".
// `is_response`: the line claimed to be a response, which is never answered.
struct RpcError {
  std::int64_t code = kInvalidRequest;
  std::string message;
  std::optional<Id> id{};
  bool is_response = false;
};

[[nodiscard]] std::expected<Message, RpcError> decode(std::string_view line,
                                                      const JsonLimits& limits = {});
// The same, where a number beyond double is the largest finite one of its sign
// (core/call_arguments.h): a call with one is a call, and an answer with one was given for a call
// that was made.
[[nodiscard]] std::expected<Message, RpcError> decode_finite(std::string_view line,
                                                             const JsonLimits& limits = {});

// An entry of a list that cannot be read by itself: what it calls itself ("name", else "uri"; empty
// where that cannot be read either), and why.
struct UnreadableEntry {
  std::string name;
  std::string why;
};
struct ReadableAnswer {
  std::string line;
  std::vector<UnreadableEntry> left_out;
};
// An answer that decode_finite() does not take because of entries of the array `list` of its
// result, without those: one odd value of a server costs its entry, not the list. Nothing where
// every entry can be read, more than 100 cannot, or the text around them is none of that shape.
[[nodiscard]] std::optional<ReadableAnswer> without_unreadable(std::string_view line,
                                                               std::string_view list,
                                                               const JsonLimits& limits = {});

// Each encoder returns one line WITHOUT the final newline; StreamChannel::send adds it. No line
// contains a raw newline, whatever the values hold. Null params and null data are left out.
[[nodiscard]] std::string encode_request(const Id& id, std::string_view method, const Json& params);
[[nodiscard]] std::string encode_notification(std::string_view method, const Json& params);
[[nodiscard]] std::string encode_result(const Id& id, const Json& result);
[[nodiscard]] std::string encode_error(const std::optional<Id>& id, const ErrorObject& error);
[[nodiscard]] std::string encode_error(const std::optional<Id>& id, std::int64_t code,
                                       std::string_view message, const Json& data = nullptr);
[[nodiscard]] std::string encode(const Message& message);

// The id as JSON: 7, "7".
[[nodiscard]] std::string to_text(const Id& id);

}  // namespace mcpac::ipc
