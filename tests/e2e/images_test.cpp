// Programs as images in the runner, and as programs of their own where they cannot be one
// (docs/adr/0024): what a program does may not depend on it.
#include <doctest/doctest.h>

#include <filesystem>

#include "core/file.h"
#include "e2e/workspace.h"

using e2e::Workspace;

namespace {

namespace fs = std::filesystem;

constexpr const char* kGrant = "filesystem.read_text_file";

std::string program(const std::string& globals, const std::string& body) {
  return "#include <mcpac.hpp>\n#include <cstdio>\n#include <cstdlib>\n#include <future>\n"
         "#include <iostream>\n#include <map>\n#include <print>\n#include <regex>\n"
         "#include <stdexcept>\n#include <thread>\n" +
         globals + "\nint agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n" +
         body + "\n  (void)rt;\n  return 0;\n}\n";
}

// The bytes of programs that the cache holds, from the largest to the smallest.
std::vector<std::uintmax_t> kept_sizes() {
  std::vector<std::uintmax_t> sizes;
  for (const auto& file : fs::directory_iterator(Workspace::shared_cache() / "mcpac" / "programs"))
    sizes.push_back(file.file_size());
  std::ranges::sort(sizes, std::greater());
  return sizes;
}

}  // namespace

TEST_SUITE("e2e/images") {
  TEST_CASE(
      "constructors, exceptions, threads, streams, patterns and the end are as in any program") {
    const auto source = program(
        "struct Loud {\n"
        "  explicit Loud(const char* name) : name(name) { std::println(\"made {}\", name); }\n"
        "  ~Loud() { std::println(\"gone {}\", name); }\n"
        "  const char* name;\n"
        "};\n"
        "static Loud first(\"first\");\nstatic Loud second(\"second\");\n"
        "int numbers[100000];\n"
        "static int thrower(int i) {\n"
        "  if (i > 2) throw std::runtime_error(\"number \" + std::to_string(i));\n"
        "  return i;\n}\n"
        "struct Own : std::exception {\n"
        "  const char* what() const noexcept override { return \"own\"; }\n"
        "};\n",
        "  try { thrower(3); } catch (const std::exception& e) { std::println(\"{}\", e.what()); "
        "}\n"
        "  try { throw Own(); } catch (const std::exception& e) { std::println(\"{}\", e.what()); "
        "}\n"
        "  try { (void)std::string(\"a\").substr(5); }\n"
        "  catch (const std::out_of_range&) { std::println(\"out of range\"); }\n"
        "  try { rt.filesystem.read_text_file({.path = \"data/none.txt\"}); }\n"
        "  catch (const mcpac::ToolError&) { std::println(\"tool error\"); }\n"
        "  auto later = std::async(std::launch::async, [] { return thrower(5); });\n"
        "  try { (void)later.get(); } catch (const std::runtime_error& e) { std::println(\"{}\", "
        "e.what()); }\n"
        "  std::thread([] { std::cout << \"thread\" << std::endl; }).join();\n"
        "  std::println(\"{}\", std::regex_match(\"aab\", std::regex(\"a+b\")));\n"
        "  std::map<int, std::string> map{{2, \"two\"}, {1, \"one\"}};\n"
        "  for (const auto& [n, text] : map) std::println(\"{} {}\", n, text);\n"
        "  numbers[99999] = 7;\n"
        "  std::println(\"{} {}\", numbers[0], numbers[99999]);\n"
        "  std::atexit([] { std::puts(\"at exit\"); });\n"
        "  std::print(\"{}\", rt.filesystem.read_text_file({.path = \"data/a.txt\"}).text());");
    // The second time it is found in the cache.
    for (int i = 0; i < 2; ++i) {
      const auto run = Workspace::shared().execute(source, kGrant);
      INFO(run.err);
      CHECK(run.exit_code == 0);
      CHECK(run.out ==
            "made first\nmade second\nnumber 3\nown\nout of range\ntool error\nnumber 5\nthread\n"
            "true\n1 one\n2 two\n0 7\nalpha\nbeta\nat exit\ngone second\ngone first\n");
    }
  }

  TEST_CASE("an image is small, and a program with thread-local variables runs all the same") {
    // A megabyte would already be libraries.
    constexpr std::uintmax_t kSmall = 1U << 20U;
    const auto& workspace = Workspace::shared();
    const auto image = workspace.execute(program("", "  std::println(\"image\");"), kGrant);
    INFO(image.err);
    CHECK(image.out == "image\n");
    CHECK(kept_sizes().back() < kSmall);
    const auto own = workspace.execute(
        program("thread_local int mine = 1;\n",
                "  std::thread([] { mine = 5; }).join();\n  std::println(\"{}\", mine);"),
        kGrant);
    INFO(own.err);
    CHECK(own.exit_code == 0);
    CHECK(own.out == "1\n");
    CHECK(kept_sizes().front() > kSmall);
  }

  TEST_CASE("an uncaught error, abort, exit and a crash end an image as they end a program") {
    const auto& workspace = Workspace::shared();
    const auto uncaught =
        workspace.execute(program("", "  throw std::runtime_error(\"nobody\");"), kGrant);
    CHECK(uncaught.exit_code == 71);
    CHECK(uncaught.err.contains("uncaught exception: std::runtime_error: nobody"));
    CHECK(workspace.execute(program("", "  std::exit(9);"), kGrant).exit_code == 9);
    CHECK(workspace.execute(program("", "  std::abort();"), kGrant).exit_code == 134);
    const auto deep = workspace.execute(
        program("int deep(int n) { volatile char room[4096]; room[0] = 1; return n == 0 ? 0 : "
                "deep(n + 1) + room[0]; }\n",
                "  return deep(1);"),
        kGrant);
    CHECK(deep.exit_code == 128 + 11);
    CHECK(e2e::has(deep.err, "stack overflow: 8 MiB stack"));
    CHECK(e2e::has(deep.err, "; in deep"));
  }
}
