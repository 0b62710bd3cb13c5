// SPDX-License-Identifier: Apache-2.0

// Entry-only tools: those that plausibly act on the one entry that a path names, and what a denial
// of a folder above a denied place tells its reader to do.
#pragma once

#include <string>
#include <string_view>

#include "core/json.h"
#include "core/permission.h"

namespace mcpac::policy {

// By what the tool is called and what it takes: one that looks at, reads or makes an entry, and has
// no word of moving, deleting, copying, searching or trees in its name or its parameters.
// `schema`: of its input; null where it is not known. Nothing rests on it: the user says so.
[[nodiscard]] bool seems_entry_only(std::string_view tool, const Json* schema);

// Why a tool cannot be one that acts on an entry alone, by its name, its parameters and what it
// says of itself (`definition`, as servers list it): "it says that it deletes" (destructiveHint);
// empty where nothing speaks against it.
[[nodiscard]] std::string speaks_against_entry_only(const Json& definition);
// What only suggests it: "it is called search_files".
[[nodiscard]] std::string suggests_more_than_entry(const Json& definition);

// Behind `"/home/u" contains the denied ~/.ssh`.
[[nodiscard]] std::string what_to_do_above(const Permission& tool, const Json* schema);

}  // namespace mcpac::policy
