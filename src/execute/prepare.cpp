#include "execute/prepare.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "core/file.h"
#include "core/hash.h"
#include "execute/header_files.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;

std::string cache_key(const codegen::Lock& lock, const fs::path& llvm) {
  std::string text =
      fmt::format("mcpac {} prepared 1\n{}", MCPAC_VERSION, toolchain_identity(llvm));
  for (const auto& [name, digest] : lock.headers) text += fmt::format("{} {}\n", digest, name);
  return sha256_hex(text).substr(0, 32);
}

// The cache decides what the compiler sees as `mcpac::Requires`, so nobody else may write to it.
Result<void> make_private(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  fs::permissions(folder, fs::perms(0700), error);
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return fail(ErrorId::kFileUnwritable,
                fmt::format("cannot use the cache folder {}", folder.string()));
  }
  if (info.st_uid != ::geteuid() || (info.st_mode & 077U) != 0) {
    return fail(ErrorId::kFileUnwritable,
                fmt::format("the cache folder {} is open to others", folder.string()),
                {.why = "the compiler trusts the headers in it",
                 .fix = fmt::format("chmod 700 {}", folder.string())});
  }
  return {};
}

// One builder at a time per cache; others wait and then find the work done.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& file)
      : fd_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (fd_) ::flock(fd_.get(), LOCK_EX);
  }

 private:
  UniqueFd fd_;
};

Result<Prepared> load(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {"agent.pch", "agent_pch.o"}) {
    if (!fs::is_regular_file(folder / name, error))
      return fail(ErrorId::kFileUnreadable, fmt::format("{} is missing", name));
  }
  auto text = read_file(folder / "toolchain.json", 1U << 20U);
  if (!text) return pass_on(text);
  auto json = parse_json(*text, (folder / "toolchain.json").string());
  if (!json) return pass_on(json);
  auto toolchain = toolchain_from_json(*json);
  if (!toolchain) return pass_on(toolchain);
  return Prepared{folder, std::move(*toolchain)};
}

Result<void> run_compiler(sandbox::Warden& warden, sandbox::Spec spec,
                          const std::vector<std::string>& command, const fs::path& output,
                          StopSignal stop) {
  spec.program = command.front();
  spec.arguments = command;
  spec.mounts.push_back({output, inside::kOutput, sandbox::Mount::Access::kReadWrite});
  spec.work_directory = inside::kOutput;
  // The header of many servers is our own text, larger than any agent: it gets more time than one.
  spec.limits.wall = std::chrono::minutes(10);
  spec.limits.cpu = std::chrono::minutes(5);
  spec.limits.file_size = std::uint64_t{2} << 30U;
  auto result = run_tool(warden, std::move(spec), "", 64U << 10U, stop);
  if (!result) return pass_on(result);
  if (result->succeeded()) return {};
  return fail(ErrorId::kCompileFailed, "the generated headers could not be precompiled",
              {.why = fmt::format("{}\n{}", describe(result->verdict), result->standard_error),
               .fix = "run `mcpac doctor`; if it finds nothing, this is a bug of mcpac"});
}

Result<Prepared> build(const HeaderFiles& headers, const fs::path& target, const Folders& folders,
                       sandbox::Warden& warden, sandbox::Tier lowest_tier, StopSignal stop) {
  auto toolchain = ask_driver(folders.llvm);
  if (!toolchain) return pass_on(toolchain);
  auto work = TemporaryFolder::create(target.parent_path(), "making-");
  if (!work) return pass_on(work);
  std::error_code error;
  fs::permissions(work->path(), fs::perms(0755), error);
  for (const auto& [name, bytes] : headers) {
    const fs::path file = work->path() / "include" / name;
    fs::create_directories(file.parent_path(), error);
    if (auto written = write_file_atomic(file, bytes, 0644); !written) return pass_on(written);
  }
  // As root the compiler runs under another id: it may write here, behind the private cache folder.
  const fs::path output = work->path() / "output";
  fs::create_directories(output, error);
  fs::permissions(output, fs::perms(0777), error);
  const auto spec = tool_spec(folders, work->path(), lowest_tier);
  for (const auto* command : {&toolchain->make_pch, &toolchain->compile_pch}) {
    if (auto done = run_compiler(warden, spec, *command, output, stop); !done) return pass_on(done);
  }
  for (const char* name : {"agent.pch", "agent_pch.o"}) {
    fs::rename(output / name, work->path() / name, error);
    if (error)
      return fail(ErrorId::kFileUnwritable,
                  fmt::format("cannot keep {}: {}", name, error.message()));
  }
  fs::remove_all(output, error);
  if (auto written =
          write_file_atomic(work->path() / "toolchain.json", to_text(to_json(*toolchain)));
      !written) {
    return pass_on(written);
  }
  fs::remove_all(target, error);
  fs::rename(work->path(), target, error);
  if (error)
    return fail(ErrorId::kFileUnwritable,
                fmt::format("cannot write {}: {}", target.string(), error.message()));
  return load(target);
}

}  // namespace

sandbox::Spec tool_spec(const Folders& folders, const fs::path& prepared,
                        sandbox::Tier lowest_tier) {
  sandbox::Spec spec;
  spec.profile = sandbox::Profile::kCompiler;
  spec.limits = compiler_limits();
  spec.lowest_tier = lowest_tier;
  spec.mounts = toolchain_mounts(folders.llvm);
  spec.mounts.push_back({prepared, inside::kPrepared, sandbox::Mount::Access::kRead});
  return spec;
}

Result<Prepared> prepare(const Project& project, const codegen::Lock& lock, const Folders& folders,
                         sandbox::Warden& warden, sandbox::Tier lowest_tier,
                         const std::function<void()>& on_build, StopSignal stop) {
  auto headers = read_headers(project, lock);
  if (!headers) return pass_on(headers);
  const fs::path cache = folders.cache / "prepared";
  if (auto made = make_private(cache); !made) return pass_on(made);
  const fs::path target = cache / cache_key(lock, folders.llvm);
  if (auto ready = load(target)) return ready;
  const FolderLock exclusive(cache / "lock");
  if (auto ready = load(target)) return ready;
  on_build();
  return build(*headers, target, folders, warden, lowest_tier, stop);
}

}  // namespace mcpac::execute
