// SPDX-License-Identifier: Apache-2.0

// Path automata: the strings that a path pattern covers, read as match_path.cpp reads them by their
// text.
//
// A path is *canonical* here when ".." stands in it at its beginning only: then what it names can
// be told by an automaton. All other paths are made of canonical ones by with_detours(): going into
// a directory and out again changes what is named in no other way than by the depth that is
// touched.
#pragma once

#include <string>
#include <vector>

#include "policy/match/path_pattern.h"
#include "policy/sets/automaton.h"

namespace mcpac::policy {

// Bases of relative values in calls to one server, by all readings; without duplicates.
[[nodiscard]] std::vector<Components> path_starts(const Bases& bases, const std::string& server);

// Tells apart what no test can read, absolute and relative paths, those that climb (and how far),
// and paths that are not canonical.
[[nodiscard]] std::vector<Nfa> path_shapes(const std::vector<Components>& starts);
// For one pattern: what it covers, and what lies below its base; for relative paths, from each
// start.
[[nodiscard]] std::vector<Nfa> path_automata(const PathPattern& pattern, const std::string& server,
                                             const std::vector<Components>& starts);

// For one pattern: its base and the folders that this lies in.
[[nodiscard]] std::vector<Nfa> folders_above(const PathPattern& pattern, const std::string& server,
                                             const std::vector<Components>& starts);

// The same path with a detour at every depth.
[[nodiscard]] std::vector<std::string> with_detours(const std::string& path);

}  // namespace mcpac::policy
