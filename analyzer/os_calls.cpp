// SPDX-License-Identifier: Apache-2.0

#include "analyzer/os_calls.h"

#include <algorithm>
#include <array>

#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

using Names = std::string_view;

// Lists of words (word_list.h).
constexpr Names kFiles =
    " close close_range closefrom open openat open64 openat64 openat2 creat creat64 fopen fopen64 "
    "freopen freopen64 unlink "
    "unlinkat rename renameat renameat2 remove mkdir mkdirat rmdir opendir fdopendir readdir "
    "readdir64 readdir_r scandir scandirat stat lstat fstat fstatat stat64 lstat64 fstat64 "
    "fstatat64 statx statfs fstatfs statvfs fstatvfs access faccessat eaccess euidaccess chmod "
    "fchmod fchmodat lchmod chown fchown fchownat lchown link linkat symlink symlinkat readlink "
    "readlinkat truncate truncate64 ftruncate ftruncate64 chdir fchdir getcwd get_current_dir_name "
    "getwd realpath canonicalize_file_name mkstemp mkstemp64 mkostemp mkstemps mkdtemp mktemp "
    "tempnam tmpfile tmpfile64 tmpnam glob glob64 ftw nftw "
    "utime utimes lutimes futimes utimensat futimens inotify_init "
    "inotify_init1 inotify_add_watch flock lockf posix_fallocate "
    "fallocate setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr "
    "flistxattr removexattr lremovexattr fremovexattr inotify_rm_watch catopen "
    // What is done with them once they are open; the standard streams are files, too.
    "fclose fseek fseeko fseeko64 ftell ftello ftello64 rewind fgetpos fgetpos64 fsetpos fsetpos64 "
    "closedir rewinddir telldir seekdir globfree ";
// Refused by the sandbox under every grant.
constexpr Names kFileSystems =
    " mount umount umount2 pivot_root chroot mkfifo mkfifoat mknod mknodat fanotify_init "
    "fanotify_mark name_to_handle_at open_by_handle_at open_tree move_mount fsopen fsmount swapon "
    "swapoff acct quotactl ";
constexpr Names kLocales = " setlocale newlocale iconv_open bindtextdomain ";
constexpr Names kNetwork =
    " socket connect bind listen accept accept4 getaddrinfo getnameinfo gethostbyname "
    "gethostbyname2 gethostbyname_r gethostbyaddr getservbyname getprotobyname socketpair "
    "setsockopt getsockopt getsockname getpeername shutdown if_nametoindex getifaddrs gethostname "
    "sethostname res_query res_search ";
constexpr Names kProcesses =
    " fork vfork _Fork clone clone3 execve execv execvp execl execlp execle execvpe execveat "
    "fexecve posix_spawn posix_spawnp system popen pclose kill killpg tgkill ptrace wait waitpid "
    "waitid wait3 wait4 setuid setgid seteuid setegid setreuid setregid setresuid setresgid "
    "setgroups initgroups setns unshare prctl arch_prctl process_vm_readv process_vm_writev "
    "pidfd_open pidfd_getfd pidfd_send_signal daemon setsid setpgid setpgrp reboot personality "
    "sched_setaffinity setpriority nice setrlimit setrlimit64 prlimit prlimit64 iopl ioperm bpf "
    "perf_event_open init_module delete_module kexec_load getpwuid getpwnam getgrgid getgrnam "
    "getlogin ";
constexpr Names kSignals =
    " signal bsd_signal sysv_signal sigaction sigset sigignore sigprocmask pthread_sigmask "
    "pthread_kill pthread_sigqueue sigqueue raise alarm ualarm setitimer timer_create "
    "timerfd_create "
    "signalfd eventfd sigaltstack sigsuspend sigwait sigwaitinfo sigtimedwait ";
constexpr Names kControl =
    " setjmp _setjmp sigsetjmp __sigsetjmp longjmp _longjmp siglongjmp getcontext setcontext "
    "makecontext swapcontext ";
constexpr Names kEnvironment = " getenv secure_getenv setenv putenv unsetenv clearenv environ ";
constexpr Names kMemory =
    " mmap mmap64 munmap mprotect pkey_mprotect mremap remap_file_pages shm_open shm_unlink shmget "
    "shmat memfd_create memfd_secret userfaultfd sbrk brk ";
constexpr Names kInput =
    " std::cin std::wcin scanf vscanf wscanf vwscanf getchar getwchar gets getchar_unlocked ";
// Of std::filesystem what asks no disk: operators of paths, errors and the words for options.
constexpr Names kOnlyText =
    " operator/ operator== operator!= operator< operator> operator<= operator>= operator<=> "
    "operator<< operator>> operator& operator| operator^ operator~ operator&= operator|= "
    "operator^= swap hash_value u8path filesystem_error file_status file_type perms perm_options "
    "copy_options directory_options space_info file_time_type ";
constexpr Names kLibraries = " dlopen dlmopen dlsym dlvsym dladdr dl_iterate_phdr dlinfo ";
// The connection to the gate is an open descriptor: these reach it by its number.
constexpr Names kRaw =
    " read write readv writev pread pwrite pread64 pwrite64 preadv pwritev preadv2 pwritev2 "
    "preadv64 pwritev64 send recv sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg splice tee "
    "vmsplice sendfile sendfile64 copy_file_range dup dup2 dup3 fcntl fcntl64 ioctl fdopen dprintf "
    "vdprintf aio_read aio_write aio_read64 aio_write64 eventfd_read eventfd_write preadv64v2 "
    "pwritev64v2 lio_listio lio_listio64 syscall ";
constexpr Names kFileTypes =
    " std::basic_ofstream std::basic_ifstream std::basic_fstream std::basic_filebuf std::ofstream "
    "std::ifstream std::fstream std::filebuf std::wofstream std::wifstream std::wfstream ";

struct Instead {
  Names names;
  const char* what;
};

// As sandbox/seccomp_admitted.cpp leaves them out.
constexpr std::array<Instead, 6> kRefusedOnFiles{
    {{" inotify_init inotify_init1 inotify_add_watch inotify_rm_watch ",
      "compare std::filesystem::last_write_time from time to time"},
     {" flock lockf ",
      "write another file and std::filesystem::rename it to the place, which happens at once"},
     {" link linkat symlink symlinkat std::filesystem::create_hard_link "
      "std::filesystem::create_symlink std::filesystem::create_directory_symlink "
      "std::filesystem::copy_symlink ",
      "copy the file: links are never made"},
     {" chown fchown fchownat lchown ",
      "leave it: what a program writes belongs to whoever runs mcpac"},
     {" setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr "
      "removexattr lremovexattr fremovexattr ",
      "keep it in a file of its own beside the other"},
     {" chdir fchdir ", "name each file by its whole path, or from where the program starts"}}};

struct Reach {
  Names names;
  const char* what;
};

constexpr std::array<Reach, 10> kReaches{{{kFiles, kReachedFiles},
                                          {kFileSystems, "file systems"},
                                          {kLocales, "the files of locales"},
                                          {kNetwork, "the network"},
                                          {kProcesses, "other processes"},
                                          {kSignals, "signals"},
                                          {kControl, "control flow that C++ does not know"},
                                          {kEnvironment, "the environment"},
                                          {kMemory, "memory outside the program"},
                                          {kLibraries, "libraries outside the program"}}};

}  // namespace

const char* reached_by_function(std::string_view name) {
  if (name.starts_with("std::filesystem::")) return reached_by_type(name);
  if (name.ends_with("::native_handle")) return "what is below the library's types";
  // The functions of C are declared globally; <cstdlib> only brings their names into std.
  const auto found = std::ranges::find_if(
      kReaches, [name](const Reach& reach) { return has_word(reach.names, name); });
  return found == kReaches.end() ? nullptr : found->what;
}

const char* reached_by_type(std::string_view name) {
  constexpr std::string_view kFilesystem = "std::filesystem::";
  // A path is only text, and so is what is told of files.
  if (name.starts_with("std::filesystem::path")) return nullptr;
  if (name.starts_with(kFilesystem))
    return has_word(kOnlyText, name.substr(kFilesystem.size(), name.find("::", kFilesystem.size()) -
                                                                   kFilesystem.size()))
               ? nullptr
               : kReachedFiles;
  return has_word(kFileTypes, name) ? kReachedFiles : nullptr;
}

const char* instead_on_granted_files(std::string_view name) {
  const auto found = std::ranges::find_if(
      kRefusedOnFiles, [name](const Instead& one) { return has_word(one.names, name); });
  return found == kRefusedOnFiles.end() ? nullptr : found->what;
}

bool reads_standard_input(std::string_view name) {
  return has_word(kInput, name);
}

bool moves_raw_bytes(std::string_view name) {
  return has_word(kRaw, name);
}

}  // namespace mcpac::analyzer
