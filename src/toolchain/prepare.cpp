// SPDX-License-Identifier: Apache-2.0

#include "toolchain/prepare.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <system_error>

#include "codegen/embedded.h"
#include "codegen/emit.h"
#include "core/file_stamp.h"
#include "core/hash.h"
#include "project/header_files.h"
#include "project/private_folder.h"
#include "project/verified_headers.h"
#include "toolchain/make_runner.h"
#include "toolchain/named_servers.h"
#include "toolchain/precompile.h"

namespace mcpac::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr char kUmbrella[] = "mcpac.hpp";

// A compiler allocates a hundred megabytes and frees nothing: with large pages, where the kernel
// has them, it does not stop at each 4 KiB of them. Elsewhere it changes nothing.
constexpr char kLargePages[] = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1";

bool is_runtime(std::string_view name) {
  return name.starts_with("mcpac/");
}

// The files of servers/ that stand behind <mcpac.hpp> here: the runtime, and `servers`.
std::set<std::string> files_behind(const codegen::Lock& lock,
                                   const std::set<std::string>& servers) {
  std::set<std::string> names = servers;
  for (const auto& [name, digest] : lock.headers) {
    if (is_runtime(name)) names.insert(name);
  }
  return names;
}

// A <mcpac.hpp> that includes just these. The other servers stay as empty namespaces: a misspelled
// name is then answered with the right one.
std::string umbrella_of(const codegen::Lock& lock, const std::set<std::string>& servers) {
  std::string umbrella = codegen::emit_umbrella({servers.begin(), servers.end()});
  for (const auto& server : lock.servers)
    umbrella += fmt::format("namespace {} {{}}\n", server.cpp_name);
  return umbrella;
}

Result<Headers> read_headers(const project::Project& project, const codegen::Lock& lock,
                             const std::set<std::string>& servers) {
  Headers headers;
  for (const auto& name : files_behind(lock, servers)) {
    auto bytes = project::read_header(project, lock, name);
    if (!bytes) return pass_on(bytes);
    headers[name] = std::move(*bytes);
  }
  headers[kUmbrella] = umbrella_of(lock, servers);
  return headers;
}

using Digests = std::map<std::string, std::string>;  // of headers, by their names

// Those of read_headers(), which fails where this fails; files that were read before are not read.
Result<Digests> digests_of_headers(const project::Project& project, const codegen::Lock& lock,
                                   const std::set<std::string>& servers,
                                   const project::Folders& folders) {
  project::VerifiedHeaders verified(project, folders);
  Digests digests;
  for (const auto& name : files_behind(lock, servers)) {
    if (auto held = verified.hold(lock, name); !held) return pass_on(held);
    digests[name] = lock.headers.at(name);
  }
  verified.keep();
  digests[kUmbrella] = sha256_hex(umbrella_of(lock, servers));
  return digests;
}

// The part of the headers that knows no server: what this mcpac would write itself.
template <class Texts>
Texts runtime_part(const Texts& headers) {
  Texts runtime;
  for (const auto& file : codegen::embedded_files()) {
    const auto found = headers.find(std::string(file.path));
    if (found != headers.end()) runtime.insert(*found);
  }
  return runtime;
}

// The tools of the named headers, by their C++ names.
std::vector<std::string> tools_of(const codegen::Lock& lock, const std::set<std::string>& headers) {
  std::vector<std::string> tools;
  for (const auto& server : lock.servers) {
    if (!headers.contains(project::header_file_of(server))) continue;
    for (const auto& tool : server.tools) tools.push_back(tool.cpp_name);
  }
  return tools;
}

// The name of a folder in the cache: another text in it, another folder.
std::string cache_key(std::string_view what, const Digests& headers, std::string_view beside) {
  std::string text = fmt::format("mcpac {} {} 7\n{}\n", MCPAC_VERSION, what, beside);
  for (const auto& [name, digest] : headers) text += fmt::format("{} {}\n", digest, name);
  return fmt::format("{}-{}", what, sha256_hex(text).substr(0, 32));
}

fs::path cache_of(const project::Folders& folders) {
  return folders.cache / "prepared";
}

// Where what is prepared for these headers lies.
struct Wanted {
  std::string warmed;
  std::string runtime_key;
  fs::path target;
};
Result<Wanted> wanted_for(const project::Project& project, const codegen::Lock& lock,
                          const std::set<std::string>& servers, const project::Folders& folders) {
  auto headers = digests_of_headers(project, lock, servers, folders);
  if (!headers) return pass_on(headers);
  Wanted wanted{.warmed = warmed_tools(tools_of(lock, servers)), .runtime_key = {}, .target = {}};
  wanted.runtime_key = cache_key("runtime", runtime_part(*headers),
                                 toolchain_identity(folders.llvm) + runner_identity());
  wanted.target =
      cache_of(folders) / cache_key("servers", *headers, wanted.runtime_key + wanted.warmed);
  return wanted;
}

// Of all that wanted_for() looks at, one line each; empty where a header may change and keep its
// stamp, or is in no folder.
std::string stamps_behind(const project::Project& project, const codegen::Lock& lock,
                          const std::set<std::string>& servers, const project::Folders& folders) {
  if (project.kept) return {};
  std::string text = toolchain_identity(folders.llvm);
  for (const auto& name : files_behind(lock, servers)) {
    const auto stamp = stamp_of(project::place_of_header(project, name));
    if (!stamp || !stamp->is_regular || !is_settled(*stamp)) return {};
    text += fmt::format("{} {}\n", stamp->text(), name);
  }
  return text;
}

bool is_same(const KnownPrepared& known, const project::Project& project, const codegen::Lock& lock,
             const std::set<std::string>& servers, const project::Folders& folders) {
  return known.prepared.folder.parent_path() == cache_of(folders) && known.lock == &lock &&
         known.servers == servers && !known.stamps.empty() &&
         known.stamps == stamps_behind(project, lock, servers, folders);
}

// One builder at a time per cache; others wait, until they find the work done or are interrupted.
class FolderLock {
 public:
  static Result<FolderLock> take(const fs::path& file, StopSignal stop) {
    constexpr int kPause = 50;  // milliseconds between two tries; building takes seconds
    FolderLock lock(UniqueFd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)));
    while (lock.fd_ && ::flock(lock.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) break;
      pollfd waiting{stop.descriptor, POLLIN, 0};
      if (::poll(&waiting, 1, kPause) > 0)
        return fail(ErrorId::kInterrupted, "interrupted while another mcpac precompiled headers");
    }
    return lock;
  }

 private:
  explicit FolderLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace

sandbox::Spec tool_spec(const project::Folders& folders, const fs::path& prepared,
                        sandbox::Tier lowest_tier) {
  sandbox::Spec spec;
  spec.admits = sandbox::Admits{}
                    .with(sandbox::ReadsFiles{})
                    .with(sandbox::WritesFiles{})
                    .with(sandbox::Compiles{});
  spec.limits = compiler_limits();
  spec.environment = {kLargePages};
  spec.lowest_tier = lowest_tier;
  spec.mounts = toolchain_mounts(folders.llvm);
  spec.mounts.push_back({prepared, inside::kPrepared, sandbox::Mount::Access::kRead});
  return spec;
}

std::optional<KnownPrepared> find_prepared(const project::Project& project,
                                           const codegen::Lock& lock,
                                           const std::set<std::string>& servers,
                                           const project::Folders& folders) {
  auto stamps = stamps_behind(project, lock, servers, folders);  // before the files are looked at
  const auto wanted = wanted_for(project, lock, servers, folders);
  if (!wanted) return std::nullopt;
  auto ready = load_servers(wanted->target);
  if (!ready) return std::nullopt;
  return KnownPrepared{std::move(*ready), &lock, servers, std::move(stamps)};
}

Result<Prepared> prepare(const project::Project& project, const codegen::Lock& lock,
                         const std::set<std::string>& servers, const CompilerPlace& place,
                         const std::function<void(const char*)>& on_build,
                         const KnownPrepared* known) {
  const fs::path cache = cache_of(place.folders);
  // It decides what the compiler sees as `mcpac::Requires`.
  if (auto made = project::make_private(cache); !made) return pass_on(made);
  if (known != nullptr && is_same(*known, project, lock, servers, place.folders)) {
    if (auto ready = load_servers(known->prepared.folder, &known->prepared)) return ready;
  }
  auto wanted = wanted_for(project, lock, servers, place.folders);
  if (!wanted) return pass_on(wanted);
  auto& [warmed, runtime_key, target] = *wanted;
  if (auto ready = load_servers(target)) return ready;
  auto exclusive = FolderLock::take(cache / "lock", place.stop);
  if (!exclusive) return pass_on(exclusive);
  auto headers = read_headers(project, lock, servers);
  if (!headers) return pass_on(headers);
  const Headers runtime = runtime_part(*headers);
  if (!load_runtime(cache / runtime_key)) {
    // Not said of what no sandbox is made for.
    const auto roots = place.warden.makes_roots();
    if (!roots || *roots || place.lowest_tier > sandbox::Tier::kA)
      on_build("first use on this machine: precompiling the runtime headers, once");
    if (auto made = precompile_runtime(runtime, cache / runtime_key, place); !made)
      return pass_on(made);
  }
  if (!load_servers(target)) {
    for (const auto& [name, bytes] : runtime) headers->erase(name);
    if (auto made = precompile_servers(*headers, warmed, cache / runtime_key, target, place); !made)
      return pass_on(made);
  }
  auto ready = load_servers(target);
  drop_the_oldest(cache);  // not this one, which is held
  return ready;
}

}  // namespace mcpac::toolchain
