// SPDX-License-Identifier: Apache-2.0

#include "toolchain/runner_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "core/elf.h"

namespace mcpac::toolchain {

struct RunnerSymbols::Entry {
  std::uint64_t address = 0;
  std::uint32_t name = 0;  // where in the names
  std::uint32_t length = 0;
};

namespace {

// The linker's own names: an image has its own of them. And the entry of every program.
constexpr std::array<std::string_view, 22> kOfEveryProgram{"main",
                                                           "_start",
                                                           "_init",
                                                           "_fini",
                                                           "__dso_handle",
                                                           "__ehdr_start",
                                                           "__executable_start",
                                                           "__bss_start",
                                                           "_edata",
                                                           "edata",
                                                           "_etext",
                                                           "etext",
                                                           "_end",
                                                           "end",
                                                           "_DYNAMIC",
                                                           "_GLOBAL_OFFSET_TABLE_",
                                                           "__init_array_start",
                                                           "__init_array_end",
                                                           "__fini_array_start",
                                                           "__fini_array_end",
                                                           "__preinit_array_start",
                                                           "__preinit_array_end"};

// The text of a declaration (templates/mcpac/note.hpp): a note says how far away it lies in its
// own file.
bool is_noted(std::string_view name) {
  return name.starts_with("_ZN5mcpac6detail9note_text");
}

bool has_an_address(const ElfSymbol& symbol) {
  const bool kind = symbol.type == STT_FUNC || symbol.type == STT_OBJECT;
  return symbol.shared && kind && !is_noted(symbol.name) && symbol.address != 0 &&
         !symbol.name.empty() &&
         std::ranges::find(kOfEveryProgram, symbol.name) == kOfEveryProgram.end();
}

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

constexpr std::string_view kSectionNames{"\0.symtab\0.strtab\0.shstrtab\0", 27};

Elf64_Shdr section(std::uint32_t name, std::uint32_t type, std::uint64_t offset,
                   std::uint64_t size) {
  Elf64_Shdr header{};
  header.sh_name = name;
  header.sh_type = type;
  header.sh_offset = offset;
  header.sh_size = size;
  header.sh_addralign = 1;
  return header;
}

}  // namespace

Result<std::vector<ElfSymbol>> symbols_of_program(std::string_view program, std::string_view file) {
  const auto broken = [&](std::string why) {
    return fail(ErrorId::kProgramUnusable, fmt::format("the symbols of {} cannot be read", file),
                {.where = std::string(file), .why = std::move(why)});
  };
  const auto read_at = elf::reader_of(program);
  const auto header = elf::read_header(read_at);
  if (!header) return broken(header.error());
  // Ours: no more than the file has room for.
  const auto sections = elf::read_sections(read_at, *header, program.size());
  if (!sections) return broken(sections.error());
  const auto table = elf::read_symbols(read_at, *sections, program.size(), program.size());
  if (!table) return broken(table.error());
  std::vector<ElfSymbol> symbols;
  for (const Elf64_Sym& symbol : table->symbols) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0) continue;
    const auto name = elf::name_at(table->names, symbol.st_name, table->names.size());
    if (!name) return broken("the name of a symbol is cut off");
    const bool hidden = ELF64_ST_VISIBILITY(symbol.st_other) == STV_HIDDEN;
    symbols.push_back({std::string(*name), symbol.st_value,
                       static_cast<std::uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
                       ELF64_ST_BIND(symbol.st_info) != STB_LOCAL || hidden});
  }
  return symbols;
}

RunnerSymbols::RunnerSymbols(std::string bytes) : bytes_(std::move(bytes)) {
  std::memcpy(&count_, bytes_.data(), sizeof count_);
}

RunnerSymbols RunnerSymbols::of(const std::vector<ElfSymbol>& symbols,
                                const std::function<bool(std::string_view)>& is_library) {
  std::vector<std::pair<std::string_view, std::uint64_t>> sorted;
  for (const ElfSymbol& symbol : symbols) {
    if (has_an_address(symbol) && is_library(symbol.name))
      sorted.emplace_back(symbol.name, symbol.address);
  }
  std::ranges::sort(sorted);
  std::vector<std::pair<std::string_view, std::uint64_t>> unique;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t next = i + 1;
    while (next < sorted.size() && sorted[next].first == sorted[i].first) ++next;
    // Of two things with one name it is ambiguous which is meant.
    if (sorted[next - 1].second == sorted[i].second) unique.push_back(sorted[i]);
    i = next;
  }
  std::string bytes;
  std::string names;
  append(bytes, static_cast<std::uint64_t>(unique.size()));
  for (const auto& [name, address] : unique) {
    append(bytes, Entry{address, static_cast<std::uint32_t>(names.size()),
                        static_cast<std::uint32_t>(name.size())});
    names += name;
  }
  return RunnerSymbols(bytes + names);
}

Result<RunnerSymbols> RunnerSymbols::from_bytes(std::string bytes) {
  std::uint64_t count = 0;
  const bool has_count = bytes.size() >= sizeof count;
  if (has_count) std::memcpy(&count, bytes.data(), sizeof count);
  if (!has_count || count > (bytes.size() - sizeof count) / sizeof(Entry)) {
    return fail(ErrorId::kToolchainMissing, "the cached list of the runner's symbols is cut off",
                {.fix = "remove the mcpac cache folder; it is made again"});
  }
  return RunnerSymbols(std::move(bytes));
}

RunnerSymbols::Entry RunnerSymbols::entry(std::uint64_t index) const {
  Entry entry;
  std::memcpy(&entry, bytes_.data() + sizeof count_ + index * sizeof entry, sizeof entry);
  return entry;
}

// A name that would lie outside is none.
std::string_view RunnerSymbols::name_of(const Entry& entry) const {
  const auto names = std::string_view(bytes_).substr(sizeof count_ + count_ * sizeof(Entry));
  return entry.name > names.size() ? std::string_view() : names.substr(entry.name, entry.length);
}

std::optional<std::uint64_t> RunnerSymbols::find(std::string_view name) const {
  std::uint64_t low = 0;
  std::uint64_t high = count_;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const Entry found = entry(middle);
    const auto order = name_of(found) <=> name;
    if (order == 0) return found.address;
    (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
  }
  return std::nullopt;
}

std::string source_of_chosen(const std::vector<ElfSymbol>& symbols) {
  std::set<std::string_view> names;
  for (const ElfSymbol& symbol : symbols) {
    const bool plain = symbol.name.find_first_of("\"\\\n@") == std::string_view::npos;
    if (symbol.type == STT_GNU_IFUNC && symbol.shared && plain) names.insert(symbol.name);
  }
  // Where the address of such a function is taken, the linker gives it a stub that all callers use.
  std::string text = "__asm__(\".pushsection .data.rel.ro.mcpac,\\\"aw\\\"\\n\"\n";
  for (const auto name : names) text += fmt::format("        \".quad {}\\n\"\n", name);
  return text + "        \".popsection\\n\");\n";
}

std::string object_of_addresses(
    const std::vector<std::pair<std::string_view, std::uint64_t>>& names) {
  std::string symbols(sizeof(Elf64_Sym), '\0');
  std::string strings(1, '\0');
  for (const auto& [name, address] : names) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    symbol.st_shndx = SHN_ABS;
    symbol.st_value = address;
    append(symbols, symbol);
    strings.append(name).push_back('\0');
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 3;
  header.e_shoff = sizeof header;
  const std::uint64_t at_symbols = sizeof header + 4 * sizeof(Elf64_Shdr);
  Elf64_Shdr table = section(1, SHT_SYMTAB, at_symbols, symbols.size());
  table.sh_link = 2;
  table.sh_info = 1;  // the first that is not local
  table.sh_entsize = sizeof(Elf64_Sym);
  table.sh_addralign = 8;
  std::string bytes;
  append(bytes, header);
  append(bytes, Elf64_Shdr{});
  append(bytes, table);
  append(bytes, section(9, SHT_STRTAB, at_symbols + symbols.size(), strings.size()));
  append(bytes, section(17, SHT_STRTAB, at_symbols + symbols.size() + strings.size(),
                        kSectionNames.size()));
  return bytes.append(symbols).append(strings).append(kSectionNames);
}

}  // namespace mcpac::toolchain
