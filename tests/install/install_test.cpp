// An installed mcpac in somebody else's hands: a prefix that was moved, another mcpac in PATH, and
// the project of examples/application, outside of our tree, built from its lock and run.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>

#include "e2e/workspace.h"
#include "places.h"

using e2e::Outcome;
using e2e::Workspace;

namespace {

namespace fs = std::filesystem;

const std::string kGrants =
    "filesystem.list_directory,filesystem.read_text_file,everything.get-sum";

// One folder for all cases: prefix/ with mcpac, application/ with its lock, other/ with a program
// of the same name that must never be asked.
class Installation {
 public:
  static Installation& shared() {
    static Installation installation;
    return installation;
  }
  [[nodiscard]] fs::path folder() const { return workspace_.folder(); }
  [[nodiscard]] fs::path prefix() const { return folder() / "moved"; }
  [[nodiscard]] fs::path application() const { return folder() / "application"; }

  Outcome run(std::vector<std::string> words, const fs::path& in) const {
    auto environment = workspace_.environment();
    environment.push_back(fmt::format("PATH={}:{}", (folder() / "other").string(), getenv("PATH")));
    return e2e::run_program(words, environment, {.folder = in});
  }
  Outcome mcpac(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), (prefix() / "bin/mcpac").string());
    return run(arguments, application());
  }

 private:
  Installation() {
    const auto first = folder() / "prefix";
    must({"cmake", "--install", mcpac::testing::in_build(), "--prefix", first.string()}, folder());
    fs::rename(first, prefix());
    fs::create_directories(folder() / "other");
    workspace_.write("other/mcpac", "#!/bin/sh\necho another mcpac was asked >&2\nexit 99\n");
    fs::permissions(folder() / "other/mcpac", fs::perms::owner_all);
    fs::copy(std::filesystem::path(mcpac::testing::in_source("examples/application")),
             application(), fs::copy_options::recursive);
    fs::create_directory_symlink(
        std::filesystem::path(mcpac::testing::in_source("tests/servers/node_modules")),
        application() / "node_modules");
    const auto generated = mcpac({"generate"});
    INFO(generated.err);
    REQUIRE(generated.exit_code == 0);
    // What the application is built from is the lock: nobody may need the rest, or a server.
    fs::remove_all(application() / "servers");
  }
  void must(const std::vector<std::string>& words, const fs::path& in) const {
    const auto done = run(words, in);
    INFO(done.out, done.err);
    REQUIRE(done.exit_code == 0);
  }

  Workspace workspace_{R"({"mcpServers": {}})"};
};

// Flags that people ship with; every warning is an error.
Outcome configure(const std::string& compiler, const fs::path& build, const fs::path& source) {
  auto& installation = Installation::shared();
  return installation.run(
      {"cmake", "-G", "Ninja", "-S", source.string(), "-B", build.string(),
       fmt::format("-DCMAKE_PREFIX_PATH={}", installation.prefix().string()),
       "-DCMAKE_BUILD_TYPE=Release",
       "-DCMAKE_CXX_COMPILER_LAUNCHER=", fmt::format("-DCMAKE_CXX_COMPILER={}", compiler),
       "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror "
       "-ffunction-sections -fdata-sections",
       "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--gc-sections"},
      installation.folder());
}

Outcome build(const fs::path& folder) {
  return Installation::shared().run({"cmake", "--build", folder.string()},
                                    Installation::shared().folder());
}

fs::path built_with(const std::string& compiler) {
  auto& installation = Installation::shared();
  const auto folder = installation.folder() / ("build-" + compiler);
  if (!fs::exists(folder)) {
    const auto configured = configure(compiler, folder, installation.application());
    INFO(configured.out, configured.err);
    REQUIRE(configured.exit_code == 0);
    const auto made = build(folder);
    INFO(made.out, made.err);
    REQUIRE(made.exit_code == 0);
  }
  return folder / "report";
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_SUITE("install") {
  TEST_CASE("an installation is complete and can be moved") {
    auto& installation = Installation::shared();
    for (const char* file : {"bin/mcpac", "libexec/mcpac/mcpac", "libexec/mcpac/mcpac-warden",
                             "libexec/mcpac/mcpac-analyzer", "libexec/mcpac/mcpac-keeper",
                             "include/mcpac/runtime.hpp", "include/mcpac/note.hpp",
                             "share/doc/mcpac/README.md", "share/doc/mcpac/docs/agents.md"}) {
      CAPTURE(file);
      CHECK(fs::exists(installation.prefix() / file));
    }
    const auto info = installation.mcpac({"info", "--json"});
    CHECK(info.out.find((installation.prefix() / "libexec/mcpac").string()) != std::string::npos);
    // Nothing that is text names the place where it was first.
    for (const auto& entry : fs::recursive_directory_iterator(installation.prefix())) {
      const auto extension = entry.path().extension();
      if (extension != ".cmake" && extension != ".hpp") continue;
      CAPTURE(entry.path().string());
      CHECK(text_of(entry.path()).find((installation.folder() / "prefix").string()) ==
            std::string::npos);
      CHECK(text_of(entry.path()).find(mcpac::testing::in_source()) == std::string::npos);
    }
  }

  TEST_CASE("bin/mcpac without its libexec folder says that it is not whole") {
    auto& installation = Installation::shared();
    const auto apart = installation.folder() / "apart" / "bin" / "mcpac";
    fs::create_directories(apart.parent_path());
    fs::copy_file(installation.prefix() / "bin/mcpac", apart);
    const auto done = installation.run({apart.string(), "info"}, installation.folder());
    CHECK(done.exit_code == 66);
    CHECK(done.err.find("MCPAC-E0101") != std::string::npos);
    CHECK(done.err.find("libexec") != std::string::npos);
  }

  TEST_CASE("the moved mcpac analyses, compiles and runs an agent") {
    auto& installation = Installation::shared();
    REQUIRE(installation.mcpac({"generate"}).exit_code == 0);
    const auto run = installation.mcpac(
        {"execute", "--grant", "filesystem.read_text_file", "-c",
         "#include <mcpac.hpp>\n#include <print>\n"
         "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
         "  std::print(\"{}\", rt.filesystem.read_text_file({.path = \"data/luna.txt\", .head = "
         "1}).text());\n"
         "  return 0;\n}\n"});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.out == "Luna 9");
    fs::remove_all(installation.application() / "servers");
  }

  TEST_CASE("an application outside of the tree builds with every compiler and runs") {
    auto& installation = Installation::shared();
    for (const std::string compiler : {"g++", "clang++-14", "clang++-19"}) {
      CAPTURE(compiler);
      const auto program = built_with(compiler).string();
      const auto run = installation.mcpac({"run", "--grant", kGrants, "--", program});
      INFO(run.err);
      CHECK(run.exit_code == 0);
      CHECK(run.out == text_of(installation.application() / "expected.txt"));
    }
  }

  TEST_CASE("what it declares stands in the binary, also of a stripped one") {
    auto& installation = Installation::shared();
    const mcpac::Json declared = {"everything.get-sum", "filesystem.list_directory",
                                  "filesystem.read_text_file"};
    for (const std::string compiler : {"g++", "clang++-14", "clang++-19"}) {
      CAPTURE(compiler);
      const auto stripped = (installation.folder() / ("stripped-" + compiler)).string();
      REQUIRE(installation.run({"strip", "-s", "-o", stripped, built_with(compiler).string()}, "/")
                  .exit_code == 0);
      const auto report = installation.mcpac({"permissions", "analyze", "--json", stripped});
      INFO(report.err);
      CHECK(report.exit_code == 0);
      CHECK(report.json()["declared"] == declared);
      CHECK(report.json()["entry"] == "binary");
    }
    const auto shown = installation.mcpac({"permissions", "analyze", built_with("g++").string()});
    CHECK(shown.out ==
          "declares\n  everything.get-sum\n  filesystem.list_directory\n"
          "  filesystem.read_text_file\n"
          "uses\n  unknown: a binary shows what it declares, not what it calls\nverdict: ok\n");
  }

  TEST_CASE("without its grant it is refused before it starts, without mcpac run it says so") {
    auto& installation = Installation::shared();
    const auto program = built_with("g++").string();
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"run", "--grant", "filesystem.read_text_file", "--", program},
          std::vector<std::string>{"permissions", "validate", "--grant",
                                   "filesystem.read_text_file", program}}) {
      const auto refused = installation.mcpac(command);
      CHECK(refused.exit_code == 77);
      CHECK(refused.out.empty());
      CHECK(refused.err.find("MCPAC-E0704") != std::string::npos);
      CHECK(refused.err.find("--grant everything.get-sum,filesystem.list_directory") !=
            std::string::npos);
    }
    CHECK(installation.mcpac({"permissions", "validate", "--grant", kGrants, program}).exit_code ==
          0);
    const auto alone = installation.run({program}, installation.application());
    CHECK(alone.exit_code == 69);
    CHECK(alone.out.empty());
    CHECK(
        alone.err ==
        "mcpac: transport error: there is no connection to mcpac (MCPAC_FD is not set): start this "
        "program with mcpac run\n");
  }

  TEST_CASE("a build makes headers again exactly when the lock changed") {
    auto& installation = Installation::shared();
    const auto folder = built_with("g++").parent_path();
    CHECK(build(folder).out.find("no work to do") != std::string::npos);
    const auto lock = installation.application() / "mcpac.lock";
    const std::string whole = text_of(lock);
    // The same approved tools at a later time: headers stay as they are, and nothing is compiled.
    // Never a time to come: Ninja configures again for as long as its own file is older than the
    // lock.
    fs::last_write_time(lock, fs::file_time_type::clock::now());
    const auto touched = build(folder);
    INFO(touched.out);
    CHECK(touched.exit_code == 0);
    CHECK(touched.out.find("mcpac: headers of report") != std::string::npos);
    CHECK(touched.out.find("Building CXX") == std::string::npos);
    // A lock that does not fit its own digests builds nothing.
    std::string forged = whole;
    const auto at = forged.find("Read the complete contents");
    REQUIRE(at != std::string::npos);
    forged.replace(at, 4, "Leak");
    std::ofstream(lock, std::ios::binary) << forged;
    const auto refused = build(folder);
    CHECK(refused.exit_code != 0);
    CHECK((refused.out + refused.err).find("MCPAC-E0401") != std::string::npos);
    std::ofstream(lock, std::ios::binary) << whole;
    CHECK(build(folder).exit_code == 0);
  }

  TEST_CASE("without a lock the configuration stops and says what to do") {
    auto& installation = Installation::shared();
    const auto source = installation.folder() / "without-lock";
    fs::create_directories(source);
    for (const char* file : {"CMakeLists.txt", "report.cpp", "mcpac.json"})
      fs::copy_file(installation.application() / file, source / file);
    const auto configured = configure("g++", source / "build", source);
    CHECK(configured.exit_code != 0);
    CHECK(configured.err.find("there is no " + (source / "mcpac.lock").string()) !=
          std::string::npos);
    CHECK(configured.err.find("mcpac generate --config") != std::string::npos);
  }
}
