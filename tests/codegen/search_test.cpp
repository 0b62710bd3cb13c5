#include "codegen/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace mcpac;
using namespace mcpac::codegen;

namespace {

LockedTool searched_tool(const std::string& name, const std::string& description,
                         const std::string& property) {
  OrderedJson definition = {{"name", name}, {"description", description}};
  definition["inputSchema"]["properties"][property] = {{"type", "string"}};
  return {.name = name, .cpp_name{}, .digest{}, .definition = definition};
}

Lock searched_lock() {
  Lock lock;
  lock.servers.push_back(
      {.name = "files",
       .identity{},
       .implementation{},
       .protocol_version{},
       .cpp_name{},
       .tools = {searched_tool("list_directory", "Lists what a folder holds", "path"),
                 searched_tool("readTextFile", "Reads a file as text", "path")}});
  lock.servers.push_back(
      {.name = "tracker",
       .identity{},
       .implementation{},
       .protocol_version{},
       .cpp_name{},
       .tools = {searched_tool("create-issue", "Opens a new issue in a repository", "labels"),
                 searched_tool("search", "Finds an issue by its text", "query")}});
  return lock;
}

std::vector<std::string> found(std::string_view words, std::size_t limit = 20) {
  static const Lock lock = searched_lock();
  std::vector<std::string> names;
  for (const SearchHit& hit : search_tools(lock, words, limit)) names.push_back(hit.tool->name);
  return names;
}

}  // namespace

TEST_SUITE("codegen/search") {
  TEST_CASE("a word in a name ranks before the same word in a description") {
    CHECK(found("issue") == std::vector<std::string>{"create-issue", "search"});
  }
  TEST_CASE("names are split at dashes, underscores and capitals, and letters match in any case") {
    CHECK(found("READ text").front() == "readTextFile");
    CHECK(found("directory").front() == "list_directory");
  }
  TEST_CASE("the beginning of a word is enough") {
    CHECK(found("direc").front() == "list_directory");
  }
  TEST_CASE("argument names and server names are found") {
    CHECK(found("labels") == std::vector<std::string>{"create-issue"});
    CHECK(found("tracker").size() == 2);
  }
  TEST_CASE("a tool with all words ranks before one with some") {
    CHECK(found("text issue").front() == "search");
  }
  TEST_CASE("a word matches by its stem, and by what people use for the same") {
    CHECK(found("folders").front() == "list_directory");
    CHECK(found("opening issues").front() == "create-issue");
    CHECK(found("add ticket").front() == "create-issue");
  }
  TEST_CASE("names written together are found") {
    CHECK(found("createissue").front() == "create-issue");
    CHECK(found("readtextfile").front() == "readTextFile");
    CHECK(found("listdirectory").front() == "list_directory");
  }
  TEST_CASE("signs of scripts without spaces are found within a sentence") {
    Lock lock;
    lock.servers.push_back({.name = "s",
                            .identity{},
                            .implementation{},
                            .protocol_version{},
                            .cpp_name{},
                            .tools = {searched_tool("a", "查询火车票余票信息", "x"),
                                      searched_tool("b", "其他", "x")}});
    const auto hits = search_tools(lock, "火车票");
    REQUIRE(hits.size() == 1);
    CHECK(hits.front().tool->name == "a");
  }
  TEST_CASE("the argument that fits is named") {
    static const Lock lock = searched_lock();
    CHECK(search_tools(lock, "labels").front().argument == "labels");
    CHECK(search_tools(lock, "tracker").front().argument.empty());
  }
  TEST_CASE("a question is words, never query syntax") {
    for (const char* query : {"\"issue", "issue\" OR tool:*", "issue*", "{tool} : issue", "^issue",
                              "NEAR(issue text, 1)", "issue AND NOT", "tool:issue",
                              "issue; drop table names", "-issue", "issue + search"}) {
      const auto names = found(query);
      const auto is_issue = [](const auto& n) { return n == "create-issue" || n == "search"; };
      CHECK_MESSAGE(std::ranges::any_of(names, is_issue), std::string(query));
    }
    CHECK(found("AND OR NOT").empty());
    CHECK(found(std::string("\xff\xfe \xe4\xb8 \0 issue", 12)).size() <= 4);
  }
  TEST_CASE("a question or a description of a megabyte is bounded") {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "issue" + std::to_string(i) + " ";
    CHECK(found(text).size() <= 4);
    Lock lock = searched_lock();
    lock.servers.front().tools.front().definition["description"] = text;
    CHECK(search_tools(lock, "folder issue").size() <= 4);
  }
  TEST_CASE("equal tools stand in the order of the lock") {
    Lock lock;
    for (const char* server : {"a", "b", "c"}) {
      lock.servers.push_back(
          {.name = server,
           .identity{},
           .implementation{},
           .protocol_version{},
           .cpp_name{},
           .tools = {searched_tool("same", "The same", "x"), searched_tool("same2", "Same", "x")}});
    }
    const auto hits = search_tools(lock, "same");
    REQUIRE(hits.size() == 6);
    CHECK(hits[0].server->name == "a");
    CHECK(hits[1].server->name == "b");
    CHECK(hits[2].server->name == "c");
  }
  TEST_CASE("nothing is found for nothing, and no more than asked for") {
    CHECK(found("").empty());
    CHECK(found("*/ ??").empty());
    CHECK(found("zebra").empty());
    CHECK(found("path", 1).size() == 1);
  }
}
