// A program that serves: starts others and has files, sockets and folders of its own, in a root
// that holds what was mounted, and gets nothing beyond that.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/file.h"
#include "sandbox/landlock.h"
#include "sandbox/prepare.h"
#include "sandbox/process.h"
#include "sandbox/support_cgroup.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

using Kind = Mount::Kind;
using Access = Mount::Access;

constexpr Admits kServing = Admits{}.with(Serves{});

// A place with what is denied in it, the least of a system, and folders of its own.
struct Served {
  TemporaryFolder folder;
  Spec spec;
};

Mount made(Kind kind, std::filesystem::path inside, std::filesystem::path host = {}) {
  Mount mount;
  mount.host = std::move(host);
  mount.inside = std::move(inside);
  mount.kind = kind;
  if (kind == Kind::kPrivate) mount.size = std::uint64_t{1} << 20U;
  return mount;
}

Served serving(std::filesystem::path program, std::vector<std::string> words) {
  auto folder = TemporaryFolder::create("/tmp", "mcpac-test-serves");
  REQUIRE(folder);
  Served served{std::move(*folder), {}};
  const auto place = served.folder.path() / "place";
  std::filesystem::create_directories(place / "denied");
  std::filesystem::create_directories(place / "rest");
  std::ofstream(place / "text") << "content";
  std::ofstream(place / "secret") << "canary";
  std::ofstream(place / "denied" / "key") << "canary";
  std::filesystem::create_directories(place / "rest" / "deep");
  std::ofstream(place / "rest" / "deep" / "key") << "canary";
  std::ofstream(place / "rest" / "one") << "canary";
  if (::geteuid() == 0) {
    ::chmod(served.folder.path().c_str(), 0755);
    ::chmod(place.c_str(), 0777);
  }
  Spec& spec = served.spec;
  spec.program = std::move(program);
  spec.arguments = std::move(words);
  spec.admits = kServing;
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.mounts = {{"/usr", "/usr", Access::kReadExecute},
                 {place, "/place", Access::kReadWrite},
                 made(Kind::kAbsent, "/place/secret", place / "secret"),
                 made(Kind::kAbsent, "/place/denied", place / "denied"),
                 made(Kind::kAbsent, "/place/rest/deep", place / "rest" / "deep"),
                 made(Kind::kAbsent, "/place/rest/one", place / "rest" / "one"),
                 made(Kind::kLink, "/bin", "usr/bin"),
                 made(Kind::kLink, "/lib", "usr/lib"),
                 made(Kind::kLink, "/lib64", "usr/lib64"),
                 made(Kind::kDevice, "/dev/null", "/dev/null"),
                 made(Kind::kDevice, "/dev/zero", "/dev/zero"),
                 made(Kind::kProcesses, "/proc"),
                 made(Kind::kPrivate, "/tmp"),
                 {place / "rest", "/tmp/inner", Access::kReadWrite},
                 made(Kind::kFolder, "/start/here")};
  spec.work_directory = "/start/here";
  spec.limits.wall = std::chrono::seconds(20);
  spec.limits.file_size = std::uint64_t{1} << 30U;
  spec.limits.open_files = 128;
  return served;
}

std::string outcome_of(const std::string& script) {
  const Served served = serving("/bin/sh", {"sh", "-c", script});
  return run_once(served.spec);
}

// As root and as an ordinary user, which are different sandboxes.
void check_both(const std::string& script, const std::string& expected) {
  CAPTURE(script);
  CHECK(in_child([&] { return outcome_of(script); }) == expected);
  if (::geteuid() != 0) return;
  CHECK(in_child([&] { return become_user() ? outcome_of(script) : "no user"; }) == expected);
}

// On a machine without namespaces: the same paths as on the host, and a place that may be read.
Served serving_in_tier_b(const std::string& script, Admits admits) {
  Served served = serving("/usr/bin/python3", {"python3", "-c", script});
  const auto folder = served.folder.path();
  std::filesystem::create_directories(folder / "shown");
  std::ofstream(folder / "shown" / "text") << "shown";
  std::ofstream(folder / "beside") << "canary";
  if (::geteuid() == 0) ::chmod((folder / "shown").c_str(), 0777);
  Spec& spec = served.spec;
  spec.environment.push_back("FOLDER=" + folder.string());
  spec.environment.push_back("OUTSIDE=" + std::to_string(::getpid()));
  spec.admits = admits;
  spec.lowest_tier = Tier::kB;
  spec.work_directory = folder / "place";
  spec.mounts = {{"/usr", "/usr", Access::kReadExecute},
                 {folder / "place", folder / "place", Access::kReadWrite},
                 {folder / "shown", folder / "shown", Access::kRead},
                 made(Kind::kDevice, "/dev/null", "/dev/null")};
  return served;
}

// Each attempt by the name of its error, as root and as an ordinary user.
void check_in_tier_b(const std::string& attempts, const std::string& expected,
                     Admits admits = kServing) {
  const std::string script =
      "import ctypes,errno,os,resource,signal,socket,subprocess\n"
      "folder=os.environ['FOLDER']; parent=os.getppid(); outside=int(os.environ['OUTSIDE'])\n"
      "libc=ctypes.CDLL(None,use_errno=True); kept=[]\n"
      "def call(*words):\n"
      "  if libc.syscall(*words)<0: raise OSError(ctypes.get_errno(),'')\n"
      "def tried(what):\n"
      "  try: what(); return 'done'\n"
      "  except OSError as e: return errno.errorcode[e.errno]\n"
      "print(' '.join(tried(what) for what in (" +
      attempts + ")))\n";
  CAPTURE(attempts);
  if (!can_serve_in_tier_b()) return;
  const auto once = [&] {
    if (!lack(Lacking::kNamespaces)) return std::string("lacks nothing");
    const Served served = serving_in_tier_b(script, admits);
    return run_once(served.spec);
  };
  CHECK(in_child(once) == "exit 0 " + expected + "\n");
  if (::geteuid() != 0) return;
  CHECK(in_child([&] { return become_user() ? once() : "no user"; }) ==
        "exit 0 " + expected + "\n");
}

}  // namespace

TEST_SUITE("sandbox/serves") {
  TEST_CASE("a program that serves starts others, in a root of its own with what was mounted") {
    check_both("pwd; ls -A; ls /place; cat /place/text; echo; cat /place/rest/../text | tr c C",
               "exit 0 /start/here\ndenied\nrest\nsecret\ntext\ncontent\nContent");
    check_both("echo a > /place/new && cat /place/new; (exit 3); echo $?", "exit 0 a\n3\n");
    check_both("ls /; ls /start",
               "exit 0 bin\ndev\nlib\nlib64\nplace\nproc\nstart\ntmp\nusr\nhere\n");
    // Of the host, and of others in it.
    check_both(
        "ls /etc /home /root /var /sys 2>&1 | grep -c 'No such'; set -- /proc/[0-9]*; echo $#",
        "exit 0 5\n1\n");
  }

  TEST_CASE("an absent place cannot be listed, read, changed, removed or moved away") {
    check_both(
        "cd /place; for do in 'cat secret' 'ls denied' 'cat denied/key' 'rm -f secret' "
        "'rmdir denied' 'mv denied other' 'chmod 700 denied' 'sh -c \"echo x > secret\"' "
        "'sh -c \"echo x > denied/new\"' 'ln secret copy' 'mv text secret'; do "
        "eval \"$do\" >/tmp/out 2>&1 && echo \"done: $do\"; done; cat /tmp/out | grep -c canary",
        "exit 1 0\n");
    // What holds one may be moved, and takes the absent one along.
    check_both(
        "cd /place; mv rest moved; cat moved/deep/key moved/one 2>/dev/null; ls moved; "
        "mv moved/deep moved/else 2>/dev/null || echo stays; mkdir rest && cat rest/deep/key "
        "2>/dev/null; cp -r moved /tmp/copy 2>/dev/null; cat /tmp/copy/one /tmp/copy/deep/key "
        "2>/dev/null",
        "exit 1 deep\none\nstays\n");
  }

  TEST_CASE("a private folder is empty, its own, bounded and never executed from") {
    check_both(
        "ls -A /tmp; echo '#!/bin/sh' > /tmp/x; chmod 755 /tmp/x; /tmp/x 2>&1 | grep -c denied; "
        "cp /bin/true /tmp/true; /tmp/true 2>/dev/null || echo refused; rm /tmp/*; "
        "head -c 5000000 /dev/zero > /tmp/big 2>/dev/null || echo full; rm /tmp/big; "
        "mkfifo /tmp/inner/f 2>/dev/null || echo no fifo; ln -s /x /tmp/inner/l 2>/dev/null || "
        "echo no link; echo w > /tmp/inner/w; cat /place/rest/w",
        "exit 0 inner\n1\nrefused\nfull\nno fifo\nno link\nw\n");
  }

  TEST_CASE("devices are those that give nothing of the host, and nothing else is one") {
    check_both("echo x > /dev/null && head -c 3 /dev/zero | wc -c; ls /dev | tr '\\n' ' '",
               "exit 0 3\nnull zero ");
    Served served = serving("/bin/sh", {"sh", "-c", "true"});
    for (const char* device : {"/dev/tty", "/dev/kmsg", "/dev/fuse", "/etc/passwd"}) {
      if (!std::filesystem::exists(device)) continue;
      CAPTURE(device);
      served.spec.mounts = {made(Kind::kDevice, "/dev/null", device)};
      CHECK(run_once(served.spec).contains("not a device without effect"));
    }
  }

  TEST_CASE("what no server needs is refused and ends no process") {
    const auto go = [](const std::string& word, const std::string& value = "") {
      const auto once = [&] {
        const Served served = serving(hostile_program(), {"hostile", word, value});
        return run_once(served.spec);
      };
      const std::string ours = in_child(once);
      if (::geteuid() == 0)
        CHECK(in_child([&] { return become_user() ? once() : "no user"; }) == ours);
      return ours;
    };
    CHECK(go("clone-user") == "exit 10 EPERM");
    CHECK(go("clone3") == "exit 10 ENOSYS");
    CHECK(go("change-root", "/place") == "exit 10 EPERM");
    CHECK(go("trace-me") == "exit 10 EPERM");
    CHECK(go("socket-vsock") == "exit 10 ENOSYS");
    CHECK(go("socket-inet") == "exit 0");
    CHECK(go("socket-unix") == "exit 0");
    CHECK(go("fork") == "exit 0");
    CHECK(go("create-setuid", "/place/set") == "exit 10 EPERM");
    CHECK(go("raise-limit") == "exit 10 EPERM");
    CHECK(go("old-arch") == "violated");
    CHECK(go("x32") == "violated");
    CHECK(go("host-name") == "exit 0 sandbox");
    for (const int call :
         {321 /* bpf */, 298 /* perf_event_open */, 250 /* keyctl */, 101 /* ptrace */,
          165 /* mount */, 272 /* unshare */, 308 /* setns */, 175 /* init_module */,
          310 /* process_vm_readv */, 304 /* open_by_handle_at */, 323 /* userfaultfd */,
          438 /* pidfd_getfd */})
      CHECK(go("call", std::to_string(call)) == "exit 10 EPERM");
    for (const int call : {425 /* io_uring_setup */, 437 /* openat2 */, 317 /* seccomp */, 9999})
      CHECK(go("call", std::to_string(call)) == "exit 10 ENOSYS");
  }

  TEST_CASE(
      "what it makes is executed from nowhere: files, memory with a name, a loader's mapping") {
    const std::string script =
        "import os,mmap\n"
        "def told(what,body):\n"
        "  try: body(); print(what,'done')\n"
        "  except OSError as e: print(what,e.strerror)\n"
        "for flags in (0,1,2,8,16): told('memfd',lambda: os.memfd_create('x',flags))\n"
        "text=open('/bin/true','rb').read()\n"
        "for folder in ('/place','/tmp'):\n"
        "  path=folder+'/own'\n"
        "  def make():\n"
        "    with open(path,'wb') as out: out.write(text)\n"
        "    os.chmod(path,0o755)\n"
        "  make()\n"
        "  told('start',lambda: os.execv(path,['own']))\n"
        "  fd=os.open(path,os.O_RDWR)\n"
        "  told('by number',lambda: os.execve(fd,['own'],{}))\n"
        "  told('map',lambda: mmap.mmap(fd,4096,mmap.MAP_PRIVATE,mmap.PROT_READ|mmap.PROT_EXEC))\n"
        "  status=os.system('/lib64/ld-linux-x86-64.so.2 '+path+' 2>/dev/null')\n"
        "  print('loader','failed' if status else 'done')\n"
        // What interpreters compile stays possible.
        "told('own memory',lambda: mmap.mmap(-1,4096,prot=mmap.PROT_READ|mmap.PROT_EXEC))\n";
    const Served served = serving("/usr/bin/python3", {"python3", "-c", script});
    std::string expected = "exit 0 ";
    for (int i = 0; i < 5; ++i) expected += "memfd Function not implemented\n";
    for (int i = 0; i < 2; ++i)
      expected +=
          "start Permission denied\nby number Permission denied\nmap Operation not permitted\n"
          "loader failed\n";
    CHECK(run_once(served.spec) == expected + "own memory done\n");
  }

  TEST_CASE("a file that it has keeps no other program waiting, and locks and pipes work") {
    const std::string tries =
        "import ctypes,errno,fcntl,os\n"
        "libc=ctypes.CDLL(None,use_errno=True)\n"
        "def told(command,value,path='/usr/bin/env'):\n"
        "  fd=os.open(path,os.O_RDONLY)\n"
        "  done=libc.syscall(72,fd,ctypes.c_long(command),ctypes.c_long(value))\n"
        "  print(errno.errorcode[ctypes.get_errno()] if done<0 else 'done')\n"
        // The kernel reads 32 bits of a command.
        "for lease in (1024,(1<<32)|1024,(1<<63)|1024):\n"
        "  for kind in (fcntl.F_RDLCK,fcntl.F_WRLCK): told(lease,kind)\n"
        "told(1024,fcntl.F_WRLCK,'/place/text'); told(1026,1,'/usr/bin')\n"
        "fcntl.lockf(os.open('/place/text',os.O_RDWR),fcntl.LOCK_EX|fcntl.LOCK_NB)\n"
        "r,w=os.pipe()\n"
        "print([fcntl.fcntl(w,c,v) for c,v in ((fcntl.F_SETPIPE_SZ,8192),(fcntl.F_GETPIPE_SZ,0),\n"
        "  (fcntl.F_SETFD,1),(fcntl.F_GETFD,0),(fcntl.F_SETFL,os.O_NONBLOCK))])\n"
        "print(fcntl.fcntl(w,fcntl.F_DUPFD_CLOEXEC,50),fcntl.fcntl(w,fcntl.F_DUPFD,60))\n"
        "print(fcntl.fcntl(w,fcntl.F_GETOWN),fcntl.fcntl(r,1025))\n";
    std::string expected = "exit 0 ";
    for (int i = 0; i < 8; ++i) expected += "EINVAL\n";
    expected += "[8192, 8192, 0, 1, 0]\n50 60\n0 2\n";
    const auto once = [&] {
      const Served served = serving("/usr/bin/python3", {"python3", "-c", tries});
      return run_once(served.spec);
    };
    CHECK(in_child(once) == expected);
    if (::geteuid() == 0)
      CHECK(in_child([&] { return become_user() ? once() : "no user"; }) == expected);
  }

  TEST_CASE("it leaves its user watches of files") {
    const std::string script =
        "import ctypes\n"
        "libc=ctypes.CDLL(None)\n"
        "made=0\n"
        "while made<100 and libc.inotify_init1(0)>=0: made+=1\n"
        "print(made)\n";
    const auto once = [&] {
      const Served served = serving("/usr/bin/python3", {"python3", "-c", script});
      return run_once(served.spec);
    };
    const auto as_user = [](const std::function<std::string()>& what) {
      return in_child(
          [&] { return ::geteuid() != 0 || become_user() ? what() : std::string("no user"); });
    };
    const std::string can_bound = as_user([] {
      if (::unshare(CLONE_NEWUSER) != 0) return std::string("no namespace");
      const UniqueFd limit(::open("/proc/sys/user/max_inotify_instances", O_WRONLY));
      return std::string(limit ? "yes" : "no");
    });
    if (can_bound != "yes") {
      MESSAGE("skipped: /proc/sys cannot be written in a user namespace: ", can_bound);
      return;
    }
    CHECK(as_user(once) == "exit 0 16\n");
  }

  TEST_CASE("it talks to itself over the loopback device, and reaches nothing else") {
    check_both(
        "python3 -c '\nimport socket\ns=socket.create_server((\"127.0.0.1\",0))\n"
        "c=socket.create_connection(s.getsockname(),5)\nprint(\"self\")\n"
        "try: socket.create_connection((\"192.0.2.1\",80),2)\n"
        "except OSError as e: print(e.strerror)\n'",
        "exit 0 self\nNetwork is unreachable\n");
  }

  TEST_CASE("without namespaces it opens what Landlock was told, and changes nothing beside it") {
    check_in_tier_b(
        "lambda: open(folder+'/beside'), lambda: os.listdir(folder), lambda: os.listdir('/'),"
        "lambda: open('/etc/passwd'), lambda: open('/proc/self/environ'),"
        "lambda: open(folder+'/shown/text'), lambda: open(folder+'/shown/text','w'),"
        "lambda: open(folder+'/shown/new','w'), lambda: os.remove(folder+'/shown/text'),"
        "lambda: os.truncate(folder+'/shown/text',0), lambda: open('text','w'),"
        "lambda: os.mkdir('made'), lambda: os.symlink('/x','link'), lambda: os.mkfifo('fifo'),"
        "lambda: subprocess.run(['/bin/true'])",
        "EACCES EACCES EACCES EACCES EACCES done EACCES EACCES EACCES EACCES done done EACCES "
        "EACCES done");
    // A link or a move would give more at its other end; what Landlock knows nothing of is refused.
    check_in_tier_b(
        "lambda: os.link(folder+'/shown/text','copy'), lambda: os.link(folder+'/beside','copy'),"
        "lambda: os.rename(folder+'/beside','moved'), lambda: os.chmod(folder+'/beside',0o777),"
        "lambda: os.chmod('text',0o777), lambda: os.chown('text',-1,os.getgid()),"
        "lambda: os.utime(folder+'/beside'), lambda: os.getxattr(folder+'/beside','user.x'),"
        "lambda: call(254,libc.inotify_init(),folder.encode(),0x100), lambda: "
        "os.stat(folder+'/beside')",
        "EXDEV EXDEV EACCES EPERM EPERM EPERM EPERM ENOTSUP EPERM done");
  }

  TEST_CASE("without namespaces it reaches no other process of its user, nor its memory") {
    check_in_tier_b(
        "lambda: os.kill(parent,0), lambda: os.kill(outside,0), lambda: "
        "os.killpg(os.getpgid(outside),0),"
        "lambda: signal.pidfd_send_signal(os.pidfd_open(outside),0),"
        "lambda: open(f'/proc/{outside}/environ'), lambda: open(f'/proc/{outside}/cmdline'),"
        "lambda: os.listdir(f'/proc/{outside}/fd'), lambda: os.readlink(f'/proc/{outside}/cwd'),"
        "lambda: open(f'/proc/{outside}/root/etc/passwd'), lambda: call(101,16,outside,0,0),"
        "lambda: resource.prlimit(outside,resource.RLIMIT_CPU,(1,1)),"
        "lambda: os.sched_setaffinity(outside,{0}), lambda: os.setpriority(os.PRIO_USER,0,19),"
        "lambda: os.sched_setaffinity(0,os.sched_getaffinity(0)), lambda: os.kill(os.getpid(),0),"
        "lambda: resource.getrlimit(resource.RLIMIT_CPU)",
        "EPERM EPERM EPERM EPERM EACCES EACCES EACCES EACCES EACCES EPERM ENOSYS ENOSYS ENOSYS "
        "done "
        "done done");
  }

  TEST_CASE("without namespaces it has no socket but pairs, or all of TCP and UDP") {
    const std::string sockets =
        "lambda: socket.socket(), lambda: socket.socket(type=socket.SOCK_DGRAM),"
        "lambda: socket.socket(socket.AF_UNIX), lambda: socket.socketpair(),"
        "lambda: socket.socketpair(type=socket.SOCK_DGRAM), lambda: socket.socket(16,3,0),"
        "lambda: socket.socketpair()[0].bind('\\0abstract')";
    check_in_tier_b(sockets, "EPERM EPERM EPERM done ENOSYS EPERM EPERM");
    check_in_tier_b(sockets +
                        ",lambda: (kept.append(socket.create_server(('127.0.0.1',0))),"
                        "socket.create_connection(kept[0].getsockname()))",
                    "done done EPERM done ENOSYS done done done", kServing.with(Dials{}));
  }

  TEST_CASE("without namespaces what Landlock cannot hold is refused before anything starts") {
    const auto refused = [](int abi, const std::function<void(Spec&)>& change) {
      Stock stock;
      stock.machine.filter = true;
      stock.machine.landlock_abi = abi;
      Served served = serving_in_tier_b("pass", kServing);
      if (change) change(served.spec);
      const auto plan = prepare(stock, served.spec, {}, 0);
      return plan ? std::string() : plan.error().text;
    };
    constexpr int kScopes = 6;
    if (can_serve_in_tier_b()) CHECK(refused(landlock_abi(), nullptr).empty());
    CHECK(refused(5, nullptr).contains("Landlock before ABI 6"));
    CHECK(refused(kScopes, [](Spec& spec) {
            const auto place = spec.mounts[1].host;
            spec.mounts.push_back({place / "denied", place / "denied", Access::kRead});
          }).contains("cannot be kept from what may write"));
    CHECK(refused(kScopes, [](Spec& spec) {
            spec.mounts.push_back(made(Kind::kPrivate, "/tmp"));
          }).contains("nothing can be made"));
    CHECK(refused(kScopes, [](Spec& spec) {
            spec.listens = {{Listen::Kind::kStream, 80}};
          }).contains("nothing can be made"));
    CHECK(refused(kScopes, [](Spec& spec) {
            spec.lowest_tier = Tier::kA;
          }).contains("the run asks for A"));
  }

  TEST_CASE("without namespaces its processes are counted, and memory is that of all of them") {
    if (!can_serve_in_tier_b()) return;
    // describe(), the limit that was met, and whether there is a control group.
    const auto outcome = [](const std::string& script, std::uint64_t memory, std::uint64_t most) {
      const auto once = [&]() -> std::string {
        if (!lack(Lacking::kNamespaces)) return "lacks nothing";
        Served served = serving_in_tier_b(script, kServing);
        served.spec.limits.memory = memory;
        served.spec.limits.processes = most;
        auto warden = Warden::start(warden_program());
        if (!warden) return warden.error().what;
        const auto ran = run(*warden, served.spec);
        std::string text = describe(ran);
        if (ran && ran->verdict.limit) text += ", limit " + ran->verdict.limit->name;
        return text + (cgroup_row(*warden) == "works" ? ", grouped" : "");
      };
      return in_child(once);
    };
    // As a keeper ends what it keeps when it is told to.
    const std::string begin =
        "import os,signal,time\nsignal.signal(signal.SIGUSR2,lambda *_:os.kill(0,9))\n";
    // By the look, or where there is a control group by that.
    const auto many =
        outcome(begin +
                    "try:\n  for _ in range(40):\n    if os.fork()==0: time.sleep(10)\n"
                    "  time.sleep(10)\nexcept BlockingIOError: print('refused')",
                0, 20);
    INFO(many);
    if (many.ends_with(", grouped")) {
      CHECK(many.starts_with("exit 0 refused"));
    } else {
      CHECK(many == "signal 9, limit processes");
    }
    CHECK(
        outcome(begin + "if os.fork()==0:\n  held=bytearray(os.urandom(1<<20)*200)\ntime.sleep(10)",
                std::uint64_t{64} << 20U, 64)
            .starts_with("memory limit, limit memory"));
  }

  TEST_CASE("memory is that of all its processes together, and what they share counts once") {
    const auto with_memory = [](const std::string& script) {
      const auto once = [&] {
        Served served = serving("/usr/bin/python3", {"python3", "-c", script});
        served.spec.limits.memory = std::uint64_t{64} << 20U;  // and 36 MiB of room
        return run_once(served.spec);
      };
      const std::string ours = in_child(once);
      if (::geteuid() == 0)
        CHECK(in_child([&] { return become_user() ? once() : "no user"; }) == ours);
      return ours;
    };
    const std::string several =
        "import os,time\n"
        "def children(body):\n"
        "  for _ in range(4):\n"
        "    if os.fork()==0: body(); os._exit(0)\n"
        "  for _ in range(4): os.wait()\n"
        "  print('done')\n";
    CHECK(with_memory(several + "held=bytearray(os.urandom(1<<20)*40)\n"
                                "children(lambda: time.sleep(0.3))") == "exit 0 done\n");
    CHECK(with_memory(several + "def body():\n  held=bytearray(os.urandom(1<<20)*40)\n"
                                "  time.sleep(10)\nchildren(body)") == "memory limit");
    CHECK(with_memory("import mmap,time\nheld=mmap.mmap(-1,200<<20)\n"
                      "held.write(bytes(200<<20))\ntime.sleep(10)") == "memory limit");
    // Reserved and never touched, as interpreters do.
    CHECK(with_memory("import mmap\nheld=mmap.mmap(-1,8<<30,flags=0x4022,prot=0)\nprint(1)") ==
          "exit 0 1\n");
  }

  TEST_CASE("a warden that was stopped goes on when it is asked, and keeps nobody at its end") {
    auto warden = Warden::start(warden_program(), Explore::kForServers);
    REQUIRE(warden);
    const Served served = serving("/bin/sh", {"sh", "-c", "sleep 1000"});
    {
      const auto first = warden->spawn(served.spec);
      REQUIRE(first);
      const auto stopped = [] {
        // The only child of this process of that name.
        std::string line;
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
          std::ifstream stat(entry.path() / "stat");
          if (!std::getline(stat, line) || !line.contains("(mcpac-warden)")) continue;
          // Behind its name, whatever it is doing just now.
          const std::string parent = " " + std::to_string(::getpid()) + " ";
          if (!line.substr(line.rfind(')') + 3).starts_with(parent)) continue;
          ::kill(std::stoi(entry.path().filename()), SIGSTOP);
          return true;
        }
        return false;
      };
      REQUIRE(stopped());
      CHECK(warden->spawn(served.spec).has_value());
      REQUIRE(stopped());
    }
    // Its children were killed without it; it is at its end now.
    const auto begun = std::chrono::steady_clock::now();
    { const Warden ending = std::move(*warden); }
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(60));
  }

  TEST_CASE("whoever does not hear the request to end is killed by the end of its warden") {
    if (!can_serve_in_tier_b()) return;
    const std::string deaf =
        "import signal,time\nsignal.signal(signal.SIGUSR2,signal.SIG_IGN)\n"
        "print('ready',flush=True)\ntime.sleep(1000)";
    CHECK(in_child([&]() -> std::string {
            if (!lack(Lacking::kNamespaces)) return "lacks nothing";
            Served served = serving_in_tier_b(deaf, kServing);
            served.spec.limits.wall = {};
            std::optional<Warden> warden;
            if (auto begun = Warden::start(warden_program())) warden.emplace(std::move(*begun));
            std::vector<Child> children;
            for (int i = 0; warden && i < 3; ++i) {
              int ends[2];
              if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
              const UniqueFd reader(ends[0]);
              UniqueFd writer(ends[1]);
              served.spec.standard_output = writer.get();
              auto child = warden->spawn(served.spec);
              if (!child) return child.error().what;
              writer.reset();
              char ready = 0;
              if (::read(reader.get(), &ready, 1) != 1) return "not ready";
              children.push_back(std::move(*child));
            }
            warden.reset();
            std::string text;
            for (Child& child : children) {
              const auto verdict = child.wait();
              text += verdict ? "signal " + std::to_string(verdict->code) + " " : "lost ";
            }
            return text;
          }) == "signal 9 signal 9 signal 9 ");
  }

  TEST_CASE("an interrupted wait for an end is none") {
    const pid_t deaf = ::fork();
    if (deaf == 0) {
      for (;;) ::pause();
    }
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, deaf, 0)));
    struct sigaction quiet {};
    struct sigaction before {};
    quiet.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &quiet, &before);
    itimerval often{.it_interval = {.tv_sec = 0, .tv_usec = 5'000},
                    .it_value = {.tv_sec = 0, .tv_usec = 5'000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    CHECK_FALSE(has_ended_or_is_killed(
        process.get(), true, std::chrono::steady_clock::now() + std::chrono::milliseconds(50)));
    often = {};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    ::sigaction(SIGALRM, &before, nullptr);
    int status = 0;
    REQUIRE(::waitpid(deaf, &status, 0) == deaf);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    CHECK(has_ended_or_is_killed(process.get(), true));
  }

  TEST_CASE("its end is that of all that it started, also of what left its session") {
    const Served served = serving(
        "/bin/sh", {"sh", "-c", "setsid -f sleep 1000; (sleep 1000 &) ; echo ready; exit 5"});
    CHECK(run_once(served.spec) == "exit 5 ready\n");
  }

  TEST_CASE("a warden for servers tries nothing out, and answers as one that did") {
    const auto answers = [](Explore explore, const std::optional<Lacking>& lacking) {
      return in_child([&]() -> std::string {
        if (lacking && !lack(*lacking)) return "cannot lack";
        auto warden = Warden::start(warden_program(), explore);
        if (!warden) return warden.error().what;
        const Served served = serving("/bin/sh", {"sh", "-c", "cat /place/text"});
        std::string text = describe(run(*warden, served.spec)) + "\n";
        text += describe(run(*warden, served.spec)) + "\n";
        text += describe(run(*warden, hostile({"open", "/etc/passwd"}))) + "\n";
        const auto probe = warden->probe();
        return text + (probe && probe->tier ? "tier " + to_string(*probe->tier) : "no tier");
      });
    };
    CHECK(answers(Explore::kForServers, std::nullopt) ==
          "exit 0 content\nexit 0 content\nexit 10 EACCES\ntier A");
    for (const Lacking lacking : {Lacking::kNamespaces, Lacking::kNamespacesAndLandlock,
                                  Lacking::kMounts, Lacking::kFilters, Lacking::kListener}) {
      CAPTURE(static_cast<int>(lacking));
      const std::string told = answers(Explore::kForServers, lacking);
      CHECK(told == answers(Explore::kAtOnce, lacking));
      CHECK(told != "cannot lack");
    }
  }

  TEST_CASE("where there are no namespaces a program that serves is refused") {
    CHECK(in_child([] {
            if (!lack(Lacking::kNamespaces)) return std::string("cannot lack");
            Served served = serving("/bin/sh", {"sh", "-c", "true"});
            const auto strict = run_once(served.spec);
            served.spec.lowest_tier = Tier::kC;
            const auto lax = run_once(served.spec);
            return std::string(strict.starts_with("error MCPAC-E0603") ? "refused " : "ran ") +
                   (lax.starts_with("error MCPAC-E0603") ? "refused" : "ran");
          }) == "refused refused");
  }
}

}  // namespace mcpac::sandbox::test
