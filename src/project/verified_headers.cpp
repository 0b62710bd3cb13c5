// SPDX-License-Identifier: Apache-2.0

#include "project/verified_headers.h"

#include <fmt/format.h>

#include <utility>

#include "audit/chain.h"
#include "core/file.h"
#include "core/file_stamp.h"
#include "core/hash.h"
#include "core/private_file.h"
#include "project/header_files.h"
#include "project/private_folder.h"

namespace mcpac::project {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestRecord = std::size_t{4} << 20U;

std::string digest_of(std::string_view bytes) {
  return audit::hex(audit::blake2b(bytes));
}

// What is before the first `end`, which goes with it; the rest stays in `text`.
std::string_view take_until(std::string_view& text, char end) {
  const auto at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

fs::path record_of(const fs::path& cache, const Project& project) {
  return cache / (sha256_hex(project.headers().native()).substr(0, 32) + ".headers");
}

}  // namespace

VerifiedHeaders::VerifiedHeaders(const Project& project, const Folders& folders)
    : project_(project) {
  // Headers in memory have no stamps.
  if (project.kept || !make_private(folders.cache / "verified")) return;
  cache_ = folders.cache / "verified";
  load();
}

std::string VerifiedHeaders::head() const {
  return fmt::format("mcpac {} headers 1\n{}\n", MCPAC_VERSION,
                     sha256_hex(project_.headers().native()));
}

// The digest of all that follows; what it is of; a line for each file.
void VerifiedHeaders::load() {
  const auto record = read_private_file(record_of(cache_, project_), kLargestRecord);
  if (!record || !*record) return;
  std::string_view rest = **record;
  if (const auto digest = take_until(rest, '\n'); digest != digest_of(rest)) return;
  if (!rest.starts_with(head())) return;
  rest.remove_prefix(head().size());
  while (!rest.empty()) {
    std::string_view line = take_until(rest, '\n');
    const auto digest = take_until(line, ' ');
    const auto stamp = take_until(line, ' ');
    seen_.insert_or_assign(std::string(line), Seen{std::string(digest), std::string(stamp)});
  }
}

Result<void> VerifiedHeaders::hold(const codegen::Lock& lock, const std::string& name) {
  // Before the file is read: what changes it meanwhile gives it another one.
  const auto stamp = cache_.empty() ? std::nullopt : stamp_of(place_of_header(project_, name));
  const bool is_file = stamp && stamp->is_regular;
  const auto locked = lock.headers.find(name);
  if (is_file && locked != lock.headers.end()) {
    const auto seen = seen_.find(name);
    if (seen != seen_.end() && seen->second == Seen{locked->second, stamp->text()}) return {};
  }
  if (auto bytes = read_header(project_, lock, name); !bytes) return pass_on(bytes);
  const bool has_one_line = name.find('\n') == std::string::npos;
  if (is_file && is_settled(*stamp) && has_one_line) {
    seen_.insert_or_assign(name, Seen{locked->second, stamp->text()});
    changed_ = true;
  }
  return {};
}

void VerifiedHeaders::keep() {
  if (!std::exchange(changed_, false)) return;
  std::string text = head();
  for (const auto& [name, seen] : seen_)
    text += fmt::format("{} {} {}\n", seen.digest, seen.stamp, name);
  static_cast<void>(write_file_atomic(record_of(cache_, project_),
                                      fmt::format("{}\n{}", digest_of(text), text), 0600));
}

}  // namespace mcpac::project
