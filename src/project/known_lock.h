// SPDX-License-Identifier: Apache-2.0

// KnownLock: a lock beside the bytes that it was read from, and its digests.
//
// Reading a lock and writing it again for its digest takes longer than all else that a run of a
// prepared program does with it; so who prepares runs of a project shares one with them.
#pragma once

#include <memory>
#include <string>

#include "codegen/lock.h"
#include "core/error.h"
#include "project/project.h"

namespace mcpac::project {

// The part of a lock that an answer is bound to (gate::Binding): SHA-256 of its text, as generate
// writes it, and of the digests of its headers.
struct LockDigests {
  std::string of_text;
  std::string of_headers;
};
[[nodiscard]] LockDigests digests_of(const codegen::Lock& lock);

struct KnownLock {
  std::string text;  // empty where the lock came from no file (implied.h)
  codegen::Lock lock;
  LockDigests digests;
};

// As load_lock(); and `known` itself where mcpac.lock has its bytes still.
[[nodiscard]] Result<std::shared_ptr<const KnownLock>> load_known_lock(
    const Project& project, std::shared_ptr<const KnownLock> known = nullptr);

}  // namespace mcpac::project
