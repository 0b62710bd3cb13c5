// What a server that is to be confined would be given, by what its entry names.
#include "servers/confine/proposed_places.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/file.h"

using namespace mcpac;

namespace {

namespace fs = std::filesystem;

class Proposed {
 public:
  Proposed() {
    for (const char* folder : {"p/data/sub", "p/store", "p/tool/data", "p/node_modules/a", "beside",
                               "odd  name,with=all"})
      fs::create_directories(path(folder));
    for (const char* file :
         {"p/notes.db", "p/store/notes.sqlite", "p/config.json", "beside/m.json",
          "p/tool/server.py", "p/tool/notes.db", "p/node_modules/a/index.js", "key.pem"})
      std::ofstream(path(file)) << "x";
    fs::create_directory_symlink(path("beside"), path("p/link"));
    fs::create_directory_symlink(path("p"), path("above"));
    REQUIRE(::mkfifo(path("p/fifo").c_str(), 0600) == 0);
  }
  [[nodiscard]] std::string path(const std::string& below) const {
    return (folder_.path() / below).string();
  }
  // "./data:rw (args[1] names it)", and "note: …"; or the error's words.
  std::vector<std::string> of(std::vector<std::string> words,
                              std::map<std::string, std::string> environment = {},
                              const std::string& project_folder = "p") const {
    mcp::Config config;
    mcp::ServerConfig server;
    server.name = "one";
    server.command = words.front();
    server.arguments.assign(words.begin() + 1, words.end());
    server.environment = std::move(environment);
    server.working_directory = path(project_folder);
    config.servers.push_back(server);
    const auto project =
        project::project_of(config, path(project_folder) + "/mcpac.json", folders_);
    const auto found = servers::proposed_places(project, folders_, server);
    if (!found) return {found.error().to_text()};
    std::vector<std::string> all;
    for (const auto& place : found->places) all.push_back(place.text);
    for (const auto& note : found->notes) all.push_back("note: " + note);
    return all;
  }

 private:
  TemporaryFolder folder_ = std::move(
      TemporaryFolder::create(fs::canonical(fs::temp_directory_path()), "mcpac-test-proposed")
          .value());
  project::Folders folders_;
};

using PlaceTexts = std::vector<std::string>;

bool has_note(const PlaceTexts& texts, const std::string& part) {
  for (const auto& text : texts) {
    if (text.starts_with("note: ") && text.contains(part)) return true;
  }
  return false;
}

}  // namespace

TEST_SUITE("execute/proposed places") {
  TEST_CASE("a server that is to be confined is proposed what its own words name, and no more") {
    const Proposed disk;
    const std::string sh = "/bin/true";
    // Folders to write; what lies in another is there with it; not what is no path.
    CHECK(disk.of({sh, "./data", "serve", "--port", "8080", "/nowhere/at all"}) ==
          PlaceTexts{"./data:rw"});
    CHECK(disk.of({sh, "--dir=data/sub", "data"}) == PlaceTexts{"./data:rw"});
    CHECK(disk.of({sh, "."}) == PlaceTexts{".:rw"});
    CHECK(disk.of({sh, fmt::format("{}:{}", disk.path("p/data"), disk.path("beside"))}) ==
          PlaceTexts{disk.path("beside") + ":rw", "./data:rw"});
    CHECK(disk.of({sh, disk.path("odd  name,with=all")}) ==
          PlaceTexts{disk.path("odd  name,with=all") + ":rw"});
    // Files to read; databases and what is called data with their folder, where that is theirs.
    CHECK(disk.of({sh, "--config", "config.json"}) == PlaceTexts{"./config.json"});
    CHECK(disk.of({sh, "store/notes.sqlite"}) == PlaceTexts{"./store:rw"});
    CHECK(disk.of({sh, "--url=sqlite:///" + disk.path("p/store/new.db")}) ==
          PlaceTexts{"./store:rw"});
    const auto alone = disk.of({sh, "--db", "notes.db"});
    CHECK(alone.front() == "./notes.db:rw");
    CHECK(has_note(alone, "a folder of its own"));
    CHECK(has_note(disk.of({sh, "new.db"}), "not there yet"));
    // Variables of the entry, but not those of programs.
    CHECK(disk.of({sh}, {{"MEMORY_FILE_PATH", disk.path("beside/m.json")}}) ==
          PlaceTexts{disk.path("beside") + ":rw"});
    CHECK(disk.of({sh}, {{"LOG_FILE", disk.path("beside/new.log")}}) ==
          PlaceTexts{disk.path("beside") + ":rw"});
    CHECK(disk.of({sh}, {{"TLS_KEY", disk.path("key.pem")}}) == PlaceTexts{disk.path("key.pem")});
    CHECK(disk.of({sh}, {{"PATH", disk.path("p/data")}, {"XDG_DATA_HOME", disk.path("p/data")}})
              .empty());
    // Of a launcher its script is program; what lies beside it and is written is not.
    CHECK(disk.of({"/usr/bin/python3", "-X", "utf8", "tool/server.py", "tool/data"}) ==
          PlaceTexts{"./tool/data:rw"});
    CHECK(disk.of({"/usr/bin/python3", "tool/server.py", "tool/notes.db"}) ==
          PlaceTexts{"./tool:rw"});
    CHECK(disk.of({"/usr/bin/env", "A=data", "/usr/bin/python3", "tool/server.py", "data"}) ==
          PlaceTexts{"./data:rw"});
  }

  TEST_CASE("what a proposal leaves out is said with what to write") {
    const Proposed disk;
    const std::string sh = "/bin/true";
    CHECK(has_note(disk.of({sh, "/"}), "--files"));
    CHECK(has_note(disk.of({sh, "~/notes"}), "write its whole path"));
    CHECK(has_note(disk.of({sh, "fifo"}), "no file or folder"));
    // A link is given by where it leads, which the sandbox alone has.
    const auto linked = disk.of({sh, "./link"});
    CHECK(linked.front() == disk.path("beside") + ":rw");
    CHECK(has_note(linked, "write the real path"));
    // One above the project changes nothing: places are counted from the folder by its real name.
    CHECK(disk.of({sh, "./data"}, {}, "above") == PlaceTexts{"./data:rw"});
    ::setenv("MCPAC_TEST_PLACE", disk.path("beside").c_str(), 1);
    CHECK(disk.of({sh, "${env:MCPAC_TEST_PLACE}"}) == PlaceTexts{"${env:MCPAC_TEST_PLACE}:rw"});
    CHECK(disk.of({sh, "${env:MCPAC_TEST_NO_PLACE}"}).front().contains("MCPAC-E0114"));
    CHECK(disk.of({"docker", "run", "x"}).front().contains("MCPAC-E0300"));
  }
}
