#include "execute/build/source_folder.h"

#include <fmt/format.h>

#include <system_error>

namespace mcpac::execute {

Result<SourceFolder> SourceFolder::make(const std::filesystem::path& temporary) {
  auto folder = TemporaryFolder::create(temporary, "mcpac-source-");
  if (!folder) return pass_on(folder);
  SourceFolder made(std::move(*folder));
  for (const auto& part : {made.sources(), made.lead()}) {
    std::error_code error;
    std::filesystem::create_directory(part, error);
    // As root the reader is another user, whatever our umask says.
    if (!error) std::filesystem::permissions(part, std::filesystem::perms(0755), error);
    if (error) {
      return fail(ErrorId::kFileUnwritable,
                  fmt::format("cannot make {}: {}", part.string(), error.message()));
    }
  }
  return made;
}

}  // namespace mcpac::execute
