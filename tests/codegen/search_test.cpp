#include "codegen/search.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpac;
using namespace mcpac::codegen;

namespace {

LockedTool tool(const std::string& name, const std::string& description,
                const std::string& property) {
  OrderedJson definition = {{"name", name}, {"description", description}};
  definition["inputSchema"]["properties"][property] = {{"type", "string"}};
  return {.name = name, .cpp_name{}, .digest{}, .definition = definition};
}

Lock example() {
  Lock lock;
  lock.servers.push_back({.name = "files",
                          .identity{},
                          .implementation{},
                          .protocol_version{},
                          .cpp_name{},
                          .tools = {tool("list_directory", "Lists what a folder holds", "path"),
                                    tool("readTextFile", "Reads a file as text", "path")}});
  lock.servers.push_back(
      {.name = "tracker",
       .identity{},
       .implementation{},
       .protocol_version{},
       .cpp_name{},
       .tools = {tool("create-issue", "Opens a new issue in a repository", "labels"),
                 tool("search", "Finds an issue by its text", "query")}});
  return lock;
}

std::vector<std::string> found(std::string_view words, std::size_t limit = 20) {
  static const Lock lock = example();
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
  TEST_CASE("nothing is found for nothing, and no more than asked for") {
    CHECK(found("").empty());
    CHECK(found("*/ ??").empty());
    CHECK(found("zebra").empty());
    CHECK(found("path", 1).size() == 1);
  }
}
