// SPDX-License-Identifier: Apache-2.0

#include "history/records/run_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mcpac::history {
namespace {

// Those that go on from `first`, and what the last one that is known says goes on from it: where
// that is not there it is missed.
Result<std::set<std::string>> files_after(const std::filesystem::path& folder,
                                          const std::string& first,
                                          const std::vector<audit::Event>& known) {
  std::set<std::string> files;
  auto heads = audit::read_first_events(folder, first);
  if (!heads) return pass_on(heads);
  for (const auto& head : *heads) {
    const auto before = files_before(head);
    if (!before.empty() && before.front() == first) files.insert(head.run_id);
  }
  for (const auto& event : known) {
    const std::string next = string_member(event.payload, "continued_in");
    if (event.kind == "RunEnded" && !next.empty()) files.insert(next);
  }
  return files;
}

}  // namespace

std::vector<std::string> files_before(const audit::Event& first) {
  std::vector<std::string> files;
  const Json* list = first.kind == "RunStarted" ? find_member(first.payload, "continues") : nullptr;
  if (list == nullptr || !list->is_array()) return files;
  for (const Json& id : *list) files.push_back(id.is_string() ? id.get<std::string>() : "");
  return files;
}

std::map<std::string, std::string> first_files(const std::vector<audit::Event>& events) {
  std::map<std::string, std::string> first;
  for (const auto& event : events) {
    const auto before = files_before(event);
    if (!before.empty()) first.emplace(event.run_id, before.front());
  }
  return first;
}

Result<RunEvents> events_of_run(const std::filesystem::path& folder, const std::string& file) {
  auto events = audit::read_events(folder, {.run_id = file});
  if (!events) return pass_on(events);
  if (events->empty()) return RunEvents{{file}, {}};
  const std::string id = events->front().run_id;
  const auto before = files_before(events->front());
  auto files = files_after(folder, before.empty() ? id : before.front(), *events);
  if (!files) return pass_on(files);
  files->insert(before.begin(), before.end());
  files->insert(id);
  RunEvents run{std::move(*files), std::move(*events)};
  for (const std::string& other : run.files) {
    if (other == id) continue;
    auto more = audit::read_events(folder, {.run_id = other});
    if (!more) return pass_on(more);
    std::ranges::move(*more, std::back_inserter(run.events));
  }
  std::ranges::sort(run.events, {}, &audit::Event::event_id);
  return run;
}

}  // namespace mcpac::history
