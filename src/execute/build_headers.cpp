#include "execute/build_headers.h"

#include <fmt/format.h>

#include "codegen/embedded.h"
#include "codegen/generate.h"
#include "core/file.h"
#include "execute/project.h"

namespace mcpac::execute {
namespace {

Result<codegen::Lock> read_lock(const std::filesystem::path& file) {
  if (is_absent(file)) {
    return fail(ErrorId::kLockMissing, fmt::format("there is no {}", file.string()),
                {.where = file.string(),
                 .why = "without asking the servers, headers can be made from a lock only",
                 .fix = "run `mcpac generate`, look at what it found, and commit mcpac.lock"});
  }
  auto text = read_file(file);
  if (!text) return pass_on(text);
  return codegen::parse_lock(*text, file.string());
}

}  // namespace

Result<HeaderChanges> write_build_headers(const std::filesystem::path& lock_file,
                                          const std::filesystem::path& folder) {
  auto lock = read_lock(lock_file);
  if (!lock) return pass_on(lock);
  std::vector<ServerListing> listings;
  for (const auto& server : lock->servers) listings.push_back(codegen::listing_of(server));
  auto made = codegen::generate(listings, *lock);
  if (!made) return pass_on(made);
  for (const auto& file : codegen::embedded_files()) made->files.erase(std::string(file.path));
  made->files.erase("compile_flags.txt");
  return write_headers(folder, made->files);
}

}  // namespace mcpac::execute
