#include "history/recording/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "history/recording/recording_members.h"

namespace mcpac::history {
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
