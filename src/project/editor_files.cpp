// SPDX-License-Identifier: Apache-2.0

#include "project/editor_files.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "codegen/emit.h"
#include "core/file.h"

namespace mcpac::project {
namespace {

// Where clangd 19 looks in each folder.
constexpr std::array kOfTheUser{"compile_flags.txt", ".clangd", "compile_commands.json",
                                "build/compile_commands.json"};

}  // namespace

Result<std::string> write_editor_files(const std::filesystem::path& folder) {
  std::error_code error;
  const bool told = std::ranges::any_of(kOfTheUser, [&](const char* name) {
    // A link to nowhere is the user's, too.
    return std::filesystem::exists(std::filesystem::symlink_status(folder / name, error));
  });
  if (told) return std::string();
  auto written = write_file_atomic(folder / "compile_flags.txt",
                                   codegen::emit_compile_flags(codegen::FlagsFor::kProject));
  if (!written) return pass_on(written);
  return std::string("compile_flags.txt");
}

}  // namespace mcpac::project
