// SPDX-License-Identifier: Apache-2.0

// Observation: files, connections and programs of a process tree, seen by a system-call filter that
// stops each such call, reports it, and lets it go on.
//
// For learning, and for one look after a start that failed: it costs each of these calls two
// switches between processes. It holds nothing: the program may exchange a path after it was read,
// so what was seen is the program's word, to propose and to explain by, never to decide by. The
// filter stays for good, and is of no use without its listener: end() belongs behind the program's
// end. io_uring is answered as by an older kernel, as what it does is not seen.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::sandbox {

// Uses of a place, as bits. A call that failed counts as one that did not.
enum PlaceUse : std::uint16_t {
  kLooked = 1,     // asked about, and it was there
  kRead = 2,       // opened for reading, or listed
  kWritten = 4,    // opened for writing, or its mode, size, time or owner changed
  kCreated = 8,    // made, where it was not there before
  kRemoved = 16,   // or renamed away
  kReplaced = 32,  // by a rename onto it
  kExecuted = 64,
  kEnsured = 128,  // mkdir of what was there already: it would make it
};

struct SeenPlace {
  std::string
      path;  // absolute, as the program sees it, without "." and ".."; links are not followed
  std::uint16_t uses = 0;
  std::uint64_t last = 0;  // which of all calls used it last
};

struct SeenHost {
  std::string address;  // "192.0.2.1", "2001:db8::1"
  std::uint16_t port = 0;
  std::string asked;  // the last name that was asked for in the DNS before; empty: none was seen
};

struct Seen {
  std::vector<SeenPlace> places;  // in the order of their first use
  std::vector<SeenHost> hosts;
  std::vector<std::string> names;    // asked for in the DNS
  std::vector<std::string> sockets;  // paths of unix sockets that were connected to
  bool is_cut = false;               // there was more than is kept
};

// Limits of what is kept.
inline constexpr std::size_t kMostSeenPlaces = 4096;
inline constexpr std::size_t kMostSeenLookups = 2048;  // of places that were only asked about
inline constexpr std::size_t kMostSeenHosts = 256;     // and names, and sockets

struct ObserveOptions {
  // Places that are not kept, with all below them.
  std::vector<std::filesystem::path> left_out;
  // Keeps only what the program wants and does not have: a place that is there for us and not for
  // it, or that it may not write where it wants to; each host, as none is reached. Otherwise what
  // it has, and what it makes.
  bool only_refused = false;
  // A folder of the program that stands for another of ours: {"/home/mcpac-server", "/home/me"}.
  std::pair<std::filesystem::path, std::filesystem::path> stands_for;
};

// For an observed child: the socket that its listener goes over. It may lie in another process of
// ours than the observation.
class ObserverEnd {
 public:
  explicit ObserverEnd(UniqueFd socket);
  // Socket for the listeners of children: Spec::observer. Owned by this.
  [[nodiscard]] int socket() const { return socket_.get(); }
  // For a child of ours that is no sandbox's, right before its program, in the memory that it may
  // share with us: makes system calls only. 0 or errno. A child that is no root's gets no rights of
  // set-id files from here on.
  [[nodiscard]] int enter_child() const;

 private:
  UniqueFd socket_;
  mutable std::vector<sock_filter> filter_;  // the kernel's type has no const; nothing changes it
};

class Observation {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Observation>> begin(ObserveOptions options);
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;
  ~Observation();

  [[nodiscard]] const ObserverEnd& entrance() const;
  // Number of programs started to be observed; a server's own children are part of it.
  [[nodiscard]] std::size_t starts() const;
  // Stops, and says what was seen. Waits a second for a call that is being read, and no longer.
  [[nodiscard]] Seen end();

 private:
  struct State;
  explicit Observation(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

// Descriptor number of a child's socket for its listener: the filter lets that one message pass.
inline constexpr int kObserverDescriptor = 1003;

// In the child of a warden, before its own filter, with the socket at kObserverDescriptor. 0 or
// errno. `filter`: of observing_filter().
[[nodiscard]] std::vector<sock_filter> observing_filter();
[[nodiscard]] int install_observing_filter(std::span<sock_filter> filter);

}  // namespace mcpac::sandbox
