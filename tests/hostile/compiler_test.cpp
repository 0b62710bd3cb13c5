// The compiler alone, in the sandbox that it has: no analyzer looks at the source first.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

#include "core/file.h"
#include "hostile/support_matrix.h"
#include "hostile/support_sources.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::hostile {
namespace {

namespace fs = std::filesystem;
using sandbox::Warden;

const fs::path kLlvm = "/usr/lib/llvm-19";
const std::string kLibraries = "/usr/lib/x86_64-linux-gnu";
constexpr std::string_view kSecret = "canary-8731";

std::string text_of(int file) {
  std::string text(std::size_t{1} << 20U, '\0');
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

class Compiler {
 public:
  Compiler()
      : work_(TemporaryFolder::create("/tmp", "mcpac-hostile-work")),
        other_(TemporaryFolder::create("/tmp", "mcpac-hostile-other")),
        warden_(Warden::start(sandbox::test::warden_program())) {
    REQUIRE(work_);
    REQUIRE(other_);
    REQUIRE(warden_);
    write(secret(), std::string(kSecret) + "\n");
    fs::permissions(other_->path(), fs::perms(0755));
    fs::permissions(work_->path(), fs::perms(0777));
    const auto plain = compile("int x = 1;\n", "");  // or every refusal would prove nothing
    REQUIRE_MESSAGE(plain.how == "works", plain.said);
  }
  [[nodiscard]] std::string secret() const { return (other_->path() / "secret.txt").native(); }
  [[nodiscard]] std::string missing() const { return (other_->path() / "absent.txt").native(); }

  struct Made {
    std::string how;   // as ending() says it
    std::string said;  // all diagnostics
    std::string object;
  };
  Made compile(const std::string& text, const std::string& file) {
    fs::remove(work_->path() / "x.o");
    write((work_->path() / "x.cpp").native(), replaced(text, file));
    sandbox::Spec spec = clang();
    const UniqueFd input(::open(secret().c_str(), O_RDONLY | O_CLOEXEC));
    spec.standard_input = input.get();
    const UniqueFd errors(::memfd_create("diagnostics", MFD_CLOEXEC));
    spec.standard_error = errors.get();
    auto outcome = sandbox::test::run(*warden_, spec);
    REQUIRE(outcome);
    const std::string said = outcome->output + text_of(errors.get());
    auto object = read_file(work_->path() / "x.o");
    return {ending(std::move(outcome->verdict), ""), said, object ? *object : ""};
  }
  // Names in the folder where the compiler may write; processes of the warden.
  [[nodiscard]] std::string left() const {
    std::string names;
    for (const auto& entry : fs::directory_iterator(work_->path())) {
      const std::string name = entry.path().filename();
      if (name != "x.cpp" && name != "x.o") names += name + " ";
    }
    return names;
  }

  static std::string replaced(std::string text, const std::string& file) {
    constexpr std::string_view kMark = "{file}";
    for (auto at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at))
      text.replace(at, kMark.size(), file);
    return text;
  }

 private:
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  [[nodiscard]] sandbox::Spec clang() const {
    using Access = sandbox::Mount::Access;
    sandbox::Spec spec;
    spec.program = kLlvm / "bin/clang";
    spec.arguments = {"clang",
                      "-cc1",
                      "-triple",
                      "x86_64-pc-linux-gnu",
                      "-emit-obj",
                      "-std=c++23",
                      "-ferror-limit",
                      "20",
                      "-ftemplate-depth=256",
                      "-fbracket-depth",
                      "256",
                      "-fconstexpr-steps=4000000",
                      "-o",
                      "/w/x.o",
                      "-x",
                      "c++",
                      "/w/x.cpp"};
    spec.mounts = {{kLlvm, kLlvm, Access::kReadExecute},
                   {"/usr/include", "/usr/include"},
                   {kLibraries, kLibraries, Access::kReadExecute},
                   {kLibraries, "/lib/x86_64-linux-gnu", Access::kReadExecute},
                   {"/usr/lib64", "/lib64", Access::kReadExecute},
                   {work_->path(), "/w", Access::kReadWrite}};
    spec.work_directory = "/w";
    spec.admits = sandbox::Admits{}
                      .with(sandbox::ReadsFiles{})
                      .with(sandbox::WritesFiles{})
                      .with(sandbox::Compiles{});
    spec.limits.wall = std::chrono::seconds(30);
    spec.limits.cpu = std::chrono::seconds(2);
    spec.limits.memory = std::uint64_t{1} << 30U;
    spec.limits.file_size = std::uint64_t{16} << 20U;
    return spec;
  }

  Result<TemporaryFolder> work_;
  Result<TemporaryFolder> other_;
  Result<Warden> warden_;
};

void check_fate(const Source& source, const Compiler::Made& made) {
  CHECK_FALSE(made.said.contains(kSecret));
  CHECK_FALSE(made.object.contains(kSecret));
  CHECK_FALSE(made.object.contains("root:x:0:0"));
  switch (source.fate) {
    case Fate::kRefused: CHECK(made.how == "exit 1"); break;
    case Fate::kHarmless: CHECK_MESSAGE(made.how == "works", made.said); break;
    case Fate::kEnded:
      CHECK(made.how != "works");
      CHECK_FALSE(made.how.starts_with("error"));
      CHECK(made.how != "timed out");  // it is the limits of the process that end it
      break;
  }
}

}  // namespace

TEST_SUITE("hostile/compiler") {
  TEST_CASE("no file outside is read, and one that is there is like one that is not") {
    Compiler compiler;
    for (const Source& source : reaching_sources()) {
      CAPTURE(source.name);
      const auto there = compiler.compile(source.text, compiler.secret());
      check_fate(source, there);
      const auto absent = compiler.compile(source.text, compiler.missing());
      CHECK(there.how == absent.how);
      std::string said = absent.said;  // the two differ in their own names only
      for (auto at = said.find("absent.txt"); at != std::string::npos; at = said.find("absent.txt"))
        said.replace(at, 10, "secret.txt");
      CHECK(there.said == said);
      check_fate(source, compiler.compile(source.text, "/etc/passwd"));
    }
    CHECK(compiler.left().empty());
  }

  TEST_CASE("devices, streams, modules and plugins are not there, and a crash is only an end") {
    Compiler compiler;
    for (const Source& source : odd_sources()) {
      CAPTURE(source.name);
      check_fate(source, compiler.compile(source.text, "/etc/passwd"));
    }
    CHECK(compiler.left().empty());
  }

  TEST_CASE("what has no end is ended by the limits of the process") {
    Compiler compiler;
    for (const Source& source : endless_sources()) {
      CAPTURE(source.name);
      check_fate(source, compiler.compile(source.text, "/etc/passwd"));
    }
  }
}

}  // namespace mcpac::hostile
