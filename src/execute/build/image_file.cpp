#include "execute/build/image_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "core/write_all.h"

namespace mcpac::execute {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr unsigned kMostSegments = 16;
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
};

template <class T>
std::optional<T> Checker::at_offset(std::uint64_t offset) const {
  T value{};
  if (offset > bytes_.size() || bytes_.size() - offset < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes_.data() + offset, sizeof value);
  return value;
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
  const auto header = at_offset<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return unusable("it is not an ELF file");
  header_ = *header;
  if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
      header_.e_machine != EM_X86_64 || header_.e_type != ET_EXEC)
    return unusable("it is not a 64-bit x86 program at a fixed address");
  // The runner reads them in the first page.
  if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum == 0 ||
      header_.e_phnum > kMostSegments ||
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
  std::optional<Elf64_Phdr> frames;
  for (unsigned i = 0; i < header_.e_phnum; ++i) {
    const auto segment =
        at_offset<Elf64_Phdr>(header_.e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
    if (!segment) return unusable("its program headers are cut off");
    switch (segment->p_type) {
      case PT_LOAD:
        if (segment->p_memsz == 0) break;
        if (auto done = check_segment(*segment); !done) return done;
        loaded_.push_back(*segment);
        break;
      case PT_GNU_EH_FRAME: frames = *segment; break;
      // Nobody asks the others: the stack is the runner's, notes are read by the host.
      case PT_NULL:
      case PT_PHDR:
      case PT_NOTE:
      case PT_GNU_STACK: break;
      default: return unusable(fmt::format("it has a segment of the type {:#x}", segment->p_type));
    }
  }
  return frames ? check_frames(*frames) : Result<void>();
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

std::unexpected<Error> cannot_keep(const char* what) {
  return fail(ErrorId::kInternal, fmt::format("{}: {}", what, std::strerror(errno)));
}

// The next part of the file; 0 at its end. For file systems that the kernel does not copy from.
ssize_t copy_through_us(int from, int to, std::size_t most) {
  std::array<char, std::size_t{64} << 10U> part;
  const ssize_t n = ::read(from, part.data(), std::min(most, part.size()));
  if (n <= 0) return n;
  return write_all(to, {part.data(), static_cast<std::size_t>(n)}) == 0 ? n : -1;
}

// The whole file, in the kernel where it can: how many bytes it had.
Result<std::size_t> copy(int from, int to) {
  std::size_t size = 0;
  for (bool in_kernel = true; size <= kLargestImage;) {
    const std::size_t most = kLargestImage + 1 - size;
    const ssize_t n =
        in_kernel ? ::sendfile(to, from, nullptr, most) : copy_through_us(from, to, most);
    if (n == 0) return size;
    if (n > 0) {
      size += static_cast<std::size_t>(n);
    } else if (in_kernel && (errno == EINVAL || errno == ENOSYS)) {
      in_kernel = false;
    } else if (errno != EINTR) {
      return cannot_keep("cannot copy the program into memory");
    }
  }
  return too_large();
}

// Through a private mapping: kernels before 6.7 refuse a shared one of what is sealed.
Result<void> check_sealed(int image, std::size_t size) {
  if (size == 0) return check_image({});
  void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, image, 0);
  if (bytes == MAP_FAILED) return cannot_keep("cannot look at the program");
  auto checked = check_image({static_cast<const char*>(bytes), size});
  ::munmap(bytes, size);
  return checked;
}

Result<UniqueFd> new_memory() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  constexpr unsigned kExecutable = 0x10;  // MFD_EXEC: since Linux 6.3, asked for by some settings
  UniqueFd image(::memfd_create("mcpac-image", kFlags | kExecutable));
  // Older kernels do not know it, and where vm.memfd_noexec is 2 it is forbidden. Nobody calls
  // exec on an image: the runner maps it, which needs neither.
  if (!image && (errno == EINVAL || errno == EACCES))
    image = UniqueFd(::memfd_create("mcpac-image", kFlags));
  if (!image) return cannot_keep("cannot make memory for the program");
  return image;
}

// What is checked is what nobody can change any more.
Result<UniqueFd> sealed(UniqueFd image, std::size_t size) {
  if (::fcntl(image.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) !=
      0)
    return cannot_keep("cannot seal the program");
  if (auto done = check_sealed(image.get(), size); !done) return pass_on(done);
  return image;
}

}  // namespace

Result<void> check_image(std::string_view bytes) {
  if (bytes.size() > kLargestImage) return too_large();
  return Checker(bytes).all();
}

Result<UniqueFd> sealed_image(const std::filesystem::path& file) {
  // The linker wrote it under another id, in a folder that it could write: links are not followed.
  const UniqueFd source(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!source && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
    return cannot_keep("cannot open the program");
  struct stat info {};
  if (!source || ::fstat(source.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return unusable("the linker wrote no file");
  auto image = new_memory();
  if (!image) return pass_on(image);
  auto size = copy(source.get(), image->get());
  if (!size) return pass_on(size);
  return sealed(std::move(*image), *size);
}

Result<UniqueFd> sealed_image_of(std::string_view bytes) {
  auto image = new_memory();
  if (!image) return pass_on(image);
  if (write_all(image->get(), bytes) != 0)
    return cannot_keep("cannot copy the program into memory");
  return sealed(std::move(*image), bytes.size());
}

}  // namespace mcpac::execute
