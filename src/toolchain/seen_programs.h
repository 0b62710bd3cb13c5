// SPDX-License-Identifier: Apache-2.0

// SeenPrograms: programs that were analysed and built before, found again by all that they were
// made from.
//
// An entry is a report that lets the program run, and the program; a file of the private cache. One
// that is not whole, or not what was written, is as if it were not there, and so is a cache that
// cannot be used: then the program is analysed and built. What stands against a run is never kept,
// and nothing of the user's grants: these are checked for every run. Bounded: what was not used for
// longest goes. Any number of mcpac may use it at once.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/report.h"
#include "codegen/lock.h"
#include "toolchain/compile.h"
#include "toolchain/prepare.h"
#include "toolchain/snapshot.h"

namespace mcpac::toolchain {

struct SeenProgram {
  analyzer::Report report;  // as analyze() gave it
  Program program;          // a copy of its own
};

class SeenPrograms {
 public:
  explicit SeenPrograms(const project::Folders& folders);
  [[nodiscard]] std::optional<SeenProgram> find(const std::string& key) const;
  // `report` lets the program run, and building the program added nothing to it.
  void keep(const std::string& key, const analyzer::Report& report, const Program& program) const;

 private:
  [[nodiscard]] std::filesystem::path file_of(const std::string& key) const;
  void drop_the_oldest() const;
  [[nodiscard]] std::optional<Program> written(std::string_view bytes) const;
  std::filesystem::path folder_;
  std::filesystem::path temporary_;
};

// A digest over every byte that analysis and compiler read: the sources, what the worker is asked
// (with the names that messages use), the prepared headers and toolchain, the worker and mcpac
// itself.
[[nodiscard]] std::string key_of(const Snapshot& snapshot, const codegen::Lock& lock,
                                 const Prepared& prepared, const project::Folders& folders);

}  // namespace mcpac::toolchain
