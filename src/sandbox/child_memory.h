// SPDX-License-Identifier: Apache-2.0

// ChildMemory: bounded reads of a thread that stands still in a system call.
//
// Everything read is the child's word: any of it may be wrong, none of it may be endless. A kernel
// that does not let us look (Yama, a container without CAP_SYS_PTRACE) makes every answer empty.
//
// Made by the child's parent, whom Yama lets look. The reads of memory may be another process'
// (look.h), as each of them may have to wait for the keeper of the page.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/file.h"

namespace mcpac::sandbox {

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] bool contains(std::uint64_t address) const {
    return address >= begin && address < end;
  }
};

class ChildMemory {
 public:
  explicit ChildMemory(pid_t thread);
  // These three do not wait.
  [[nodiscard]] std::optional<std::uint64_t> stack_pointer() const;
  struct Numbers {
    std::uint64_t threads = 0;
    std::uint64_t stack_begin = 0;  // of its first thread, which grows downwards from there
  };
  [[nodiscard]] std::optional<Numbers> numbers() const;
  // Whether it has a function of its own for that signal.
  [[nodiscard]] bool catches(int signal) const;

  // Descriptors of the reads below; -1: could not be opened.
  [[nodiscard]] std::vector<int> descriptors() const {
    return {folder_.get(), memory_.get(), vector_.get(), maps_.get()};
  }
  // The text at `address` up to its NUL, cut to fit with a NUL of ours.
  void read_text(std::uint64_t address, std::span<char> into) const;
  // The 64-bit words from `address` on, as far as they are mapped; at most `most`.
  [[nodiscard]] std::vector<std::uint64_t> words(std::uint64_t address, std::size_t most) const;
  // Address of the program's entry.
  [[nodiscard]] std::optional<std::uint64_t> entry() const;
  // Ranges of code; at most 16.
  [[nodiscard]] std::vector<AddressRange> code() const;

  // Afterwards only read(), read_text() and words() work: nothing else of /proc stays open.
  void close_all_but_memory() {
    folder_.reset();
    vector_.reset();
    maps_.reset();
  }
  // The bytes from `address` on, as far as they are mapped: how many.
  [[nodiscard]] std::size_t read(std::uint64_t address, std::span<char> into) const;
  // /proc/THREAD/`name`; empty with errno set.
  [[nodiscard]] UniqueFd open(const char* name) const;

 private:
  UniqueFd folder_;  // /proc/THREAD, of this thread and of none that has its number later
  UniqueFd memory_;
  UniqueFd vector_;  // auxv
  UniqueFd maps_;
};

}  // namespace mcpac::sandbox
