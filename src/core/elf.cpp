// SPDX-License-Identifier: Apache-2.0

#include "core/elf.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace mcpac::elf {

ReadAt reader_of(std::string_view bytes) {
  return [bytes](std::uint64_t offset, std::span<std::byte> into) {
    if (offset > bytes.size() || into.size() > bytes.size() - offset) return false;
    if (!into.empty()) std::memcpy(into.data(), bytes.data() + offset, into.size());
    return true;
  };
}

ReadAt reader_of(int fd) {
  return [fd](std::uint64_t offset, std::span<std::byte> into) {
    return offset <= std::uint64_t{INT64_MAX} &&
           ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(into.size());
  };
}

bool has_magic(const ReadAt& read_at) {
  std::array<char, SELFMAG> magic{};
  return read_struct(read_at, 0, magic) && std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
}

Read<Elf64_Ehdr> read_header(const ReadAt& read_at) {
  Elf64_Ehdr header{};
  if (!has_magic(read_at) || !read_struct(read_at, 0, header))
    return std::unexpected("it is not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64)
    return std::unexpected("it is not for 64-bit x86");
  return header;
}

Read<std::vector<Elf64_Phdr>> read_segments(const ReadAt& read_at, const Elf64_Ehdr& header,
                                            std::uint64_t most) {
  if (header.e_phnum == 0) return std::vector<Elf64_Phdr>();
  if (header.e_phnum > most || header.e_phentsize != sizeof(Elf64_Phdr))
    return std::unexpected("its program headers are of no usual form");
  auto segments =
      read_table<Elf64_Phdr>(read_at, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), most);
  if (!segments) return std::unexpected("its program headers are cut off");
  return std::move(*segments);
}

const Elf64_Shdr* Sections::of_type(std::uint32_t type) const {
  const auto found = std::ranges::find(headers, type, &Elf64_Shdr::sh_type);
  return found == headers.end() ? nullptr : &*found;
}

Read<Sections> read_sections(const ReadAt& read_at, const Elf64_Ehdr& header, std::uint64_t most) {
  if (header.e_shoff == 0) return Sections();
  if (header.e_shentsize != sizeof(Elf64_Shdr))
    return std::unexpected("its sections are of no usual form");
  Elf64_Shdr first{};
  if (!read_struct(read_at, header.e_shoff, first))
    return std::unexpected("its sections are cut off");
  const std::uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  if (count > most) return std::unexpected("it has more sections than programs have");
  auto headers = read_table<Elf64_Shdr>(read_at, header.e_shoff, count * sizeof(Elf64_Shdr), most);
  if (!headers) return std::unexpected("its sections are cut off");
  return Sections{std::move(*headers),
                  header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx};
}

Read<std::string> read_names(const ReadAt& read_at, const Sections& sections, std::uint64_t section,
                             std::uint64_t most) {
  if (section >= sections.headers.size() || sections.headers[section].sh_type != SHT_STRTAB)
    return std::unexpected("its names are of no usual form");
  const Elf64_Shdr& place = sections.headers[section];
  std::string names;
  if (place.sh_size <= most) names.resize(place.sh_size);
  if (place.sh_size > most ||
      !read_at(place.sh_offset, std::as_writable_bytes(std::span(names.data(), names.size()))))
    return std::unexpected("its names are cut off, or longer than names of programs are");
  return names;
}

std::optional<std::string_view> name_at(std::string_view names, std::uint64_t at,
                                        std::uint64_t most) {
  if (at >= names.size()) return std::nullopt;
  const auto end = names.substr(at, most).find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return names.substr(at, end);
}

Read<SymbolTable> read_symbols(const ReadAt& read_at, const Sections& sections,
                               std::uint64_t most_symbols, std::uint64_t most_name_bytes) {
  SymbolTable table;
  const Elf64_Shdr* place = sections.of_type(SHT_SYMTAB);
  if (place == nullptr) return table;  // crtn.o has none
  auto names = read_names(read_at, sections, place->sh_link, most_name_bytes);
  if (!names) return std::unexpected(names.error());
  table.names = std::move(*names);
  auto symbols = read_table<Elf64_Sym>(read_at, place->sh_offset, place->sh_size, most_symbols);
  if (!symbols) return std::unexpected("its symbols are cut off, or more than programs have");
  table.symbols = std::move(*symbols);
  // Section numbers from 65,280 on stand in a table of their own.
  std::optional<std::vector<std::uint32_t>> far;
  if (const Elf64_Shdr* more = sections.of_type(SHT_SYMTAB_SHNDX)) {
    far = read_table<std::uint32_t>(read_at, more->sh_offset, more->sh_size, most_symbols);
    if (!far || far->size() != table.symbols.size())
      return std::unexpected("its section numbers are cut off");
  }
  table.sections.reserve(table.symbols.size());
  for (std::size_t i = 0; i < table.symbols.size(); ++i) {
    const bool is_far = table.symbols[i].st_shndx == SHN_XINDEX;
    if (is_far && !far) return std::unexpected("a symbol stands in no section");
    table.sections.push_back(is_far ? (*far)[i] : table.symbols[i].st_shndx);
  }
  return table;
}

}  // namespace mcpac::elf
