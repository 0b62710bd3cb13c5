// SPDX-License-Identifier: Apache-2.0

// An event as JSON and back. Members that this version does not know are kept out of Event but are
// no error: a newer mcpac may have written them.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "audit/limits.h"
#include "audit/log.h"

namespace mcpac::audit {

Result<std::string> Sink::append_text(std::string_view kind, std::string payload) {
  auto value = parse_json(payload, "", kLineLimits);
  if (!value) return pass_on(value);
  return append(kind, std::move(*value));
}

Json to_json(const Event& event) {
  return Json{{"event_id", event.event_id},
              {"run_id", event.run_id},
              {"kind", event.kind},
              {"time", event.time},
              {"payload", event.payload}};
}

Result<Event> event_from_json(const Json& json) {
  if (!json.is_object()) return fail(ErrorId::kAuditUnreadable, "an audit event must be an object");
  Event event;
  const std::array<std::pair<const char*, std::string*>, 4> texts = {{{"event_id", &event.event_id},
                                                                      {"run_id", &event.run_id},
                                                                      {"kind", &event.kind},
                                                                      {"time", &event.time}}};
  for (const auto& [name, target] : texts) {
    *target = string_member(json, name);
    if (target->empty()) {
      return fail(ErrorId::kAuditUnreadable,
                  fmt::format("an audit event needs the text \"{}\"", name));
    }
  }
  const Json* payload = find_member(json, "payload");
  if (payload == nullptr)
    return fail(ErrorId::kAuditUnreadable, "an audit event needs \"payload\"");
  event.payload = *payload;
  return event;
}

}  // namespace mcpac::audit
