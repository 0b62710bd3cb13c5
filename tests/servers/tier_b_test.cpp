// Confined servers where there are no namespaces and a person accepted tier B: a hostile one gets
// what Landlock holds for it, and nothing of it stays.
#include "servers/confine/tier_b.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "audit/log.h"
#include "core/file.h"
#include "core/json.h"
#include "mcp/child_process.h"
#include "mcp/server_config.h"
#include "places.h"
#include "sandbox/support_sandbox.h"
#include "servers/confine/confine_servers.h"

using namespace mcpac;

namespace {

namespace fs = std::filesystem;
using Attempts = std::vector<std::pair<std::string, std::string>>;

// A project with a hostile server, whose host is this process.
class DelegatedRun {
 public:
  explicit DelegatedRun(const std::string& sandbox, sandbox::Tier lowest = sandbox::Tier::kB) {
    auto own = TemporaryFolder::create("/tmp", "mcpac-test-tier-b");
    REQUIRE(own);
    folder_.emplace(std::move(*own));
    for (const char* made : {"data", "shown", "beside", "home/.ssh", "../tmp"})
      fs::create_directories(path(made));
    put("shown/text", "what is shown");
    put("beside/secret", "canary");
    put("home/.ssh/id", "canary");
    project_.folder = fs::path(folder()) / "project";
    project_.config_file = path("mcpac.json");
    const std::string config = fmt::format(
        R"({{"mcpServers": {{"attempts": {{"command": "/usr/bin/python3", "args": ["{}"],
            "sandbox": {}}}}}}})",
        testing::in_source("tests/servers/attempts.py"), sandbox);
    put("mcpac.json", config);
    auto parsed = mcp::parse_config(config, project_.config_file.string());
    REQUIRE(parsed);
    project_.config = std::move(*parsed);
    project::Folders folders;
    folders.libexec = testing::in_build("libexec/mcpac");
    folders.temporary = folder_->path() / "tmp";
    folders.state = folder_->path() / "state";
    folders.cache = folder_->path() / "cache";
    servers::confine_servers(project_, folders, lowest);
    start();
  }
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] const mcp::Config& config() const { return project_.config; }
  [[nodiscard]] std::string path(const std::string& below) const {
    return (folder_->path() / "project" / below).lexically_normal().string();
  }
  [[nodiscard]] std::string folder() const { return folder_->path().string(); }
  [[nodiscard]] sandbox::Tier tier() const { return project_.confined->tier(); }
  // What became of each, by one call.
  std::vector<std::string> tried(const Attempts& attempts) const {
    if (!child_) return {error_.to_text()};
    Json list = Json::array();
    for (const auto& [what, on] : attempts) list.push_back(Json::array({what, on}));
    std::string coded;
    for (const char c : list.dump()) coded += fmt::format("{:02x}", static_cast<unsigned char>(c));
    const Json question{{"jsonrpc", "2.0"},
                        {"id", 1},
                        {"method", "tools/call"},
                        {"params", {{"name", "coded"}, {"arguments", {{"text", coded}}}}}};
    const std::string line = question.dump() + "\n";
    if (::write(child_->stdin_end.get(), line.data(), line.size()) < 0) return {"cannot ask"};
    std::string answer;
    char piece[4096];
    while (!answer.ends_with('\n')) {
      const ssize_t size = ::read(child_->stdout_end.get(), piece, sizeof piece);
      if (size <= 0) return {"it has ended"};
      answer.append(piece, static_cast<std::size_t>(size));
    }
    return Json::parse(Json::parse(answer)["result"]["content"][0]["text"].get<std::string>())
        .get<std::vector<std::string>>();
  }
  [[nodiscard]] std::string first(const std::string& what, const std::string& on = {}) const {
    return tried({{what, on}}).front();
  }
  void end() { child_.reset(); }
  // Of the folders that it had on disk.
  [[nodiscard]] bool left_nothing() const { return fs::is_empty(folder_->path() / "tmp"); }

 private:
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  void start() {
    const auto& server = project_.config.servers.front();
    mcp::SpawnOptions options{.program = server.command};
    options.arguments = server.arguments;
    options.arguments.insert(options.arguments.begin(), server.command);
    options.environment = {"PATH=/usr/bin:/bin"};
    options.working_directory = project_.folder.string();
    options.keeper = testing::in_build("libexec/mcpac/mcpac-keeper");
    options.confined = mcp::ConfinedSpawn{.confiner = server.confiner,
                                          .server = server.name,
                                          .places = server.sandbox->files,
                                          .network = server.sandbox->network,
                                          .memory = server.sandbox->memory};
    auto started = mcp::ChildProcess::spawn(loop_.get_executor(), options);
    if (started) {
      child_ = std::move(*started);
    } else {
      error_ = std::move(started.error());
    }
  }

  std::optional<TemporaryFolder> folder_;
  project::Project project_;
  boost::asio::io_context loop_;
  std::shared_ptr<mcp::ChildProcess> child_;
  Error error_;
};

// `body` in a process that has no namespaces, as root and as an ordinary user: what it says.
std::vector<std::string> without_namespaces(const std::function<std::string()>& body) {
  const auto once = [&] {
    return sandbox::test::lack(sandbox::test::Lacking::kNamespaces) ? body() : "lacks nothing";
  };
  std::vector<std::string> said{sandbox::test::in_child(once)};
  if (::geteuid() == 0)
    said.push_back(sandbox::test::in_child(
        [&] { return sandbox::test::become_user() ? once() : std::string("no user"); }));
  return said;
}

int count_marked(const std::string& mark) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "environ");
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (text.contains("MCPAC_TEST_MARK=" + mark)) ++count;
  }
  return count;
}

class TextOfRecord final : public audit::Sink {
 public:
  Result<std::string> append(std::string_view kind, Json payload) override {
    text += fmt::format("{} {}\n", kind, payload.dump());
    return std::string("1");
  }
  [[nodiscard]] std::string keyed_digest(std::string_view) const override { return {}; }
  std::string text;
};

// Within some time: it may be about to start.
bool is_marked(const std::string& mark) {
  for (int i = 0; i < 5'000; ++i) {
    if (count_marked(mark) > 0) return true;
    ::usleep(1'000);
  }
  return false;
}

constexpr const char* kGiven = R"({"files": ["./data:rw", "./shown"]})";

}  // namespace

TEST_SUITE("execute/tier B") {
  TEST_CASE("a hostile server reads, writes, dials and signals nothing that it was not given") {
    if (!sandbox::test::can_serve_in_tier_b()) return;
    for (const std::string& said : without_namespaces([] {
           DelegatedRun hosted(kGiven);
           const std::string mark = fmt::format("tier-b-{}", ::getpid());
           const auto tried = hosted.tried({{"read", hosted.path("beside/secret")},
                                            {"read", hosted.path("shown/") + "../beside/secret"},
                                            {"read", hosted.path("home/.ssh/id")},
                                            {"read", "/etc/shadow"},
                                            {"list", hosted.path("")},
                                            {"list", "/tmp"},
                                            {"read", hosted.path("mcpac.json")},
                                            {"write", hosted.path("shown/text")},
                                            {"append_to_self", ""},
                                            {"write", "/usr/bin/new"},
                                            {"read", fmt::format("/proc/{}/environ", ::getpid())},
                                            {"processes", ""},
                                            {"connect", "192.0.2.1:80"},
                                            {"datagrams", ""},
                                            {"unix", "/run/docker.sock"},
                                            {"trace", ""},
                                            {"unshare", ""},
                                            {"kill_keeper", ""},
                                            {"kill_host", std::to_string(::getpid())},
                                            {"set_id", hosted.path("data")},
                                            {"read", hosted.path("shown/text")},
                                            {"write", hosted.path("data/new")},
                                            {"leave", mark}});
           std::string all;
           for (const auto& one : tried) all += one + " ";
           const bool had = is_marked(mark);
           hosted.end();
           return all + fmt::format("{} {} {}", had, count_marked(mark), hosted.left_nothing());
         })) {
      CHECK(said ==
            "EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES "
            "EPERM EPERM EPERM EPERM EPERM EPERM EPERM EPERM \"what is shown\" \"done\" \"done\" "
            "true 0 true");
    }
  }

  TEST_CASE("its home and temporary folder lie on disk for one start, and go with it") {
    if (!sandbox::test::can_serve_in_tier_b()) return;
    for (
        const std::string& said : without_namespaces([] {
          DelegatedRun hosted(kGiven);
          const Json own = Json::parse(hosted.first("own_folders"));
          std::string text;
          for (const auto& folder : own) {
            const auto at = folder.get<std::string>();
            if (!at.starts_with(hosted.folder() + "/tmp/server-")) text += at;
            for (const auto& one : hosted.tried({{"write", at + "/file"}, {"lock_out", at + "/x"}}))
              text += one + " ";
          }
          hosted.end();
          return text + (hosted.left_nothing() ? "gone" : "left");
        })) {
      CHECK(said == "\"done\" \"done\" \"done\" \"done\" gone");
    }
  }

  TEST_CASE("its folders on disk are removed by the next start where its host was killed") {
    const auto folder = TemporaryFolder::create("/tmp", "mcpac-test-left").value();
    REQUIRE(sandbox::test::in_child([&] {
              const auto made = servers::FoldersOnDisk::make(folder.path());
              const bool closes = made && fs::create_directory(made->home() / "closed") &&
                                  ::chmod((made->home() / "closed").c_str(), 0) == 0;
              ::_exit(closes ? 0 : 1);
              return std::string();
            }) == "");
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
    CHECK(servers::FoldersOnDisk::make(folder.path()).has_value());
    CHECK(fs::is_empty(folder.path()));
  }

  TEST_CASE("nothing of it goes on when its host is killed") {
    if (!sandbox::test::can_serve_in_tier_b()) return;
    const std::string mark = fmt::format("tier-b-killed-{}", ::getpid());
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const pid_t host = ::fork();
    if (host == 0) {
      if (!sandbox::test::lack(sandbox::test::Lacking::kNamespaces)) ::_exit(1);
      const DelegatedRun hosted(kGiven);
      const std::string path =
          hosted.folder() + "/" + (hosted.first("leave", mark) == "\"done\"" ? "1" : "0");
      if (::write(ends[1], path.data(), path.size()) < 0) ::_exit(1);
      ::pause();
    }
    ::close(ends[1]);
    char said[200] = "";
    REQUIRE(::read(ends[0], said, sizeof said - 1) > 0);
    ::close(ends[0]);
    const std::string text = said;
    CHECK(text.ends_with("1"));
    CHECK(is_marked(mark));
    ::kill(host, SIGKILL);
    ::waitpid(host, nullptr, 0);
    for (int i = 0; i < 5'000 && count_marked(mark) > 0; ++i) ::usleep(1'000);
    CHECK(count_marked(mark) == 0);
    fs::remove_all(fs::path(text).parent_path());
  }

  TEST_CASE("its order to end is not lost among those for its group, and none of those is it") {
    if (!sandbox::test::can_serve_in_tier_b()) return;
    for (const std::string& said : without_namespaces([]() -> std::string {
           const std::string mark = fmt::format("tier-b-orders-{}", ::getpid());
           sandbox::Spec spec;
           spec.program = testing::in_build("libexec/mcpac/mcpac-keeper");
           spec.arguments = {"confined-alone", "/usr/bin/sh", "sh", "-c",
                             "trap '' TERM; setsid -f sleep 1000; echo ready; exec sleep 1000"};
           spec.environment = {"PATH=/usr/bin", "MCPAC_TEST_MARK=" + mark};
           spec.mounts = {
               {.host = "/usr", .inside = "/usr", .access = sandbox::Mount::Access::kReadExecute}};
           spec.admits = sandbox::Admits{}.with(sandbox::Serves{});
           spec.lowest_tier = sandbox::Tier::kB;
           spec.limits.wall = std::chrono::seconds(6);
           auto warden = sandbox::Warden::start(sandbox::test::warden_program());
           if (!warden) return warden.error().what;
           std::string text;
           for (int i = 0; i < 4; ++i) {
             int ends[2];
             int pipe[2];
             if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
                 ::pipe2(pipe, O_CLOEXEC) != 0)
               return "no sockets";
             const UniqueFd orders(ends[0]);
             UniqueFd theirs(ends[1]);
             const UniqueFd reader(pipe[0]);
             UniqueFd writer(pipe[1]);
             spec.channel = theirs.get();
             spec.standard_output = writer.get();
             auto child = warden->spawn(spec);
             if (!child) return child.error().what;
             theirs.reset();
             writer.reset();
             char ready = 0;
             if (::read(reader.get(), &ready, 1) != 1) return "not ready";
             const auto send = [&](int signal) {
               const auto order = static_cast<unsigned char>(signal);
               return ::send(orders.get(), &order, 1, MSG_NOSIGNAL) == 1;
             };
             // More than the socket holds: it goes on after the first.
             bool goes_on = send(SIGUSR2);
             for (int sent = 0; sent < 2'000; ++sent) goes_on = goes_on && send(SIGTERM);
             child->kill(sandbox::Verdict::Kind::kKilled);
             const auto verdict = child->wait();
             text += fmt::format("{} {} {}; ", goes_on,
                                 verdict && verdict->kind == sandbox::Verdict::Kind::kKilled,
                                 count_marked(mark));
           }
           return text;
         })) {
      CHECK(said == "true true 0; true true 0; true true 0; true true 0; ");
    }
  }

  TEST_CASE("names that a server made up to its very end are in the record of the run") {
    if (!sandbox::test::can_serve_in_tier_b()) return;  // though tier A may be here
    const std::string recorded = sandbox::test::in_child([] {
      DelegatedRun hosted(kGiven);
      TextOfRecord log;
      {
        const servers::RecordedConnections record(hosted.config(), log);
        if (hosted.first("write", hosted.path("data/.envrc")) != "\"done\"") return log.text;
        hosted.end();
      }
      return log.text;
    });
    INFO(recorded);
    CHECK(recorded.contains("Anomaly"));
    CHECK(recorded.contains("data/.envrc"));
  }

  TEST_CASE("the network is none, or all where the entry says any") {
    if (!sandbox::test::can_serve_in_tier_b()) return;
    for (const std::string& said : without_namespaces([] {
           const DelegatedRun all(R"({"network": ["any"]})");
           const auto tried = all.tried({{"datagrams", ""}, {"unix", "/run/docker.sock"}});
           const DelegatedRun some(R"({"network": ["example.com:443"]})");
           const DelegatedRun wrong(R"({"network": ["example.com"]})");
           return fmt::format("{} {} {} {}", tried.at(0), tried.at(1), some.error().to_text(),
                              to_string(wrong.error().id));
         })) {
      INFO(said);
      CHECK(said.starts_with("\"done\" EPERM error[MCPAC-E0603]"));
      CHECK(said.contains("\"network\": [\"any\"]"));
      CHECK(said.ends_with(" MCPAC-E0111"));
    }
  }

  TEST_CASE("what Landlock cannot hold is refused with what to write, and A is never weakened") {
    for (const std::string& said : without_namespaces([] {
           const DelegatedRun whole(R"({"files": [".:rw"]})");
           const DelegatedRun unaccepted(kGiven, sandbox::Tier::kA);
           return whole.error().to_text() + unaccepted.error().to_text();
         })) {
      INFO(said);
      CHECK(said.contains("MCPAC-E0720"));
      CHECK(said.contains(" stays as it is, and lies in "));
      CHECK(said.contains("give it smaller folders than"));
      CHECK(said.contains("MCPAC-E0603"));
      CHECK(said.contains("`mcpac doctor --accept-tier B` accepts"));
    }
    if (!sandbox::test::can_serve_in_tier_b()) return;  // though tier A may be here
    const std::string here = sandbox::test::in_child([] {
      const DelegatedRun hosted(kGiven);  // with all that this machine has
      return sandbox::to_string(hosted.tier()) + " " +
             hosted.first("read", hosted.path("beside/secret"));
    });
    CHECK((here == "A ENOENT" || here == "B EACCES"));
  }

  TEST_CASE("a denied place is absent from what it lies in, or the start is refused") {
    const auto folder = TemporaryFolder::create("/tmp", "mcpac-test-parts").value();
    const fs::path place = folder.path() / "place";
    fs::create_directories(place / "denied");
    const auto own = servers::FoldersOnDisk::make(folder.path() / "tmp").value();
    using Mount = sandbox::Mount;
    const auto with = [&](Mount::Access access, std::vector<Mount> more) {
      sandbox::Spec spec;
      spec.arguments = {"confined", "x"};
      spec.environment = {"HOME=/home/mcpac-server", "TMPDIR=/tmp", "A=1"};
      spec.mounts = {{.host = place, .inside = place, .access = access}};
      spec.mounts.insert(spec.mounts.end(), more.begin(), more.end());
      return servers::without_mounts(std::move(spec), "one", servers::WholeNetwork::kNone, own);
    };
    const Mount absent{
        .host = place / "denied", .inside = place / "denied", .kind = Mount::Kind::kAbsent};
    const Mount read{.host = place / "denied", .inside = place / "denied"};
    for (const auto access : {Mount::Access::kRead, Mount::Access::kReadWrite}) {
      const auto refused = with(access, {absent});
      REQUIRE_FALSE(refused);
      CHECK(refused.error().id == ErrorId::kFilesRefused);
      CHECK(refused.error().fix.contains("smaller folders"));
    }
    CHECK_FALSE(with(Mount::Access::kReadWrite, {read}));
    // What lies around a place says less than it, and the private folders are on disk.
    const auto made = with(
        Mount::Access::kRead,
        {read,
         {.host = {}, .inside = "/tmp", .kind = Mount::Kind::kPrivate, .size = 1},
         {.host = place / "denied", .inside = fs::path(servers::kConfinedHome) / ".config/x"}});
    REQUIRE(made);
    CHECK(made->environment == std::vector<std::string>{"HOME=" + own.home().string(),
                                                        "TMPDIR=" + own.temporary().string(),
                                                        "A=1"});
    CHECK(made->mounts.size() == 4);
    CHECK(fs::read_symlink(own.home() / ".config/x") == place / "denied");
  }
}
