#include "analyzer/lead.h"

#include <doctest/doctest.h>

using namespace mcpac;
namespace lead = analyzer::lead;

TEST_SUITE("analyzer/lead") {
  TEST_CASE("a lead names a source as an inclusion of it") {
    CHECK(lead::naming("/source/agent.cpp") == "#include \"/source/agent.cpp\"\n");
    CHECK(lead::naming("/source/with space/käse.cpp") ==
          "#include \"/source/with space/käse.cpp\"\n");
  }

  TEST_CASE("a name that would end the inclusion, or hide its end, leads nowhere") {
    for (const char* name :
         {"/source/a\".cpp", "/source/a\\", "/source/a\n#error.cpp", "/source/a\r"}) {
      const auto naming = lead::naming(name);
      REQUIRE_FALSE(naming.has_value());
      CHECK(naming.error().id == ErrorId::kSourceUnreadable);
      CHECK(naming.error().fix == "give the file another name");
    }
  }

  TEST_CASE("what is part of a lead is known by its whole path") {
    CHECK(lead::is_part("/lead/main.cpp"));
    CHECK(lead::is_part("/lead/before"));
    CHECK(lead::is_part("/lead/source"));
    CHECK_FALSE(lead::is_part("/lead/other"));
    CHECK_FALSE(lead::is_part("/source/lead/source"));
    CHECK_FALSE(lead::is_part("/lead/../lead/source"));
  }
}
