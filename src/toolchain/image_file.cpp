// SPDX-License-Identifier: Apache-2.0

#include "toolchain/image_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "core/elf.h"
#include "core/file.h"

namespace mcpac::toolchain {
namespace {

constexpr std::uint64_t kPage = 4096;
// In memory a program may be larger than its file: global arrays are zero at first.
constexpr std::uint64_t kMostFunctions = 100'000;  // that run before or after the entry

// As templates/runner/image_table.cpp has it.
struct Table {
  std::uint64_t main, init, init_end, fini, fini_end;
};

std::unexpected<Error> unusable(std::string why) {
  return fail(ErrorId::kProgramUnusable, "the linked program is none that can be run here",
              {.why = std::move(why)});
}

std::unexpected<Error> too_large() {
  return unusable("it is larger than 64 MiB");
}

std::uint64_t page_down(std::uint64_t address) {
  return address & ~(kPage - 1);
}
std::uint64_t page_up(std::uint64_t address) {
  return page_down(address + kPage - 1);
}

class Checker {
 public:
  explicit Checker(std::string_view bytes) : bytes_(bytes) {}
  Result<void> all();
  // Of what was checked: how much of the file lies in its segments, these with the table of frames,
  // and the entry.
  [[nodiscard]] std::size_t mapped() const;
  [[nodiscard]] std::vector<Elf64_Phdr> segments() const;
  [[nodiscard]] std::uint64_t entry() const { return header_.e_entry; }

 private:
  Result<void> read_header();
  Result<void> read_segments();
  [[nodiscard]] Result<void> check_segment(const Elf64_Phdr& segment) const;
  [[nodiscard]] Result<void> check_frames(const Elf64_Phdr& frames) const;
  [[nodiscard]] Result<void> check_entry() const;
  [[nodiscard]] Result<void> check_list(std::uint64_t begin, std::uint64_t end) const;
  // The segment that holds `size` bytes at `address`, in its file part; null: none does.
  [[nodiscard]] const Elf64_Phdr* holder(std::uint64_t address, std::uint64_t size) const;
  template <class T>
  std::optional<T> at_address(std::uint64_t address) const;
  template <class T>
  std::optional<T> at_offset(std::uint64_t offset) const;

  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> loaded_;
  std::optional<Elf64_Phdr> frames_;
};

template <class T>
std::optional<T> Checker::at_offset(std::uint64_t offset) const {
  T value{};
  return elf::read_struct(elf::reader_of(bytes_), offset, value) ? std::optional(value)
                                                                 : std::nullopt;
}

const Elf64_Phdr* Checker::holder(std::uint64_t address, std::uint64_t size) const {
  for (const Elf64_Phdr& segment : loaded_) {
    if (address >= segment.p_vaddr && size <= segment.p_filesz &&
        address - segment.p_vaddr <= segment.p_filesz - size)
      return &segment;
  }
  return nullptr;
}

template <class T>
std::optional<T> Checker::at_address(std::uint64_t address) const {
  const Elf64_Phdr* segment = holder(address, sizeof(T));
  if (segment == nullptr) return std::nullopt;
  return at_offset<T>(segment->p_offset + (address - segment->p_vaddr));
}

Result<void> Checker::read_header() {
  const auto header = elf::read_header(elf::reader_of(bytes_));
  if (!header) return unusable(header.error());
  header_ = *header;
  if (header_.e_type != ET_EXEC) return unusable("it is not a program at a fixed address");
  // As linkers write them.
  if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum == 0 ||
      header_.e_phnum > kMostImageSegments ||
      header_.e_phoff > kPage - header_.e_phnum * sizeof(Elf64_Phdr))
    return unusable("its program headers are of no usual form");
  return {};
}

Result<void> Checker::check_segment(const Elf64_Phdr& segment) const {
  if (segment.p_offset > bytes_.size() || segment.p_filesz > bytes_.size() - segment.p_offset)
    return unusable("a segment lies outside of the file");
  if (segment.p_memsz < segment.p_filesz) return unusable("a segment is larger than its memory");
  if (segment.p_vaddr < kImageBegin || segment.p_vaddr > kImageEnd ||
      segment.p_memsz > kImageEnd - segment.p_vaddr)
    return unusable("a segment lies outside of the place of programs, which has 512 MiB");
  if ((segment.p_flags & PF_W) != 0 && (segment.p_flags & PF_X) != 0)
    return unusable("a segment can be written and executed");
  if (segment.p_offset % kPage != segment.p_vaddr % kPage)
    return unusable("a segment cannot be mapped: it does not lie as its page does");
  // What is zero at first is written there by the runner.
  if (segment.p_memsz > segment.p_filesz && (segment.p_flags & PF_W) == 0)
    return unusable("a segment has zeros that cannot be written");
  if (!loaded_.empty() &&
      page_down(segment.p_vaddr) < page_up(loaded_.back().p_vaddr + loaded_.back().p_memsz))
    return unusable("two segments lie on one page");
  return {};
}

Result<void> Checker::read_segments() {
  const auto segments = elf::read_segments(elf::reader_of(bytes_), header_, kMostImageSegments);
  if (!segments) return unusable(segments.error());
  for (const Elf64_Phdr& segment : *segments) {
    switch (segment.p_type) {
      case PT_LOAD:
        if (segment.p_memsz == 0) break;
        if (auto done = check_segment(segment); !done) return done;
        loaded_.push_back(segment);
        break;
      case PT_GNU_EH_FRAME: frames_ = segment; break;
      // The others are not used: the stack is the runner's, notes are read by the host.
      case PT_NULL:
      case PT_PHDR:
      case PT_NOTE:
      case PT_GNU_STACK: break;
      default: return unusable(fmt::format("it has a segment of the type {:#x}", segment.p_type));
    }
  }
  return frames_ ? check_frames(*frames_) : Result<void>();
}

// Where exceptions find their way. Its insides are read by the unwinder, in the sandbox.
Result<void> Checker::check_frames(const Elf64_Phdr& frames) const {
  if (holder(frames.p_vaddr, frames.p_memsz) == nullptr)
    return unusable("its table of frames lies outside of its segments");
  return {};
}

// Addresses of functions, its own or the runner's.
Result<void> Checker::check_list(std::uint64_t begin, std::uint64_t end) const {
  if (begin > end || (end - begin) % sizeof(std::uint64_t) != 0 ||
      (end - begin) / sizeof(std::uint64_t) > kMostFunctions)
    return unusable("its list of functions around the entry is of no usual form");
  if (begin != end && holder(begin, end - begin) == nullptr)
    return unusable("its list of functions around the entry lies outside of its segments");
  return {};
}

Result<void> Checker::check_entry() const {
  const auto table = at_address<Table>(header_.e_entry);
  if (!table) return unusable("its entry lies outside of its segments");
  const Elf64_Phdr* code = holder(table->main, 1);
  if (code == nullptr || (code->p_flags & PF_X) == 0) return unusable("its main is no function");
  if (auto done = check_list(table->init, table->init_end); !done) return done;
  return check_list(table->fini, table->fini_end);
}

Result<void> Checker::all() {
  if (auto done = read_header(); !done) return done;
  if (auto done = read_segments(); !done) return done;
  return check_entry();
}

std::size_t Checker::mapped() const {
  std::uint64_t end = 0;
  for (const Elf64_Phdr& segment : loaded_)
    end = std::max(end, segment.p_offset + segment.p_filesz);
  return end;
}

std::vector<Elf64_Phdr> Checker::segments() const {
  std::vector<Elf64_Phdr> segments = loaded_;
  if (frames_) segments.push_back(*frames_);
  return segments;
}

std::unexpected<Error> cannot_read() {
  return fail(ErrorId::kInternal, fmt::format("cannot read the program: {}", std::strerror(errno)));
}

}  // namespace

Result<Image> Image::checked(std::string bytes, std::size_t begin) {
  Image image;
  image.bytes_ = std::make_shared<const std::string>(std::move(bytes));
  image.begin_ = std::min(begin, image.bytes_->size());
  if (image.bytes().size() > kLargestImage) return too_large();
  Checker checker(image.bytes());
  if (auto done = checker.all(); !done) return pass_on(done);
  image.mapped_ = checker.mapped();
  image.segments_ = checker.segments();
  image.entry_ = checker.entry();
  return image;
}

Result<Image> Image::read(const std::filesystem::path& file) {
  // The linker wrote it under another id, in a folder that it could write: links are not followed.
  const UniqueFd source(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!source && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) return cannot_read();
  struct stat info {};
  if (!source || ::fstat(source.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return unusable("the linker wrote no file");
  if (static_cast<std::uint64_t>(info.st_size) > kLargestImage) return too_large();
  auto bytes = read_descriptor(source.get(), "the program", kLargestImage);
  if (!bytes) return fail(ErrorId::kInternal, bytes.error().what);
  return checked(std::move(*bytes));
}

}  // namespace mcpac::toolchain
