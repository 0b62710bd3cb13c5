// SPDX-License-Identifier: Apache-2.0

#include "ipc/json_rpc.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "core/call_arguments.h"
#include "core/json_cost.h"
#include "core/json_writer.h"

namespace mcpac::ipc {
namespace {

// An integer beyond 64 bits or a fraction is no id: it could not be kept exactly.
std::optional<Id> read_id(const Json& value) {
  if (value.is_string()) return Id(value.get<std::string>());
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
    return Id(static_cast<std::int64_t>(number));
  }
  if (value.is_number_integer()) return Id(value.get<std::int64_t>());
  return {};
}

std::optional<std::int64_t> read_integer(const Json& value) {
  const auto id = read_id(value);
  if (!id || !std::holds_alternative<std::int64_t>(*id)) return {};
  return std::get<std::int64_t>(*id);
}

// Takes a member out of its object without copying it; null when it is absent.
Json take(Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? Json() : std::move(*found);
}

std::expected<Message, RpcError> read_call(Json& object, const Json* raw_id,
                                           const std::optional<Id>& id, std::size_t weight) {
  const auto invalid = [&id](std::string why) {
    return std::unexpected(RpcError{.message = std::move(why), .id = id});
  };
  if (raw_id != nullptr && !id) {
    return invalid("the id must be a string or a 64-bit integer");
  }
  Json method = take(object, "method");
  if (!method.is_string()) return invalid("the method must be a string");
  Json params;
  if (const auto found = object.find("params"); found != object.end()) {
    if (!found->is_object()) return invalid("params must be an object");
    params = std::move(*found);
  }
  auto name = std::move(method.get_ref<std::string&>());
  if (id) return Request{*id, std::move(name), std::move(params), weight};
  return Notification{std::move(name), std::move(params)};
}

std::expected<Message, RpcError> read_response(Json& object, const Json* raw_id,
                                               const std::optional<Id>& id) {
  const auto invalid = [&id](std::string why) {
    return std::unexpected(RpcError{.message = std::move(why), .id = id, .is_response = true});
  };
  // A null beside the other one is how some libraries write that there is none.
  for (const auto& [none, other] : {std::pair("error", "result"), std::pair("result", "error")}) {
    const Json* const value = find_member(object, none);
    if (value != nullptr && value->is_null() && object.contains(other)) object.erase(none);
  }
  const bool has_result = object.contains("result");
  if (has_result == object.contains("error")) {
    return invalid("a message needs exactly one of method, result and error");
  }
  if (has_result) {
    if (!id) return invalid("a result needs the id of its request");
    return Response{id, take(object, "result")};
  }
  if (raw_id != nullptr && !raw_id->is_null() && !id) {
    return invalid("the id must be a string or a 64-bit integer");
  }
  Json error = take(object, "error");
  if (!error.is_object()) return invalid("error must be an object; it is " + mcpac::to_text(error));
  const Json* const code = find_member(error, "code");
  const auto number = code == nullptr ? std::nullopt : read_integer(*code);
  const Json* const given = find_member(error, "message");
  if (!number || given == nullptr || !given->is_string()) {
    return invalid("an error needs an integer code and a message; it is " + mcpac::to_text(error));
  }
  Json message = take(error, "message");
  return Response{
      id, std::unexpected(ErrorObject{*number, message.get<std::string>(), take(error, "data")})};
}

constexpr std::string_view kSpace = " \t\r\n";

void skip_space(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
}

// With its quotes; nothing: it does not end.
std::optional<std::string_view> take_string(std::string_view& rest) {
  std::size_t at = 1;
  while (at < rest.size() && rest[at] != '"') at += rest[at] == '\\' ? 2 : 1;
  if (at >= rest.size()) return {};
  const std::string_view taken = rest.substr(0, at + 1);
  rest.remove_prefix(at + 1);
  return taken;
}

// Up to what ends a member: nothing is asked of the value but that its brackets and quotes close.
std::optional<std::string_view> take_value(std::string_view& rest) {
  const std::string_view begin = rest;
  std::string open;  // what closes each of them
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_of("\"{}[],"), rest.size()));
    if (rest.empty()) return {};
    const char next = rest.front();
    if (open.empty() && (next == ',' || next == '}' || next == ']')) break;
    if (next == '"') {
      if (!take_string(rest)) return {};
      continue;
    }
    if (next == '{' || next == '[') {
      open += next == '{' ? '}' : ']';
    } else if (next != ',') {
      if (open.empty() || open.back() != next) return {};
      open.pop_back();
    }
    rest.remove_prefix(1);
  }
  return begin.substr(0, begin.size() - rest.size());
}

// Each member of an object by itself: its name, null where that is none, and the text of its value.
// False: the text is no object; true: it ends where its bracket closes, and `rest` is behind that.
template <class Use>
bool for_each_member(std::string_view& rest, const Use& use) {
  skip_space(rest);
  if (!rest.starts_with('{')) return false;
  do {
    rest.remove_prefix(1);  // the bracket, then each comma
    skip_space(rest);
    if (!rest.starts_with('"')) return false;
    const auto quoted = take_string(rest);
    if (!quoted) return false;
    const auto name = parse_json(*quoted);  // it may be written with escapes
    skip_space(rest);
    if (!rest.starts_with(':')) return false;
    rest.remove_prefix(1);
    const auto value = take_value(rest);
    if (!value) return false;
    use(name ? *name : Json(), *value);
  } while (rest.starts_with(','));
  if (!rest.starts_with('}')) return false;
  rest.remove_prefix(1);
  return true;
}

// The only member of that name; nothing where there is none, or several.
std::optional<std::string_view> member_text(std::string_view object, std::string_view wanted) {
  std::string_view found;
  std::size_t times = 0;
  const bool is_object = for_each_member(object, [&](const Json& name, std::string_view value) {
    if (!name.is_string() || name.get_ref<const std::string&>() != wanted) return;
    found = value;
    ++times;
  });
  return is_object && times == 1 ? std::optional(found) : std::nullopt;
}

std::string called(std::string_view entry) {
  for (const std::string_view wanted : {"name", "uri"}) {
    const auto text = member_text(entry, wanted);
    const auto name = text ? parse_json(*text) : Result<Json>(Json());
    if (name && name->is_string()) return name->get<std::string>();
  }
  return "";
}

// What the members of a text say whose values no parser of ours takes (half of a surrogate pair, a
// member twice, NaN, invalid UTF-8, too deep): the request that waits is found by its id. Only
// where the text is one object and has one id.
void read_claims(std::string_view rest, RpcError& error) {
  std::string_view id;
  std::size_t ids = 0;
  bool is_call = false;
  bool is_response = false;
  const bool is_object = for_each_member(rest, [&](const Json& name, std::string_view value) {
    is_call |= name == "method";
    is_response |= name == "result" || name == "error";
    if (name != "id") return;
    id = value;
    ++ids;
  });
  skip_space(rest);
  if (!is_object || !rest.empty()) return;
  error.is_response = is_response && !is_call;
  const auto value = ids == 1 ? parse_json(id) : Result<Json>(Json());
  if (value) error.id = read_id(*value);
}

}  // namespace

std::expected<Message, RpcError> decode(std::string_view line, const JsonLimits& limits) {
  std::size_t beside = 0;
  auto parsed = parse_json_counted(line, limits, beside);
  if (!parsed) {
    const bool limit = parsed.error().id == ErrorId::kJsonLimit;
    std::string message = std::move(parsed.error().what);
    if (!parsed.error().where.empty()) message += " (" + parsed.error().where + ")";
    RpcError error{.code = limit ? kInvalidRequest : kParseError, .message = std::move(message)};
    read_claims(line, error);
    return std::unexpected(std::move(error));
  }
  Json& object = *parsed;
  if (object.is_array()) {
    return std::unexpected(RpcError{.message = "batches are not part of MCP"});
  }
  if (!object.is_object()) {
    return std::unexpected(RpcError{.message = "a message must be an object"});
  }
  const Json* raw_id = find_member(object, "id");
  const auto id = raw_id == nullptr ? std::optional<Id>() : read_id(*raw_id);
  const bool is_call = object.contains("method");
  const bool is_response = object.contains("result") || object.contains("error");
  if (const Json* version = find_member(object, "jsonrpc");
      version == nullptr || *version != "2.0") {
    return std::unexpected(RpcError{.message = R"(the member "jsonrpc" must be "2.0")",
                                    .id = id,
                                    .is_response = is_response && !is_call});
  }
  if (is_call && is_response) {
    return std::unexpected(
        RpcError{.message = "a message cannot be both a call and a response", .id = id});
  }
  if (is_call) return read_call(object, raw_id, id, line.size() + beside);
  if (!is_response) {
    return std::unexpected(
        RpcError{.message = "a message needs exactly one of method, result and error", .id = id});
  }
  return read_response(object, raw_id, id);
}

std::expected<Message, RpcError> decode_finite(std::string_view line, const JsonLimits& limits) {
  auto message = decode(line, limits);
  if (message || message.error().code != kParseError) return message;
  auto finite = decode(with_finite_numbers(line), limits);
  return finite ? std::move(finite) : std::move(message);
}

std::optional<ReadableAnswer> without_unreadable(std::string_view line, std::string_view list,
                                                 const JsonLimits& limits) {
  constexpr std::size_t kAround = 3;         // brackets around an entry
  constexpr std::size_t kMostLeftOut = 100;  // a line has room for millions, each told and parsed
  const auto result = member_text(line, "result");
  const auto entries = result ? member_text(*result, list) : std::nullopt;
  if (!entries) return {};
  std::string_view rest = *entries;
  skip_space(rest);
  if (!rest.starts_with('[')) return {};
  std::string_view first = rest.substr(1);
  skip_space(first);
  if (first.starts_with(']')) return {};
  ReadableAnswer answer;
  answer.line.append(line.begin(), rest.begin());
  const JsonLimits of_entry{limits.max_bytes, limits.max_depth - kAround, limits.max_values};
  char before = '[';
  do {
    rest.remove_prefix(1);  // the bracket, then each comma
    const auto entry = take_value(rest);
    if (!entry) return {};
    const auto read = parse_json(with_finite_numbers(*entry), "", of_entry);
    if (read) {
      answer.line += before;
      answer.line += *entry;
      before = ',';
    } else {
      if (answer.left_out.size() == kMostLeftOut) return {};
      answer.left_out.push_back({called(*entry), read.error().what});
    }
  } while (rest.starts_with(','));
  if (answer.left_out.empty() || !rest.starts_with(']')) return {};
  if (before == '[') answer.line += before;
  answer.line.append(rest.begin(), line.end());
  return answer;
}

std::string to_text(const Id& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) return std::to_string(*number);
  std::string out;
  append_json_string(out, std::get<std::string>(id));
  return out;
}

std::string encode_request(const Id& id, std::string_view method, const Json& params) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  out += to_text(id);
  out += R"(,"method":)";
  append_json_string(out, method);
  if (!params.is_null()) {
    out += R"(,"params":)";
    append_json(out, params);
  }
  out += '}';
  return out;
}

std::string encode_notification(std::string_view method, const Json& params) {
  std::string out = R"({"jsonrpc":"2.0","method":)";
  append_json_string(out, method);
  if (!params.is_null()) {
    out += R"(,"params":)";
    append_json(out, params);
  }
  out += '}';
  return out;
}

std::string encode_result(const Id& id, const Json& result) {
  std::string out = R"({"jsonrpc":"2.0","id":)" + to_text(id) + R"(,"result":)";
  append_json(out, result);
  out += '}';
  return out;
}

std::string encode_error(const std::optional<Id>& id, const ErrorObject& error) {
  return encode_error(id, error.code, error.message, error.data);
}

std::string encode_error(const std::optional<Id>& id, std::int64_t code, std::string_view message,
                         const Json& data) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  out += id ? to_text(*id) : "null";
  out += R"(,"error":{"code":)" + std::to_string(code) + R"(,"message":)";
  append_json_string(out, message);
  if (!data.is_null()) {
    out += R"(,"data":)";
    append_json(out, data);
  }
  out += "}}";
  return out;
}

std::string encode(const Message& message) {
  if (const auto* request = std::get_if<Request>(&message)) {
    return encode_request(request->id, request->method, request->params);
  }
  if (const auto* notification = std::get_if<Notification>(&message)) {
    return encode_notification(notification->method, notification->params);
  }
  const auto& response = std::get<Response>(message);
  if (!response.outcome) return encode_error(response.id, response.outcome.error());
  // A result without an id is no message; decode() never makes one.
  return encode_result(response.id.value(), *response.outcome);
}

}  // namespace mcpac::ipc
