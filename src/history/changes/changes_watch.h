// SPDX-License-Identifier: Apache-2.0

// ChangesWatch: ends a run that writes more than it may into its changeset.
//
// No kernel limit counts what one program writes in all (RLIMIT_FSIZE is of one file), so a thread
// looks ten times a second. Between two looks a program can write as much as the disk takes in that
// time. What it hides is not passed over: folders that it closed count as endless; one that keeps
// moving its files, so that no look is clear, is ended when so much went from the disk meanwhile
// that it could hold more than it may. Files that it removed and still has open are in no folder;
// the run is ended before they fill the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

namespace mcpac::history {

class ChangesWatch {
 public:
  // `over` is called once, on the watch's own thread.
  ChangesWatch(std::vector<std::filesystem::path> folders, std::uint64_t bytes,
               std::function<void()> over);

 private:
  std::jthread thread_;
};

// Of all files in the folder, links not followed; more files than a changeset may hold count as
// endless, and so does a folder that cannot be listed. A hole counts as its size: neither a reader
// nor apply would take less.
[[nodiscard]] std::uint64_t bytes_in(const std::filesystem::path& folder);
// Do they hold more than `bytes` together? What is endless does, whatever the limit.
[[nodiscard]] bool hold_more_than(const std::vector<std::filesystem::path>& folders,
                                  std::uint64_t bytes);

// More files, folders and other names than a changeset may hold (kMostChanges)?
[[nodiscard]] bool hold_too_many_files(const std::vector<std::filesystem::path>& folders);

}  // namespace mcpac::history
