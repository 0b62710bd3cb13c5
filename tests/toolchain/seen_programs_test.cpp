#include "toolchain/seen_programs.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>

#include "audit/chain.h"
#include "core/file.h"
#include "toolchain/support_image.h"

using namespace mcpac;
using toolchain::Image;
using toolchain::key_of;
using toolchain::Prepared;
using toolchain::SeenPrograms;
using toolchain::Snapshot;

namespace {

namespace fs = std::filesystem;

struct Cache {
  TemporaryFolder home = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
  project::Folders folders{.state = home.path() / "state",
                           .cache = home.path() / "cache",
                           .temporary = home.path() / "temporary",
                           .libexec = home.path() / "libexec"};
  SeenPrograms programs{folders};

  [[nodiscard]] toolchain::Program program(std::string_view bytes) const {
    fs::path file = home.path() / "built";
    CHECK(write_file_atomic(file, bytes).has_value());
    return {.file = file};
  }
  [[nodiscard]] std::vector<fs::path> entries() const {
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(folders.cache / "programs"))
      files.push_back(file.path());
    return files;
  }
  [[nodiscard]] std::string key(const std::string& text, const std::string& display = "<code>",
                                const codegen::Lock& lock = {},
                                const std::string& prepared = "servers-1") const {
    const auto source = toolchain::source_from_text(text, display).value();
    const auto snapshot = Snapshot::take(source).value();
    return key_of(snapshot, lock, Prepared{.folder = home.path() / prepared}, folders);
  }
};

analyzer::Report a_report() {
  analyzer::Report report;
  report.file = "agent.cpp";
  report.source_digest = std::string(64, 'a');
  report.entry = analyzer::Entry::kAgentMain;
  report.findings.push_back({"mixed-script", analyzer::Severity::kWarns, "agent.cpp", 3, 1,
                             "an \"include\"", "leave it out", ""});
  return report;
}

std::string bytes_of(const fs::path& file) {
  return read_file(file).value();
}

}  // namespace

TEST_SUITE("execute/seen programs") {
  TEST_CASE("a program that was kept is found with its report, as a copy that can run") {
    const Cache cache;
    const std::string program(
        "\x7f"
        "ELF\0 and more",
        14);
    CHECK_FALSE(cache.programs.find("one").has_value());
    cache.programs.keep("one", a_report(), cache.program(program));
    const auto seen = cache.programs.find("one");
    REQUIRE(seen.has_value());
    CHECK(to_json(seen->report) == to_json(a_report()));
    CHECK(bytes_of(seen->program.file) == program);
    CHECK_FALSE(seen->program.image.has_value());
    CHECK((fs::status(seen->program.file).permissions() & fs::perms::owner_exec) !=
          fs::perms::none);
    CHECK_FALSE(cache.programs.find("another").has_value());
    // Nobody but the user reads or writes what will be run.
    CHECK(fs::status(cache.folders.cache / "programs").permissions() == fs::perms(0700));
  }

  TEST_CASE("an image is found as what a runner is given, and one that no runner takes is not") {
    const Cache cache;
    const std::string image = toolchain::testing::ImageBytes().bytes() + "names";
    cache.programs.keep("one", a_report(), {.image = Image::checked(image).value()});
    const auto seen = cache.programs.find("one");
    REQUIRE(seen.has_value());
    REQUIRE(seen->program.image.has_value());
    CHECK(seen->program.image->bytes() == image);
    CHECK(seen->program.image->mapped() == toolchain::testing::ImageBytes().bytes());
    // An entry whose digest is right, of an older mcpac that took what this one does not.
    const fs::path file = cache.entries().at(0);
    const std::string entry = bytes_of(file);
    auto rest = entry.substr(entry.find('\n') + 1);
    rest[rest.size() - image.size()] = 'x';
    std::ofstream(file, std::ios::binary) << audit::hex(audit::blake2b(rest)) << '\n' << rest;
    CHECK_FALSE(cache.programs.find("one").has_value());
  }

  TEST_CASE("a report that refuses is never kept") {
    const Cache cache;
    auto report = a_report();
    report.verdict = analyzer::Verdict::kRefused;
    cache.programs.keep("one", report, cache.program("program"));
    CHECK(cache.entries().empty());
  }

  TEST_CASE("an entry with any byte changed, or cut anywhere, is as if it were not there") {
    const Cache cache;
    cache.programs.keep("one", a_report(), cache.program("the program"));
    const fs::path file = cache.entries().at(0);
    const std::string whole = bytes_of(file);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      std::ofstream(file, std::ios::binary) << changed;
      CHECK_FALSE(cache.programs.find("one").has_value());
      std::ofstream(file, std::ios::binary) << whole.substr(0, i);
      CHECK_FALSE(cache.programs.find("one").has_value());
    }
    std::ofstream(file, std::ios::binary) << whole;
    CHECK(cache.programs.find("one").has_value());
  }

  TEST_CASE("what was not used for longest goes when there are too many") {
    const Cache cache;
    const auto program = cache.program("program");
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (int i = 0; i < 64; ++i) {
      cache.programs.keep(fmt::format("{:02}", i), a_report(), program);
      fs::last_write_time(cache.folders.cache / "programs" / fmt::format("{:02}.program", i),
                          long_ago + std::chrono::seconds(i));
    }
    CHECK(cache.programs.find("00").has_value());  // which is a use
    cache.programs.keep("new", a_report(), program);
    CHECK(cache.entries().size() == 64);
    CHECK(cache.programs.find("00").has_value());
    CHECK(cache.programs.find("new").has_value());
    CHECK_FALSE(cache.programs.find("01").has_value());
  }

  TEST_CASE("a cache that cannot be used is none") {
    const Cache cache;
    std::ofstream(cache.home.path() / "file") << "no folder";
    auto folders = cache.folders;
    folders.cache = cache.home.path() / "file";
    const SeenPrograms programs(folders);
    programs.keep("one", a_report(), cache.program("program"));
    CHECK_FALSE(programs.find("one").has_value());
  }

  TEST_CASE("another source, name, set of tools, header, worker: another key") {
    const Cache cache;
    const std::string key = cache.key("int a;");
    CHECK(cache.key("int a;") == key);
    CHECK(cache.key("int b;") != key);
    CHECK(cache.key("int a;", "<stdin>") != key);
    codegen::Lock lock;
    lock.servers.push_back(
        {"kv", "", "", "", "mcp::kv", {{"get", "mcp::kv::get", std::string(64, '0'), {}}}});
    CHECK(cache.key("int a;", "<code>", lock) != key);
    CHECK(cache.key("int a;", "<code>", {}, "servers-2") != key);
    fs::create_directories(cache.folders.libexec);
    std::ofstream(cache.folders.analyzer()) << "another";
    CHECK(cache.key("int a;") != key);
  }
}
