// The compiler's profile against the real tools: clang -cc1 and ld.lld make a program, which then
// runs.
#include <doctest/doctest.h>

#include <fstream>

#include "core/file.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

const std::filesystem::path kLlvm = "/usr/lib/llvm-19";
const std::string kLibraries = "/usr/lib/x86_64-linux-gnu";

std::vector<Mount> toolchain(const std::filesystem::path& work) {
  using Access = Mount::Access;
  return {{kLlvm, kLlvm, Access::kReadExecute},
          {"/usr/include", "/usr/include"},
          {"/usr/lib/gcc", "/usr/lib/gcc"},
          {kLibraries, kLibraries, Access::kReadExecute},
          {kLibraries, "/lib/x86_64-linux-gnu", Access::kReadExecute},
          {"/usr/lib64", "/lib64", Access::kReadExecute},
          {work, "/w", Access::kReadWrite}};
}

Spec tool(const std::filesystem::path& work, const std::string& name,
          std::vector<std::string> arguments) {
  Spec spec;
  spec.program = kLlvm / "bin" / name;
  spec.arguments = std::move(arguments);
  spec.arguments.insert(spec.arguments.begin(), (kLlvm / "bin" / name).native());
  spec.mounts = toolchain(work);
  spec.work_directory = "/w";
  spec.admits = test::kCompiler;
  spec.limits.wall = std::chrono::seconds(60);
  spec.limits.cpu = std::chrono::seconds(30);
  spec.limits.memory = std::uint64_t{1} << 30U;
  spec.limits.file_size = std::uint64_t{64} << 20U;
  return spec;
}

void write(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path) << text;
}

std::string compile(Warden& warden, const std::filesystem::path& work, const std::string& name) {
  return describe(run(warden, tool(work, "clang",
                                   {"-cc1", "-triple", "x86_64-pc-linux-gnu", "-emit-obj", "-O1",
                                    "-internal-isystem", (kLlvm / "lib/clang/19/include").native(),
                                    "-internal-externc-isystem", "/usr/include/x86_64-linux-gnu",
                                    "-internal-externc-isystem", "/usr/include", "-o",
                                    "/w/" + name + ".o", "-x", "c", "/w/" + name + ".c"})));
}

std::string libc(const char* name) {
  return kLibraries + "/" + name;
}

std::string link(Warden& warden, const std::filesystem::path& work, const std::string& name,
                 std::vector<std::string> how) {
  std::vector<std::string> arguments{
      "-flavor", "gnu", "-o", "/w/" + name, libc("crt1.o"), libc("crti.o"), "/w/" + name + ".o"};
  arguments.insert(arguments.end(), how.begin(), how.end());
  arguments.push_back(libc("crtn.o"));
  return describe(run(warden, tool(work, "lld", std::move(arguments))));
}

const std::vector<std::string>& statically() {
  static const std::vector<std::string> how{"-static",
                                            "--start-group",
                                            libc("libc.a"),
                                            "/usr/lib/gcc/x86_64-linux-gnu/12/libgcc.a",
                                            "/usr/lib/gcc/x86_64-linux-gnu/12/libgcc_eh.a",
                                            "--end-group"};
  return how;
}

// libclang with its own threads; its few functions are declared by hand, as its headers belong to
// the analyzer. Says how many errors it found in /w/broken.c.
constexpr std::string_view kWorker = R"(
#include <stdio.h>
void* clang_createIndex(int, int);
void* clang_parseTranslationUnit(void*, const char*, const char* const*, int, void*, unsigned, unsigned);
unsigned clang_getNumDiagnostics(void*);
int main(void) {
  const char* flags[] = {"-resource-dir", "/usr/lib/llvm-19/lib/clang/19", "-fno-color-diagnostics"};
  void* unit = clang_parseTranslationUnit(clang_createIndex(0, 0), "/w/broken.c", flags, 3, 0, 0, 0);
  if (!unit) return 9;
  printf("%u", clang_getNumDiagnostics(unit));
  return 0;
}
)";

}  // namespace

TEST_SUITE("sandbox/compiler") {
  TEST_CASE("clang and lld make a program in the sandbox, and it runs in the sandbox") {
    const auto work = TemporaryFolder::create("/tmp", "mcpac-test-compiler");
    REQUIRE(work);
    write(work->path() / "hello.c",
          "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 5; }\n");
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    CHECK(compile(*warden, work->path(), "hello") == "exit 0");
    CHECK(link(*warden, work->path(), "hello", statically()) == "exit 0");
    Spec spec = hostile({});
    spec.program = work->path() / "hello";
    CHECK(describe(run(*warden, spec)) == "exit 5 hello\n");
  }

  TEST_CASE("libclang reads a source in the sandbox") {
    const auto work = TemporaryFolder::create("/tmp", "mcpac-test-compiler");
    REQUIRE(work);
    write(work->path() / "worker.c", kWorker);
    write(work->path() / "broken.c",
          "#include <stdio.h>\n#include \"/etc/passwd\"\nint x = unknown;\n");
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    REQUIRE(compile(*warden, work->path(), "worker") == "exit 0");
    REQUIRE(link(*warden, work->path(), "worker",
                 {"-dynamic-linker", "/lib64/ld-linux-x86-64.so.2", libc("libclang-19.so.19"),
                  libc("libc.so.6"), "--allow-shlib-undefined"}) == "exit 0");
    Spec spec = tool(work->path(), "clang", {});
    spec.program = work->path() / "worker";
    CHECK(describe(run(*warden, spec)) ==
          "exit 0 1");  // /etc/passwd is not there: fatal, and the last
  }

  TEST_CASE("the compiler cannot read, embed or even see a file outside its mounts") {
    const auto work = TemporaryFolder::create("/tmp", "mcpac-test-compiler");
    REQUIRE(work);
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    for (const char* line :
         {"#include \"/etc/passwd\"", "__asm__(\".incbin \\\"/etc/passwd\\\"\");",
          "const char x[] = {\n#embed \"/etc/passwd\"\n};"}) {
      CAPTURE(line);
      write(work->path() / "bad.c", line);
      CHECK(compile(*warden, work->path(), "bad") == "exit 1");
    }
    // Compiles only when nothing can be seen; the control is a header that is mounted.
    write(work->path() / "sees.c",
          "#if __has_include(\"/etc/passwd\")\n#error seen\n#endif\n"
          "#if !__has_include(\"/usr/include/stdio.h\")\n#error blind\n#endif\n");
    CHECK(compile(*warden, work->path(), "sees") == "exit 0");
  }
}

}  // namespace mcpac::sandbox::test
