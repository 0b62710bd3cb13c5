#include "analyzer/elf_header.h"

#include <cstring>

namespace mcpac::analyzer {

std::expected<Elf64_Ehdr, std::string> read_elf_header(const ReadAt& read_at) {
  Elf64_Ehdr header{};
  if (!read_struct(read_at, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return std::unexpected("it is not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64)
    return std::unexpected("it is not for 64-bit x86");
  return header;
}

}  // namespace mcpac::analyzer
