// The folders that a real server counts relative paths from, and folders above a denied place.
#include <doctest/doctest.h>

#include <filesystem>

#include "core/json.h"
#include "e2e/workspace.h"
#include "places.h"

using e2e::has;
using e2e::Outcome;
using e2e::Workspace;
using mcpac::Json;

namespace {

namespace fs = std::filesystem;

const std::string kServer = mcpac::testing::in_source(
    "tests/servers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");

// A project whose server was given other folders than the project's, without a word about a root.
class Project {
 public:
  explicit Project(const std::vector<std::string>& folders = {"notes"},
                   const std::string& policy = "") {
    if (!policy.empty()) workspace.write("mcpac.policy", policy);
    fs::create_directories(workspace.folder() / "notes/secret");
    fs::create_directories(workspace.folder() / "more/secret");
    workspace.write("notes/secret/x", "a secret of the notes");
    workspace.write("more/secret/x", "a secret of the others");
    workspace.write("notes/open.txt", "a note for everybody");
    std::vector<std::string> words = {"server", "add", "files", "--", "node", kServer};
    for (const auto& folder : folders) words.push_back((workspace.folder() / folder).string());
    added = workspace.mcpac(words);
    REQUIRE(added.exit_code == 0);
    generated = workspace.mcpac({"generate"});
    INFO(generated.err);
    REQUIRE(generated.exit_code == 0);
  }

  [[nodiscard]] Outcome call(const std::string& tool, const Json& arguments,
                             const std::vector<std::string>& rules) const {
    std::vector<std::string> words = {"tools", "call", "files." + tool, arguments.dump()};
    words.insert(words.end(), rules.begin(), rules.end());
    return workspace.mcpac(words);
  }

  Workspace workspace{R"({"mcpServers": {}})"};
  Outcome added;
  Outcome generated;
};

}  // namespace

TEST_SUITE("e2e/server root") {
  TEST_CASE("a relative path to a real server is denied where the server would open it") {
    const Project project;
    const std::string secret = (project.workspace.folder() / "notes/secret").string();
    const std::vector<std::string> rules = {"--grant", "files.*", "--deny",
                                            "*.*(* within " + secret + ")"};
    const auto denied = project.call("read_text_file", {{"path", "secret/x"}}, rules);
    INFO(denied.out << denied.err);
    CHECK(denied.exit_code == 77);
    CHECK_FALSE(has(denied.out + denied.err, "a secret of the notes"));
    const auto read = project.call("read_text_file", {{"path", "open.txt"}}, rules);
    CHECK(read.exit_code == 0);
    CHECK(has(read.out, "a note for everybody"));
  }

  TEST_CASE("an allow needs all folders inside, and a declared root settles which is meant") {
    const Project project;
    const Json path = {{"path", "open.txt"}};
    const auto denied =
        project.call("read_text_file", path, {"--grant", "files.read_text_file(path within ./)"});
    CHECK(denied.exit_code == 0);  // both are below ./
    const std::vector<std::string> notes = {"--grant", "files.read_text_file(path within ./notes)"};
    const auto outside = project.call("read_text_file", path, notes);
    CHECK(outside.exit_code == 77);
    INFO(outside.err);
    CHECK(has(outside.err, "it may be"));
    CHECK(has(outside.err, "mcpac server set files --root"));
    REQUIRE(project.workspace.mcpac({"server", "set", "files", "--root", "notes"}).exit_code == 0);
    const auto inside = project.call("read_text_file", path, notes);
    INFO(inside.err);
    CHECK(inside.exit_code == 0);
    CHECK(has(inside.out, "a note for everybody"));
  }

  TEST_CASE("of two folders that a server was given each is one it may open") {
    const Project project({"more", "notes"});
    const std::string secret = (project.workspace.folder() / "notes/secret").string();
    REQUIRE(project.workspace.mcpac({"server", "set", "files", "--root", "more"}).exit_code == 0);
    for (const char* path : {"../notes/secret/x", "secret/x", "./secret/../secret/x"}) {
      CAPTURE(path);
      const auto denied =
          project.call("read_text_file", {{"path", path}},
                       {"--grant", "files.*", "--deny", "*.*(* within " + secret + ")"});
      CHECK(denied.exit_code == 77);
      CHECK_FALSE(has(denied.out + denied.err, "a secret of the notes"));
    }
  }

  TEST_CASE(
      "who has no root is said when it is added, generated and checked, with the line to set it") {
    const Project unheld;
    const std::string line = "mcpac server set files --root notes";
    CHECK(has(unheld.added.err, line));
    // Nothing is to be said of a server that no rule holds by its paths.
    CHECK_FALSE(has(unheld.generated.err, line));
    const auto other =
        unheld.workspace.write("other", "allow files.*\nallow elsewhere.*(path within ./notes)\n");
    CHECK_FALSE(has(unheld.workspace.mcpac({"policy", "check", other.string()}).out, line));
    const Project project({"notes"}, "allow files.*(path within ./notes, ..)\n");
    CHECK(has(project.added.err, line));
    CHECK(has(project.generated.err, line));
    for (const std::vector<std::string>& again :
         {std::vector<std::string>{"generate"}, {"generate", "--offline"}})
      CHECK_FALSE(has(project.workspace.mcpac(again).err, line));
    const auto rules =
        project.workspace.write("rules", "allow files.*\ndeny *.*(* within ./notes/secret)\n");
    const auto check = [&] { return project.workspace.mcpac({"policy", "check", rules.string()}); };
    CHECK(has(check().out, line));
    CHECK(has(check().out, "--entry-only create_directory,get_file_info,list_directory"));
    CHECK(has(project.workspace.mcpac({"doctor"}).out, line));
    REQUIRE(
        project.workspace
            .mcpac({"server", "set", "files", "--root", "notes", "--entry-only", "list_directory"})
            .exit_code == 0);
    CHECK_FALSE(has(check().out, "note: files has no root"));
    CHECK_FALSE(has(check().out, "--entry-only"));
    CHECK_FALSE(has(project.workspace.mcpac({"doctor"}).out, line));
    CHECK_FALSE(has(project.workspace.mcpac({"generate"}).err, line));
    const auto unknown =
        project.workspace.mcpac({"server", "set", "files", "--entry-only", "list_directry"});
    CHECK(unknown.exit_code == 64);
    CHECK(has(unknown.err, "list_directory"));
  }

  TEST_CASE("the quick start's server has one folder, and nothing is said of it") {
    const Workspace workspace(R"({"mcpServers": {}})");
    const auto added = workspace.mcpac({"server", "add", "files", "--", "node", kServer, "."});
    CHECK(added.exit_code == 0);
    CHECK_FALSE(has(added.err, "root"));
  }

  TEST_CASE("a program in a package with a scope is no folder that its server was given") {
    for (const bool is_relative : {true, false}) {
      CAPTURE(is_relative);
      const Workspace workspace(R"({"mcpServers": {}})");
      workspace.write("data/a.txt", "a note for everybody");
      fs::create_directory_symlink(mcpac::testing::in_source("tests/servers/node_modules"),
                                   workspace.folder() / "node_modules");
      const std::string name = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
      const auto added =
          workspace.mcpac({"server", "add", "files", "--", "node",
                           is_relative ? name : (workspace.folder() / name).string(), "."});
      CHECK(added.exit_code == 0);
      CHECK_FALSE(has(added.err, "root"));
      REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
      const auto read = [&] {
        return workspace.mcpac({"tools", "call", "files.read_text_file",
                                R"({"path": "data/a.txt"})", "--grant",
                                "files.read_text_file(path within ./data)"});
      };
      const auto plain = read();
      INFO(plain.err);
      CHECK(plain.exit_code == 0);
      CHECK(has(plain.out, "a note for everybody"));
      const auto set = workspace.mcpac({"server", "set", "files", "--root", "."});
      CHECK(set.exit_code == 0);
      CHECK_FALSE(has(set.err, "warning"));
      CHECK(read().exit_code == 0);
    }
  }

  TEST_CASE("that a tool acts on one entry alone is shown, and taken back") {
    const Project project;
    const auto set = [&](const std::string& option, const std::string& tools) {
      return project.workspace.mcpac({"server", "set", "files", option, tools});
    };
    const auto list = [&] { return project.workspace.mcpac({"server", "list"}).out; };
    const auto above = [&] {
      return project.call("list_directory",
                          {{"path", (project.workspace.folder() / "notes").string()}},
                          {"--grant", "files.*", "--deny", "*.*(* within ./notes/secret)"});
    };
    CHECK(set("--no-entry-only", "list_directory").exit_code == 64);
    REQUIRE(set("--entry-only", "list_directory,get_file_info").exit_code == 0);
    CHECK(has(list(), "(entry only list_directory,get_file_info)"));
    CHECK(above().exit_code == 0);
    const auto back = set("--no-entry-only", "list_directory");
    CHECK(back.exit_code == 0);
    CHECK(has(list(), "(entry only get_file_info)"));
    CHECK(project.workspace.mcpac({"server", "list", "--json"}).json()[0]["entry_only"] ==
          Json({"get_file_info"}));
    CHECK(above().exit_code == 77);
    const auto again = set("--no-entry-only", "list_directory");
    CHECK(again.exit_code == 64);
    CHECK(has(again.err, "get_file_info"));
    REQUIRE(set("--no-entry-only", "get_file_info").exit_code == 0);
    CHECK_FALSE(has(list(), "entry only"));
  }

  TEST_CASE("servers of another client's file are imported with the line that sets their root") {
    const Workspace workspace(R"({"mcpServers": {}})");
    fs::create_directories(workspace.folder() / "elsewhere");
    const auto file = workspace.write(
        "other.json", R"({"mcpServers": {"files": {"command": "node", "args": ["--dir=)" +
                          (workspace.folder() / "elsewhere").string() + R"("]}}})");
    const auto imported = workspace.mcpac({"server", "add", "--import", file.string()});
    INFO(imported.err);
    CHECK(imported.exit_code == 0);
    CHECK(has(imported.err, "mcpac server set files --root elsewhere"));
  }

  TEST_CASE(
      "a tool that lists a whole tree is denied the folder above, one that lists an entry not") {
    const Project project;
    const std::string notes = (project.workspace.folder() / "notes").string();
    const std::vector<std::string> rules = {"--grant", "files.*", "--deny",
                                            "*.*(* within ./notes/secret)"};
    for (const auto& [tool, arguments] :
         {std::pair<std::string, Json>{"directory_tree", {{"path", notes}}},
          {"directory_tree", {{"path", "notes"}}},
          {"search_files", {{"path", notes}, {"pattern", "*"}}},
          {"move_file", {{"source", notes}, {"destination", notes + "2"}}},
          {"list_directory", {{"path", notes}}}}) {
      CAPTURE(tool);
      const auto denied = project.call(tool, arguments, rules);
      INFO(denied.err);
      CHECK(denied.exit_code == 77);
      CHECK(has(denied.err, "contains the denied ./notes/secret"));
      // What moves, searches or lists a tree is no tool of one entry, and is not called one.
      const bool is_plausible = tool == "list_directory";
      CHECK(has(denied.err, "--entry-only " + tool) == is_plausible);
      CHECK(has(denied.err, "may reach all that is in it") == !is_plausible);
    }
    REQUIRE(project.workspace.mcpac({"server", "set", "files", "--entry-only", "list_directory"})
                .exit_code == 0);
    const auto listed = project.call("list_directory", {{"path", notes}}, rules);
    INFO(listed.err);
    CHECK(listed.exit_code == 0);
    CHECK(has(listed.out, "open.txt"));
    CHECK(project.call("directory_tree", {{"path", notes}}, rules).exit_code == 77);
  }

  TEST_CASE(
      "only tools that may act on one entry are declared so, and what speaks against it is said") {
    const Project project;
    const auto set = [&](const std::string& tool) {
      return project.workspace.mcpac({"server", "set", "files", "--entry-only", tool});
    };
    const auto moved = set("move_file");
    INFO(moved.err);
    // The server says of it that it destroys.
    CHECK(moved.exit_code == 64);
    CHECK(has(moved.err, "destructiveHint"));
    CHECK(set("write_file").exit_code == 64);
    const auto tree = set("directory_tree");
    CHECK(tree.exit_code == 0);
    CHECK(has(tree.err, "may reach what is below a folder"));
    CHECK_FALSE(has(set("list_directory").err, "may reach"));
    // Proposed by one line to paste, where the project denies a place.
    const std::string line = "mcpac server set files --entry-only create_directory,get_file_info";
    CHECK_FALSE(has(project.generated.err, line));
    const Project other({"notes"}, "allow files.*\ndeny *.*(* within ./notes/secret)\n");
    INFO(other.generated.err);
    REQUIRE(has(other.generated.err, line));
    CHECK_FALSE(has(other.generated.err.substr(other.generated.err.find(line)), "move_file"));
    CHECK_FALSE(has(other.workspace.mcpac({"generate"}).err, line));
  }

  TEST_CASE("an empty path is the server's folder, and is denied where that is the denied place") {
    const Project project;
    const std::string notes = (project.workspace.folder() / "notes").string();
    for (const std::string& denied : {notes, notes + "/secret"}) {
      for (const char* path : {"", " ", "."}) {
        const auto listed =
            project.call("list_directory", {{"path", path}},
                         {"--grant", "files.*", "--deny", "*.*(* within " + denied + ")"});
        INFO(denied << " '" << path << "' " << listed.out << listed.err);
        CHECK(listed.exit_code == 77);
        CHECK_FALSE(has(listed.out, "open.txt"));
      }
    }
    // An empty text that is no path is one.
    const auto written =
        project.call("edit_file",
                     {{"path", notes + "/open.txt"},
                      {"edits", {{{"oldText", "a note for everybody"}, {"newText", ""}}}}},
                     {"--grant", "files.*", "--deny", "*.*(* within " + notes + "/secret)"});
    INFO(written.err);
    CHECK(written.exit_code == 0);
  }

  TEST_CASE("a root is checked, shown, and taken back") {
    const Project project;
    const auto set = [&](std::vector<std::string> more) {
      std::vector<std::string> words = {"server", "set", "files"};
      words.insert(words.end(), more.begin(), more.end());
      return project.workspace.mcpac(words);
    };
    const auto missing = set({"--root", "nowhere"});
    CHECK(missing.exit_code == 64);
    CHECK(has(missing.err, "is not there"));
    CHECK(has(missing.err, "notes"));
    CHECK(has(set({"--root", "notes/open.txt"}).err, "is no folder"));
    const auto other = set({"--root", "more"});
    CHECK(other.exit_code == 0);
    CHECK(has(other.err, "was given notes"));
    CHECK(has(other.err, "--no-root"));
    CHECK(set({"--root", "notes"}).err.find("warning") == std::string::npos);
    CHECK(has(project.workspace.mcpac({"server", "list"}).out, "(root notes)"));
    CHECK(project.workspace.mcpac({"server", "list", "--json"}).json()[0]["root"] == "notes");
    CHECK(has(project.workspace.mcpac({"server", "test", "files"}).out, "(root notes)"));
    CHECK(set({"--root", "notes", "--no-root"}).exit_code != 0);
    const auto back = set({"--no-root"});
    CHECK(back.exit_code == 0);
    CHECK(has(back.err, "mcpac server set files --root notes"));
    CHECK_FALSE(has(project.workspace.mcpac({"server", "list"}).out, "root"));
  }

  TEST_CASE(
      "what a denial says of the root works when it is done, and no root is advised that does "
      "not") {
    const Project project;
    const std::vector<std::string> rule = {"--grant", "files.read_text_file(path within ./notes)"};
    const auto denied = project.call("read_text_file", {{"path", "open.txt"}}, rule);
    CHECK(denied.exit_code == 77);
    INFO(denied.err);
    const std::string notes = (project.workspace.folder() / "notes").string();
    CHECK(has(denied.err, "mcpac server set files --root " + notes));
    CHECK_FALSE(has(denied.err, "path == "));
    REQUIRE(project.workspace.mcpac({"server", "set", "files", "--root", notes}).exit_code == 0);
    CHECK(project.call("read_text_file", {{"path", "open.txt"}}, rule).exit_code == 0);
    const Project two({"more", "notes"});
    const auto both = two.call("read_text_file", {{"path", "open.txt"}}, rule);
    INFO(both.err);
    CHECK(both.exit_code == 77);
    CHECK_FALSE(has(both.err, "--root"));
    CHECK(has(both.err, "absolute path"));
    CHECK_FALSE(has(both.err, "path == "));
    CHECK(two.call("read_text_file",
                   {{"path", (two.workspace.folder() / "notes/open.txt").string()}}, rule)
              .exit_code == 0);
  }

  TEST_CASE("a server that a shell or a container starts has an unknown start, and that is said") {
    const Workspace workspace(R"({"mcpServers": {}})");
    fs::create_directories(workspace.folder() / "notes/secret");
    workspace.write("notes/secret/x", "a secret of the notes");
    workspace.write("notes/open.txt", "a note for everybody");
    const auto script =
        "cd '" + (workspace.folder() / "notes").string() + "' && exec node " + kServer + " .";
    const auto added = workspace.mcpac({"server", "add", "files", "--", "sh", "-c", script});
    INFO(added.err);
    CHECK(has(added.err, "by a shell that changes its folder"));
    CHECK(has(added.err, "mcpac server set files --root notes"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const auto call = [&](const std::string& path, const std::string& option,
                          const std::string& rule) {
      return workspace.mcpac({"tools", "call", "files.read_text_file", Json{{"path", path}}.dump(),
                              "--grant", option.empty() ? rule : "files.*",
                              option.empty() ? "--deny" : option,
                              option.empty() ? "files.write_file" : rule});
    };
    const auto denied = call("secret/x", "--deny", "*.*(* within ./notes/secret)");
    CHECK(denied.exit_code == 77);
    const auto refused = call("open.txt", "", "files.read_text_file(path within ./)");
    INFO(refused.err);
    CHECK(refused.exit_code == 77);
    CHECK(has(refused.err, "mcpac server set files --root"));
    REQUIRE(workspace.mcpac({"server", "set", "files", "--root", "notes"}).exit_code == 0);
    CHECK(call("open.txt", "", "files.read_text_file(path within ./)").exit_code == 0);
  }

  TEST_CASE("a run whose decisions rested on what files are is replayed from its record") {
    const Project project;
    fs::create_hard_link(project.workspace.folder() / "notes/secret/x",
                         project.workspace.folder() / "notes/innocent.txt");
    const std::vector<std::string> rules = {"--grant", "files.* audit args", "--deny",
                                            "*.*(* within ./notes/secret/x)"};
    const auto denied = project.call("read_text_file", {{"path", "innocent.txt"}}, rules);
    CHECK(denied.exit_code == 77);
    CHECK_FALSE(has(denied.out + denied.err, "a secret of the notes"));
    CHECK(project.call("read_text_file", {{"path", "open.txt"}}, rules).exit_code == 0);
    fs::remove_all(project.workspace.folder() / "notes");
    const auto replayed = project.workspace.mcpac({"audit", "replay", "--json"});
    INFO(replayed.out << replayed.err);
    CHECK(replayed.exit_code == 0);
    for (const Json& run : replayed.json()) {
      CHECK(run["differences"].empty());
      CHECK(run["recomputed"] == run["decisions"]);
    }
  }
}
