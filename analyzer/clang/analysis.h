// SPDX-License-Identifier: Apache-2.0

// Analysis: one request to one report, in this process.
//
// What cannot be parsed is an error, never an empty report that says ok. The source is read once;
// its digest and its meaning are of the same bytes. One file is analysis.cpp, several are
// program.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/report.h"
#include "core/error.h"

namespace mcpac::analyzer {

// Clang's parse of a program from before its request came (parsed.h).
class Parsed;
// With these flags, from the lead on the disk: returns when it has led to a program. Null where
// that cannot be read so: it is read again when the request comes, and the error told then.
[[nodiscard]] std::shared_ptr<const Parsed> read_ahead(std::vector<std::string> flags);

// The overlay through which clang sees files (analyzer/overlay.h), for this process; before
// anything is read. Without one it sees the file system as it is.
[[nodiscard]] Result<void> use_overlay(const std::filesystem::path& file);

// `ahead` is used for a program of one file, where it is as good, and may be null.
[[nodiscard]] Result<Report> analyze(const Request& request,
                                     std::shared_ptr<const Parsed> ahead = nullptr);

}  // namespace mcpac::analyzer
