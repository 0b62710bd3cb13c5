#include "execute/child/elf_code.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "core/file.h"

namespace mcpac::execute {
namespace {

constexpr std::size_t kLargestFile = std::size_t{256} << 20U;
// Real programs have two segments of code, one table, and names of a few hundred bytes.
constexpr std::size_t kMostSegments = 64;
constexpr std::size_t kMostFunctions = 1'000'000;
constexpr std::size_t kLongestSymbol = 4'096;

template <class T>
std::optional<T> value_at(std::string_view bytes, std::uint64_t offset) {
  T value{};
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view part(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.substr(offset, size);
}

// Item `index` of a table of headers.
template <class T>
std::optional<T> item_at(std::string_view bytes, std::uint64_t table, std::uint64_t index) {
  return table > bytes.size() ? std::nullopt : value_at<T>(bytes, table + index * sizeof(T));
}

std::string_view text_at(std::string_view names, std::uint64_t offset) {
  if (offset >= names.size()) return {};
  const auto text = names.substr(offset, kLongestSymbol);
  const auto end = text.find('\0');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

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
  const auto header = value_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return fail(ErrorId::kProgramUnusable, fmt::format("{} is no 64-bit ELF file", name));
  ElfCode code;
  if (header->e_type == ET_DYN) code.bias_ = entry - header->e_entry;
  code.read_segments(bytes);
  code.read_functions(bytes);
  return code;
}

void ElfCode::read_segments(std::string_view bytes) {
  const auto header = *value_at<Elf64_Ehdr>(bytes, 0);
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    if (segments_.size() == kMostSegments) return;
    const auto segment = item_at<Elf64_Phdr>(bytes, header.e_phoff, i);
    if (!segment || segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0) continue;
    segments_.push_back(
        {segment->p_vaddr + bias_, part(bytes, segment->p_offset, segment->p_filesz)});
  }
}

// The first table: a file has one.
void ElfCode::read_functions(std::string_view bytes) {
  const auto header = *value_at<Elf64_Ehdr>(bytes, 0);
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = item_at<Elf64_Shdr>(bytes, header.e_shoff, i);
    if (!section || section->sh_type != SHT_SYMTAB) continue;
    const auto strings = item_at<Elf64_Shdr>(bytes, header.e_shoff, section->sh_link);
    if (!strings || section->sh_link >= header.e_shnum) return;
    read_table(part(bytes, section->sh_offset, section->sh_size),
               part(bytes, strings->sh_offset, strings->sh_size));
    return;
  }
}

void ElfCode::read_table(std::string_view table, std::string_view names) {
  table = table.substr(0, kMostFunctions * sizeof(Elf64_Sym));
  for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = *value_at<Elf64_Sym>(table, at);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
    const std::uint64_t begin = symbol.st_value + bias_;
    functions_.push_back({begin, begin + symbol.st_size, text_at(names, symbol.st_name)});
  }
  // Of several names for one place the one that covers most of it comes first, and then the
  // shortest. Names are not compared: they are as long as somebody else likes.
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
      const auto distance = *value_at<std::int32_t>(before, before.size() - 4);
      return CallInstruction{address + static_cast<std::uint64_t>(std::int64_t{distance})};
    }
    for (const std::size_t size : {2U, 3U, 6U, 7U, 4U}) {
      if (byte(size) == kIndirect && ((byte(size - 1) >> 3U) & 7U) == 2) return CallInstruction{};
    }
  }
  return std::nullopt;
}

}  // namespace mcpac::execute
