// SPDX-License-Identifier: Apache-2.0

// Part: one file of a program of several, and what it has to do with the others (program.cpp).
#pragma once

#include <memory>
#include <vector>

#include "analyzer/clang/definitions.h"
#include "analyzer/clang/parsed.h"
#include "analyzer/clang/undefined.h"
#include "analyzer/report.h"
#include "core/error.h"

namespace mcpac::analyzer {

struct Part {
  std::vector<Declared> declared{};  // in: what the entry of another file receives
  // in: another file writes through constness, so that no variable is known in this one either
  bool variables_unknown = false;
  bool writes_through_constness = false;  // out
  bool has_entry = false;                 // out: this file has an entry of its own
  Definitions definitions{};              // out: what it says about names that all files share
  UndefinedFunctions undefined{};         // out: what it uses and another file must define
};

// The first file of `request` alone. Without a part it is a whole program. `ahead`: what was read
// of some program before the request came; used where it is as good, and may be null.
[[nodiscard]] Result<Report> analyze_file(const Request& request, Part* part,
                                          std::shared_ptr<const Parsed> ahead = nullptr);

}  // namespace mcpac::analyzer
