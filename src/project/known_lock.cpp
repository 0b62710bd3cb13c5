// SPDX-License-Identifier: Apache-2.0

#include "project/known_lock.h"

#include <utility>

#include "core/canonical_json.h"
#include "core/hash.h"
#include "project/implied.h"

namespace mcpac::project {

LockDigests digests_of(const codegen::Lock& lock) {
  return {.of_text = sha256_hex(codegen::to_text(lock)),
          .of_headers = sha256_hex(canonical_json(Json(lock.headers)))};
}

Result<std::shared_ptr<const KnownLock>> load_known_lock(const Project& project,
                                                         std::shared_ptr<const KnownLock> known) {
  std::string text;
  Result<codegen::Lock> lock;
  if (const auto* implied = implied_output(project)) {
    lock = implied->lock;
  } else {
    auto read = read_lock_text(project);
    if (!read) return pass_on(read);
    if (known && !known->text.empty() && *read == known->text) return known;
    text = std::move(*read);
    lock = codegen::parse_lock(text, project.lock_file().string());
  }
  if (!lock) return pass_on(lock);
  LockDigests digests = digests_of(*lock);
  return std::make_shared<const KnownLock>(
      KnownLock{std::move(text), std::move(*lock), std::move(digests)});
}

}  // namespace mcpac::project
