// SPDX-License-Identifier: Apache-2.0

// Admits: system calls that a program may make beyond those of every agent.
//
// An agent computes, allocates, starts threads, reads clocks and talks on the descriptors it was
// given; it opens nothing and starts nothing. Whatever is admitted besides is spelled at the place
// that admits it, as one of the types below: `Admits{}.with(ReadsFiles{})`. Which files those calls
// reach is decided by mounts and Landlock, not here (docs/architecture.md, "The warden and the
// sandbox").
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <optional>

namespace mcpac::sandbox {

// Opens files of its root for reading, so that ld.so finds the libraries of a dynamically linked
// program; mount those (kReadExecute).
struct OpensLibraries {
  static constexpr std::uint8_t kBit = 1;
};
// Opens, lists and asks about files.
struct ReadsFiles {
  static constexpr std::uint8_t kBit = 2;
};
// Makes, writes, renames and removes files and folders. Where there is no mount namespace, the
// calls that Landlock does not know (chmod, utimensat) stay refused: they would reach every file of
// the user.
struct WritesFiles {
  static constexpr std::uint8_t kBit = 4;
};
// Takes descriptors that the host sends on the channel.
struct ReceivesDescriptors {
  static constexpr std::uint8_t kBit = 8;
};
// Needs of clang and lld besides files: shared memory (lld writes its output through it), so that
// memory is counted by RLIMIT_AS; a large stack; who and where it is.
struct Compiles {
  static constexpr std::uint8_t kBit = 16;
};

// A whole third-party program, with all that it starts: a server. Starts processes,
// opens files, has sockets in its own network namespace, memory of its own that it shares. What no
// program needs that serves is answered with an error, and nothing is ended for what it asks
// (seccomp_serves.cpp). Mounts, Landlock and namespaces hold it; in tier B Landlock and its filter
// alone (docs/adr/0057), which then has no socket but pairs. Includes the others.
struct Serves {
  static constexpr std::uint8_t kBit = 32;
};
// With Serves in tier B: TCP and UDP to every address, those of this machine as well, as nothing
// there decides by address. In tier A it admits nothing more.
struct Dials {
  static constexpr std::uint8_t kBit = 64;
};

template <class T>
concept Weakening = std::same_as<T, OpensLibraries> || std::same_as<T, ReadsFiles> ||
    std::same_as<T, WritesFiles> || std::same_as<T, ReceivesDescriptors> ||
    std::same_as<T, Compiles> || std::same_as<T, Serves> || std::same_as<T, Dials>;

class Admits {
 public:
  constexpr Admits() = default;
  template <Weakening T>
  [[nodiscard]] constexpr Admits with(T /*what*/) const {
    return Admits(static_cast<std::uint8_t>(bits_ | T::kBit));
  }
  template <Weakening T>
  [[nodiscard]] constexpr bool has() const {
    return (bits_ & T::kBit) != 0;
  }
  [[nodiscard]] constexpr bool opens_files() const {
    return has<OpensLibraries>() || has<ReadsFiles>() || has<WritesFiles>() || has<Serves>();
  }

  // For a packet. Nothing: bits that mean nothing.
  [[nodiscard]] constexpr std::uint8_t bits() const { return bits_; }
  [[nodiscard]] static constexpr std::optional<Admits> from_bits(std::uint8_t bits) {
    if (bits >= 2 * Dials::kBit) return std::nullopt;
    return Admits(bits);
  }
  friend constexpr auto operator<=>(const Admits&, const Admits&) = default;

 private:
  constexpr explicit Admits(std::uint8_t bits) : bits_(bits) {}
  std::uint8_t bits_ = 0;
};

}  // namespace mcpac::sandbox
