// SPDX-License-Identifier: Apache-2.0

#include "audit/accept.h"

#include <fmt/format.h>

#include "audit/run_index.h"
#include "audit/verify.h"

namespace mcpac::audit {

Result<std::string> accept(const std::filesystem::path& folder, const std::string& run,
                           const Clock& clock) {
  auto keys = own_keys(folder);
  if (!keys) return pass_on(keys);
  auto found = verify(folder, *keys, run);
  if (!found) return pass_on(found);
  const RunVerdict& verdict = found->runs.front();
  // Behind a damaged index nothing that is added is believed.
  const bool tampered =
      verdict.standing == Standing::kTampered || !found->index.problems.empty() || keys->empty();
  if (tampered || verdict.standing != Standing::kUnfinished) {
    return fail(
        tampered ? ErrorId::kAuditTampered : ErrorId::kUsage,
        fmt::format(
            "run {} is {}, and only an unfinished one can be accepted", verdict.run_id,
            tampered ? "not the one that was written" : std::string(to_string(verdict.standing))),
        {.where = folder.string(),
         .fix = fmt::format("mcpac audit verify --run {}", verdict.run_id)});
  }
  auto key = SigningKey::load(key_folder(folder));
  if (!key) return pass_on(key);
  const RunIndex index(folder, *key, clock);
  if (auto noted = index.accepted(verdict.run_id, verdict.head, verdict.records); !noted)
    return pass_on(noted);
  if (auto synced = index.sync(); !synced) return pass_on(synced);
  return verdict.run_id;
}

}  // namespace mcpac::audit
