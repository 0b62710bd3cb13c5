#include "history/recording/cleaner.h"

#include <fmt/format.h>

#include <utility>

#include "history/recording/secret_marks.h"

namespace mcpac::history {
namespace {

// All of them are held in memory, and with them what finds them in a text.
constexpr std::size_t kMaxSecrets = 1'000;
// In all the forms in which they are looked for; finding takes some forty times as much.
constexpr std::size_t kMaxSecretBytes = std::size_t{4} << 20U;

constexpr const char* kStructured = "structuredContent";

}  // namespace

const RecordedTool& Cleaner::tool(const std::string& name) {
  const auto found = tools_.find(name);
  if (found != tools_.end()) return found->second;
  const auto permission = Permission::parse(name);
  return tools_.emplace(name, permission ? recorded_tool(lock_, *permission) : RecordedTool())
      .first->second;
}

void Cleaner::remember_all(const Json& value) {
  if (value.is_structured()) {
    for (const Json& child : value) remember_all(child);
    return;
  }
  if (value.is_null() || value.is_boolean() || is_too_much_) return;
  const std::string text = value.is_string() ? value.get<std::string>() : mcpac::to_text(value);
  if (texts_.contains(text)) return;
  is_too_much_ = texts_.size() >= kMaxSecrets || text.size() > kMaxSecretBytes;
  if (is_too_much_) return;
  texts_.insert(text);
  found_.know(text, gate::kRedactedText);
  is_too_much_ = found_.bytes() > kMaxSecretBytes;
}

void Cleaner::remember(const Json& before, const Json& after) {
  if (before == after) return;
  if (before.is_object() && after.is_object()) {
    for (const auto& [name, member] : before.items()) remember(member, after.at(name));
  } else if (before.is_array() && after.is_array()) {
    for (std::size_t i = 0; i < before.size(); ++i) remember(before[i], after[i]);
  } else {
    remember_all(before);
  }
}

Result<void> Cleaner::learn(const RecordedCall& call) {
  const RecordedTool& known = tool(call.tool);
  if (known.input != nullptr && call.arguments) {
    Json after = call.arguments->value;
    if (known.input->redact(after)) remember(call.arguments->value, after);
  }
  if (known.output != nullptr && call.answer && *call.answer) {
    if (const Json* structured = find_member(**call.answer, kStructured)) {
      Json after = *structured;
      if (known.output->redact(after)) remember(*structured, after);
    }
  }
  if (!is_too_much_) return {};
  return fail(ErrorId::kRecordingLimit, "there are more secrets in it than a recording looks for",
              {.why = fmt::format("at most {} values that schemas call secret, and {} MiB in the "
                                  "forms in which they may stand elsewhere; nothing was written",
                                  kMaxSecrets, kMaxSecretBytes >> 20U),
               .fix = "record a shorter run, or several"});
}

bool Cleaner::take_out(const Permission& tool, Json& value) const {
  using Secrecy = gate::Upstream::Secrecy;
  Json redacted;
  const auto own = servers_.redact(tool, value, redacted);
  auto secrecy = own;
  // Asked about a server that never started they say nothing of the others either.
  for (const auto& server : lock_.servers) {
    if (secrecy != Secrecy::kUnknown) break;
    if (const auto other = Permission::of(server.name, tool.tool()))
      secrecy = servers_.redact(*other, value, redacted);
  }
  if (secrecy == Secrecy::kRedacted) value = std::move(redacted);
  found_.redact(value);
  return own != Secrecy::kUnknown;
}

Error Cleaner::without_secrets(const Permission& tool, const Error& error) const {
  Json texts{error.what, error.where, error.why, error.fix};
  std::ignore = take_out(tool, texts);
  return {error.id, texts[0].get<std::string>(), texts[1].get<std::string>(),
          texts[2].get<std::string>(), texts[3].get<std::string>()};
}

void Cleaner::without_secrets(const Permission& tool, ipc::ErrorObject& refused) const {
  Json texts{refused.message, refused.data};
  std::ignore = take_out(tool, texts);
  refused.message = texts[0].get<std::string>();
  refused.data = texts[1];
}

void Cleaner::clean(RecordedCall& call) {
  const auto permission = Permission::parse(call.tool);
  if (!permission) return;
  const RecordedTool& known = tool(call.tool);
  if (call.arguments) {
    // What a schema calls secret is taken out of the calls that are compared, too: no need to hide.
    Json value = std::move(call.arguments->value);
    if (known.input != nullptr) std::ignore = known.input->redact(value);
    Json after = value;
    if (take_out(*permission, after) && after.is_object())
      call.arguments = cleaned(value, std::move(after));
    else
      call.arguments.reset();
  }
  for (Said& said : call.said) {
    std::ignore = take_out(*permission, said.said);
    if (!said.reply) continue;
    if (!*said.reply) {
      said.reply = std::unexpected(without_secrets(*permission, said.reply->error()));
      continue;
    }
    Json after = (*said.reply)->value;
    std::ignore = take_out(*permission, after);
    said.reply = cleaned((*said.reply)->value, std::move(after));
  }
  if (call.refused) without_secrets(*permission, *call.refused);
  if (!call.answer) return;
  if (!*call.answer) {
    call.answer = std::unexpected(without_secrets(*permission, call.answer->error()));
    return;
  }
  Json& result = **call.answer;
  if (known.output != nullptr && result.contains(kStructured))
    std::ignore = known.output->redact(result[kStructured]);
  std::ignore = take_out(*permission, result);
}

Cleaned Cleaner::clean_arguments(const Json& given) const {
  Json after = given;
  if (!lock_.servers.empty()) {
    // Whichever server is known speaks for all of them.
    const auto any = Permission::of(lock_.servers.front().name, "arguments");
    if (any) std::ignore = take_out(*any, after);
  }
  return cleaned(given, std::move(after));
}

// Lists and the like: they are found again by what is left of their params.
void Cleaner::clean(RecordedRequest& request) const {
  const auto server = Permission::of(request.server, request.method);
  if (!server) return;
  std::ignore = take_out(*server, request.params);
  if (!request.outcome) {
    request.outcome = std::unexpected(without_secrets(*server, request.outcome.error()));
  } else if (*request.outcome) {
    std::ignore = take_out(*server, **request.outcome);
  } else {
    without_secrets(*server, request.outcome->error());
  }
}

}  // namespace mcpac::history
