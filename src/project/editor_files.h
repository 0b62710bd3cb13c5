// SPDX-License-Identifier: Apache-2.0

// Editor files: clangd's configuration for a project, in the folder of its programs.
//
// clangd looks for flags beside a source and in the folders above, so it never sees those in
// servers/. The file is written once and then belongs to the user: it is not locked and nothing
// reads it but editors.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"

namespace mcpac::project {

// Writes FOLDER/compile_flags.txt unless the user told clangd something already (.clangd,
// compile_flags.txt or compile_commands.json, also below build/). Its name, or "" where nothing was
// written.
[[nodiscard]] Result<std::string> write_editor_files(const std::filesystem::path& folder);

}  // namespace mcpac::project
