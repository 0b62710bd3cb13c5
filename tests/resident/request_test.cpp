// What a client asks for: taken as it was said, or not at all.
#include "resident/request.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resident/support_child.h"
#include "resident/support_noexec.h"
#include "resident/support_stalled.h"

using namespace mcpac;
using resident_test::holds_in_child;
using resident_test::holds_without_executable_memory;
using namespace mcpac::resident;

namespace {

Request example() {
  return {.arguments = {"mcpac", "execute", "-c", "int \xff\n", ""},
          .environment = {"HOME=/home/user", "PATH=/bin", "SHLVL=1"},
          .config_file = "/home/user/mcpac.json",
          .umask = 022};
}

UniqueFd folder(const char* path) {
  return UniqueFd(::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

std::string key(const Request& request, const char* path = "/") {
  return key_of(request, folder(path).get()).value();
}

}  // namespace

TEST_SUITE("resident/request") {
  TEST_CASE("a request comes out of its memory as it went in, whatever bytes it has") {
    const auto memory = to_memory(example()).value();
    CHECK(from_memory(memory.get()).value() == example());
    CHECK(::write(memory.get(), "x", 1) < 0);
    CHECK(::ftruncate(memory.get(), 0) != 0);
  }

  TEST_CASE("a request that is cut anywhere is refused") {
    const std::string whole = encode(example());
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      CHECK(!decode(whole.substr(0, size)));
    }
    CHECK(decode(whole));
    CHECK(!decode(whole + "x"));
  }

  TEST_CASE("counts and lengths beyond what is there are refused") {
    std::string many = encode(example());
    const auto count = many.find("/home/user/mcpac.json") + 21;
    many[count + 2] = '\x7f';
    CHECK(!decode(many));
    std::string longer = encode(example());
    longer[count + 4 + 3] = '\x7f';
    CHECK(!decode(longer));
  }

  TEST_CASE(
      "words with a NUL inside, no command, no absolute project and a strange umask are refused") {
    Request request = example();
    request.arguments[1] += '\0';
    CHECK(!decode(encode(request)));
    request = example();
    request.arguments.clear();
    CHECK(!decode(encode(request)));
    request = example();
    request.config_file = "mcpac.json";
    CHECK(!decode(encode(request)));
    request = example();
    request.umask = 01000;
    CHECK(!decode(encode(request)));
  }

  TEST_CASE("a request that is too long is not made, and memory that is too long is not read") {
    Request request = example();
    request.arguments.emplace_back(kMaxRequest, 'x');
    CHECK(!to_memory(request));
    request = example();
    request.environment.resize(kMaxWords + 1);
    CHECK(!to_memory(request));
    const UniqueFd memory(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(::ftruncate(memory.get(), static_cast<off_t>(kMaxRequest) + 1) == 0);
    REQUIRE(::fcntl(memory.get(), F_ADD_SEALS,
                    F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0);
    CHECK(!from_memory(memory.get()));
  }

  TEST_CASE("what could still change, or could make its reader wait, is not read") {
    const UniqueFd open(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const std::string bytes = encode(example());
    REQUIRE(::write(open.get(), bytes.data(), bytes.size()) > 0);
    CHECK(!from_memory(open.get()));
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const UniqueFd in(ends[0]);
    const UniqueFd out(ends[1]);
    CHECK(!from_memory(in.get()));
    const UniqueFd file(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    CHECK(!from_memory(file.get()));
  }

  TEST_CASE("memory that has more seals than are asked for is read: where none may be executed") {
    const UniqueFd memory(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const std::string bytes = encode(example());
    REQUIRE(::write(memory.get(), bytes.data(), bytes.size()) ==
            static_cast<ssize_t>(bytes.size()));
    REQUIRE(::fcntl(memory.get(), F_ADD_SEALS,
                    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE |
                        F_SEAL_SEAL) == 0);
    CHECK(from_memory(memory.get()).value() == example());
  }

  TEST_CASE("a request is made and read on a machine that forbids executable memory files") {
    if (!holds_without_executable_memory([] { return true; })) {
      MESSAGE("skipped: needs a process namespace of its own and vm.memfd_noexec (Linux 6.3)");
      return;
    }
    CHECK(holds_without_executable_memory([] {
      const auto memory = to_memory(example());
      return memory && from_memory(memory->get()) == example();
    }));
  }

  TEST_CASE("a working folder on a file system that never answers makes nobody wait") {
    if (!holds_in_child([] { return resident_test::mount_stalled(); })) {
      MESSAGE("skipped: needs FUSE in a mount namespace of its own");
      return;
    }
    CHECK(holds_in_child([] {
      if (!resident_test::mount_stalled()) return false;
      return key_of(example(), folder("/mnt").get()).has_value();
    }));
  }

  TEST_CASE("a key differs by environment, folder, project and umask, and not by the command") {
    const std::string base = key(example());
    Request request = example();
    request.arguments = {"mcpac", "run"};
    CHECK(key(request) == base);
    request = example();
    request.environment[2] = "SHLVL=2";
    std::swap(request.environment[0], request.environment[1]);
    CHECK(key(request) == base);
    request.environment.emplace_back("TOKEN=other");
    CHECK(key(request) != base);
    request = example();
    request.environment[1] = "PATH=/usr/bin";
    CHECK(key(request) != base);
    request = example();
    request.config_file += "2";
    CHECK(key(request) != base);
    request = example();
    request.umask = 077;
    CHECK(key(request) != base);
    CHECK(key(example(), "/proc") != base);
    const UniqueFd file(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    CHECK(!key_of(example(), file.get()));
  }
}
