// Analysis: one request to one report, in this process.
//
// What cannot be parsed is an error, never an empty report that says ok. The source is read once;
// its digest and its meaning are of the same bytes. One file is analysis.cpp, several are
// program.cpp.
#pragma once

#include "analyzer/report.h"
#include "core/error.h"

namespace mcpac::analyzer {

[[nodiscard]] Result<Report> analyze(const Request& request);

}  // namespace mcpac::analyzer
