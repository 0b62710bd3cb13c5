// What a program opens, dials and starts is seen, confined or not, and goes on as if nobody looked.
#include "sandbox/observe.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/file.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

std::string words_of(std::uint16_t uses) {
  std::string words;
  for (const auto& [bit, word] :
       {std::pair(kLooked, "looked"), std::pair(kRead, "read"), std::pair(kWritten, "written"),
        std::pair(kCreated, "created"), std::pair(kRemoved, "removed"),
        std::pair(kReplaced, "replaced"), std::pair(kExecuted, "executed"),
        std::pair(kEnsured, "ensured")}) {
    if ((uses & bit) != 0) words += (words.empty() ? "" : " ") + std::string(word);
  }
  return words;
}

std::string use_of(const Seen& seen, const std::string& path) {
  const auto found = std::ranges::find(seen.places, path, &SeenPlace::path);
  return found == seen.places.end() ? "unseen" : words_of(found->uses);
}

ObserveOptions everything() {
  ObserveOptions options;
  options.left_out = {"/usr", "/lib", "/lib64", "/bin", "/proc", "/dev", "/etc"};
  return options;
}

// Runs a program with all that we have, observed, to its end; its exit status and what it wrote.
struct Bare {
  Seen seen;
  int status = -1;
  std::string output;
};
Bare run_bare(std::vector<std::string> words, const std::string& folder,
              ObserveOptions options = everything()) {
  auto observation = Observation::begin(std::move(options));
  REQUIRE(observation);
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(writer.get(), 1);
    ::dup2(writer.get(), 2);
    if (::chdir(folder.c_str()) != 0 || (*observation)->entrance().enter_child() != 0) ::_exit(126);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  writer.reset();
  Bare bare;
  auto text = read_descriptor(reader.get(), "output", 1U << 20U);
  bare.output = text ? *text : text.error().what;
  REQUIRE(::waitpid(child, &bare.status, 0) == child);
  bare.seen = (*observation)->end();
  return bare;
}

TemporaryFolder folder_for(const char* name) {
  auto folder = TemporaryFolder::create("/tmp", name);
  REQUIRE(folder);
  ::chmod(folder->path().c_str(), 0777);
  return std::move(*folder);
}

// A confined shell with one place, and beside it what it was not given.
std::string refused_to(const std::string& script) {
  const auto folder = folder_for("mcpac-test-refused");
  const auto place = folder.path() / "place";
  std::filesystem::create_directories(place);
  std::filesystem::create_directories(folder.path() / "home" / ".config");
  ::chmod(place.c_str(), 0777);
  std::ofstream(place / "text") << "content";
  std::ofstream(folder.path() / "beside") << "canary";
  std::ofstream(folder.path() / "home" / ".config" / "tool") << "canary";
  ObserveOptions options = everything();
  options.only_refused = true;
  options.stands_for = {"/own", folder.path() / "home"};
  auto observation = Observation::begin(options);
  if (!observation) return "no observation";
  Spec spec;
  spec.program = "/bin/sh";
  spec.arguments = {"sh", "-c", script, "sh", folder.path().string()};
  spec.admits = Admits{}.with(Serves{});
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.mounts = {{"/usr", "/usr", Mount::Access::kReadExecute},
                 {place, place, Mount::Access::kRead},
                 {"usr/bin", "/bin", Mount::Access::kRead, {}, {}, Mount::Kind::kLink},
                 {"usr/lib", "/lib", Mount::Access::kRead, {}, {}, Mount::Kind::kLink},
                 {"usr/lib64", "/lib64", Mount::Access::kRead, {}, {}, Mount::Kind::kLink}};
  spec.mounts.push_back(
      {{}, "/own", Mount::Access::kRead, {}, {}, Mount::Kind::kPrivate, 1U << 20U});
  spec.limits.wall = std::chrono::seconds(20);
  spec.limits.open_files = 128;
  spec.observer = (*observation)->entrance().socket();
  const std::string ran = run_once(spec);
  const Seen seen = (*observation)->end();
  std::ostringstream text;
  text << ran;
  for (const SeenPlace& one : seen.places) {
    std::string path = one.path;
    if (path.starts_with(folder.path().string()))
      path.replace(0, folder.path().string().size(), "$");
    text << " | " << path << " " << words_of(one.uses);
  }
  for (const SeenHost& host : seen.hosts) text << " | " << host.address << " " << host.port;
  return text.str();
}

void check_both(const std::string& script, const std::string& expected) {
  CAPTURE(script);
  CHECK(in_child([&] { return refused_to(script); }) == expected);
  if (::geteuid() != 0) return;
  CHECK(in_child([&] { return become_user() ? refused_to(script) : "no user"; }) == expected);
}

}  // namespace

TEST_SUITE("sandbox/observe") {
  TEST_CASE("what a program reads, makes, changes, takes away and runs is seen, each place once") {
    const auto folder = folder_for("mcpac-test-observe");
    const std::string at = folder.path().string();
    std::ofstream(folder.path() / "old") << "text";
    std::filesystem::create_directories(folder.path() / "sub");
    std::ofstream(folder.path() / "sub" / "tool") << "#!/bin/sh\necho ran\n";
    std::filesystem::permissions(folder.path() / "sub" / "tool", std::filesystem::perms(0755));
    const auto bare =
        run_bare({"/bin/sh", "-c",
                  "cat old; cat ./sub/../old; echo a > new; echo b >> old; mkdir made; mkdir made "
                  "sub 2>/dev/null; cd made; "
                  "echo c > ../made/inner; mv inner moved; rm moved; cat ../nowhere 2>/dev/null; "
                  "../sub/tool; ls .. > /dev/null"},
                 at);
    CHECK(WEXITSTATUS(bare.status) == 0);
    CHECK(bare.output == "texttextran\n");
    CHECK(use_of(bare.seen, at + "/old") == "read written");
    CHECK(use_of(bare.seen, at + "/new").contains("created"));
    CHECK(use_of(bare.seen, at + "/made").contains("created"));
    // What was there already, and was to be made.
    CHECK(use_of(bare.seen, at + "/sub").contains("ensured"));
    CHECK_FALSE(use_of(bare.seen, at + "/sub").contains("created"));
    CHECK_FALSE(use_of(bare.seen, at + "/new").contains("ensured"));
    CHECK(use_of(bare.seen, at + "/made/inner").contains("created removed"));
    CHECK(use_of(bare.seen, at + "/made/moved").contains("removed replaced"));
    CHECK(use_of(bare.seen, at + "/nowhere") == "unseen");
    CHECK(use_of(bare.seen, at + "/sub/tool").contains("executed"));
    CHECK(use_of(bare.seen, at).contains("read"));
    CHECK_FALSE(bare.seen.is_cut);
    CHECK(std::ranges::count(bare.seen.places, at + "/old", &SeenPlace::path) == 1);
  }

  TEST_CASE("what a program dials is seen by its address, and by the name that it asked for") {
    const auto bare = run_bare({"/usr/bin/python3", "-c",
                                "import socket\n"
                                "question = bytes([1,2,1,0,0,1,0,0,0,0,0,0]) + "
                                "b'\\x03API\\x07example\\x00\\x00\\x01\\x00\\x01'\n"
                                "def dial(address, family=socket.AF_INET):\n"
                                "  try: socket.socket(family).connect(address)\n"
                                "  except OSError: pass\n"
                                "dial(('127.0.0.1', 9))\n"
                                "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                                "s.sendto(question, ('127.0.0.1', 53))\n"
                                "s.sendto(b'no question', ('127.0.0.1', 53))\n"
                                "dial(('127.0.0.2', 1))\n"
                                "dial(('127.0.0.2', 1))\n"
                                "dial(('::1', 1, 0, 0), socket.AF_INET6)\n"},
                               "/");
    CHECK(bare.output.empty());
    CHECK(bare.seen.names == std::vector<std::string>{"api.example"});
    std::string hosts;
    for (const SeenHost& host : bare.seen.hosts)
      hosts += host.address + " " + std::to_string(host.port) + " " + host.asked + "\n";
    CHECK(hosts == "127.0.0.1 9 \n127.0.0.2 1 api.example\n::1 1 api.example\n");
  }

  TEST_CASE("what is kept is bounded, however much a program uses") {
    const auto folder = folder_for("mcpac-test-observe");
    const auto bare = run_bare(
        {"/usr/bin/python3", "-c",
         "import os, socket\n"
         "for i in range(5000): os.close(os.open(f'f{i}', os.O_CREAT | os.O_WRONLY))\n"
         "for i in range(5000): os.stat(f'f{i}')\n"
         "for i in range(1, 600):\n"
         "  try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('127.0.0.1', i + 100))\n"
         "  except OSError: pass\n"},
        folder.path().string());
    CHECK(bare.output.empty());
    CHECK(bare.seen.is_cut);
    CHECK(bare.seen.places.size() <= kMostSeenPlaces + kMostSeenLookups);
    CHECK(bare.seen.places.size() >= kMostSeenPlaces);
    CHECK(bare.seen.hosts.size() == kMostSeenHosts);
  }

  TEST_CASE("a program whose observer has gone is told so by its calls, and waits for nobody") {
    auto observation = Observation::begin(everything());
    REQUIRE(observation);
    const Seen none = (*observation)->end();
    CHECK(none.places.empty());
    const pid_t child = ::fork();
    if (child == 0) {
      if ((*observation)->entrance().enter_child() != 0) ::_exit(3);
      ::_exit(::open("/tmp", O_RDONLY | O_CLOEXEC) < 0 && errno == ENOSYS ? 4 : 5);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 3);
  }

  TEST_CASE("of a confined program what it was refused is seen, and nothing that it has") {
    check_both("cat $1/place/text; cat \"$1/beside\" 2>&-; cat /nowhere 2>&-; exit 3",
               "exit 3 content | $/beside read");
    check_both(
        "(echo x > $1/place/text) 2>&-; (echo x > $1/place/new) 2>&-; "
        "echo x > /own/new; cat /own/.config/tool 2>&-; exit 0",
        "exit 0 | $/place/text written created | $/place/new written created | $/home/.config/tool "
        "read");
  }
}

}  // namespace mcpac::sandbox::test
