// SPDX-License-Identifier: Apache-2.0

#include "toolchain/lead.h"

#include <fmt/format.h>

#include <system_error>

#include "analyzer/lead.h"
#include "core/file.h"
#include "toolchain/child/scratch_file.h"
#include "toolchain/child/waiting_pipe.h"
#include "toolchain/toolchain.h"

namespace mcpac::toolchain {
namespace {

namespace fs = std::filesystem;
namespace lead = analyzer::lead;

constexpr char kUses[] = "mcpac/warm_uses.hpp";

// What clang has in memory when the program comes, beside what the precompiled header holds: it
// reads of that what it is asked for, and what one short program asks for are half of all
// declarations. All templates in it were made with the header, so nothing of it is left to do, and
// none of it gets into a program: the functions are inline and never called.
std::string what_programs_use() {
  return fmt::format(
      "namespace mcpac::detail::ahead {{\n"
      "using warm::tool;\n"
      "#include \"{}/{}\"\n"
      "#include \"{}\"\n"
      "}}\n",
      inside::kInclude, kUses, inside::kWarmTools);
}

fs::path on_host(const fs::path& folder, const char* inside) {
  return folder / fs::path(inside).filename();
}

Result<void> write_begin(const fs::path& folder, std::string_view before) {
  constexpr unsigned kReadable = 0444;
  if (auto main = write_scratch(on_host(folder, lead::kMain), lead::kMainText, kReadable); !main)
    return main;
  return write_scratch(on_host(folder, lead::kBefore), before, kReadable);
}

}  // namespace

Result<void> write_lead(const fs::path& folder, std::string_view source) {
  auto naming = lead::naming(source);
  if (!naming) return pass_on(naming);
  if (auto begun = write_begin(folder, ""); !begun) return begun;
  return write_scratch(on_host(folder, lead::kSource), *naming, 0444);
}

Result<void> write_waiting_lead(const fs::path& folder, const fs::path& prepared) {
  std::error_code error;
  const fs::path uses = prepared / "include" / kUses;
  if (!fs::is_regular_file(uses, error))
    return fail(ErrorId::kFileUnreadable, fmt::format("{} is missing", uses.string()));
  if (auto begun = write_begin(folder, what_programs_use()); !begun) return begun;
  return make_waiting_pipe(pipe_of_lead(folder));
}

fs::path pipe_of_lead(const fs::path& folder) {
  return on_host(folder, lead::kSource);
}

sandbox::Mount mount_of_lead(const fs::path& folder) {
  return {folder, lead::kFolder, sandbox::Mount::Access::kRead};
}

std::string without_lead(std::string_view diagnostics) {
  const auto tells_of_lead = [](std::string_view line) {
    constexpr std::string_view kFrom = "In file included from ";
    if (!line.starts_with(kFrom)) return false;
    line.remove_prefix(kFrom.size());
    return lead::is_part(line.substr(0, line.find(':')));
  };
  std::string text;
  while (!diagnostics.empty()) {
    const auto line = diagnostics.substr(0, diagnostics.find('\n') + 1);
    const auto whole = line.empty() ? diagnostics : line;  // the last, without a line break
    if (!tells_of_lead(whole)) text += whole;
    diagnostics.remove_prefix(whole.size());
  }
  return text;
}

}  // namespace mcpac::toolchain
