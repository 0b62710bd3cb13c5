// SPDX-License-Identifier: Apache-2.0

#include "sandbox/child_memory.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

namespace mcpac::sandbox {
namespace {

constexpr std::size_t kMostCodeRanges = 16;

// Whatever there is below `most` bytes.
std::vector<char> content_of(const UniqueFd& fd, std::size_t most) {
  std::vector<char> content(most);
  std::size_t size = 0;
  while (fd && size < most) {
    const ssize_t got = ::read(fd.get(), content.data() + size, most - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  content.resize(size);
  return content;
}

// One "begin-end rights …" of maps; nothing where it is no code.
std::optional<AddressRange> code_range(std::string_view line) {
  AddressRange range;
  const char* const end = line.data() + line.size();
  const auto begin = std::from_chars(line.data(), end, range.begin, 16);
  if (begin.ec != std::errc() || begin.ptr == end || *begin.ptr != '-') return std::nullopt;
  const auto rest = std::from_chars(begin.ptr + 1, end, range.end, 16);
  if (rest.ec != std::errc()) return std::nullopt;
  const std::string_view rights(rest.ptr, static_cast<std::size_t>(end - rest.ptr));
  return rights.size() >= 5 && rights[3] == 'x' ? std::optional(range) : std::nullopt;
}

}  // namespace

ChildMemory::ChildMemory(pid_t thread)
    : folder_(
          ::open(("/proc/" + std::to_string(thread)).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  memory_ = open("mem");
  vector_ = open("auxv");
  maps_ = open("maps");
}

UniqueFd ChildMemory::open(const char* name) const {
  return UniqueFd(folder_ ? ::openat(folder_.get(), name, O_RDONLY | O_CLOEXEC) : -1);
}

std::size_t ChildMemory::read(std::uint64_t address, std::span<char> into) const {
  // The kernel reads page by page and ends at the first that is not there.
  if (!memory_ || address > static_cast<std::uint64_t>(INT64_MAX)) return 0;
  const ssize_t size =
      ::pread(memory_.get(), into.data(), into.size(), static_cast<off_t>(address));
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

void ChildMemory::read_text(std::uint64_t address, std::span<char> into) const {
  const std::size_t size = read(address, into.first(into.size() - 1));
  const auto end = std::ranges::find(into.first(size), '\0');
  std::fill(end, into.end(), '\0');
}

std::vector<std::uint64_t> ChildMemory::words(std::uint64_t address, std::size_t most) const {
  std::vector<std::uint64_t> words(most);
  const auto bytes = std::as_writable_bytes(std::span(words));
  const std::size_t size = read(address, {reinterpret_cast<char*>(bytes.data()), bytes.size()});
  words.resize(size / sizeof(std::uint64_t));
  return words;
}

// "NUMBER ARGUMENT… STACK COUNTER"
std::optional<std::uint64_t> ChildMemory::stack_pointer() const {
  constexpr std::size_t kMostText = 512;
  const auto content = content_of(open("syscall"), kMostText);
  std::string_view text(content.data(), content.size());
  while (text.ends_with('\n')) text.remove_suffix(1);
  text = text.substr(0, text.rfind(' '));
  const auto at = text.rfind(" 0x");
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t stack = 0;
  const auto read = std::from_chars(text.data() + at + 3, text.data() + text.size(), stack, 16);
  return read.ec == std::errc() ? std::optional(stack) : std::nullopt;
}

// "PROCESS (NAME) STATE PARENT …"; the name may be anything, so fields are counted from its end.
std::optional<ChildMemory::Numbers> ChildMemory::numbers() const {
  constexpr std::size_t kMostText = 4096;
  constexpr std::size_t kThreads = 20;  // as proc(5) counts
  constexpr std::size_t kStackBegin = 28;
  const auto content = content_of(open("stat"), kMostText);
  std::string_view text(content.data(), content.size());
  const auto name_end = text.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 2);
  Numbers numbers;
  for (std::size_t field = 3; field <= kStackBegin && !text.empty(); ++field) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (field != kThreads && field != kStackBegin) continue;
    std::uint64_t& number = field == kThreads ? numbers.threads : numbers.stack_begin;
    if (std::from_chars(word.data(), word.data() + word.size(), number).ec != std::errc())
      return std::nullopt;
  }
  return numbers;
}

bool ChildMemory::catches(int signal) const {
  constexpr std::size_t kMostText = 4096;
  constexpr std::string_view kCaught = "\nSigCgt:\t";
  const auto content = content_of(open("status"), kMostText);
  const std::string_view text(content.data(), content.size());
  const auto at = text.find(kCaught);
  if (at == std::string_view::npos) return false;
  std::uint64_t caught = 0;
  std::from_chars(text.data() + at + kCaught.size(), text.data() + text.size(), caught, 16);
  return (caught >> static_cast<unsigned>(signal - 1) & 1U) != 0;
}

std::optional<std::uint64_t> ChildMemory::entry() const {
  constexpr std::size_t kMostVector = 1024;
  const auto content = content_of(vector_, kMostVector);
  for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= content.size();
       at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t item{};
    std::memcpy(&item, content.data() + at, sizeof item);
    if (item.a_type == AT_ENTRY) return item.a_un.a_val;
  }
  return std::nullopt;
}

std::vector<AddressRange> ChildMemory::code() const {
  constexpr std::size_t kMostText = std::size_t{64} << 10U;
  const auto content = content_of(maps_, kMostText);
  std::string_view text(content.data(), content.size());
  std::vector<AddressRange> ranges;
  while (!text.empty() && ranges.size() < kMostCodeRanges) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (const auto range = code_range(line)) ranges.push_back(*range);
  }
  return ranges;
}

}  // namespace mcpac::sandbox
