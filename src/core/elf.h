// SPDX-License-Identifier: Apache-2.0

// Bounds-checked reading of untrusted 64-bit x86 ELF files: header, segments,
// sections and symbols.
//
// Every offset, count and size is held against the file and against the caller's limit. A reader of
// our own, since what is read is a few small structures, while a general ELF library in the host's
// process would read far more of a hostile file. Refusals are half a sentence ("it is not …") for
// the caller's error.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac::elf {

template <class T>
using Read = std::expected<T, std::string>;

// Fills `into` with the file's bytes from `offset` on; false where they are not all there.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> into)>;

// Of bytes that outlive the reader.
[[nodiscard]] ReadAt reader_of(std::string_view bytes);
// Of an open file, by pread; the descriptor stays the caller's.
[[nodiscard]] ReadAt reader_of(int fd);

template <class T>
[[nodiscard]] bool read_struct(const ReadAt& read_at, std::uint64_t offset, T& into) {
  return read_at(offset, std::as_writable_bytes(std::span(&into, 1)));
}

// The entries of a table of `size` bytes. Nothing where it is cut off, has more than `most`
// entries, or is no multiple of an entry.
template <class T>
[[nodiscard]] std::optional<std::vector<T>> read_table(const ReadAt& read_at, std::uint64_t offset,
                                                       std::uint64_t size, std::uint64_t most) {
  if (size % sizeof(T) != 0 || size / sizeof(T) > most) return std::nullopt;
  std::vector<T> entries(size / sizeof(T));
  if (!read_at(offset, std::as_writable_bytes(std::span(entries)))) return std::nullopt;
  return entries;
}

// Whether the file begins as an ELF file does.
[[nodiscard]] bool has_magic(const ReadAt& read_at);
[[nodiscard]] Read<Elf64_Ehdr> read_header(const ReadAt& read_at);
[[nodiscard]] Read<std::vector<Elf64_Phdr>> read_segments(const ReadAt& read_at,
                                                          const Elf64_Ehdr& header,
                                                          std::uint64_t most);

struct Sections {
  std::vector<Elf64_Shdr> headers;
  std::uint64_t names = 0;  // index of the section with their names

  // The first of this type (SHT_…); null: there is none.
  [[nodiscard]] const Elf64_Shdr* of_type(std::uint32_t type) const;
};
// None where the header names no table. Counts that do not fit the header are read from the first
// section (gABI, "Sections").
[[nodiscard]] Read<Sections> read_sections(const ReadAt& read_at, const Elf64_Ehdr& header,
                                           std::uint64_t most);
// The bytes of a section of names (SHT_STRTAB).
[[nodiscard]] Read<std::string> read_names(const ReadAt& read_at, const Sections& sections,
                                           std::uint64_t section, std::uint64_t most);
// The text from `at` to its NUL, of at most `most` bytes; nothing where the table does not hold it.
[[nodiscard]] std::optional<std::string_view> name_at(std::string_view names, std::uint64_t at,
                                                      std::uint64_t most);

struct SymbolTable {
  std::vector<Elf64_Sym> symbols;
  std::vector<std::uint32_t> sections;  // of each symbol; SHN_UNDEF: defined elsewhere
  std::string names;
};
// The first symbol table (SHT_SYMTAB); an empty one where the file has none.
[[nodiscard]] Read<SymbolTable> read_symbols(const ReadAt& read_at, const Sections& sections,
                                             std::uint64_t most_symbols,
                                             std::uint64_t most_name_bytes);

}  // namespace mcpac::elf
