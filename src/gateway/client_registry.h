// SPDX-License-Identifier: Apache-2.0

// ClientRegistry: the runs of all clients, and who has lost what it held.
//
// A client has one run; after new rules it gets another, and the former one goes on for the
// sessions that have it. What a user ended stays ended: a run that was is no way back in, and a
// subject that lost one has no other. On the loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/client_grant.h"
#include "gateway/figures.h"

namespace mcpac::gateway {

// Who comes: a client, and the subject behind it, who may come as several (by other tokens).
struct Principal {
  std::string client;
  std::string subject;
};

class ClientRegistry {
 public:
  // What this client held was taken back, from it or from its subject under another name.
  [[nodiscard]] bool has_lost(const Principal& principal) const;
  // What servers know this client by: the id of its first run, whatever rules came since. To a
  // server that can tell but one client the same one would else be two.
  [[nodiscard]] std::string identity_of(const std::string& client, const std::string& run_id) {
    return identities_.emplace(client, run_id).first->second;
  }
  // Null: it has none under the rules of now.
  [[nodiscard]] std::shared_ptr<ClientGrant> find(const std::string& client) const;
  void add(const std::string& client, std::shared_ptr<ClientGrant> run) {
    runs_.emplace(client, std::move(run));
  }
  // Its user ended one of the subject's runs: all of them end, and there is no way back in.
  void bar(const std::string& subject);

  // Those of this client, also under former rules.
  void end_client(const std::string& client, std::string_view verdict);
  void hang_up(const std::string& client);
  // Clients admitted from now on get a new run.
  void renew();
  // What is not held or awaited any more: calls, lists, runs under former rules.
  void sweep();
  void end_all(std::string_view verdict);
  void clear();

  [[nodiscard]] std::vector<std::shared_ptr<ClientGrant>> all() const;
  // Those that a call may still be made under: not ended, and under former rules only where a
  // session of it is there.
  [[nodiscard]] std::vector<std::shared_ptr<ClientGrant>> in_force() const;
  [[nodiscard]] std::size_t calls_in_flight() const;
  // Clients, calls and decisions; the rest is left as it is.
  void count(Figures& figures) const;

 private:
  [[nodiscard]] bool is_barred(const Principal& principal) const;
  void end_former();

  std::map<std::string, std::shared_ptr<ClientGrant>> runs_;
  std::map<std::string, std::string> identities_;
  std::vector<std::shared_ptr<ClientGrant>> former_;  // under rules of before, still in use
  std::set<std::string> barred_;                      // subjects
  std::uint64_t allowed_ = 0;                         // by runs that are not kept any more
  std::uint64_t denied_ = 0;                          // likewise
};

}  // namespace mcpac::gateway
