// SPDX-License-Identifier: Apache-2.0

// Secret places: arguments that a tool's schema calls secret ("writeOnly": true, "format":
// "password"), taken out before a call is recorded.
#pragma once

#include <memory>

#include "core/json.h"

namespace mcpac::gate {

// The replacement of a secret.
inline constexpr const char* kRedactedText = "[redacted]";

class SecretPlaces {
 public:
  // Null where the schema marks nothing: most calls need no look.
  [[nodiscard]] static std::shared_ptr<const SecretPlaces> of(const Json& schema);
  // Whether anything was taken out. A value that is too deep or too large to be looked at is taken
  // out as a whole.
  [[nodiscard]] bool redact(Json& arguments) const;

 private:
  explicit SecretPlaces(Json schema) : schema_(std::move(schema)) {}
  Json schema_;
};

}  // namespace mcpac::gate
