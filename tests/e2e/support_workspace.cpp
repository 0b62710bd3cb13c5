#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "e2e/workspace.h"
#include "places.h"

namespace e2e {
namespace {

namespace fs = std::filesystem;

const fs::path kServers = std::filesystem::path(mcpac::testing::in_source("tests/servers"));

std::string npm_server(const std::string& package) {
  return (kServers / "node_modules/@modelcontextprotocol" / package / "dist/index.js").string();
}

void read_some(int& fd, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  if (n > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(n));
  } else {
    ::close(fd);
    fd = -1;
  }
}

fs::path temporary_folder() {
  std::string name = (fs::temp_directory_path() / "mcpac-e2e-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  return name;
}

void write_whole(const char* file, const std::string& text) {
  const int fd = ::open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (::write(fd, text.data(), text.size()) < 0) ::close(fd);  // seen by what comes next
  ::close(fd);
}

// Of an environment: the file that stands for /etc/passwd.
const std::string kUsers = "MCPAC_TEST_USERS=";

std::string value_of(const std::string& start, const std::vector<std::string>& environment) {
  for (const auto& item : environment) {
    if (item.starts_with(start)) return item.substr(start.size());
  }
  return {};
}

// This process sees `users` as /etc/passwd, and nothing else changes for it.
bool enter_account(const fs::path& users) {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (uid == 0) {
    if (::unshare(CLONE_NEWNS) != 0) return false;
  } else {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    write_whole("/proc/self/setgroups", "deny");
    write_whole("/proc/self/uid_map", fmt::format("{0} {0} 1", uid));
    write_whole("/proc/self/gid_map", fmt::format("{0} {0} 1", gid));
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
         ::mount(users.c_str(), "/etc/passwd", nullptr, MS_BIND, nullptr) == 0;
}

// Whether mcpac would have `home` for its own there: what remembers users can be in the way.
bool has_home(const fs::path& users, const fs::path& home) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const passwd* user = enter_account(users) ? ::getpwuid(::geteuid()) : nullptr;
    ::_exit(user != nullptr && home == user->pw_dir ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The namespaces in which `users` is /etc/passwd: one for all that runs in a workspace, since what
// its commands share (a resident host) holds them to one view of the machine.
class Account {
 public:
  explicit Account(const std::string& users) {
    int ready[2];
    int done[2];
    REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(done, O_CLOEXEC) == 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      char byte = enter_account(users) ? 'y' : 'n';
      ::close(done[1]);
      if (::write(ready[1], &byte, 1) != 1 || ::read(done[0], &byte, 1) != 0) ::_exit(1);
      ::_exit(0);
    }
    char entered = 'n';
    REQUIRE(::read(ready[0], &entered, 1) == 1);
    const std::string process = fmt::format("/proc/{}/ns/", pid);
    if (::geteuid() != 0) user_ = ::open((process + "user").c_str(), O_RDONLY | O_CLOEXEC);
    mounts_ = ::open((process + "mnt").c_str(), O_RDONLY | O_CLOEXEC);
    for (const int fd : {ready[0], ready[1], done[0], done[1]}) ::close(fd);
    ::waitpid(pid, nullptr, 0);
    REQUIRE(entered == 'y');
  }
  ~Account() {
    for (const int fd : {user_, mounts_}) {
      if (fd >= 0) ::close(fd);
    }
  }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  // In a child that has one thread.
  [[nodiscard]] bool enter() const {
    return (user_ < 0 || ::setns(user_, CLONE_NEWUSER) == 0) && ::setns(mounts_, CLONE_NEWNS) == 0;
  }

  // By the file that stands for /etc/passwd.
  static std::map<std::string, Account>& all() {
    static std::map<std::string, Account> accounts;
    return accounts;
  }

 private:
  int user_ = -1;
  int mounts_ = -1;
};

bool generate_in(const Workspace& workspace) {
  const auto outcome = workspace.mcpac({"generate"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return true;
}

}  // namespace

const fs::path& Workspace::shared_cache() {
  struct Cache {
    fs::path folder = temporary_folder();
    ~Cache() {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
    }
  };
  static const Cache cache;  // goes when the program ends
  return cache.folder;
}

mcpac::Json Outcome::json() const {
  auto parsed = mcpac::parse_json(out);
  INFO("stdout: ", out, "\nstderr: ", err);
  REQUIRE(parsed.has_value());
  return *parsed;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Outcome run_program(const std::vector<std::string>& words,
                    const std::vector<std::string>& environment, const RunOptions& options) {
  int in[2];
  int out[2];
  int err[2];
  REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(err, O_CLOEXEC) == 0);
  const std::string users = value_of(kUsers, environment);
  const Account* account =
      users.empty() ? nullptr : &Account::all().try_emplace(users, users).first->second;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    if (account != nullptr && !account->enter()) ::_exit(125);
    if (options.enter && !options.enter()) ::_exit(124);
    if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(126);
    for (const auto& item : environment) ::putenv(const_cast<char*>(item.c_str()));
    for (const auto& item : options.environment) ::putenv(const_cast<char*>(item.c_str()));
    std::vector<char*> argv;
    for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  // Inputs of these tests fit a pipe.
  if (!options.input.empty())
    REQUIRE(::write(in[1], options.input.data(), options.input.size()) > 0);
  ::close(in[1]);

  Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  bool interrupted = false;
  while (out[0] >= 0 || err[0] >= 0) {
    std::array<pollfd, 2> watched{pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
    ::poll(watched.data(), watched.size(), 20);
    if (watched[0].revents != 0) read_some(out[0], outcome.out);
    if (watched[1].revents != 0) read_some(err[0], outcome.err);
    const auto elapsed = std::chrono::steady_clock::now() - start;
    if (!options.interrupt_at.empty() && !interrupted &&
        outcome.out.find(options.interrupt_at) != std::string::npos) {
      interrupted = true;
      ::kill(-pid, SIGINT);
    }
    if (elapsed > std::chrono::seconds(600)) ::kill(-pid, SIGKILL);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::string Workspace::real_servers() {
  return fmt::format(R"({{"mcpServers": {{
    "filesystem": {{"command": "node", "args": ["{}", "."]}},
    "memory": {{"command": "node", "args": ["{}"], "env": {{"MEMORY_FILE_PATH": "${{env:E2E_MEMORY}}"}}}},
    "everything": {{"command": "node", "args": ["{}"]}}
  }}}})",
                     npm_server("server-filesystem"), npm_server("server-memory"),
                     npm_server("server-everything"));
}

std::string Workspace::fixture(const std::string& mode) {
  return fmt::format(
      R"({{"mcpServers": {{"fixture": {{"command": "node", "args": ["{}", "{}"]}}}}}})",
      (kServers / "fixture.mjs").string(), mode);
}

Workspace::Workspace(const std::string& config) {
  std::ignore = Account::all();  // so that it outlives each workspace
  folder_ = temporary_folder();
  fs::create_directories(folder_ / "data");
  fs::create_directories(folder_ / "tmp");
  fs::create_directories(home());
  fs::permissions(home(), fs::perms::owner_all);
  write(".passwd",
        fmt::format("tester:x:{}:{}::{}:/bin/sh\n", ::geteuid(), ::getegid(), home().string()));
  write("mcpac.json", config);
  write("data/a.txt", "alpha\nbeta\n");
}

Workspace::~Workspace() {
  Account::all().erase((folder_ / ".passwd").string());
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Workspace& Workspace::shared() {
  static Workspace workspace(real_servers());
  static const bool generated = generate_in(workspace);
  (void)generated;
  return workspace;
}

Workspace& Workspace::shared_fixture() {
  static Workspace workspace(fixture("plain"));
  static const bool generated = generate_in(workspace);
  (void)generated;
  return workspace;
}

Outcome Workspace::mcpac(std::vector<std::string> arguments, const RunOptions& options) const {
  arguments.insert(arguments.begin(), mcpac::testing::in_build("bin/mcpac"));
  RunOptions here = options;
  if (here.folder.empty()) here.folder = folder_;
  return run_program(arguments, environment(), here);
}

bool Workspace::has_account() const {
  static const bool has = [this] {
    const bool works = has_home(folder_ / ".passwd", home());
    if (!works)
      MESSAGE("skipped: this machine gives no mount namespace for another record of users");
    return works;
  }();
  return has;
}

bool Workspace::allow_off_switch() const {
  return set("no-permission-check", "allowed\n");
}

bool Workspace::accept_tier(const std::string& tier) const {
  return set("accepted-tier", tier + "\n");
}

bool Workspace::set(const std::string& name, const std::string& text) const {
  const auto setting = write(".home/.config/mcpac/" + name, text);
  fs::permissions(setting, fs::perms::owner_read | fs::perms::owner_write);
  for (auto at = setting.parent_path(); at != folder_; at = at.parent_path())
    fs::permissions(at, fs::perms::owner_all);
  return has_account();
}

std::vector<std::string> Workspace::environment() const {
  return {fmt::format("XDG_STATE_HOME={}/.state", folder_.string()),
          fmt::format("XDG_CACHE_HOME={}", shared_cache().string()),
          fmt::format("XDG_CONFIG_HOME={}/.config", folder_.string()),
          fmt::format("TMPDIR={}/tmp", folder_.string()),
          fmt::format("E2E_MEMORY={}/memory.jsonl", folder_.string()),
          kUsers + (has_account() ? (folder_ / ".passwd").string() : ""),
          // No resident host of whoever runs the tests.
          fmt::format("XDG_RUNTIME_DIR={}/.state/run", folder_.string()), "MCPAC_ALONE=1",
          "NO_COLOR=1"};
}

Outcome Workspace::with_person(const std::string& answers, std::vector<std::string> command) const {
  const auto driver = write("person.py", R"(import os, pty, sys
answers, command = sys.argv[1].split(","), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
seen = text = b""
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    seen += piece
    text += piece
    # What is typed before a question stands there is thrown away.
    if answers and (b"[y/N] " in text or b"never]: " in text):
        text = b""
        os.write(fd, answers.pop(0).encode() + b"\n")
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
)");
  command.insert(command.begin(),
                 {"python3", driver.string(), answers, mcpac::testing::in_build("bin/mcpac")});
  return run_program(command, environment(), {.folder = folder_});
}

Outcome Workspace::execute(const std::string& source, const std::string& grants,
                           std::vector<std::string> more) const {
  std::vector<std::string> arguments{"execute", "-c", source};
  if (!grants.empty()) arguments.insert(arguments.end(), {"--grant", grants});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return mcpac(arguments);
}

std::filesystem::path Workspace::write(const std::string& name, const std::string& text) const {
  const auto path = folder_ / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string Workspace::read(const std::string& name) const {
  std::ifstream file(folder_ / name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace e2e
