#include "analyzer/object_file.h"

#include <fmt/format.h>

#include <cstring>
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

// The text from `at` to its NUL; nothing where the table does not hold it, or what all names
// together may have (`room`) is used up.
std::optional<std::string_view> name_at(std::string_view names, std::uint64_t at,
                                        std::uint64_t& room) {
  if (at >= names.size()) return std::nullopt;
  const auto end = names.substr(at, kMaxName).find('\0');
  if (end == std::string_view::npos || end > room) return std::nullopt;
  room -= end;
  return names.substr(at, end);
}

class Reader {
 public:
  Reader(const ReadAt& read_at, std::string_view file) : read_at_(read_at), file_(file) {}
  Result<ObjectFile> all();

 private:
  [[nodiscard]] std::unexpected<Error> broken(std::string why) const {
    return fail(ErrorId::kProgramUnusable,
                fmt::format("the object file of {} cannot be read", file_),
                {.where = std::string(file_), .why = std::move(why)});
  }
  // The entries of a table; nothing where it is not of that form, too long or cut off.
  template <class T>
  std::optional<std::vector<T>> table(std::uint64_t offset, std::uint64_t bytes,
                                      std::uint64_t most) const {
    if (bytes % sizeof(T) != 0 || bytes / sizeof(T) > most) return std::nullopt;
    std::vector<T> entries(bytes / sizeof(T));
    if (!read_at_(offset, std::as_writable_bytes(std::span(entries)))) return std::nullopt;
    return entries;
  }
  Result<void> read_sections();
  Result<std::unique_ptr<std::string>> read_names(std::uint64_t section) const;
  Result<void> name_sections();
  Result<void> read_symbols();
  Result<void> read_early();
  const Elf64_Shdr* section_of_type(std::uint32_t type) const;

  const ReadAt& read_at_;
  std::string_view file_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> headers_;
  std::uint64_t names_section_ = 0;
  std::uint64_t room_ = kMaxNames;  // for names, counted once for everything that has them
  ObjectFile object_;
};

const Elf64_Shdr* Reader::section_of_type(std::uint32_t type) const {
  for (const Elf64_Shdr& header : headers_) {
    if (header.sh_type == type) return &header;
  }
  return nullptr;
}

Result<void> Reader::read_sections() {
  if (header_.e_shentsize != sizeof(Elf64_Shdr)) return broken("its sections are of no usual form");
  // Counts that do not fit the header stand in the first section (gABI, "Sections").
  Elf64_Shdr first{};
  if (!read_struct(read_at_, header_.e_shoff, first)) return broken("its sections are cut off");
  const std::uint64_t count = header_.e_shnum != 0 ? header_.e_shnum : first.sh_size;
  names_section_ = header_.e_shstrndx == SHN_XINDEX ? first.sh_link : header_.e_shstrndx;
  if (count > kMaxSections) return broken("it has more sections than programs have");
  auto headers = table<Elf64_Shdr>(header_.e_shoff, count * sizeof(Elf64_Shdr), kMaxSections);
  if (!headers) return broken("its sections are cut off");
  headers_ = std::move(*headers);
  return {};
}

Result<std::unique_ptr<std::string>> Reader::read_names(std::uint64_t section) const {
  if (section >= headers_.size() || headers_[section].sh_type != SHT_STRTAB)
    return broken("its names are of no usual form");
  const auto text = table<char>(headers_[section].sh_offset, headers_[section].sh_size, kMaxNames);
  if (!text) return broken("its names are cut off, or longer than names of programs are");
  return std::make_unique<std::string>(text->begin(), text->end());
}

Result<void> Reader::name_sections() {
  auto names = read_names(names_section_);
  if (!names) return pass_on(names);
  object_.section_names = std::move(*names);
  for (const Elf64_Shdr& header : headers_) {
    const auto name = name_at(*object_.section_names, header.sh_name, room_);
    if (!name) return broken("the name of a section is cut off");
    object_.sections.push_back({*name, header.sh_type, header.sh_flags});
  }
  return {};
}

Result<void> Reader::read_symbols() {
  const Elf64_Shdr* place = section_of_type(SHT_SYMTAB);
  if (place == nullptr) return {};  // crtn.o has none
  auto names = read_names(place->sh_link);
  if (!names) return pass_on(names);
  object_.symbol_names = std::move(*names);
  const auto symbols = table<Elf64_Sym>(place->sh_offset, place->sh_size, kMaxSymbols);
  if (!symbols) return broken("its symbols are cut off, or more than programs have");
  // Section numbers from 65,280 on stand in a table of their own.
  std::vector<std::uint32_t> far;
  if (const Elf64_Shdr* more = section_of_type(SHT_SYMTAB_SHNDX)) {
    auto indices = table<std::uint32_t>(more->sh_offset, more->sh_size, kMaxSymbols);
    if (!indices || indices->size() != symbols->size())
      return broken("its section numbers are cut off");
    far = std::move(*indices);
  }
  for (std::size_t i = 0; i < symbols->size(); ++i) {
    const Elf64_Sym& symbol = (*symbols)[i];
    const auto name = name_at(*object_.symbol_names, symbol.st_name, room_);
    if (!name) return broken("the name of a symbol is cut off");
    std::uint32_t section = symbol.st_shndx;
    if (section == SHN_XINDEX) {
      if (far.empty()) return broken("a symbol stands in no section");
      section = far[i];
    }
    object_.symbols.push_back({*name, static_cast<std::uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
                               static_cast<std::uint8_t>(ELF64_ST_BIND(symbol.st_info)), section});
  }
  return {};
}

Result<void> Reader::read_early() {
  for (const Elf64_Shdr& header : headers_) {
    if (header.sh_type != SHT_RELA && header.sh_type != SHT_REL) continue;
    if (header.sh_info >= object_.sections.size()) return broken("a relocation is for no section");
    if (!runs_early(object_.sections[header.sh_info])) continue;
    if (header.sh_type == SHT_REL) return broken("its relocations are of no usual form");
    const auto pointers = table<Elf64_Rela>(header.sh_offset, header.sh_size, kMaxEarly);
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
  const auto header = read_elf_header(read_at_);
  if (!header) return broken(header.error());
  header_ = *header;
  if (header_.e_type != ET_REL) return broken("it is not an object file");
  if (auto ok = read_sections(); !ok) return pass_on(ok);
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

Result<ObjectFile> read_object(const ReadAt& read_at, std::string_view file) {
  return Reader(read_at, file).all();
}

}  // namespace mcpac::analyzer
