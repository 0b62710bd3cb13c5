// SPDX-License-Identifier: Apache-2.0

// Entry: the entry point of a program, and the text that ties it to the runtime.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analyzer/report.h"
#include "toolchain/snapshot.h"

namespace mcpac::toolchain {

// The snapshot's source that has the entry, and its form.
struct EntryPlace {
  std::size_t source = 0;
  analyzer::Entry form = analyzer::Entry::kNone;
  friend bool operator==(const EntryPlace&, const EntryPlace&) = default;
};
[[nodiscard]] EntryPlace entry_place(const Snapshot& snapshot, const analyzer::Report& report);
// The entry as a reader sees it at a glance; nothing where the text has none, or several.
[[nodiscard]] std::optional<EntryPlace> likely_entry(const Snapshot& snapshot);

// Stands behind the last line of the source that has the entry.
[[nodiscard]] std::string entry_text(analyzer::Entry entry);

}  // namespace mcpac::toolchain
