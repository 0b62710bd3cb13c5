// SPDX-License-Identifier: Apache-2.0

#include "gateway/client_registry.h"

#include <algorithm>

namespace mcpac::gateway {

bool ClientRegistry::has_lost(const Principal& principal) const {
  const auto run = find(principal.client);
  return is_barred(principal) || (run && run->has_ended());
}

// Another name of a subject is no way around what it lost under one. What is left of a run itself
// says so to its own client.
bool ClientRegistry::is_barred(const Principal& principal) const {
  return barred_.contains(principal.subject) || std::ranges::any_of(runs_, [&](const auto& entry) {
           const auto& [client, run] = entry;
           return client != principal.client && run->subject() == principal.subject &&
                  run->gate().is_cut_off() && !run->has_ended();
         });
}

std::shared_ptr<ClientGrant> ClientRegistry::find(const std::string& client) const {
  const auto found = runs_.find(client);
  return found == runs_.end() ? nullptr : found->second;
}

void ClientRegistry::bar(const std::string& subject) {
  barred_.insert(subject);
  for (const auto& run : all()) {
    if (run->subject() == subject) run->end("killed-by-user");
  }
}

void ClientRegistry::end_client(const std::string& client, std::string_view verdict) {
  for (const auto& run : all()) {
    if (run->name() == client) run->end(verdict);
  }
}

void ClientRegistry::hang_up(const std::string& client) {
  for (const auto& run : all()) {
    if (run->name() == client) run->hang_up();
  }
}

std::vector<std::shared_ptr<ClientGrant>> ClientRegistry::all() const {
  auto all = former_;
  for (const auto& [client, run] : runs_) all.push_back(run);
  return all;
}

// A run that its user ended stays with the client: it is no way back in. What was revoked of one
// that goes on, and what its limits counted, is new for connections from then on (see
// docs/threat-model.md).
void ClientRegistry::renew() {
  for (auto at = runs_.begin(); at != runs_.end();) {
    if (at->second->has_ended()) {
      ++at;
      continue;
    }
    former_.push_back(at->second);
    at = runs_.erase(at);
  }
  end_former();
}

void ClientRegistry::sweep() {
  for (const auto& run : all()) run->sweep();
  end_former();
}

void ClientRegistry::end_former() {
  std::erase_if(former_, [this](const auto& run) {
    // One that was ended may still have programs that end.
    const bool is_over = run->calls_in_flight() == 0 && (run->has_ended() || !run->is_in_use());
    if (is_over) {
      run->end("rules-renewed");
      const auto status = run->gate().status();
      allowed_ += status.allowed;
      denied_ += status.denied;
    }
    return is_over;
  });
}

void ClientRegistry::end_all(std::string_view verdict) {
  for (const auto& run : all()) run->end(verdict);
}

void ClientRegistry::clear() {
  runs_.clear();
  former_.clear();
}

std::vector<std::shared_ptr<ClientGrant>> ClientRegistry::in_force() const {
  auto held = former_;
  std::erase_if(held, [](const auto& run) { return !run->is_in_use(); });
  for (const auto& [client, run] : runs_) held.push_back(run);
  std::erase_if(held, [](const auto& run) { return run->has_ended(); });
  return held;
}

std::size_t ClientRegistry::calls_in_flight() const {
  std::size_t calls = 0;
  for (const auto& run : all()) calls += run->calls_in_flight();
  return calls;
}

void ClientRegistry::count(Figures& figures) const {
  figures.allowed = allowed_;
  figures.denied = denied_;
  for (const auto& run : all()) {
    const auto status = run->gate().status();
    figures.allowed += status.allowed;
    figures.denied += status.denied;
    if (!run->has_ended()) ++figures.clients;
  }
  figures.calls_in_flight = calls_in_flight();
}

}  // namespace mcpac::gateway
