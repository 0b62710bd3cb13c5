#include "toolchain/snapshot.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/file.h"

using namespace mcpac;
using toolchain::Snapshot;

namespace {

namespace fs = std::filesystem;

struct SnapshotFolder {
  TemporaryFolder temporary =
      TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
  fs::path write(const std::string& name, const std::string& text) const {
    const auto path = temporary.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  Result<Snapshot> take(const std::string& name) const {
    return Snapshot::take(toolchain::source_from_file(temporary.path() / name).value());
  }
};

ErrorId refusal(const std::string& text) {
  return toolchain::source_from_text(text, "<code>").error().id;
}

}  // namespace

TEST_SUITE("execute/snapshot") {
  TEST_CASE("text that is empty, has a NUL byte or is not UTF-8 is no source") {
    CHECK(refusal("") == ErrorId::kSourceEmpty);
    CHECK(refusal(" \n\t\r\n") == ErrorId::kSourceEmpty);
    CHECK(refusal(std::string("int x;\0", 7)) == ErrorId::kSourceNotText);
    for (const char* bad :
         {"\xff", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
      CHECK(refusal(std::string("// ") + bad) == ErrorId::kSourceNotText);
    }
    CHECK(
        toolchain::source_from_text("// \xe2\x82\xac \xf0\x9f\x8c\x99 é\n", "<code>").has_value());
  }

  TEST_CASE("the error of text that is not UTF-8 names its line") {
    CHECK(toolchain::source_from_text("int a;\nint b;\xff\n", "<code>").error().where ==
          "<code>:2");
  }

  TEST_CASE("headers that the source includes by name come along, and nothing else") {
    const SnapshotFolder folder;
    folder.write("agent.cpp",
                 "#include \"util/a.h\"\n # include  \"b.h\"\n#include <mcpac.hpp>\n"
                 "#include \".env\"\n#include \"util/.x/d.h\"\n#include \"tokens.json\"\n"
                 "#include \"id_rsa\"\n#include \"./util/TABLE.INC\"\n");
    folder.write("util/.x/d.h", "int d;\n");
    folder.write("util/TABLE.INC", "1, 2\n");
    folder.write("tokens.json", "[\"secret\"]\n");
    folder.write("id_rsa", "secret\n");
    folder.write("util/a.h", "#include \"c.h\"\n");
    folder.write("util/c.h", "int c;\n");
    folder.write("b.h", "int b;\n");
    folder.write(".env", "SECRET=1\n");
    const auto snapshot = folder.take("agent.cpp");
    REQUIRE(snapshot.has_value());
    for (const char* name : {"agent.cpp", "util/a.h", "util/c.h", "b.h", "util/TABLE.INC"})
      CHECK(snapshot->files().contains(name));
    CHECK(snapshot->files().size() == 5);
  }

  TEST_CASE("an include cannot lead out of the source's folder") {
    const SnapshotFolder folder;
    folder.write("secret.h", "int secret;\n");
    folder.write("in/agent.cpp",
                 "#include \"../secret.h\"\n#include \"link.h\"\n#include \"/etc/hostname\"\n");
    fs::create_symlink(folder.temporary.path() / "secret.h", folder.temporary.path() / "in/link.h");
    const auto snapshot = folder.take("in/agent.cpp");
    REQUIRE(snapshot.has_value());
    CHECK(snapshot->files().size() == 1);
  }

  TEST_CASE("a name that no inclusion can hold is refused before anything is started for it") {
    const SnapshotFolder folder;
    for (const std::string name : {"a\"b.cpp", "a\\b.cpp", "a\nb.cpp"}) {
      folder.write(name, "int main() {}\n");
      const auto snapshot = folder.take(name);
      REQUIRE_FALSE(snapshot);
      CHECK(snapshot.error().id == ErrorId::kSourceUnreadable);
      CHECK(snapshot.error().where.ends_with(name));
    }
  }

  TEST_CASE("the digest covers every byte and name that was read") {
    const SnapshotFolder folder;
    folder.write("agent.cpp", "#include \"b.h\"\n");
    folder.write("b.h", "int b;\n");
    const auto before = folder.take("agent.cpp")->digest();
    CHECK(before == folder.take("agent.cpp")->digest());
    folder.write("b.h", "int c;\n");
    CHECK(before != folder.take("agent.cpp")->digest());
  }

  TEST_CASE("messages name files as the user does") {
    const SnapshotFolder folder;
    const auto file = folder.write("sub/agent.cpp", "#include \"b.h\"\n");
    folder.write("sub/b.h", "int b;\n");
    const auto snapshot = folder.take("sub/agent.cpp");
    CHECK(snapshot->to_user("/source/agent.cpp:3:1: error") == file.string() + ":3:1: error");
    CHECK(snapshot->to_user("in /source/b.h and /mcpac/include/mcpac.hpp") ==
          "in " + (file.parent_path() / "b.h").string() + " and servers/mcpac.hpp");
  }

  TEST_CASE("what was read is written as it was read, whatever became of the files") {
    const SnapshotFolder folder;
    folder.write("agent.cpp", "#include \"util/a.h\"\n");
    folder.write("util/a.h", "int a;\n");
    const auto snapshot = folder.take("agent.cpp");
    folder.write("util/a.h", "int other;\n");
    const auto to = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
    const mode_t mask = ::umask(077);
    const auto written = snapshot->write(to.path());
    ::umask(mask);
    REQUIRE(written);
    CHECK(fs::status(to.path() / "util").permissions() == fs::perms(0755));
    CHECK(read_file(to.path() / "agent.cpp") == "#include \"util/a.h\"\n");
    CHECK(read_file(to.path() / "util/a.h") == "int a;\n");
    CHECK(fs::status(to.path() / "util/a.h").permissions() == fs::perms(0444));
    CHECK_FALSE(snapshot->write(to.path()));  // over nothing that is there
  }
}
