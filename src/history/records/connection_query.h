// SPDX-License-Identifier: Apache-2.0

// Queries of recorded runs about the network: what they did and could do (audit_query.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/log.h"
#include "history/records/audit_query.h"
#include "history/records/recorded_connection.h"

namespace mcpac::history {

// The decision, where the event is one on a connection that can be read.
[[nodiscard]] std::optional<RecordedConnection> connection_of(const audit::Event& event);
// Was an address dialled after this decision? One by name alone only says that it may be looked up.
[[nodiscard]] bool is_dialled(const RecordedConnection& check);
// Statements of the run's own layer, as printed, that admitted none of `dialled`.
[[nodiscard]] std::vector<std::string> unused_network_places(
    const Json& started, const std::vector<RecordedConnection>& dialled);

// Runs that connected to the destination, "HOST:PORT" with a name or an address, or could have.
// kUsage where it is none.
[[nodiscard]] Result<std::vector<Touch>> who_could_connect(const std::vector<audit::Event>& events,
                                                           const std::string& destination);

}  // namespace mcpac::history
