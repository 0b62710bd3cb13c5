// Backtraces from a real stack of a real file: this program's own.
#include "toolchain/child/backtrace.h"

#include <doctest/doctest.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>

#include "core/file.h"
#include "toolchain/support_symbols.h"

// Not in our namespace: functions of mcpac are left out of a backtrace.
namespace own {

struct Words {
  std::array<std::uint64_t, 512> words{};
  std::size_t count = 0;
};

// As the warden does it: by bytes, which are no objects of ours.
[[gnu::noinline]] void read_stack(Words& stack) {
  const mcpac::UniqueFd memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  const auto from = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const ssize_t size =
      ::pread(memory.get(), stack.words.data(), sizeof stack.words, static_cast<off_t>(from));
  stack.count = size > 0 ? static_cast<std::size_t>(size) / sizeof(std::uint64_t) : 0;
}

[[gnu::noinline]] std::uint64_t call_it(Words& stack) {
  read_stack(stack);
  return reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}

template <int N>
[[gnu::noinline]] std::uint64_t fetch(Words& stack) {
  const std::uint64_t result = call_it(stack);
  asm volatile("" ::: "memory");
  return result + N;
}

[[gnu::noinline]] std::uint64_t plan(Words& stack) {
  const std::uint64_t result = fetch<0>(stack);
  asm volatile("" ::: "memory");
  return result;
}

}  // namespace own

namespace mcpac::run {
namespace {

const std::filesystem::path kThisProgram = "/proc/self/exe";

sandbox::Verdict verdict_here() {
  own::Words stack;
  const std::uint64_t counter = own::plan(stack);
  sandbox::Verdict verdict;
  verdict.kind = sandbox::Verdict::Kind::kViolated;
  verdict.call = "keyctl";
  verdict.call_number = 250;
  verdict.entry = ::getauxval(AT_ENTRY);
  verdict.frames = {counter};
  // What lies below the frame of call_it() is not yet there when the call is made.
  bool beyond = false;
  for (std::size_t i = 0; i < stack.count; ++i) {
    if (beyond) verdict.frames.push_back(stack.words.at(i));
    beyond = beyond || stack.words.at(i) == counter;
  }
  return verdict;
}

std::vector<std::string> callers_in(const std::filesystem::path& file,
                                    const sandbox::Verdict& verdict) {
  std::vector<toolchain::ElfCode> codes;
  if (auto code = toolchain::ElfCode::read(file, verdict.entry)) codes.push_back(std::move(*code));
  return toolchain::callers_of(verdict, codes);
}

// A file that is nothing but such symbols.
std::string file_of_symbols(std::size_t symbols, std::size_t name, std::uint16_t tables) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_X86_64;
  header.e_type = ET_EXEC;
  return testing::with_symbols(testing::bytes_of(header), symbols, name, tables);
}

}  // namespace

TEST_SUITE("execute/backtrace") {
  TEST_CASE("a file made to be read for ever, or to fill the memory, is read in a moment") {
    const auto folder = TemporaryFolder::create("/tmp", "mcpac-test-backtrace").value();
    const auto file = folder.path() / "program";
    sandbox::Verdict verdict;
    verdict.frames = {0x1800, 0x1800};
    const auto read = [&](const std::string& text) {
      REQUIRE(write_file_atomic(file, text, 0600));
      const auto begin = std::chrono::steady_clock::now();
      const auto callers = callers_in(file, verdict);
      CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
      return callers;
    };
    CHECK(read(file_of_symbols(1, 30, 1)).size() == 1);
    // Names that are compared byte by byte, which takes hours.
    CHECK(read(file_of_symbols(60'000, std::size_t{8} << 20U, 1)).empty());
    // One table, read 60,000 times: 240 GB.
    CHECK(read(file_of_symbols(100'000, 30, 60'000)).size() == 1);
  }

  TEST_CASE("the program's own functions are named, innermost first, without parameters") {
    const auto verdict = verdict_here();
    const auto callers = callers_in(kThisProgram, verdict);
    REQUIRE(callers.size() >= 2);
    CHECK(callers[0] == "own::fetch");
    CHECK(callers[1] == "own::plan");
    CHECK(callers.size() <= 12);
    for (const auto& name : callers) CHECK_FALSE(name.starts_with("mcpac::"));
    CHECK(toolchain::describe_violation(verdict, std::span(callers).first(2)) ==
          "called keyctl (system call 250), which the sandbox does not admit; from own::fetch <- "
          "own::plan");
  }

  TEST_CASE("stale and wrong words, and a stack of nonsense, end a backtrace and nothing else") {
    auto verdict = verdict_here();
    for (std::size_t i = 1; i < verdict.frames.size(); ++i) verdict.frames[i] ^= 0x1000'0000'0000U;
    CHECK(callers_in(kThisProgram, verdict) == std::vector<std::string>{"own::fetch"});
    verdict.frames = {~std::uint64_t{0}, 0, 1, verdict.entry};
    CHECK(callers_in(kThisProgram, verdict).empty());
  }

  TEST_CASE("a file that is none, or was cut off, has no names") {
    const auto verdict = verdict_here();
    CHECK(callers_in("/dev/null", verdict).empty());
    CHECK(callers_in("", verdict).empty());
    const auto folder = TemporaryFolder::create("/tmp", "mcpac-test-backtrace");
    REQUIRE(folder);
    const auto whole = read_file(kThisProgram, std::size_t{1} << 30U);
    REQUIRE(whole);
    const auto cut = folder->path() / "cut";
    for (const std::size_t size :
         {std::size_t{3}, std::size_t{63}, std::size_t{64}, std::size_t{200}, whole->size() / 2}) {
      CAPTURE(size);
      REQUIRE(write_file_atomic(cut, whole->substr(0, size), 0600));
      CHECK(callers_in(cut, verdict).empty());
    }
  }

  TEST_CASE("what a program wrote into a path is shown without its control characters") {
    sandbox::Verdict verdict;
    verdict.call = "chroot";
    verdict.call_number = 161;
    verdict.path = "/a\x1b[2Jb\nc";
    const std::string text = toolchain::describe_violation(verdict, {});
    CHECK(text.starts_with("called chroot (system call 161) on \"/a"));
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
  }

  TEST_CASE("a function that calls itself is named once, and nobody where nothing is known") {
    CHECK(toolchain::describe_place(std::vector<std::string>{
              "dive", "dive", "dive", "plan", "main"}) == "; in dive <- plan <- main");
    CHECK(toolchain::describe_place({}).empty());
  }

  TEST_CASE("a call that is not known is said to be so") {
    CHECK(toolchain::describe_violation({}, {}) ==
          "made a system call that the sandbox does not admit");
  }
}

}  // namespace mcpac::run
