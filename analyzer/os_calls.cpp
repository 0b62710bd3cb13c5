#include "analyzer/os_calls.h"

#include <algorithm>
#include <array>

namespace mcpac::analyzer {
namespace {

constexpr std::array<std::string_view, 49> kFiles{
    "open",      "openat",   "creat",    "fopen",        "fopen64",       "freopen",  "open64",
    "unlink",    "rename",   "remove",   "mkdir",        "rmdir",         "opendir",  "readdir",
    "stat",      "lstat",    "fstatat",  "access",       "chmod",         "chown",    "link",
    "symlink",   "readlink", "truncate", "chdir",        "getcwd",        "realpath", "mkstemp",
    "mkdtemp",   "tmpfile",  "tmpnam",   "mount",        "umount",        "chroot",   "glob",
    "ftw",       "nftw",     "scandir",  "mkfifo",       "mknod",         "utime",    "utimes",
    "utimensat", "statx",    "openat2",  "inotify_init", "fanotify_init", "renameat", "unlinkat"};
constexpr std::array<std::string_view, 17> kNetwork{
    "socket",     "connect",     "bind",    "listen",  "accept",      "accept4",
    "sendto",     "recvfrom",    "sendmsg", "recvmsg", "getaddrinfo", "gethostbyname",
    "socketpair", "getnameinfo", "send",    "recv",    "setsockopt"};
constexpr std::array<std::string_view, 33> kProcesses{"fork",
                                                      "vfork",
                                                      "clone",
                                                      "execve",
                                                      "execv",
                                                      "execvp",
                                                      "execl",
                                                      "execlp",
                                                      "execle",
                                                      "execvpe",
                                                      "fexecve",
                                                      "posix_spawn",
                                                      "posix_spawnp",
                                                      "system",
                                                      "popen",
                                                      "kill",
                                                      "ptrace",
                                                      "waitpid",
                                                      "wait",
                                                      "setuid",
                                                      "setgid",
                                                      "setns",
                                                      "unshare",
                                                      "prctl",
                                                      "syscall",
                                                      "process_vm_readv",
                                                      "process_vm_writev",
                                                      "pidfd_open",
                                                      "daemon",
                                                      "setsid",
                                                      "tgkill",
                                                      "sigqueue",
                                                      "reboot"};
constexpr std::array<std::string_view, 7> kEnvironment{
    "getenv", "secure_getenv", "setenv", "putenv", "unsetenv", "clearenv", "getpwuid"};
constexpr std::array<std::string_view, 10> kMemory{
    "mmap",     "mprotect", "dlopen",       "dlsym",  "dlmopen",
    "shm_open", "shmget",   "memfd_create", "mremap", "userfaultfd"};

constexpr std::array<std::string_view, 4> kFileTypes{"std::basic_ofstream", "std::basic_ifstream",
                                                     "std::basic_fstream", "std::basic_filebuf"};

bool among(const auto& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

}  // namespace

const char* reached_by_function(std::string_view name) {
  if (name.starts_with("std::filesystem::")) return reached_by_type(name);
  if (among(kFiles, name)) return "files";
  if (among(kNetwork, name)) return "the network";
  if (among(kProcesses, name)) return "other processes";
  if (among(kEnvironment, name)) return "the environment";
  return among(kMemory, name) ? "memory and libraries outside the program" : nullptr;
}

const char* reached_by_type(std::string_view name) {
  // A path is only text.
  if (name.starts_with("std::filesystem::path")) return nullptr;
  if (name.starts_with("std::filesystem::")) return "files";
  const std::array<std::string_view, 3> aliases{"std::ofstream", "std::ifstream", "std::fstream"};
  return among(kFileTypes, name) || among(aliases, name) ? "files" : nullptr;
}

}  // namespace mcpac::analyzer
