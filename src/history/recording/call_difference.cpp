// SPDX-License-Identifier: Apache-2.0

#include "history/recording/call_difference.h"

#include <fmt/format.h>

#include "core/printable.h"
#include "history/recording/secret_marks.h"

namespace mcpac::history {
namespace {

constexpr std::size_t kShown = 200;     // bytes of a value
constexpr std::size_t kListed = 5;      // differences
constexpr std::size_t kCompared = 500;  // recorded calls, and differences of each
constexpr const char* kFix = "record again if the calls are meant to be these: --record FILE";

std::string shown(const std::optional<Json>& value) {
  return value ? printable(mcpac::to_text(*value), kShown) : "nothing";
}

std::string named(const Recording& recording, std::size_t call) {
  return fmt::format("call {} of {}, {}", call + 1, recording.calls.size(),
                     printable(recording.calls[call].tool));
}

std::string with_arguments(const Recording& recording, std::size_t call) {
  const auto& arguments = recording.calls[call].arguments;
  return fmt::format("{} {}", named(recording, call),
                     arguments ? shown(arguments->value) : "(its arguments are not recorded)");
}

std::string list(const std::vector<JsonDifference>& found) {
  std::string text;
  for (std::size_t i = 0; i < found.size() && i < kListed; ++i) {
    text += fmt::format("{}{} is {}, recorded {}", i == 0 ? "" : "; ",
                        found[i].pointer.empty() ? "the whole" : printable(found[i].pointer),
                        shown(found[i].made), shown(found[i].recorded));
  }
  if (found.size() > kListed) text += "; and more";
  return text;
}

struct Nearest {
  std::optional<std::size_t> call;
  std::vector<JsonDifference> differences;
};

Nearest nearest(const Recording& recording, const PlayOrder& order, const std::string& tool,
                const Json& arguments) {
  Nearest best;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < recording.calls.size() && compared < kCompared; ++i) {
    const RecordedCall& call = recording.calls[i];
    if (order.is_made(i) || call.tool != tool || !call.arguments) continue;
    ++compared;
    auto found = differences(*call.arguments, arguments, kCompared);
    if (!best.call || found.size() < best.differences.size()) best = {i, std::move(found)};
  }
  return best;
}

Error differs(std::string what, std::string where, std::string why) {
  return {ErrorId::kRecordingDiffers, std::move(what), std::move(where), std::move(why), kFix};
}

}  // namespace

Error unknown_call(const Recording& recording, const PlayOrder& order, const std::string& tool,
                   const Json& arguments) {
  const std::string what =
      fmt::format("a call that the recording does not have: {} {}", tool, shown(arguments));
  const auto near = nearest(recording, order, tool, arguments);
  if (near.call && !near.differences.empty()) {
    const auto& first = near.differences.front();
    return differs(
        what, fmt::format("/arguments{}", printable(first.pointer)),
        fmt::format("nearest is {}: {}", named(recording, *near.call), list(near.differences)));
  }
  std::size_t all = 0;
  for (const RecordedCall& call : recording.calls) all += call.tool == tool ? 1 : 0;
  if (all > 0)
    return differs(what, "",
                   fmt::format("all {} recorded calls of {} were made before", all, tool));
  return differs(what, "", fmt::format("it has no call of {}", tool));
}

Error early_call(const Recording& recording, std::size_t call, std::size_t before) {
  return differs(fmt::format("{} was called too early", printable(recording.calls[call].tool)), "",
                 fmt::format("recorded as {}, it came after the answer of {}, which nobody made",
                             named(recording, call), with_arguments(recording, before)));
}

Error unmade_call(const Recording& recording, std::size_t call) {
  return differs(fmt::format("a recorded call was not made: {}", with_arguments(recording, call)),
                 "", "");
}

std::optional<Error> other_arguments(const Cleaned& recorded, const Json& given) {
  const auto found = differences(recorded, given, kCompared);
  if (found.empty()) return std::nullopt;
  return Error{ErrorId::kRecordingDiffers,
               "the program was given other arguments when it was recorded",
               printable(found.front().pointer), list(found),
               "leave --arguments out, and it gets the recorded ones; or record again: --record "
               "FILE"};
}

Error other_reply(const RecordedCall& call, const Said& said, const Result<Json>& reply) {
  const std::string what = fmt::format("{} asked {}, and the client did not answer as recorded",
                                       printable(call.tool), printable(said.method));
  const bool recorded = said.reply && *said.reply;
  if (recorded && reply) {
    const auto found = differences(**said.reply, *reply, kCompared);
    if (!found.empty()) return differs(what, printable(found.front().pointer), list(found));
  }
  const auto told = [](bool answered, const char* answer) {
    return answered ? "an answer" : answer;
  };
  return differs(what, "",
                 fmt::format("there is {}, and there was {}", told(reply.has_value(), "an error"),
                             told(recorded, "none")));
}

}  // namespace mcpac::history
