// The connections of a recorded run, decided again (replay.h).
//
// Each was decided by its name and once more for every address; the end of one must be at an
// address that was allowed. What name servers said is taken as recorded. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "history/records/recorded_connection.h"
#include "history/records/replay_answer.h"
#include "policy/authority.h"

namespace mcpac::history {

class ConnectionReplay {
 public:
  // `authority` is borrowed, loaded from `policy_record`, whose places say where they stood then.
  ConnectionReplay(const policy::Authority& authority, const Json& policy_record);

  [[nodiscard]] ReplayAnswer check(const RecordedConnection& check, Revoked revoked);
  // The payload of a ConnectionEnded.
  [[nodiscard]] std::vector<std::string> ended(const Json& payload);

 private:
  struct Open {
    std::string host;  // canonical
    std::uint16_t port = 0;
    std::vector<policy::IpAddress> allowed;
  };
  void by_name(const RecordedConnection& check, ReplayAnswer& answer);
  void by_address(const RecordedConnection& check, ReplayAnswer& answer);
  void compare(const RecordedConnection& check, const policy::NetworkAnswer& now,
               ReplayAnswer& answer) const;

  const policy::Authority& authority_;
  std::map<std::string, std::string> places_;  // of a statement: now → then
  std::map<std::uint64_t, Open> open_;         // allowed by name, not ended
};

}  // namespace mcpac::history
