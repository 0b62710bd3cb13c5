// ObjectFiles: the objects of one program and the program linked from them, held against what the
// analysis of their source saw (analyzer/object_check.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/object_file.h"
#include "analyzer/report.h"
#include "core/error.h"
#include "toolchain/prepare.h"
#include "toolchain/program_file.h"

namespace mcpac::toolchain {

// The objects as the compiler wrote them; `program` stands in errors.
[[nodiscard]] Result<std::vector<analyzer::ObjectFile>> read_object_files(
    const std::vector<std::filesystem::path>& objects, const std::string& program);
// Adds what it finds to the findings of `report`; kFindingRefuses where one of them refuses.
[[nodiscard]] Result<void> check_object_files(const std::vector<analyzer::ObjectFile>& objects,
                                              const Prepared& prepared, analyzer::Report& report);
// What the linked program says that it declares; nothing: it says nothing.
[[nodiscard]] Result<void> check_linked(const DeclaredInNotes& declared, analyzer::Report& report);

}  // namespace mcpac::toolchain
