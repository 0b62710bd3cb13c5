// Sources that want the compiler to run for ever, fill the memory or drown the reader, through the
// real host, worker and sandbox. Whatever they try, the answer is a refusal that says why, never a
// hang and never a report with nothing declared and exit code 0; and nothing is left behind.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "e2e/workspace.h"

using e2e::Workspace;

namespace {

namespace fs = std::filesystem;

const std::string kHead =
    "#include <mcpac.hpp>\n"
    "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
    "  (void)rt;\n  return 0;\n}\n";

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// Processes whose root or work folder is below the workspace, or that are our analyzer.
std::size_t analyzers() {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream command(entry.path() / "comm");
    std::string name;
    // Ours carries the folder of this workspace's cache in its mounts; other builds' do not.
    std::ifstream mounts(entry.path() / "mountinfo");
    const std::string all{std::istreambuf_iterator<char>(mounts), {}};
    if (std::getline(command, name) && name.starts_with("mcpac-analyze") &&
        all.contains(Workspace::shared().folder().filename().string()))
      ++count;
  }
  return count;
}

std::size_t temporary_entries() {
  const fs::path folder = Workspace::shared().folder() / "tmp";
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// What validate says of the source; checks all that must hold for every one.
e2e::Outcome refused(const std::string& source) {
  const auto& workspace = Workspace::shared();
  const auto file = workspace.write("bomb.cpp", source);
  const auto run = workspace.mcpac({"permissions", "validate", file.string()});
  INFO("exit ", run.exit_code, "\n", run.err.substr(0, 2000));
  CHECK(run.exit_code != 0);
  CHECK(run.exit_code < 128);  // mcpac itself was not ended by a signal
  CHECK_FALSE(run.err.empty());
  CHECK(run.err.size() < (1U << 20U));
  CHECK(temporary_entries() == 0);
  CHECK(analyzers() == 0);
  return run;
}

}  // namespace

TEST_SUITE("e2e/bombs") {
  TEST_CASE("templates and constant expressions without an end are compile errors") {
    CHECK(refused(kHead + "template <int N> struct T { static constexpr int v = T<N + 1>::v; };\n"
                          "int v = T<0>::v;\n")
              .err.contains("compile-error"));
    CHECK(refused(kHead + "constexpr int f() { for (;;) {} return 0; }\nconstexpr int v = f();\n")
              .err.contains("compile-error"));
    CHECK(refused(kHead + "constexpr int f(int n) { return f(n + 1); }\nconstexpr int v = f(0);\n")
              .err.contains("compile-error"));
  }

  TEST_CASE("templates that multiply end within the limits of memory and processor time") {
    refused(kHead +
            "#include <utility>\n"
            "template <class A, class B> struct P { using L = P<P<A, B>, A>; using R = P<B, P<A, "
            "B>>; };\n"
            "template <class T, int N> struct G { using X = typename G<typename T::L, N - 1>::X;\n"
            "  using Y = typename G<typename T::R, N - 1>::X; };\n"
            "template <class T> struct G<T, 0> { using X = T; };\n"
            "G<P<int, char>, 40>::Y* p;\n"
            "using S = std::make_index_sequence<4000000000>;\nS s;\n");
  }

  TEST_CASE("macros that multiply are ended") {
    std::string source = kHead + "#define A0 1 +\n";
    for (int i = 1; i <= 30; ++i) source += fmt::format("#define A{0} A{1} A{1}\n", i, i - 1);
    refused(source + "int x = A30 1;\n");
  }

  TEST_CASE("deep nesting is refused") {
    refused(kHead + "int x = " + repeated("(", 100'000) + "1" + repeated(")", 100'000) + ";\n");
    refused(kHead + repeated("namespace n {", 50'000) + repeated("}", 50'000));
    refused(kHead + "int x = 0" + repeated(" + 1", 200'000) + ";\n");
    refused(kHead + "void f() { " + repeated("if (1) {", 20'000) + repeated("}", 20'000) + " }\n");
  }

  TEST_CASE("a local header that includes itself without an end is a compile error") {
    Workspace::shared().write("loop.hpp", "#include \"loop.hpp\"\n");
    CHECK(refused("#include \"loop.hpp\"\n" + kHead).err.contains("compile-error"));
  }

  TEST_CASE("a source larger than sources are is not read") {
    CHECK(refused(kHead + repeated("// 0123456789\n", 8'000'000)).err.contains("MCPAC-E0500"));
    CHECK(refused(kHead + "const char* x = \"" + repeated("a", 5U << 20U) + "\";\n")
              .err.contains("MCPAC-E0500"));
  }

  TEST_CASE("100,000 findings end after a page of them") {
    const auto run = refused(kHead + repeated("asm(\"nop\");\n", 100'000));
    CHECK(run.err.contains("too-many-findings"));
  }

  TEST_CASE("an object that is too large for the compiler is told as that, without its trace") {
    const auto file = Workspace::shared().write("bomb.cpp", "char table[1 << 28] = {1};\n" + kHead);
    const auto run = Workspace::shared().mcpac(
        {"execute", "-f", file.string(), "--grant", "filesystem.read_text_file"});
    CHECK(run.exit_code != 0);
    CHECK(run.err.contains("MCPAC-E0702"));
    CHECK(run.err.contains("too large"));
    CHECK_FALSE(run.err.contains("PLEASE submit a bug report"));
    CHECK(temporary_entries() == 0);
  }

  TEST_CASE("what the analyzer may not do in time is no program either") {
    // The same through execute: nothing is compiled, nothing runs.
    const auto file = Workspace::shared().write(
        "bomb.cpp", kHead + "constexpr int f() { for (;;) {} return 0; }\nint v[f()];\n");
    const auto run = Workspace::shared().mcpac(
        {"execute", "-f", file.string(), "--grant", "filesystem.read_text_file"});
    CHECK(run.exit_code != 0);
    CHECK(run.err.contains("MCPAC-E05"));
    CHECK(temporary_entries() == 0);
  }
}
