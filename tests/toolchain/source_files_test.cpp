#include "toolchain/source_files.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "core/file.h"

using namespace mcpac;
using toolchain::source_from_files;

namespace {

namespace fs = std::filesystem;

struct SourceFolder {
  TemporaryFolder temporary =
      TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
  fs::path write(const std::string& name, const std::string& text = "int x;\n") const {
    const auto path = temporary.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
};

std::string names_of(const Result<toolchain::Source>& source) {
  if (!source) return std::string("error: ") + source.error().why;
  std::string names = source->name;
  for (const auto& file : source->further) names += " " + file.name;
  return names;
}

}  // namespace

TEST_SUITE("execute/source_files") {
  TEST_CASE("a folder is its *.cpp files, without hidden and build folders and what links name") {
    const SourceFolder folder;
    for (const char* name :
         {"b.cpp", "sub/a.cpp", "a.cpp", "a.hpp", "note.txt", ".git/x.cpp", ".x.cpp", "build/x.cpp",
          "out/x.cpp", "servers/x.cpp", "node_modules/m/x.cpp", "cmake-build-debug/x.cpp",
          "other/x.cpp", "other/CMakeCache.txt"})
      folder.write(name);
    fs::create_symlink("/etc", folder.temporary.path() / "linked");
    fs::create_symlink("a.cpp", folder.temporary.path() / "link.cpp");
    CHECK(names_of(source_from_files({folder.temporary.path()})) == "a.cpp b.cpp sub/a.cpp");
    CHECK(names_of(source_from_files({folder.temporary.path() / ""})) == "a.cpp b.cpp sub/a.cpp");
  }

  TEST_CASE("files keep their order, count once, and look for headers where all of them lie") {
    const SourceFolder folder;
    const auto main = folder.write("src/main.cpp");
    const auto util = folder.write("lib/util.cpp", "#include \"../include/x.hpp\"\n");
    folder.write("include/x.hpp", "#pragma once\n");
    const auto source = source_from_files({main, util, main});
    CHECK(names_of(source) == "src/main.cpp lib/util.cpp");
    REQUIRE(source.has_value());
    CHECK(source->folder == folder.temporary.path());
    const auto snapshot = toolchain::Snapshot::take(*source);
    REQUIRE(snapshot.has_value());
    CHECK(snapshot->files().contains("include/x.hpp"));
    CHECK(snapshot->to_user("in /source/lib/util.cpp:3 and /source/include/x.hpp") ==
          "in " + util.string() + ":3 and " + (folder.temporary.path() / "include/x.hpp").string());
    CHECK(snapshot->sources_inside() ==
          std::vector<std::string>{"/source/src/main.cpp", "/source/lib/util.cpp"});
    CHECK(snapshot->source_shown_as(util.string()) == 1);
  }

  TEST_CASE("the digest covers every byte and every name of every file") {
    const SourceFolder folder;
    const auto digest = [&folder] {
      const auto source = source_from_files({folder.temporary.path()});
      return toolchain::Snapshot::take(source.value()).value().digest();
    };
    folder.write("a.cpp", "#include \"h.hpp\"\n");
    folder.write("b.cpp");
    folder.write("h.hpp", "#pragma once\n");
    const auto first = digest();
    CHECK(first == digest());
    folder.write("h.hpp", "#pragma once\n\n");
    const auto second = digest();
    CHECK(second != first);
    folder.write("b.cpp", "int y;\n");
    const auto third = digest();
    CHECK(third != second);
    fs::rename(folder.temporary.path() / "b.cpp", folder.temporary.path() / "c.cpp");
    CHECK(digest() != third);
  }

  TEST_CASE("a name of the user's that looks like an inner path is shown as it is") {
    const SourceFolder folder;
    const auto file = folder.write("source/source/a.cpp");
    const auto source = source_from_files({file});
    const auto snapshot = toolchain::Snapshot::take(source.value());
    REQUIRE(snapshot.has_value());
    CHECK(snapshot->to_user("/source/a.cpp:1") == file.string() + ":1");
  }

  TEST_CASE("what is no program, too much or has no folder in common is refused") {
    const SourceFolder folder;
    CHECK(names_of(source_from_files({folder.temporary.path()})).contains("no *.cpp below"));
    const auto file = folder.write("many/0.cpp");
    CHECK(names_of(source_from_files({file, "/nonexistent/b.cpp"})).starts_with("error"));
    const fs::path elsewhere = fs::path("/var/tmp") / folder.temporary.path().filename();
    fs::create_directory(elsewhere);
    std::ofstream(elsewhere / "b.cpp") << "int y;\n";
    if (fs::temp_directory_path() == "/tmp")
      CHECK(
          names_of(source_from_files({file, elsewhere / "b.cpp"})).contains("no folder in common"));
    fs::remove_all(elsewhere);
    for (int i = 1; i <= 64; ++i) folder.write("many/" + std::to_string(i) + ".cpp");
    CHECK(names_of(source_from_files({folder.temporary.path()})).contains("more than 64"));
    folder.write("bad/a.cpp", std::string("a\0b", 3));
    CHECK_FALSE(source_from_files({folder.temporary.path() / "bad"}).has_value());
  }
}
