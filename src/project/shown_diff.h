// SPDX-License-Identifier: Apache-2.0

// ShownDiff: the last output of `lock status` and `lock diff` for each server, kept so that `lock
// accept --yes` approves that and nothing else.
//
// A server may answer differently each time it is asked. Between a look and a yes without a
// question, only a record of the look tells. Where the state folder cannot be written nothing is
// known, and what is accepted is what is printed with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/lock_diff.h"
#include "project/folders.h"

namespace mcpac::project {

class ShownDiff {
 public:
  ShownDiff(Folders folders, std::filesystem::path config_file)
      : folders_(std::move(folders)), config_file_(std::move(config_file)) {}

  // kWhole: of each of these servers all that differs was shown, so that a tool that is not in it
  // was as it is locked: a look at a server without a difference holds as well.
  enum class Extent : std::uint8_t { kWhole, kPart };
  void note(const codegen::LockDiff& shown, Extent extent) const;
  // What of the difference is not what was shown last: names of servers and of tools. Of a server
  // that was not looked at nothing.
  [[nodiscard]] std::vector<std::string> unlike(const codegen::LockDiff& diff) const;
  // After it was approved.
  void forget(const codegen::LockDiff& diff) const;

 private:
  [[nodiscard]] Json read() const;
  void write(const Json& servers) const;

  Folders folders_;
  std::filesystem::path config_file_;
};

}  // namespace mcpac::project
