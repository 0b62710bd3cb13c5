// SPDX-License-Identifier: Apache-2.0

// RunFiles: the files of the audit log that are the record of one run.
//
// A run has one file, but for that of a gateway's client: when one is full it goes on in another,
// which says what it continues (`continues`), and the run is the same. It is called by its first
// file.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "audit/log.h"

namespace mcpac::history {

// The files that this event, the first of one, says it goes on from, in their order; mostly none.
[[nodiscard]] std::vector<std::string> files_before(const audit::Event& first);

// Of each file that goes on from others: the first of them. Others are not in it.
[[nodiscard]] std::map<std::string, std::string> first_files(
    const std::vector<audit::Event>& events);

struct RunEvents {
  std::set<std::string> files;       // by their ids
  std::vector<audit::Event> events;  // of all of them, in the order of their ids
};
// `file`: the id of any of them, or an unambiguous start of one. All must be there.
[[nodiscard]] Result<RunEvents> events_of_run(const std::filesystem::path& folder,
                                              const std::string& file);

}  // namespace mcpac::history
