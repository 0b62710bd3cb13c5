// Images for a runner as tests write them (toolchain/image_file.h).
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "toolchain/image_file.h"

namespace mcpac::toolchain::testing {

// The smallest image: headers and lists in one segment, code in the next, variables in a third.
struct ImageBytes {
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  std::uint64_t table[5] = {toolchain::kImageBegin + 0x1000, toolchain::kImageBegin + 0x400,
                            toolchain::kImageBegin + 0x408, toolchain::kImageBegin + 0x408,
                            toolchain::kImageBegin + 0x408};

  ImageBytes() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_EXEC;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_entry = toolchain::kImageBegin + 0x300;
    segments = {load(0, toolchain::kImageBegin, 0x1000, 0x1000, PF_R),
                load(0x1000, toolchain::kImageBegin + 0x1000, 0x100, 0x100, PF_R | PF_X),
                load(0x2000, toolchain::kImageBegin + 0x2000, 0x100, 0x5000, PF_R | PF_W)};
  }
  static Elf64_Phdr load(std::uint64_t offset, std::uint64_t address, std::uint64_t in_file,
                         std::uint64_t in_memory, std::uint32_t flags) {
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = flags;
    segment.p_offset = offset;
    segment.p_vaddr = address;
    segment.p_filesz = in_file;
    segment.p_memsz = in_memory;
    return segment;
  }
  void add(std::uint32_t type) {
    Elf64_Phdr segment = load(0, toolchain::kImageBegin, 0x100, 0x100, PF_R);
    segment.p_type = type;
    segments.push_back(segment);
  }
  [[nodiscard]] std::string bytes() const {
    std::string text(0x2100, '\0');
    Elf64_Ehdr first = header;
    if (first.e_phnum == 0) first.e_phnum = static_cast<Elf64_Half>(segments.size());
    std::memcpy(text.data(), &first, sizeof first);
    std::memcpy(text.data() + sizeof first, segments.data(), segments.size() * sizeof(Elf64_Phdr));
    std::memcpy(text.data() + 0x300, table, sizeof table);
    return text;
  }
};

}  // namespace mcpac::toolchain::testing
