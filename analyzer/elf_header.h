// ElfHeader: the first bytes of an ELF file that somebody else made, checked, for readers of the
// rest (binary_note, object_file). Readers of our own because what we look at is a few small
// structures, while a general ELF library in the host's process would read far more of the file.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>

namespace mcpac::analyzer {

// Bytes of a file by their place; false where they are not all there.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> into)>;

template <class T>
[[nodiscard]] bool read_struct(const ReadAt& read_at, std::uint64_t offset, T& into) {
  return read_at(offset, std::as_writable_bytes(std::span(&into, 1)));
}

// The header of a 64-bit x86 file; otherwise why it is none, as half a sentence.
[[nodiscard]] std::expected<Elf64_Ehdr, std::string> read_elf_header(const ReadAt& read_at);

}  // namespace mcpac::analyzer
