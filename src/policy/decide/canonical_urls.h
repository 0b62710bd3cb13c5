// SPDX-License-Identifier: Apache-2.0

// CanonicalUrls: the URLs of a call in the one spelling that every parser reads alike.
//
// What is decided is what is sent (docs/grants.md): wherever an allow or ask rule
// reads an argument as a URL, the argument is rewritten before anything else looks at it, so that
// validation, decision, record and server see one text. A rule over any string ("*") only denies or
// asks, and rewrites nothing.
#pragma once

#include <optional>
#include <span>

#include "core/json_schema.h"
#include "policy/rules/compiled.h"

namespace mcpac::policy {

// Whether anything was rewritten. What cannot be read as a URL is left for the rules to refuse.
bool canonicalise_urls(std::span<const CompiledLayer> layers, const Permission& permission,
                       Json& arguments);

// A member that is another spelling of one that the schema or a rule over this tool names at its
// place, and that they do not name; of the arguments of a prompt, two that are spellings of one.
// A decoder that folds names (Go's) takes it for that, so no rule is asked.
[[nodiscard]] std::optional<SchemaViolation> misnamed(std::span<const CompiledLayer> layers,
                                                      const Permission& permission,
                                                      const JsonSchema& schema,
                                                      const Json& arguments);

// What arguments go through before any rule: names looked at, defaults filled in, URLs rewritten,
// held against the schema.
[[nodiscard]] std::optional<SchemaViolation> complete(std::span<const CompiledLayer> layers,
                                                      const Permission& permission,
                                                      const JsonSchema& schema, Json& arguments);

}  // namespace mcpac::policy
