// SPDX-License-Identifier: Apache-2.0

#include "cli/secret_files.h"

#include <fmt/format.h>

#include "core/ascii.h"
#include "core/file.h"
#include "core/private_file.h"

namespace mcpac::cli {
namespace {

constexpr std::size_t kMaxSecret = std::size_t{64} << 10U;  // what ${file:…} reads
constexpr int kMostOfOneName = 100;

std::string plain(const std::string& name) {
  std::string out;
  for (const char c : name) out += is_alphanumeric(c) ? c : '_';
  return out;
}

}  // namespace

Result<std::string> SecretFiles::keep(const std::string& server, const std::string& name,
                                      const std::string& value) const {
  const auto refuse = [&](std::string why) {
    return fail(ErrorId::kFileUnwritable,
                fmt::format("the value of {} cannot be kept in a file", name),
                {.where = folder_.string(), .why = std::move(why)});
  };
  if (folder_.string().find('}') != std::string::npos)
    return refuse("no reference can name this folder");
  if (value.size() >= kMaxSecret || value.find('\0') != std::string::npos)
    return refuse("it is longer than 64 KiB, or has a NUL byte");
  const auto turn = take_turn(folder_, "secrets of servers");
  if (!turn) return std::unexpected(turn.error());
  // Its reader takes one newline off its end.
  const std::string bytes = value + "\n";
  for (int i = 1; i <= kMostOfOneName; ++i) {
    const std::string end = i == 1 ? "" : fmt::format("-{}", i);
    const auto file = folder_ / fmt::format("{}.{}{}", server, plain(name), end);
    auto there = read_private_file(file, kMaxSecret + 1);
    if (!there || (*there && **there != bytes)) continue;  // a foreign one, or another value
    // Also where it is there: its writer may have failed to sync it.
    if (auto written = write_file_atomic(file, bytes, 0600); !written) return pass_on(written);
    return fmt::format("${{file:{}}}", file.string());
  }
  return refuse("there are too many of its name");
}

}  // namespace mcpac::cli
