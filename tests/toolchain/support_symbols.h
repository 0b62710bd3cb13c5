// Symbol tables that no linker makes, for whoever reads those of strangers.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace mcpac::testing {

template <class Value>
std::string bytes_of(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The ELF file with other symbols than it had: `tables` tables (the same), each with `symbols`
// functions at one place, 0x1000 and up, whose name has `name` bytes.
inline std::string with_symbols(std::string file, std::size_t symbols, std::size_t name,
                                std::uint16_t tables) {
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
  symbol.st_shndx = 1;
  symbol.st_value = 0x1000;
  symbol.st_size = 0x1000'0000;
  Elf64_Shdr strings{};
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = file.size();
  strings.sh_size = name + 2;
  Elf64_Shdr table{};
  table.sh_type = SHT_SYMTAB;
  table.sh_offset = strings.sh_offset + strings.sh_size;
  table.sh_size = symbols * sizeof symbol;
  Elf64_Ehdr header{};
  std::memcpy(&header, file.data(), sizeof header);
  header.e_shoff = table.sh_offset + table.sh_size;
  header.e_shnum = static_cast<std::uint16_t>(tables + 1);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shstrndx = 0;
  file.replace(0, sizeof header, bytes_of(header));
  file += '\0' + std::string(name, 'a') + '\0';
  for (std::size_t i = 0; i < symbols; ++i) file += bytes_of(symbol);
  file += bytes_of(strings);
  for (std::uint16_t i = 0; i < tables; ++i) file += bytes_of(table);
  return file;
}

}  // namespace mcpac::testing
