// SPDX-License-Identifier: Apache-2.0

#include "history/recording/play_order.h"

#include <algorithm>

#include "core/canonical_json.h"
#include "history/recording/secret_marks.h"

namespace mcpac::history {
namespace {

std::string key_of(const std::string& tool, const Json& arguments) {
  return tool + '\n' + canonical_json(arguments);
}

bool is_exact(const RecordedCall& call) {
  return call.arguments && call.arguments->hidden.empty();
}

std::string_view server_name(const std::string& tool) {
  return std::string_view(tool).substr(0, tool.find('.'));
}

}  // namespace

PlayOrder::PlayOrder(const std::vector<RecordedCall>& calls, const std::vector<bool>& reads_only)
    : calls_(calls), reads_only_(reads_only), made_(calls.size(), false), left_(calls.size()) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const RecordedCall& call = calls[i];
    if (is_exact(call))
      exact_[key_of(call.tool, call.arguments->value)].insert(i);
    else
      hidden_[call.tool].insert(i);
    Server& server = server_of(call);
    (reads_only[i] ? server.reads : server.writes).emplace(call.ended, i);
  }
}

PlayOrder::Server& PlayOrder::server_of(const RecordedCall& call) {
  return servers_[std::string(server_name(call.tool))];
}

std::optional<std::size_t> PlayOrder::find(const std::string& tool, const Json& arguments) const {
  std::optional<std::size_t> first;
  if (const auto found = exact_.find(key_of(tool, arguments)); found != exact_.end())
    first = *found->second.begin();
  const auto hidden = hidden_.find(tool);
  if (hidden == hidden_.end()) return first;
  for (const std::size_t i : hidden->second) {
    if (first && *first < i) break;
    const auto& recorded = calls_[i].arguments;
    if (!recorded || differences(*recorded, arguments, 1).empty()) return i;
  }
  return first;
}

std::optional<std::size_t> PlayOrder::missing_before(std::size_t call) const {
  const auto found = servers_.find(server_name(calls_[call].tool));
  if (found == servers_.end()) return std::nullopt;
  const auto before = [&](const Ends& ends) -> std::optional<std::size_t> {
    if (ends.empty() || ends.begin()->first > calls_[call].began) return std::nullopt;
    return ends.begin()->second;
  };
  if (const auto write = before(found->second.writes)) return write;
  return reads_only_[call] ? std::nullopt : before(found->second.reads);
}

void PlayOrder::make(std::size_t call) {
  const RecordedCall& recorded = calls_[call];
  made_[call] = true;
  --left_;
  auto& by = is_exact(recorded) ? exact_ : hidden_;
  const auto found = by.find(is_exact(recorded) ? key_of(recorded.tool, recorded.arguments->value)
                                                : recorded.tool);
  found->second.erase(call);
  if (found->second.empty()) by.erase(found);
  Server& server = server_of(recorded);
  (reads_only_[call] ? server.reads : server.writes).erase({recorded.ended, call});
}

}  // namespace mcpac::history
