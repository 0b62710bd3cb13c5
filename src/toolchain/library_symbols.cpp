// SPDX-License-Identifier: Apache-2.0

#include "toolchain/library_symbols.h"

#include <ar.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <system_error>

#include "analyzer/object_file.h"
#include "core/file.h"
#include "toolchain/toolchain.h"

namespace mcpac::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLibrary = std::size_t{256} << 20U;

// FNV-1a, 64 bits: nothing here needs a collision-resistant hash (see the header).
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

std::unexpected<Error> unreadable(const fs::path& file, std::string_view why) {
  return fail(ErrorId::kToolchainMissing, fmt::format("cannot read {}", file.string()),
              {.where = file.string(), .why = std::string(why)});
}

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8U | static_cast<unsigned char>(c);
  return value;
}

// The first member of an archive is its index (ar(5), "symbol table"): a count, as many offsets,
// and the names that its members define.
Result<void> add_archive(const fs::path& file, std::string_view bytes,
                         std::vector<std::uint64_t>& hashes) {
  constexpr std::size_t kStart = SARMAG + sizeof(ar_hdr);
  if (bytes.size() < kStart + 4 || bytes[SARMAG] != '/' || bytes[SARMAG + 1] != ' ')
    return unreadable(file, "it is an archive without an index");
  const std::string_view index = bytes.substr(kStart);
  const std::uint64_t count = big_endian(index);
  if (index.size() < 4 + count * 4) return unreadable(file, "its index is cut off");
  std::string_view names = index.substr(4 + count * 4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto end = names.find('\0');
    if (end == std::string_view::npos) return unreadable(file, "its index is cut off");
    hashes.push_back(hash_of(names.substr(0, end)));
    names.remove_prefix(end + 1);
  }
  return {};
}

Result<void> add_object(const fs::path& file, std::string_view bytes,
                        std::vector<std::uint64_t>& hashes) {
  const auto object = analyzer::read_object(elf::reader_of(bytes), file.string());
  if (!object) return unreadable(file, object.error().why);
  for (const auto& symbol : object->symbols) {
    if (symbol.section != 0 && symbol.binding != STB_LOCAL) hashes.push_back(hash_of(symbol.name));
  }
  return {};
}

// libm.a is a text that names two archives (ld's GROUP).
std::vector<fs::path> named_in_script(std::string_view text) {
  std::vector<fs::path> files;
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at)) {
    const std::size_t end = std::min(text.find_first_of(" \n\t)", at), text.size());
    const auto word = text.substr(at, end - at);
    if (word.ends_with(".a")) files.emplace_back(word);
    at = end;
  }
  return files;
}

Result<void> add_file(const fs::path& file, std::vector<std::uint64_t>& hashes, int depth = 0) {
  const auto bytes = read_file(file, kMaxLibrary);
  if (!bytes) return unreadable(file, bytes.error().what);
  if (bytes->starts_with(ARMAG)) return add_archive(file, *bytes, hashes);
  if (bytes->starts_with(ELFMAG)) return add_object(file, *bytes, hashes);
  if (depth > 0) return unreadable(file, "it is neither a library nor an object");
  for (const auto& named : named_in_script(*bytes)) {
    if (auto added = add_file(named, hashes, depth + 1); !added) return added;
  }
  return {};
}

// The file that ld takes for -lNAME in a static link: the first in the order of -L.
fs::path find_library(std::string_view name, const std::vector<fs::path>& folders) {
  for (const auto& folder : folders) {
    const fs::path file = folder / fmt::format("lib{}.a", name);
    std::error_code error;
    if (fs::is_regular_file(file, error)) return file;
  }
  return {};
}

}  // namespace

LibrarySymbols::LibrarySymbols(std::vector<std::uint64_t> hashes) : hashes_(std::move(hashes)) {
  std::ranges::sort(hashes_);
  const auto repeated = std::ranges::unique(hashes_);
  hashes_.erase(repeated.begin(), repeated.end());
}

Result<LibrarySymbols> LibrarySymbols::of_link(const std::vector<std::string>& link,
                                               const fs::path& runtime_object) {
  std::vector<std::uint64_t> hashes;
  std::vector<fs::path> folders;
  for (const std::string& word : link) {
    if (word.starts_with("-L")) folders.emplace_back(word.substr(2));
  }
  for (const std::string& word : link) {
    fs::path file;
    if (word.starts_with("-l")) {
      file = find_library(std::string_view(word).substr(2), folders);
      if (file.empty()) return unreadable(word, "no such library is where the linker looks");
    } else if (word.ends_with(".o") && !word.starts_with(inside::kOutput)) {
      file = word.starts_with(inside::kPrepared) ? runtime_object : fs::path(word);
    } else {
      continue;
    }
    if (auto added = add_file(file, hashes); !added) return pass_on(added);
  }
  return LibrarySymbols(std::move(hashes));
}

Result<LibrarySymbols> LibrarySymbols::from_bytes(std::string_view bytes) {
  if (bytes.empty() || bytes.size() % sizeof(std::uint64_t) != 0) {
    return fail(ErrorId::kToolchainMissing, "the cached list of symbols cannot be read",
                {.fix = "remove the mcpac cache folder; it is made again"});
  }
  std::vector<std::uint64_t> hashes(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(hashes.data(), bytes.data(), bytes.size());
  return LibrarySymbols(std::move(hashes));
}

std::string LibrarySymbols::to_bytes() const {
  std::string bytes(hashes_.size() * sizeof(std::uint64_t), '\0');
  std::memcpy(bytes.data(), hashes_.data(), bytes.size());
  return bytes;
}

bool LibrarySymbols::contains(std::string_view symbol) const {
  return std::ranges::binary_search(hashes_, hash_of(symbol));
}

}  // namespace mcpac::toolchain
