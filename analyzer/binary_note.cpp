// SPDX-License-Identifier: Apache-2.0

#include "analyzer/binary_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <tuple>

#include "core/characters.h"
#include "core/permission.h"

namespace mcpac::analyzer {
namespace {

// Compilers write about ten segments, and notes of some hundred bytes; a program that declares
// every tool of a hundred servers has 100 KB of names. Beyond these a file is made to be slow.
constexpr std::size_t kMaxSegments = 1'000;
constexpr std::uint64_t kMaxNoteBytes = std::uint64_t{1} << 20U;  // all notes of a file
constexpr std::uint64_t kMaxText = std::uint64_t{4} << 20U;       // all names of a file
constexpr std::size_t kMaxWhere = 4'096;                          // the text of one Narrow
constexpr std::size_t kMaxDeclared = 4'096;                       // each is checked as a rule is

constexpr std::string_view kOwner{"mcpac\0", 6};
constexpr std::uint32_t kDeclares = 1;

// What the note's description holds; the distance counts from its own place.
struct Description {
  std::int64_t distance;
  std::uint64_t size;
};

struct Segment {
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // in the file
};

// What stands here goes into messages, rules and records, so it is one line of
// UTF-8 that a reader sees whole.
bool is_plain_text(std::string_view text) {
  return !has_invisible(text);
}

// Where `size` bytes from `address` on stand in the file, if one segment holds them all.
std::optional<std::uint64_t> offset_of(const std::vector<Segment>& loaded, std::uint64_t address,
                                       std::uint64_t size) {
  for (const Segment& segment : loaded) {
    if (address < segment.address || address - segment.address > segment.size) continue;
    if (size > segment.size - (address - segment.address)) continue;
    return segment.offset + (address - segment.address);
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const elf::ReadAt& read_at, std::string_view file) : read_at_(read_at), file_(file) {}

  Result<std::optional<std::vector<Declared>>> all();

 private:
  [[nodiscard]] std::unexpected<Error> broken(std::string why) const {
    return fail(ErrorId::kProgramUnusable, fmt::format("{} cannot be read as a program", file_),
                {.where = std::string(file_), .why = std::move(why)});
  }
  Result<void> read_segments();
  Result<void> read_notes(const Segment& segment);
  Result<void> read_note(std::uint64_t address, const Elf64_Nhdr& header, std::string_view owner,
                         std::string_view description);
  Result<void> read_text(std::string_view text);

  const elf::ReadAt& read_at_;
  std::string_view file_;
  std::vector<Segment> loaded_;
  std::vector<Segment> notes_;
  std::uint64_t note_bytes_left_ = kMaxNoteBytes;
  std::uint64_t text_left_ = kMaxText;
  bool declares_ = false;
  std::vector<Declared> declared_;
};

Result<void> Reader::read_segments() {
  const auto header = elf::read_header(read_at_);
  if (!header) return broken(header.error());
  if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
    return broken("it is not linked; the names stand in the linked program");
  const auto segments = elf::read_segments(read_at_, *header, kMaxSegments);
  if (!segments) return broken(segments.error());
  for (const Elf64_Phdr& segment : *segments) {
    const Segment found{segment.p_offset, segment.p_vaddr, segment.p_filesz};
    if (segment.p_type == PT_LOAD) loaded_.push_back(found);
    // Notes with 8-byte padding are GNU properties; ours have 4, and share a segment only with
    // such.
    if (segment.p_type == PT_NOTE && segment.p_align != 8) notes_.push_back(found);
  }
  return {};
}

Result<void> Reader::read_notes(const Segment& segment) {
  if (segment.size > note_bytes_left_) return broken("its notes are larger than notes are");
  note_bytes_left_ -= segment.size;
  std::string bytes(segment.size, '\0');
  if (!read_at_(segment.offset, std::as_writable_bytes(std::span(bytes))))
    return broken("its notes are cut off");
  const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  std::uint64_t at = 0;
  while (bytes.size() - at >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header{};
    std::memcpy(&header, bytes.data() + at, sizeof header);
    at += sizeof header;
    const std::uint64_t whole = padded(header.n_namesz) + header.n_descsz;
    if (whole > bytes.size() - at) return broken("a note is longer than its place");
    const std::string_view view(bytes);
    const auto start = at + padded(header.n_namesz);
    if (auto ok = read_note(segment.address + start, header, view.substr(at, header.n_namesz),
                            view.substr(start, header.n_descsz));
        !ok)
      return ok;
    at = std::min<std::uint64_t>(at + padded(header.n_namesz) + padded(header.n_descsz),
                                 bytes.size());
  }
  return {};
}

Result<void> Reader::read_note(std::uint64_t address, const Elf64_Nhdr& header,
                               std::string_view owner, std::string_view description) {
  if (owner != kOwner) return {};
  if (header.n_type != kDeclares || description.size() != sizeof(Description))
    return broken("its mcpac note is of a form that this mcpac does not know");
  Description place{};
  std::memcpy(&place, description.data(), sizeof place);
  declares_ = true;
  if (place.size == 0) return {};
  if (place.size > text_left_) return broken("its mcpac note is longer than declarations are");
  text_left_ -= place.size;
  const auto offset =
      offset_of(loaded_, address + static_cast<std::uint64_t>(place.distance), place.size);
  std::string text(place.size, '\0');
  if (!offset || !read_at_(*offset, std::as_writable_bytes(std::span(text))))
    return broken("its mcpac note points outside of the program");
  return read_text(text);
}

// "server.tool", NUL, the text of a Narrow or nothing, NUL; and so on.
Result<void> Reader::read_text(std::string_view text) {
  const auto next = [&text]() -> std::optional<std::string_view> {
    const auto end = text.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    const auto part = text.substr(0, end);
    text.remove_prefix(end + 1);
    return part;
  };
  while (!text.empty()) {
    const auto name = next();
    const auto where = name ? next() : std::nullopt;
    if (!where) return broken("its mcpac note ends in the middle of a name");
    auto permission = Permission::parse(*name);
    if (!permission || !is_plain_text(*name))
      return broken("its mcpac note names something that is no permission");
    if (where->size() > kMaxWhere || !is_plain_text(*where))
      return broken("its mcpac note narrows a permission by something that is no rule");
    if (declared_.size() == kMaxDeclared)
      return broken(fmt::format("it declares more than {} permissions", kMaxDeclared));
    declared_.push_back({permission->text(), std::string(*where), std::string(file_), 0, 0});
  }
  return {};
}

Result<std::optional<std::vector<Declared>>> Reader::all() {
  if (auto ok = read_segments(); !ok) return pass_on(ok);
  for (const Segment& segment : notes_) {
    if (auto ok = read_notes(segment); !ok) return pass_on(ok);
  }
  if (!declares_) return std::optional<std::vector<Declared>>();
  const auto key = [](const Declared& item) { return std::tie(item.permission, item.where); };
  std::ranges::sort(declared_, {}, key);
  const auto doubles = std::ranges::unique(declared_, {}, key);
  declared_.erase(doubles.begin(), doubles.end());
  return std::optional(std::move(declared_));
}

}  // namespace

Result<std::optional<std::vector<Declared>>> declared_in_binary(const elf::ReadAt& read_at,
                                                                std::string_view file) {
  return Reader(read_at, file).all();
}

}  // namespace mcpac::analyzer
