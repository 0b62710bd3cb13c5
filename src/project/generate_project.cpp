// SPDX-License-Identifier: Apache-2.0

#include "project/generate_project.h"

#include <algorithm>

#include "codegen/lock_diff.h"
#include "core/file.h"
#include "project/claimed_needs.h"
#include "project/header_files.h"
#include "project/project_turn.h"

namespace mcpac::project {
namespace {

using codegen::LockedServer;
using codegen::LockedTool;

// Texts that are not the locked ones are nothing where these hold.
void note_drift(const ToolDefinition& offered, const LockedTool& locked, mcp::Texts texts,
                const std::string& permission, GenerateReport& report) {
  const bool in_texts = codegen::differ_in_texts_alone(locked.definition, offered.definition);
  if (in_texts && texts == mcp::Texts::kLocked) return;
  report.drifted.push_back(permission);
  if (in_texts) report.reworded.push_back(permission);
}

// A server that is in the lock: its approved form, with what `approval` admits.
ServerListing merged(ServerListing live, const LockedServer& locked, mcp::Texts texts,
                     const Approval& approval, GenerateReport& report) {
  const auto name_of = [&live](const std::string& tool) { return live.server + "." + tool; };
  const auto entry = codegen::compare_entries(locked.entry, live.entry);
  if (!approval.covers(live.server) &&
      (live.identity != locked.identity || codegen::starts_another(entry))) {
    report.other_servers.push_back(live.server);
    return codegen::listing_of(locked);
  }
  ServerListing result = codegen::listing_of(locked);
  // An entry that gives less is written without a question: given again, it is drift. So is one
  // that an older mcpac did not keep.
  if (!live.entry.is_null()) result.entry = live.entry;
  if (approval.covers(live.server)) {
    result.identity = live.identity;
    result.implementation = live.implementation;
    result.protocol_version = live.protocol_version;
    result.claims = live.claims;
  } else if (locked.entry.is_null()) {
    result.claims = live.claims;
  }
  result.tools.clear();
  for (ToolDefinition& tool : live.tools) {
    const auto found = std::ranges::find(locked.tools, tool.name, &LockedTool::name);
    const bool approved = approval.covers(live.server, tool.name);
    if (found == locked.tools.end()) {
      if (!approved && !approval.adds_tools) {
        report.pending.push_back({name_of(tool.name), std::move(tool.definition)});
        continue;
      }
      report.added.push_back(name_of(tool.name));
    } else {
      const bool same = codegen::definition_digest(tool.definition) == found->digest;
      if (same && !approved && codegen::needs_others(locked, *found, live, tool.definition))
        report.drifted.push_back(name_of(tool.name));
      if (!same && !approved) note_drift(tool, *found, texts, name_of(tool.name), report);
      // Also what the digest leaves out (order of members, _meta, icons) is as it was approved.
      if (same || !approved) tool.definition = found->definition;
    }
    result.tools.push_back(std::move(tool));
  }
  for (const LockedTool& tool : locked.tools) {
    const bool kept =
        std::ranges::find(result.tools, tool.name, &ToolDefinition::name) != result.tools.end();
    if (kept || approval.covers(live.server, tool.name)) continue;
    report.withdrawn.push_back(name_of(tool.name));
    result.tools.push_back({tool.name, tool.definition});
  }
  return result;
}

// A server that is not in the lock yet; false where nothing of it was approved.
bool admit_new(ServerListing& listing, const Approval& approval, GenerateReport& report) {
  if (!approval.adds_servers && !approval.covers(listing.server)) {
    std::erase_if(listing.tools, [&](const ToolDefinition& tool) {
      return !approval.covers(listing.server, tool.name);
    });
    if (listing.tools.empty()) return false;
  }
  for (const ToolDefinition& tool : listing.tools)
    report.added.push_back(listing.server + "." + tool.name);
  return true;
}

std::vector<ServerListing> merge(const Project& project, const codegen::Lock& before,
                                 std::vector<ServerListing> listings, const Approval& approval,
                                 const std::set<std::string>& gone, GenerateReport& report) {
  std::vector<ServerListing> result;
  std::set<std::string> offered;
  for (ServerListing& listing : listings) {
    offered.insert(listing.server);
    // What cannot stand in the lock must not hide what does: it counts as withdrawn.
    ServerListing live = codegen::lockable(std::move(listing), report.output.notes);
    if (const LockedServer* locked = before.find_server(live.server)) {
      const auto* config = project.config.find(live.server);
      const auto texts = config == nullptr ? mcp::Texts::kStrict : config->texts;
      result.push_back(merged(std::move(live), *locked, texts, approval, report));
    } else if (admit_new(live, approval, report)) {
      result.push_back(std::move(live));
    }
  }
  for (const LockedServer& locked : before.servers) {
    if (!offered.contains(locked.name) && !gone.contains(locked.name))
      result.push_back(codegen::listing_of(locked));
  }
  return result;
}

}  // namespace

Result<LockFile> read_lock_file(const Project& project) {
  if (is_absent(project.lock_file())) return LockFile{};
  auto text = read_lock_text(project);
  if (!text) return pass_on(text);
  auto lock = codegen::parse_lock(*text, project.lock_file().string());
  if (!lock) return pass_on(lock);
  return LockFile{std::move(*text), std::move(*lock)};
}

std::set<std::string> servers_gone(const Project& project, const codegen::Lock& lock) {
  std::set<std::string> gone;
  for (const LockedServer& server : lock.servers) {
    if (project.config.find(server.name) == nullptr) gone.insert(server.name);
  }
  return gone;
}

std::vector<codegen::Note> notes_of_lock(const Project& project, const codegen::Lock& lock) {
  auto notes = codegen::notes_on_use(lock, server_checks_of(project.config));
  for (const auto& [tool, needs] : unmet_needs(project, lock, nullptr)) {
    std::string text = "is " + needs_text(needs);
    if (needs.unmet.front().claim.required)
      text += "; where it is meant to: " + needs_remedy(needs);
    notes.push_back({tool.text(), "", std::move(text)});
  }
  return notes;
}

Result<GenerateReport> merge_and_write(const Project& project, const LockFile& before,
                                       std::vector<ServerListing> listings,
                                       const Approval& approval,
                                       const std::set<std::string>& gone) {
  GenerateReport report;
  const auto merged = merge(project, before.lock, std::move(listings), approval, gone, report);
  auto output = codegen::generate(merged, before.lock);
  if (!output) return pass_on(output);
  auto headers = write_headers(project.headers(), output->files);
  if (!headers) return pass_on(headers);
  for (const auto& name : headers->written) report.written.push_back("servers/" + name);
  for (const auto& name : headers->removed) report.removed.push_back("servers/" + name);
  // The lock comes last: until it is there, the new headers do not fit it and nothing runs.
  if (const std::string text = codegen::to_text(output->lock); text != before.text) {
    if (auto written = write_file_atomic(project.lock_file(), text); !written)
      return pass_on(written);
    report.written.emplace_back("mcpac.lock");
  }
  // First what costs a tool.
  auto notes = std::move(report.output.notes);
  std::ranges::move(notes_of_lock(project, output->lock), std::back_inserter(notes));
  output->notes.insert(output->notes.begin(), notes.begin(), notes.end());
  report.output = std::move(*output);
  return report;
}

Result<GenerateReport> write_project(const Project& project, const Folders& folders,
                                     std::vector<ServerListing> listings, NewTools gained) {
  auto turn = ProjectTurn::take(project, folders);
  if (!turn) return pass_on(turn);
  auto before = read_lock_file(project);
  if (!before) return pass_on(before);
  return merge_and_write(project, *before, std::move(listings),
                         {.adds_servers = true, .adds_tools = gained == NewTools::kAccept},
                         servers_gone(project, before->lock));
}

Result<bool> keep_narrower_entry(const Project& project, const Folders& folders,
                                 const std::string& server) {
  if (is_absent(project.lock_file())) return false;
  auto turn = ProjectTurn::take(project, folders);
  if (!turn) return pass_on(turn);
  auto file = read_lock_file(project);
  if (!file) return pass_on(file);
  const auto* config = project.config.find(server);
  const auto locked = std::ranges::find(file->lock.servers, server, &LockedServer::name);
  if (config == nullptr || locked == file->lock.servers.end()) return false;
  OrderedJson entry = config->entry();
  if (locked->identity != config->identity() ||
      codegen::starts_another(codegen::compare_entries(locked->entry, entry)) ||
      locked->entry == entry)
    return false;
  locked->entry = std::move(entry);
  auto written = write_file_atomic(project.lock_file(), codegen::to_text(file->lock));
  if (!written) return pass_on(written);
  return true;
}

Result<GenerateReport> write_from_lock(const Project& project, const Folders& folders) {
  auto turn = ProjectTurn::take(project, folders);
  if (!turn) return pass_on(turn);
  if (auto present = load_lock(project); !present) return pass_on(present);
  auto before = read_lock_file(project);
  if (!before) return pass_on(before);
  return merge_and_write(project, *before, {}, {}, {});
}

}  // namespace mcpac::project
