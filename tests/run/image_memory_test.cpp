#include "run/image_memory.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "resident/support_noexec.h"

using namespace mcpac;
using run::ImageMemory;

namespace {

std::string content_of(int file) {
  std::string text(4096, '\0');
  const ssize_t n = ::pread(file, text.data(), text.size(), 0);
  REQUIRE(n >= 0);
  text.resize(static_cast<std::size_t>(n));
  return text;
}

bool can_be_executed(int file) {
  void* const code = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  return code != MAP_FAILED && ::munmap(code, 4096) == 0;
}

}  // namespace

TEST_SUITE("execute/image memory") {
  TEST_CASE("the memory of an image can be mapped and executed, and nobody can change it") {
    for (const bool ready : {false, true}) {
      CAPTURE(ready);
      auto memory = ImageMemory::make();
      REQUIRE(memory.has_value());
      if (ready) memory->make_ready();
      const auto sealed = std::move(*memory).sealed_with("the image");
      REQUIRE(sealed.has_value());
      CHECK(content_of(sealed->get()).starts_with("the image"));
      struct stat made {};
      REQUIRE(::fstat(sealed->get(), &made) == 0);
      CHECK(made.st_size == (ready ? 256 << 10 : 9));
      CHECK(made.st_blocks * 512 >= made.st_size);  // it has all of its pages
      CHECK(content_of(sealed->get()).find_first_not_of('\0', 9) == std::string::npos);
      CHECK(can_be_executed(sealed->get()));
      CHECK(::pwrite(sealed->get(), "x", 1, 0) < 0);
      CHECK(::ftruncate(sealed->get(), 0) < 0);
      CHECK(::ftruncate(sealed->get(), off_t{1} << 30U) < 0);
      CHECK(::fcntl(sealed->get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE) < 0);
      CHECK(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, sealed->get(), 0) ==
            MAP_FAILED);
    }
  }

  TEST_CASE("an image that is larger than what was made ready has room") {
    auto memory = ImageMemory::make();
    REQUIRE(memory.has_value());
    memory->make_ready();
    const std::string image = std::string(std::size_t{3} << 20U, 'i') + "end";
    const auto sealed = std::move(*memory).sealed_with(image);
    REQUIRE(sealed.has_value());
    std::string end(3, '\0');
    CHECK(::pread(sealed->get(), end.data(), 3, off_t{3} << 20U) == 3);
    CHECK(end == "end");
  }

  TEST_CASE("an image is sealed and mapped on a machine that forbids executable memory files") {
    using resident_test::holds_without_executable_memory;
    if (!holds_without_executable_memory([] { return true; })) {
      MESSAGE("skipped: needs a process namespace of its own and vm.memfd_noexec (Linux 6.3)");
      return;
    }
    CHECK(holds_without_executable_memory([] {
      auto memory = ImageMemory::make();
      if (!memory) return false;
      const auto sealed = std::move(*memory).sealed_with("the image");
      return sealed && can_be_executed(sealed->get());
    }));
  }

  TEST_CASE("a machine that has no descriptor for it says so") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto memory = ImageMemory::make();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE_FALSE(memory.has_value());
    CHECK(memory.error().id == ErrorId::kInternal);
  }
}
