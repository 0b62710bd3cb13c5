#include "mcp/found_era.h"

#include <chrono>
#include <string>
#include <system_error>
#include <tuple>

#include "core/file.h"
#include "core/hash.h"
#include "core/json.h"

namespace mcpac::mcp {
namespace {

namespace fs = std::filesystem;

constexpr auto kBelieved = std::chrono::hours(24 * 30);

}  // namespace

FoundEra::FoundEra(const ServerConfig& config) {
  if (config.found.empty() || config.era != Era::kProbe) return;
  const std::string entry =
      config.file.string() + '\n' + config.name + '\n' + to_text(to_json(config));
  file_ = config.found / (sha256_hex(entry) + ".initialize");
}

bool FoundEra::is_initialize() const {
  if (file_.empty()) return false;
  std::error_code error;
  const auto written = fs::last_write_time(file_, error);
  if (error) return false;
  const auto age = fs::file_time_type::clock::now() - written;
  return age < kBelieved && age > -kBelieved;
}

void FoundEra::keep_initialize() const {
  if (file_.empty()) return;
  std::error_code error;
  const auto folder = file_.parent_path();
  if (fs::create_directories(folder, error)) fs::permissions(folder, fs::perms::owner_all, error);
  std::ignore = write_file_atomic(file_, "", 0600);
}

void FoundEra::forget() const {
  std::error_code ignored;
  if (!file_.empty()) fs::remove(file_, ignored);
}

}  // namespace mcpac::mcp
