// SPDX-License-Identifier: Apache-2.0

// GitHub annotations: each problem of a report as a workflow command, so that it stands at its line
// in the review.
//
// A workflow command is one line of a log; whatever a source holds is escaped, as GitHub documents
// it, so that no source can write a command of its own.
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
#pragma once

#include <string>

#include "analyzer/report.h"

namespace mcpac::analyzer {

// "::error file=agent.cpp,line=3,col=5,title=mcpac: inline-assembly::message" lines.
// One of them.
[[nodiscard]] std::string to_github_annotation(const Finding& finding);
[[nodiscard]] std::string to_github_annotations(const Report& report);

}  // namespace mcpac::analyzer
