// SPDX-License-Identifier: Apache-2.0

// Nonce: an unguessable number, used once.
#pragma once

#include <string>

namespace mcpac::resident {

[[nodiscard]] std::string new_nonce();  // 128 bits as hexadecimal digits

}  // namespace mcpac::resident
