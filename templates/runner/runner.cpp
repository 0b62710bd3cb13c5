// Runner: the process in whose sandbox an agent's image runs (docs/adr/0024).
//
// Everything that agents share (libc, libc++, the runtime) is linked into this one program, at
// fixed addresses. It starts before its agent is known, waits under the final system-call filter,
// and is then given one image: a file of segments that were linked to the addresses here. It maps
// them, runs their constructors and their main, and ends as any program does. Nothing here is a
// border: the image can do whatever this process may, which the sandbox decided before.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

// The linker's own: the ELF header of this program.
extern "C" [[gnu::visibility("hidden")]] const Elf64_Ehdr __ehdr_start;

namespace {

constexpr int kChannel = 3;
constexpr int kUnusable = 70;
constexpr std::size_t kMostArguments = 64;
constexpr std::size_t kMostText = 4096;
constexpr std::size_t kMostSegments = 16;

// What the host sends with the image's descriptor: this, then the arguments, each with its NUL. The
// host has held every number of the image against its bounds.
struct Start {
  std::uint32_t version;
  std::uint32_t arguments;
  std::uint32_t bytes;
  std::uint32_t segments;
  std::uint64_t entry;
  Elf64_Phdr table[kMostSegments];
};

// What stands at the entry of an image (image_table.cpp).
struct Table {
  int (*main)(int, char**, char**);
  void (*const* init)(int, char**, char**);
  void (*const* init_end)(int, char**, char**);
  void (*const* fini)();
  void (*const* fini_end)();
};

Start start{};
const Table* table = nullptr;
dl_phdr_info image{};  // dlpi_phdr is null as long as there is none

[[noreturn]] void give_up(const char* why) {
  const auto say = [](const char* text) {
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) ::_exit(kUnusable);
  };
  say("mcpac: the runner cannot start the program: ");
  say(why);
  say("\n");
  ::_exit(kUnusable);
}

void read_whole(void* into, std::size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const ssize_t n = ::read(kChannel, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ::_exit(kUnusable);  // the host has gone
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

constexpr std::size_t kPage = 4096;

std::size_t page_down(std::size_t address) {
  return address & ~(kPage - 1);
}
std::size_t page_up(std::size_t address) {
  return page_down(address + kPage - 1);
}

void* at(std::size_t address) {
  return reinterpret_cast<void*>(address);
}

// What a small program takes of each.
constexpr std::size_t kTouchedHeap = 15 * kPage;
constexpr std::size_t kTouchedStack = 8 * kPage;

// The kernel gives a page when it is first used, and whoever uses it waits for that. Written with
// what stands there: there is no other thread that could write meanwhile.
void touch(std::size_t begin, std::size_t end, bool written) {
  for (std::size_t page = begin; page < end; page += kPage) {
    auto* byte = static_cast<volatile char*>(at(page));
    const char value = *byte;
    if (written) *byte = value;
  }
}

void touch_segments() {
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(
      reinterpret_cast<const char*>(&__ehdr_start) + __ehdr_start.e_phoff);
  std::size_t held = 0;  // where data that libc made read-only at the start ends
  for (unsigned i = 0; i < __ehdr_start.e_phnum; ++i) {
    if (segments[i].p_type == PT_GNU_RELRO)
      held = page_up(segments[i].p_vaddr + segments[i].p_memsz);
  }
  for (unsigned i = 0; i < __ehdr_start.e_phnum; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0) continue;
    const std::size_t begin = page_down(segment.p_vaddr);
    const std::size_t end = page_up(segment.p_vaddr + segment.p_memsz);
    const bool written = (segment.p_flags & PF_W) != 0;
    const std::size_t first = written && held > begin ? (held < end ? held : end) : begin;
    touch(begin, first, false);
    touch(first, end, written);
  }
}

[[gnu::noinline]] void touch_stack() {
  volatile char pages[kTouchedStack];
  for (std::size_t i = 0; i < kTouchedStack; i += kPage) pages[i] = 0;
}

void touch_memory() {
  touch_segments();
  touch_stack();
  if (void* heap = std::malloc(kTouchedHeap)) {
    const auto begin = reinterpret_cast<std::size_t>(heap);
    touch(begin, begin + kTouchedHeap, true);
    std::free(heap);
  }
}

ssize_t take(msghdr& message, int how) {
  ssize_t n = 0;
  do {
    n = ::recvmsg(kChannel, &message, MSG_CMSG_CLOEXEC | how);
  } while (n < 0 && errno == EINTR);
  return n;
}

// The descriptor comes with the first byte of the message.
int receive() {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part{&start, sizeof start};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n = take(message, MSG_DONTWAIT);
  if (n < 0 && errno == EAGAIN) {
    touch_memory();  // nobody waits for us: we do
    n = take(message, 0);
  }
  if (n == 0) ::_exit(kUnusable);
  if (n < 0) give_up("nothing can be received");
  const auto got = static_cast<std::size_t>(n);
  read_whole(reinterpret_cast<char*>(&start) + got, sizeof start - got);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) give_up("no image came");
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

int protection_of(const Elf64_Phdr& segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

// Not over anything that lies there already.
void map_segment(int file, const Elf64_Phdr& segment) {
  constexpr int kHow = MAP_PRIVATE | MAP_FIXED_NOREPLACE;
  const std::size_t begin = page_down(segment.p_vaddr);
  const std::size_t file_end = segment.p_vaddr + segment.p_filesz;
  const std::size_t end = page_up(segment.p_vaddr + segment.p_memsz);
  std::size_t mapped = begin;
  if (segment.p_filesz > 0) {
    mapped = page_up(file_end);
    if (::mmap(at(begin), mapped - begin, protection_of(segment), kHow, file,
               static_cast<off_t>(page_down(segment.p_offset))) != at(begin))
      give_up("a segment cannot be mapped");
    if (segment.p_memsz > segment.p_filesz && (segment.p_flags & PF_W) != 0)
      std::memset(at(file_end), 0, mapped - file_end);
  }
  if (mapped >= end) return;
  if (::mmap(at(mapped), end - mapped, protection_of(segment), kHow | MAP_ANONYMOUS, -1, 0) !=
      at(mapped))
    give_up("a segment cannot be mapped");
}

void map_image(int file) {
  for (unsigned i = 0; i < start.segments; ++i) {
    if (start.table[i].p_type == PT_LOAD) map_segment(file, start.table[i]);
  }
  table = static_cast<const Table*>(at(start.entry));
  // Exceptions look here for the table of frames.
  image.dlpi_name = "";
  image.dlpi_phnum = static_cast<Elf64_Half>(start.segments);
  image.dlpi_phdr = start.table;
  ::close(file);
}

void end_image() {
  for (auto* fini = table->fini_end; fini != table->fini;) (*--fini)();
}

}  // namespace

// For the unwinder, in place of libc's, which knows only the program.
extern "C" int dl_iterate_phdr(int (*callback)(dl_phdr_info*, std::size_t, void*), void* data) {
  dl_phdr_info own{};
  own.dlpi_name = "";
  own.dlpi_phdr = reinterpret_cast<const Elf64_Phdr*>(reinterpret_cast<const char*>(&__ehdr_start) +
                                                      __ehdr_start.e_phoff);
  own.dlpi_phnum = __ehdr_start.e_phnum;
  const bool two = image.dlpi_phdr != nullptr;
  own.dlpi_adds = two ? 2 : 1;
  if (const int found = callback(&own, sizeof own, data); found != 0 || !two) return found;
  dl_phdr_info second = image;
  second.dlpi_adds = 2;
  return callback(&second, sizeof second, data);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
// The same for an unwinder that asks so; the linker turns its question to here (--wrap).
extern "C" int __wrap__dl_find_object(void* address, dl_find_object* found) {
  struct Search {
    std::size_t address;
    dl_find_object* found;
  } search{reinterpret_cast<std::size_t>(address), found};
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    const Search& wanted = *static_cast<Search*>(data);
    bool inside = false;
    const Elf64_Phdr* frames = nullptr;
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
      const Elf64_Phdr& segment = info->dlpi_phdr[i];
      if (segment.p_type == PT_GNU_EH_FRAME) frames = &segment;
      inside = inside || (segment.p_type == PT_LOAD && wanted.address >= segment.p_vaddr &&
                          wanted.address - segment.p_vaddr < segment.p_memsz);
    }
    if (!inside || frames == nullptr) return 0;
    *wanted.found = {};
    wanted.found->dlfo_eh_frame = at(frames->p_vaddr);
    return 1;
  };
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}
#endif

int main(int, char**, char** environment) {
  static char text[kMostText];
  static char* arguments[kMostArguments + 1];
  const int file = receive();
  if (start.version != 2 || start.arguments == 0 || start.arguments > kMostArguments ||
      start.bytes == 0 || start.bytes > kMostText || start.segments > kMostSegments)
    give_up("the message is none of its host's");
  read_whole(text, start.bytes);
  if (text[start.bytes - 1] != '\0') give_up("the message is none of its host's");
  std::size_t from = 0;
  for (std::uint32_t i = 0; i < start.arguments; ++i) {
    if (from >= start.bytes) give_up("the message is none of its host's");
    arguments[i] = text + from;
    from += std::strlen(text + from) + 1;
  }
  map_image(file);
  if (std::atexit(&end_image) != 0) give_up("no end can be arranged");
  const int count = static_cast<int>(start.arguments);
  for (auto* init = table->init; init != table->init_end; ++init)
    (*init)(count, arguments, environment);
  return table->main(count, arguments, environment);
}
