// SPDX-License-Identifier: Apache-2.0

// Property: any bytes are read or refused without touching what is not there, the answer does not
// change when it is asked again, and what comes out is sorted and made of permissions.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "analyzer/binary_note.h"
#include "core/permission.h"

namespace {

mcpac::Result<std::optional<std::vector<mcpac::analyzer::Declared>>> read(const std::uint8_t* data,
                                                                          std::size_t size) {
  return mcpac::analyzer::declared_in_binary(
      mcpac::elf::reader_of(std::string_view(reinterpret_cast<const char*>(data), size)), "fuzz");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto first = read(data, size);
  const auto again = read(data, size);
  if (first.has_value() != again.has_value()) std::abort();
  if (!first || !*first) return 0;
  const auto key = [](const mcpac::analyzer::Declared& item) {
    return std::tie(item.permission, item.where);
  };
  if ((*first)->size() != (*again)->size()) std::abort();
  if (!std::ranges::is_sorted(**first, {}, key)) std::abort();
  for (const auto& item : **first) {
    if (!mcpac::Permission::parse(item.permission)) std::abort();
  }
  return 0;
}
