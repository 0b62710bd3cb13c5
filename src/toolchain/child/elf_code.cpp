// SPDX-License-Identifier: Apache-2.0

#include "toolchain/child/elf_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "core/file.h"

namespace mcpac::toolchain {
namespace {

constexpr std::size_t kLargestFile = std::size_t{256} << 20U;
// Real programs have a dozen segments, one table, and names of a few hundred bytes.
constexpr std::uint64_t kMostSegments = 64;
constexpr std::uint64_t kMostSections = 1'000'000;
constexpr std::uint64_t kMostSymbols = 1'000'000;
constexpr std::size_t kLongestSymbol = 4'096;

}  // namespace

Result<ElfCode> ElfCode::read(const std::filesystem::path& file, std::uint64_t entry) {
  auto content = read_file(file, kLargestFile);
  if (!content) return pass_on(content);
  auto bytes = std::make_shared<const std::string>(std::move(*content));
  auto code = of(*bytes, file.string(), entry);
  if (code) code->bytes_ = std::move(bytes);
  return code;
}

Result<ElfCode> ElfCode::of(std::string_view bytes, std::string_view name, std::uint64_t entry) {
  const auto read_at = elf::reader_of(bytes);
  const auto header = elf::read_header(read_at);
  if (!header)
    return fail(ErrorId::kProgramUnusable, fmt::format("{} is no 64-bit ELF file", name));
  ElfCode code;
  if (header->e_type == ET_DYN) code.bias_ = entry - header->e_entry;
  code.read_segments(bytes, *header);
  code.read_functions(read_at, *header);
  return code;
}

void ElfCode::read_segments(std::string_view bytes, const Elf64_Ehdr& header) {
  const auto segments = elf::read_segments(elf::reader_of(bytes), header, kMostSegments);
  if (!segments) return;
  for (const Elf64_Phdr& segment : *segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if (segment.p_offset > bytes.size() || segment.p_filesz > bytes.size() - segment.p_offset)
      continue;
    segments_.push_back(
        {segment.p_vaddr + bias_, bytes.substr(segment.p_offset, segment.p_filesz)});
  }
}

void ElfCode::read_functions(const elf::ReadAt& read_at, const Elf64_Ehdr& header) {
  const auto sections = elf::read_sections(read_at, header, kMostSections);
  if (!sections) return;
  auto table = elf::read_symbols(read_at, *sections, kMostSymbols, kLargestFile);
  if (!table) return;
  names_ = std::make_shared<const std::string>(std::move(table->names));
  for (const Elf64_Sym& symbol : table->symbols) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
    const std::uint64_t begin = symbol.st_value + bias_;
    functions_.push_back({begin, begin + symbol.st_size,
                          elf::name_at(*names_, symbol.st_name, kLongestSymbol).value_or("")});
  }
  // Of several names for one place the one that covers most of it comes first, and then the
  // shortest. Names are not compared: their length is untrusted.
  const auto rank = [](const CodeFunction& function) {
    return std::tuple(function.begin, ~function.end, function.name.size());
  };
  std::ranges::sort(functions_, {}, rank);
}

const CodeFunction* ElfCode::function_at(std::uint64_t address) const {
  auto after = std::ranges::upper_bound(functions_, address, {}, &CodeFunction::begin);
  if (after == functions_.begin()) return nullptr;
  // The first of those that begin at the same place, so that one function has one name.
  const std::uint64_t begin = std::prev(after)->begin;
  const auto first = std::ranges::lower_bound(functions_, begin, {}, &CodeFunction::begin);
  return address < first->end ? &*first : nullptr;
}

std::optional<CallInstruction> ElfCode::call_before(std::uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (address <= segment.begin || address - segment.begin > segment.code.size()) continue;
    const std::string_view before = segment.code.substr(0, address - segment.begin);
    const auto byte = [&](std::size_t back) {
      return back <= before.size() ? static_cast<unsigned char>(before[before.size() - back]) : 0U;
    };
    constexpr unsigned kDirect = 0xe8;
    constexpr unsigned kIndirect = 0xff;  // with 2 in the middle of the byte that follows
    if (byte(5) == kDirect) {
      std::int32_t distance = 0;
      std::memcpy(&distance, before.data() + before.size() - sizeof distance, sizeof distance);
      return CallInstruction{address + static_cast<std::uint64_t>(std::int64_t{distance})};
    }
    for (const std::size_t size : {2U, 3U, 6U, 7U, 4U}) {
      if (byte(size) == kIndirect && ((byte(size - 1) >> 3U) & 7U) == 2) return CallInstruction{};
    }
  }
  return std::nullopt;
}

}  // namespace mcpac::toolchain
