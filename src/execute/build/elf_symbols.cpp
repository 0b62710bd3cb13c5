#include "execute/build/elf_symbols.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace mcpac::execute {
namespace {

template <class T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t offset) {
  T value{};
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<std::string_view> part(std::string_view bytes, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes.size() ||
      section.sh_size > bytes.size() - section.sh_offset)
    return std::nullopt;
  return bytes.substr(section.sh_offset, section.sh_size);
}

std::optional<Elf64_Shdr> section_at(std::string_view bytes, const Elf64_Ehdr& header,
                                     std::uint64_t index) {
  if (index >= header.e_shnum || header.e_shoff > bytes.size()) return std::nullopt;
  return read_at<Elf64_Shdr>(bytes, header.e_shoff + index * sizeof(Elf64_Shdr));
}

std::optional<ElfSymbol> as_symbol(const Elf64_Sym& symbol, std::string_view names) {
  const auto end = names.find('\0', symbol.st_name);
  if (end == std::string_view::npos) return std::nullopt;
  const bool hidden = ELF64_ST_VISIBILITY(symbol.st_other) == STV_HIDDEN;
  return ElfSymbol{names.substr(symbol.st_name, end - symbol.st_name), symbol.st_value,
                   static_cast<std::uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
                   ELF64_ST_BIND(symbol.st_info) != STB_LOCAL || hidden};
}

// Nothing where something lies outside of the file.
std::optional<std::vector<ElfSymbol>> read_table(std::string_view bytes, const Elf64_Ehdr& header,
                                                 const Elf64_Shdr& table) {
  const auto entries = part(bytes, table);
  const auto strings = section_at(bytes, header, table.sh_link);
  const auto names = strings ? part(bytes, *strings) : std::nullopt;
  if (!entries || !names) return std::nullopt;
  std::vector<ElfSymbol> symbols;
  for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= entries->size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = read_at<Elf64_Sym>(*entries, at);
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_name == 0) continue;
    auto read = as_symbol(*symbol, *names);
    if (!read) return std::nullopt;
    symbols.push_back(*read);
  }
  return symbols;
}

}  // namespace

Result<std::vector<ElfSymbol>> symbols_of_program(std::string_view program, std::string_view file) {
  const auto broken = [&](const char* why) {
    return fail(ErrorId::kProgramUnusable, fmt::format("the symbols of {} cannot be read", file),
                {.where = std::string(file), .why = why});
  };
  const auto header = read_at<Elf64_Ehdr>(program, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr))
    return broken("it is not a 64-bit ELF file");
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = section_at(program, *header, i);
    if (!section) return broken("its sections are cut off");
    if (section->sh_type != SHT_SYMTAB) continue;
    auto symbols = read_table(program, *header, *section);
    if (!symbols) return broken("its symbols are cut off");
    return std::move(*symbols);
  }
  return std::vector<ElfSymbol>();
}

}  // namespace mcpac::execute
