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
  spec.profile = Profile::kCompiler;
  spec.limits.wall = std::chrono::seconds(60);
  spec.limits.cpu = std::chrono::seconds(30);
  spec.limits.memory = std::uint64_t{1} << 30U;
  spec.limits.file_size = std::uint64_t{64} << 20U;
  return spec;
}

void write(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path) << text;
}

// Compiles /w/hello.c and links it statically; the last outcome, or the first that is not "exit 0".
std::string build(Warden& warden, const std::filesystem::path& work) {
  const auto libc = [](const char* name) { return kLibraries + "/" + name; };
  auto step =
      describe(run(warden, tool(work, "clang",
                                {"-cc1", "-triple", "x86_64-pc-linux-gnu", "-emit-obj", "-O1",
                                 "-internal-isystem", (kLlvm / "lib/clang/19/include").native(),
                                 "-internal-externc-isystem", "/usr/include/x86_64-linux-gnu",
                                 "-internal-externc-isystem", "/usr/include", "-o", "/w/hello.o",
                                 "-x", "c", "/w/hello.c"})));
  if (step != "exit 0") return "compile: " + step;
  return describe(run(warden, tool(work, "lld",
                                   {"-flavor", "gnu", "-static", "-o", "/w/hello", libc("crt1.o"),
                                    libc("crti.o"), "/w/hello.o", "--start-group", libc("libc.a"),
                                    "/usr/lib/gcc/x86_64-linux-gnu/12/libgcc.a",
                                    "/usr/lib/gcc/x86_64-linux-gnu/12/libgcc_eh.a", "--end-group",
                                    libc("crtn.o")})));
}

}  // namespace

TEST_SUITE("sandbox/compiler") {
  TEST_CASE("clang and lld make a program in the sandbox, and it runs in the sandbox") {
    const auto work = TemporaryFolder::create("/tmp", "mcpac-test-compiler");
    REQUIRE(work);
    write(work->path() / "hello.c",
          "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 5; }\n");
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    CHECK(build(*warden, work->path()) == "exit 0");
    Spec spec = hostile({});
    spec.program = work->path() / "hello";
    CHECK(describe(run(*warden, spec)) == "exit 5 hello\n");
  }
}

}  // namespace mcpac::sandbox::test
