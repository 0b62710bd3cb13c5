// SPDX-License-Identifier: Apache-2.0

// LiteralSecrets: values in an entry of mcpac.json that look like literal secrets.
//
// By names ("env.GITHUB_TOKEN", "--api-key"), by looks, and by what only secrets are for. A guess:
// for a word to the person, who can have mcpac.json name a variable or a file instead. Never says a
// value, nor a part of one. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace mcpac::project {

// Their places, in the order of the entry: "headers.Authorization", "args[2] (--token)", "url".
[[nodiscard]] std::vector<std::string> literal_secrets(const OrderedJson& entry);

}  // namespace mcpac::project
