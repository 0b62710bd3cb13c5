#include "policy/explain/lint.h"

#include <doctest/doctest.h>

namespace mcpac::policy {

TEST_CASE("a deny over all tools that names an argument is noted, for not all need to have it") {
  const auto notes = [](const char* text) {
    return summarize(SourceText{"p", text}).value().notes;
  };
  const auto found = notes("allow fs.read\ndeny fs.*(path within /etc)\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].place == "p:2");
  CHECK(found[0].text.find("says nothing of tools whose arguments have other names") !=
        std::string::npos);
  CHECK(notes("ask *.*(path within /etc)\n").size() == 1);
  CHECK(notes("deny fs.read(path within /etc)\n").empty());
  CHECK(notes("deny fs.*\n").empty());
  CHECK(notes("allow fs.*(path within /etc)\n").empty());
}

}  // namespace mcpac::policy
