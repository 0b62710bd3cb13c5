// SPDX-License-Identifier: Apache-2.0

// Sandbox: rights of a child process as one value, and the child that runs under them.
//
// The caller says what the child needs; the warden (a small, single-threaded process without
// secrets) builds the sandbox from the value and reports which layers stand. A layer that was asked
// for and cannot be built is an error, never a weaker sandbox. Times are wall-clock milliseconds,
// sizes bytes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "sandbox/admits.h"

namespace mcpac::sandbox {

// A: namespaces, Landlock and seccomp. B: Landlock and seccomp. C: seccomp only. Nothing below
// runs.
enum class Tier : std::uint8_t { kA, kB, kC };
[[nodiscard]] std::string to_string(Tier tier);

// Identity of a file, where a path only names its place. {0, 0}: whatever lies there.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// One place inside. Absent otherwise.
struct Mount {
  std::filesystem::path host;
  std::filesystem::path inside;
  enum class Access : std::uint8_t { kRead, kReadExecute, kReadWrite } access = Access::kRead;
  FileIdentity identity{};  // what the caller saw at `host`; anything else there is refused
  // A folder of the caller's with empty folders `upper` and `work`, or empty. With it, what is
  // written lands there (overlayfs) and `host` stays as it is. kReadWrite folders in tier A only.
  std::filesystem::path changes{};
  // What is there. Only kHost has `access` and `changes`; all others are for tier A, but
  // kDevice of what Serves.
  enum class Kind : std::uint8_t {
    kHost,       // the folder or file of the host, as `access` says
    kDevice,     // /dev/null, zero, full, random or urandom of the host
    kPrivate,    // an empty folder of the sandbox's own, in memory, at most `size` bytes; nothing
                 // in it can be executed, and it is gone with the sandbox
    kProcesses,  // /proc with the sandbox's own processes and nothing of the kernel; nothing at
                 // all where the kernel does not give it to the sandbox
    kLink,       // a symbolic link to `host`, a text of at most 100 bytes
    kFolder,     // an empty folder that cannot be written, as one to start in
    kAbsent,     // over what lies there in another place, which is as `host` (a folder or a
                 // file): an empty one that cannot be read, written, removed or replaced
  } kind = Kind::kHost;
  std::uint64_t size = 0;
};

// A socket of the child's own network namespace, bound before its program starts, so that the
// program has no power over low ports. A stream listens on all addresses of both families (of IPv4
// alone where the kernel has no other), a datagram socket is bound to 127.0.0.1.
struct Listen {
  enum class Kind : std::uint8_t { kStream, kDatagram } kind = Kind::kStream;
  std::uint16_t port = 0;  // not 0
};

struct Limits {
  std::chrono::milliseconds wall{0};  // 0: none; counted by the host
  std::chrono::seconds cpu{0};        // 0: none
  std::uint64_t memory = 0;           // bytes a program may allocate (RLIMIT_DATA; with Compiles:
                                      // RLIMIT_AS, as it may share memory); 0: none. In a control
                                      // group of its own (cgroup_leaf.h) it counts the rest, too
  std::uint64_t file_size = 0;        // bytes of any one file written; 0: no file can be written
  std::uint64_t processes = 64;       // threads included; without a control group not counted in
                                      // tier B for an ordinary user, as all of the user's would be
  std::uint64_t open_files = 64;      // at most 512
};

struct Spec {
  std::filesystem::path program;       // opened by spawn(), run by descriptor; need not be visible
                                       // inside. For a host that is root: executable by others.
  std::vector<std::string> arguments;  // argv, with argv[0]
  std::vector<std::string> environment;  // "NAME=value"; empty means empty
  std::vector<Mount> mounts;             // absolute; the root has nothing else. Below tier A, where
                                         // no root can be made, `inside` must be `host`.
  std::filesystem::path work_directory = "/";
  Admits admits;  // system calls beyond an agent's. Below tier A what Serves is ended by
                  // kEndRequest (process.h), and runs as the caller
  // Names that a program which writes files can neither make nor write, remove or move, at any
  // depth and however they are written (core/folded_name.h); nor can it move a folder above a mount
  // or make a git repository (name_guard.h). Tier A with a listener only. Empty: any name.
  std::vector<std::string> kept_names{};
  // With those: folders that cannot be moved either, as such names lie in them. At most 4,096.
  std::vector<FileIdentity> kept_folders{};
  // With those: absolute paths without links and dots, inside, that are held with all below them
  // like a kept name. They need not be there. At most 4,096.
  std::vector<std::string> kept_places{};
  mode_t new_file_mask = 022;  // of the program, as umask(2) has it
  Limits limits;
  Tier lowest_tier = Tier::kA;  // refused when the machine cannot give it
  // Descriptors 0, 1 and 2 of the child; -1 is an empty /dev/null. Borrowed: spawn() duplicates
  // them.
  int standard_input = -1;
  int standard_output = -1;
  int standard_error = -1;
  int channel = -1;  // becomes descriptor 3; -1: none
  // With Serves: descriptors 4, 5, … of the child in this order, at most 16. With any of them every
  // address is one of its network namespace (AnyIP), and still nothing of it leads out: a
  // connection to any address and one of these ports arrives there, and getsockname() of what is
  // accepted says which address was meant.
  std::vector<Listen> listens{};
  // Observation::socket() (observe.h): what it opens, dials and starts is told there; -1: nothing
  // is. With Serves alone, as other programs have a listener already.
  int observer = -1;
};

// The end of a child.
struct Verdict {
  enum class Kind : std::uint8_t {
    kExited,       // `code` is its exit code
    kSignalled,    // `code` is the signal: SIGSEGV, SIGABRT, …
    kViolated,     // made a system call that is not admitted; `code` is SIGSYS
    kTimedOut,     // the wall clock ran out and we killed it
    kCpuLimit,     // RLIMIT_CPU
    kMemoryLimit,  // its control group was full, where it has one: `code` is SIGKILL
    kKilled,       // we killed it for another reason (interrupt, output limit)
  } kind = Kind::kExited;
  int code = 0;
  std::string detail;  // "system call 41 (socket)", "stack overflow: 8 MiB stack" where it is known
  std::string note;    // of a signal, for people: whose it was, where that is not its first thread
  // With kViolated, where a listener saw the call (sandbox/listener.h); `frames` and `entry` also
  // with kSignalled, where the signal was seen (sandbox/watch.h). All of it is the program's word:
  // clean it before it is shown.
  int call_number = -1;               // -1: not known
  std::string call;                   // "socket"; "" where the number has no known name
  std::string path;                   // the call's path argument, cut at 255 bytes
  std::vector<std::uint64_t> frames;  // the program counter, then words of the stack that point
                                      // into code, nearest first: return addresses and old ones
  std::uint64_t entry = 0;            // where the program's entry lies; 0: not known
  // The limit that ended it or stood in its way.
  struct LimitHit {
    std::string name;  // "wall", "cpu", "memory", "stack", "file-size", "file-wait", "processes"
    std::uint64_t allowed = 0;  // microseconds, bytes, or processes with their threads
    std::uint64_t used = 0;
  };
  std::optional<LimitHit> limit;
  std::chrono::microseconds wall{0};
  std::uint64_t peak_memory = 0;  // bytes
  // Calls that were refused for a name of `kept_names`, and the first path, which the program
  // chose.
  std::uint32_t kept_refusals = 0;
  std::string kept_path;
};

// A running child. Destroying it kills it and waits: nothing is left behind.
class Child {
 public:
  Child(Child&&) noexcept;
  Child& operator=(Child&&) noexcept;
  ~Child();
  [[nodiscard]] Tier tier() const;
  // A descriptor that becomes readable when the child has ended; for event loops. Owned by the
  // child.
  [[nodiscard]] int end_descriptor() const;
  // The wall limit and the wall time of the verdict count from here instead of from spawn(): for a
  // child that waited before it was given its work.
  void restart_clock();
  void kill(Verdict::Kind reason);
  // Blocks until the end or the wall limit of the spec (then kills). Call once.
  [[nodiscard]] Result<Verdict> wait();

 private:
  struct Impl;
  friend class Warden;
  explicit Child(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Features of this machine, found by doing each thing in a child.
struct Capability {
  std::string name;  // "user namespaces", "landlock", …
  bool works = false;
  std::string detail;  // "ABI 7", or the errno
  std::string remedy;  // what to do about the gap; empty when it works
};
struct Probe {
  std::vector<Capability> capabilities;
  std::optional<Tier> tier;  // nothing: no sandbox can be made here
};

// When the warden finds out what the machine can give, which takes some milliseconds: beside what
// the host does next, or with the first question, for a host that may have none. kForServers: not
// at all, if the first children are servers (Serves) and their sandboxes can be built; the warden
// makes ready for them meanwhile.
enum class Explore : std::uint8_t { kAtOnce, kWhenAsked, kForServers };

// The warden process; started once by a host, early, before it holds secrets. Any thread may ask;
// one question is answered after the other.
class Warden {
 public:
  // `program` is mcpac-warden in libexec.
  static Result<Warden> start(const std::filesystem::path& program,
                              Explore explore = Explore::kAtOnce);
  Warden(Warden&&) noexcept;
  Warden& operator=(Warden&&) noexcept;
  ~Warden();  // kills every child that is left
  [[nodiscard]] Result<Child> spawn(const Spec& spec);
  [[nodiscard]] Result<Probe> probe();
  // Whether children get a root of their own, so that Mount::inside may differ from Mount::host.
  // The machine is asked once a warden.
  [[nodiscard]] Result<bool> makes_roots();

 private:
  struct Impl;
  explicit Warden(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mcpac::sandbox
