// SPDX-License-Identifier: Apache-2.0

#include "history/recording/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/permission.h"
#include "core/printable.h"
#include "servers/server_form.h"

namespace mcpac::history {
namespace {

// The lines of a recording but the first and the last, written and read
// (docs/recording.schema.json).

// The place of a line, for messages about its errors.
class Members {
 public:
  explicit Members(std::string where) : where_(std::move(where)) {}
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] std::unexpected<Error> bad(std::string_view what) const;

 private:
  std::string where_;
};

// A value into `line`, with the places that are known in part as "hidden"; and out of it.
void write_cleaned(Json& line, const char* name, const Cleaned& cleaned);
[[nodiscard]] Result<Cleaned> cleaned_of(const Json& value, const Json* hidden,
                                         const Members& members);

[[nodiscard]] Json to_line(const RecordedCall& call);
[[nodiscard]] Result<RecordedCall> call_of(const Json& line, const Members& members);
[[nodiscard]] Json to_line(const RecordedServer& server);
[[nodiscard]] Result<RecordedServer> server_of(const Json& line, const Members& members);
[[nodiscard]] Json to_line(const RecordedRequest& request);
[[nodiscard]] Result<RecordedRequest> request_of(const Json& line, const Members& members);

// Errors of a server, or of the way to it. An error of another kind is none that a recording could
// have: it would be said in the name of a part of mcpac that never spoke.
constexpr std::array kErrors{
    ErrorId::kServerError,   ErrorId::kServerStart,    ErrorId::kServerDied,
    ErrorId::kServerTimeout, ErrorId::kServerProtocol, ErrorId::kServerHttp,
    ErrorId::kServerTls,     ErrorId::kServerLimit,    ErrorId::kServerCancelled,
    ErrorId::kServerBusy,    ErrorId::kLockDrift,      ErrorId::kUnknownServer,
    ErrorId::kSecretMissing, ErrorId::kConfigInvalid};

// Outcomes of a call without an answer, as recordings write them.
constexpr std::array<std::pair<Sent, std::string_view>, 3> kSent{
    {{Sent::kNo, "no"}, {Sent::kRefused, "refused"}, {Sent::kMaybeDone, "maybe done"}}};

Json to_json(const Error& error) {
  const bool known = std::ranges::find(kErrors, error.id) != kErrors.end();
  Json json{{"id", to_string(known ? error.id : ErrorId::kServerError)}, {"what", error.what}};
  if (!error.where.empty()) json["where"] = error.where;
  if (!error.why.empty()) json["why"] = error.why;
  if (!error.fix.empty()) json["fix"] = error.fix;
  for (const auto& [sent, name] : kSent) {
    if (error.sent == sent) json["sent"] = name;
  }
  return json;
}

Result<Error> error_of(const Json& json, const Members& members) {
  const std::string id = string_member(json, "id");
  const auto known =
      std::ranges::find_if(kErrors, [&](ErrorId one) { return to_string(one) == id; });
  if (known == kErrors.end()) return members.bad("an error is none that a server answers");
  Error error{*known, string_member(json, "what"), string_member(json, "where"),
              string_member(json, "why"), string_member(json, "fix")};
  for (const auto& [sent, name] : kSent) {
    if (string_member(json, "sent") == name) error.sent = sent;
  }
  return error;
}

Json to_json(const ipc::ErrorObject& refused) {
  Json json{{"code", refused.code}, {"message", refused.message}};
  if (!refused.data.is_null()) json["data"] = refused.data;
  return json;
}

Result<ipc::ErrorObject> refused_of(const Json& json, const Members& members) {
  const Json* code = find_member(json, "code");
  if (code == nullptr || !code->is_number_integer()) return members.bad("an error has no code");
  const Json* data = find_member(json, "data");
  return ipc::ErrorObject{code->get<std::int64_t>(), string_member(json, "message"),
                          data == nullptr ? Json() : *data};
}

bool has_only(const Json& object, std::initializer_list<std::string_view> known) {
  if (!object.is_object()) return false;
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, name) == known.end()) return false;
  }
  return true;
}

// What servers are let ask of clients, at replay as ever: no page of theirs is shown, and a form
// says whose it is, or a file could put the words of one server into the mouth of another.
bool is_askable(const std::string& method, const Json& params, const std::string& server) {
  if (method == "sampling/createMessage" || method == "roots/list") return true;
  return method == "elicitation/create" && servers::is_shown_form(server, params);
}

bool are_askable(const Json& questions, const std::string& server) {
  return questions.is_object() && std::ranges::all_of(questions, [&](const Json& question) {
           const Json* params = find_member(question, "params");
           return params != nullptr && has_only(question, {"method", "params"}) &&
                  is_askable(string_member(question, "method"), *params, server);
         });
}

Json to_json(const Said& said) {
  if (said.method.empty()) return {{"progress", said.said}};
  Json json{{"asked", said.method}, {"params", said.said}};
  if (!said.reply) return json;
  if (*said.reply)
    write_cleaned(json, "reply", **said.reply);
  else
    json["error"] = to_json(said.reply->error());
  return json;
}

Result<Said> said_of(const Json& json, const std::string& server, const Members& members) {
  if (const Json* report = find_member(json, "progress")) {
    // The code that passes it on writes members of its own into it.
    if (!report->is_object()) return members.bad("a report of progress is no object");
    return Said{.said = *report};
  }
  Said said{.method = string_member(json, "asked"), .said = nullptr};
  const Json* params = find_member(json, "params");
  if (said.method.empty() || params == nullptr)
    return members.bad("what was said of a call is neither progress nor a question");
  said.said = *params;
  const bool may = said.method == kSeveral ? are_askable(*params, server)
                                           : is_askable(said.method, *params, server);
  if (!may)
    return members.bad("what was asked is nothing that servers may ask, or does not say who asks");
  if (const Json* reply = find_member(json, "reply")) {
    auto cleaned = cleaned_of(*reply, find_member(json, "hidden"), members);
    if (!cleaned) return pass_on(cleaned);
    said.reply = std::move(*cleaned);
  } else if (const Json* error = find_member(json, "error")) {
    auto read = error_of(*error, members);
    if (!read) return pass_on(read);
    said.reply = std::unexpected(std::move(*read));
  }
  return said;
}

std::uint64_t tick_of(const Json& line, const char* name) {
  const Json* tick = find_member(line, name);
  return tick != nullptr && tick->is_number_unsigned() ? tick->get<std::uint64_t>() : 0;
}

// Questions are recorded as such (`said`), and results are those that were given in the end: one
// that asks for input would be a question of the file's own, in the name of the user who plays it.
bool is_complete(const Json& result) {
  const Json* type = find_member(result, "resultType");
  return (type == nullptr || *type == "complete") && !result.contains("inputRequests") &&
         !result.contains("requestState");
}

Result<Json> result_of(const Json& result, const Members& members) {
  if (!result.is_object()) return members.bad("a result is no object");
  if (!is_complete(result)) return members.bad("a result asks for input");
  return result;
}

Result<void> read_answer(const Json& line, const Members& members, RecordedCall& call) {
  const Json* result = find_member(line, "result");
  const Json* error = find_member(line, "error");
  const Json* taken_back = find_member(line, "taken_back");
  const int answers = (result != nullptr) + (error != nullptr) + (taken_back != nullptr);
  if (answers != 1) return members.bad("a call has not one answer");
  if (taken_back != nullptr && *taken_back != true)
    return members.bad("\"taken_back\" is not true");
  if (result != nullptr) {
    auto read = result_of(*result, members);
    if (!read) return pass_on(read);
    call.answer = std::move(*read);
  } else if (error != nullptr) {
    auto read = error_of(*error, members);
    if (!read) return pass_on(read);
    call.answer = std::unexpected(std::move(*read));
  }
  if (const Json* refused = find_member(line, "refused")) {
    auto read = refused_of(*refused, members);
    if (!read) return pass_on(read);
    call.refused = std::move(*read);
  }
  return {};
}

std::unexpected<Error> Members::bad(std::string_view what) const {
  return fail(ErrorId::kRecordingInvalid, fmt::format("not a recording: {}", printable(what)),
              {.where = where_, .fix = "record again: --record FILE"});
}

void write_cleaned(Json& line, const char* name, const Cleaned& cleaned) {
  line[name] = cleaned.value;
  if (!cleaned.hidden.empty()) line["hidden"] = cleaned.hidden;
}

Result<Cleaned> cleaned_of(const Json& value, const Json* hidden, const Members& members) {
  Cleaned cleaned{value};
  if (hidden == nullptr) return cleaned;
  if (!hidden->is_array()) return members.bad("\"hidden\" is no list");
  for (const Json& pointer : *hidden) {
    if (!pointer.is_string()) return members.bad("\"hidden\" is no list of pointers");
    cleaned.hidden.push_back(pointer.get<std::string>());
  }
  return cleaned;
}

Json to_line(const RecordedCall& call) {
  Json line{{"call", call.tool}, {"began", call.began}, {"ended", call.ended}};
  if (call.arguments) write_cleaned(line, "arguments", *call.arguments);
  for (const Said& said : call.said) line["said"].push_back(to_json(said));
  if (!call.answer)
    line["taken_back"] = true;
  else if (*call.answer)
    line["result"] = **call.answer;
  else
    line["error"] = to_json(call.answer->error());
  if (call.refused) line["refused"] = to_json(*call.refused);
  return line;
}

Result<RecordedCall> call_of(const Json& line, const Members& members) {
  RecordedCall call{.tool = string_member(line, "call"),
                    .arguments = {},
                    .began = tick_of(line, "began"),
                    .ended = tick_of(line, "ended")};
  const auto tool = Permission::parse(call.tool);
  if (!tool) return members.bad("a line is neither a call nor the end");
  if (call.began == 0 || call.ended == 0) return members.bad("a call has no time");
  if (const Json* arguments = find_member(line, "arguments")) {
    if (!arguments->is_object()) return members.bad("arguments are no object");
    auto cleaned = cleaned_of(*arguments, find_member(line, "hidden"), members);
    if (!cleaned) return pass_on(cleaned);
    call.arguments = std::move(*cleaned);
  }
  if (const Json* said = find_member(line, "said")) {
    if (!said->is_array() || said->size() > kMaxSaidOfCall)
      return members.bad("what was said of a call is no list, or too long");
    for (const Json& one : *said) {
      auto read = said_of(one, tool->server(), members);
      if (!read) return pass_on(read);
      call.said.push_back(std::move(*read));
    }
  }
  if (auto read = read_answer(line, members, call); !read) return pass_on(read);
  return call;
}

Json to_line(const RecordedServer& server) {
  Json line{{"server", server.name}, {"capabilities", server.capabilities}};
  if (server.is_stateless) line["stateless"] = true;
  return line;
}

Result<RecordedServer> server_of(const Json& line, const Members& members) {
  const Json* capabilities = find_member(line, "capabilities");
  RecordedServer server{.name = string_member(line, "server")};
  if (!is_server_name(server.name) || capabilities == nullptr || !capabilities->is_object())
    return members.bad("a server has no name or no capabilities");
  server.capabilities = *capabilities;
  const Json* stateless = find_member(line, "stateless");
  server.is_stateless = stateless != nullptr && *stateless == true;
  return server;
}

Json to_line(const RecordedRequest& request) {
  Json line{{"request", request.method}, {"server", request.server}, {"params", request.params}};
  if (!request.outcome) {
    line["error"] = to_json(request.outcome.error());
  } else if (*request.outcome) {
    line["result"] = **request.outcome;
  } else {
    line["refused"] = to_json(request.outcome->error());
  }
  return line;
}

Result<RecordedRequest> request_of(const Json& line, const Members& members) {
  const Json* params = find_member(line, "params");
  RecordedRequest request{.server = string_member(line, "server"),
                          .method = string_member(line, "request"),
                          .params = params == nullptr ? Json() : *params,
                          .outcome = gate::Servers::Outcome(Json::object())};
  if (!is_server_name(request.server) || request.method.empty() || params == nullptr)
    return members.bad("a request has no server, method or params");
  const Json* result = find_member(line, "result");
  const Json* refused = find_member(line, "refused");
  const Json* error = find_member(line, "error");
  if ((result != nullptr) + (refused != nullptr) + (error != nullptr) != 1)
    return members.bad("a request has not one answer");
  if (result != nullptr) {
    auto read = result_of(*result, members);
    if (!read) return pass_on(read);
    request.outcome = gate::Servers::Outcome(std::move(*read));
  } else if (refused != nullptr) {
    auto read = refused_of(*refused, members);
    if (!read) return pass_on(read);
    request.outcome = gate::Servers::Outcome(std::unexpected(std::move(*read)));
  } else {
    auto read = error_of(*error, members);
    if (!read) return pass_on(read);
    request.outcome = std::unexpected(std::move(*read));
  }
  return request;
}

}  // namespace

namespace {

constexpr std::string_view kFormat = "mcpac-recording";
constexpr std::uint64_t kVersion = 1;
// A result of the largest frame, with what was said before it.
constexpr JsonLimits kLineLimits{
    .max_bytes = std::size_t{48} << 20U, .max_depth = 132, .max_values = 4'000'000};

Json header_line(const RecordingHeader& header) {
  Json line{{"format", kFormat},   {"version", kVersion},       {"mcpac", header.mcpac},
            {"lock", header.lock}, {"program", header.program}, {"tools", header.tools}};
  if (header.arguments) write_cleaned(line, "arguments", *header.arguments);
  return line;
}

Result<RecordingHeader> header_of(const Json& line, const Members& members) {
  if (string_member(line, "format") != kFormat) return members.bad("is no recording of mcpac");
  if (const Json* version = find_member(line, "version");
      version == nullptr || *version != kVersion)
    return members.bad(fmt::format("is of another version than {}", kVersion));
  RecordingHeader header{.mcpac = string_member(line, "mcpac"),
                         .lock = string_member(line, "lock"),
                         .program = string_member(line, "program")};
  const Json* tools = find_member(line, "tools");
  if (header.lock.empty() || tools == nullptr || !tools->is_object())
    return members.bad("names no lock or no tools");
  for (const auto& [tool, digest] : tools->items()) {
    if (!digest.is_string()) return members.bad("a digest of a tool is no text");
    header.tools.emplace(tool, digest.get<std::string>());
  }
  if (const Json* arguments = find_member(line, "arguments")) {
    if (!arguments->is_object()) return members.bad("the program's arguments are no object");
    auto cleaned = cleaned_of(*arguments, find_member(line, "hidden"), members);
    if (!cleaned) return pass_on(cleaned);
    header.arguments = std::move(*cleaned);
  }
  return header;
}

// Whole lines alone.
std::optional<std::string_view> next_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const auto line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

// Ticks order the calls: two of the same name no order.
Result<void> check_ticks(const Recording& recording, const Members& members) {
  std::set<std::uint64_t> ticks;
  std::uint64_t last = 0;
  for (const RecordedCall& call : recording.calls) {
    const bool is_new = ticks.insert(call.began).second && ticks.insert(call.ended).second;
    if (!is_new || call.began <= last || call.ended <= call.began)
      return members.bad(
          fmt::format("the call of {} at {} is not in order", call.tool, call.began));
    last = call.began;
  }
  return {};
}

}  // namespace

Result<std::string> to_text(const Recording& recording) {
  const auto too_much = [] {
    return fail(ErrorId::kRecordingLimit, "more was called than a recording holds",
                {.why = fmt::format("it has at most {} MiB and {} calls", kMaxRecordingBytes >> 20U,
                                    kMaxRecordedCalls),
                 .fix = "record a shorter run, or several"});
  };
  if (recording.calls.size() > kMaxRecordedCalls) return too_much();
  std::string text = mcpac::to_text(header_line(recording.header)) + "\n";
  const auto add = [&text](const Json& json) {
    const std::string line = mcpac::to_text(json);
    text += line + "\n";
    return line.size() <= kLineLimits.max_bytes && text.size() <= kMaxRecordingBytes;
  };
  bool fits = recording.requests.size() <= kMaxRecordedRequests;
  for (const RecordedServer& server : recording.servers) fits = fits && add(to_line(server));
  for (const RecordedRequest& request : recording.requests) fits = fits && add(to_line(request));
  for (const RecordedCall& call : recording.calls) fits = fits && add(to_line(call));
  if (!fits) return too_much();
  return text + mcpac::to_text(Json{{"end", recording.calls.size()}}) + "\n";
}

Result<Recording> parse_recording(std::string_view text, std::string_view where) {
  Recording recording;
  std::size_t number = 0;
  bool has_ended = false;
  for (std::string_view rest = text; !rest.empty();) {
    const Members members(fmt::format("{}:{}", where, ++number));
    const auto line = next_line(rest);
    if (!line) return members.bad("the last line is torn");
    if (has_ended) return members.bad("there is more after its end");
    auto json = parse_json(*line, members.where(), kLineLimits);
    if (!json) return members.bad(json.error().what);
    if (number == 1) {
      auto header = header_of(*json, members);
      if (!header) return pass_on(header);
      recording.header = std::move(*header);
    } else if (const Json* end = find_member(*json, "end")) {
      if (*end != recording.calls.size()) return members.bad("calls are missing");
      has_ended = true;
    } else if (json->contains("request")) {
      auto request = request_of(*json, members);
      if (!request) return pass_on(request);
      if (recording.requests.size() >= kMaxRecordedRequests)
        return members.bad("has too many requests");
      recording.requests.push_back(std::move(*request));
    } else if (json->contains("server")) {
      auto server = server_of(*json, members);
      if (!server) return pass_on(server);
      if (std::ranges::any_of(recording.servers, [&](const RecordedServer& known) {
            return known.name == server->name;
          }))
        return members.bad("has a server twice");
      recording.servers.push_back(std::move(*server));
    } else {
      if (recording.calls.size() >= kMaxRecordedCalls) return members.bad("has too many calls");
      auto call = call_of(*json, members);
      if (!call) return pass_on(call);
      recording.calls.push_back(std::move(*call));
    }
  }
  const Members members{std::string(where)};
  if (!has_ended) return members.bad("its end is missing: it was cut off, or never finished");
  std::ranges::sort(recording.calls, {}, &RecordedCall::began);
  if (auto in_order = check_ticks(recording, members); !in_order) return pass_on(in_order);
  return recording;
}

bool begins_recording(std::string_view text) {
  auto json = parse_json(text.substr(0, text.find('\n')), "", kLineLimits);
  return json && string_member(*json, "format") == kFormat;
}

}  // namespace mcpac::history
