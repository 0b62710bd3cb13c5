// SPDX-License-Identifier: Apache-2.0

// OwnTools: tools of the gateway itself, beside those of servers: code mode, where it is on.
//
// They add no authority, so no grant names them; what their programs call goes through the client's
// gate. On the loop.
#pragma once

#include <memory>
#include <string>

#include "core/json.h"

namespace mcpac::gateway {

class CallOfClient;

class OwnTools {
 public:
  virtual ~OwnTools() = default;
  // As in tools/list. No tool of a server has one of their names (client_name.h).
  [[nodiscard]] virtual const Json& definitions() const = 0;
  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  // Whether the client is shown these alone.
  [[nodiscard]] virtual bool are_alone() const = 0;
  // Instructions about them for the client's model.
  [[nodiscard]] virtual const std::string& instructions() const = 0;
  // The call is answered once, now or later, or taken back (CallOfClient::take_back).
  virtual void call(const std::string& name, const Json& arguments,
                    const std::shared_ptr<CallOfClient>& call) = 0;
  // Calls that are not answered yet.
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
};

}  // namespace mcpac::gateway
