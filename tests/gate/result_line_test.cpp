#include "gate/result_line.h"

#include <doctest/doctest.h>

#include <string>

using namespace mcpac;
using namespace mcpac::gate;

TEST_SUITE("gate/result_line") {
  TEST_CASE("it writes the bytes that the general encoder writes") {
    const Json result{
        {"content", {{{"type", "text"}, {"text", std::string(5'000, 'x') + "\n\"ä"}}}},
        {"isError", false}};
    for (const ipc::Id& id : {ipc::Id(7), ipc::Id("a\"b")}) {
      CHECK(result_line(id, result) == ipc::encode_result(id, result));
      CHECK(result_line(id, Json()) == ipc::encode_result(id, Json()));
    }
  }

  TEST_CASE("the bytes of a value are those of its names and texts") {
    CHECK(text_bytes(Json{{"ab", "cde"}, {"f", {"g", 12, nullptr, {{"h", "i"}}}}}) == 9);
    CHECK(text_bytes(Json(17)) == 0);
  }
}
