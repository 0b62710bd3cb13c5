// SPDX-License-Identifier: Apache-2.0

#include "analyzer/object_file.h"

#include <fmt/format.h>

#include <optional>

namespace mcpac::analyzer {
namespace {

// A program of a thousand lines that uses every header has 10,000 sections (one or three a
// function), as many symbols, and 5 MB of names. Ten times that is no program that a person reads.
constexpr std::uint64_t kMaxSections = 200'000;
constexpr std::uint64_t kMaxSymbols = 400'000;
constexpr std::uint64_t kMaxNames = std::uint64_t{64} << 20U;
constexpr std::uint64_t kMaxEarly = 100'000;

// Templates have long names, but not this long; and many symbols may share one name of the table.
constexpr std::size_t kMaxName = std::size_t{64} << 10U;

class Reader {
 public:
  Reader(const elf::ReadAt& read_at, std::string_view file) : read_at_(read_at), file_(file) {}
  Result<ObjectFile> all();

 private:
  [[nodiscard]] std::unexpected<Error> broken(std::string why) const {
    return fail(ErrorId::kProgramUnusable,
                fmt::format("the object file of {} cannot be read", file_),
                {.where = std::string(file_), .why = std::move(why)});
  }
  // The name at this place; nothing where the table does not hold it, or what all names together
  // may have is used up.
  std::optional<std::string_view> name_at(std::string_view names, std::uint64_t at);
  Result<void> name_sections();
  Result<void> read_symbols();
  Result<void> read_early();

  const elf::ReadAt& read_at_;
  std::string_view file_;
  elf::Sections sections_;
  std::uint64_t room_ = kMaxNames;  // for names, counted once for everything that has them
  ObjectFile object_;
};

std::optional<std::string_view> Reader::name_at(std::string_view names, std::uint64_t at) {
  const auto name = elf::name_at(names, at, kMaxName);
  if (!name || name->size() > room_) return std::nullopt;
  room_ -= name->size();
  return name;
}

Result<void> Reader::name_sections() {
  auto names = elf::read_names(read_at_, sections_, sections_.names, kMaxNames);
  if (!names) return broken(names.error());
  object_.section_names = std::make_unique<std::string>(std::move(*names));
  for (const Elf64_Shdr& header : sections_.headers) {
    const auto name = name_at(*object_.section_names, header.sh_name);
    if (!name) return broken("the name of a section is cut off");
    object_.sections.push_back({*name, header.sh_type, header.sh_flags});
  }
  return {};
}

Result<void> Reader::read_symbols() {
  auto table = elf::read_symbols(read_at_, sections_, kMaxSymbols, kMaxNames);
  if (!table) return broken(table.error());
  object_.symbol_names = std::make_unique<std::string>(std::move(table->names));
  for (std::size_t i = 0; i < table->symbols.size(); ++i) {
    const Elf64_Sym& symbol = table->symbols[i];
    const auto name = name_at(*object_.symbol_names, symbol.st_name);
    if (!name) return broken("the name of a symbol is cut off");
    object_.symbols.push_back({*name, static_cast<std::uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
                               static_cast<std::uint8_t>(ELF64_ST_BIND(symbol.st_info)),
                               table->sections[i]});
  }
  return {};
}

Result<void> Reader::read_early() {
  for (const Elf64_Shdr& header : sections_.headers) {
    if (header.sh_type != SHT_RELA && header.sh_type != SHT_REL) continue;
    if (header.sh_info >= object_.sections.size()) return broken("a relocation is for no section");
    if (!runs_early(object_.sections[header.sh_info])) continue;
    if (header.sh_type == SHT_REL) return broken("its relocations are of no usual form");
    const auto pointers =
        elf::read_table<Elf64_Rela>(read_at_, header.sh_offset, header.sh_size, kMaxEarly);
    if (!pointers || object_.early.size() + pointers->size() > kMaxEarly)
      return broken("it has more initialisers than programs have");
    for (const Elf64_Rela& pointer : *pointers) {
      const std::uint64_t symbol = ELF64_R_SYM(pointer.r_info);
      if (symbol >= object_.symbols.size()) return broken("a relocation is to no symbol");
      object_.early.push_back(static_cast<std::uint32_t>(symbol));
    }
  }
  return {};
}

Result<ObjectFile> Reader::all() {
  const auto header = elf::read_header(read_at_);
  if (!header) return broken(header.error());
  if (header->e_type != ET_REL) return broken("it is not an object file");
  auto sections = elf::read_sections(read_at_, *header, kMaxSections);
  if (!sections) return broken(sections.error());
  sections_ = std::move(*sections);
  if (auto ok = name_sections(); !ok) return pass_on(ok);
  if (auto ok = read_symbols(); !ok) return pass_on(ok);
  if (auto ok = read_early(); !ok) return pass_on(ok);
  return std::move(object_);
}

}  // namespace

bool runs_early(const ObjectSection& section) {
  return section.type == SHT_INIT_ARRAY || section.type == SHT_FINI_ARRAY ||
         section.type == SHT_PREINIT_ARRAY;
}

Result<ObjectFile> read_object(const elf::ReadAt& read_at, std::string_view file) {
  return Reader(read_at, file).all();
}

}  // namespace mcpac::analyzer
