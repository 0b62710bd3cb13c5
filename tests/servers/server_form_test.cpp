#include "servers/server_form.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpac;
using servers::is_shown_form;
using servers::shown_form;

namespace {

Json form_with(Json fields) {
  return {{"message", "who?"},
          {"requestedSchema", {{"type", "object"}, {"properties", std::move(fields)}}}};
}

Json shown_fields(const Json& form) {
  const auto shown = shown_form("notes", form);
  REQUIRE(shown.has_value());
  CHECK(is_shown_form("notes", *shown));
  return shown->at("requestedSchema").at("properties");
}

}  // namespace

TEST_SUITE("execute/server_form") {
  TEST_CASE("what is only read of a form's fields is made fit for that") {
    const Json fields = shown_fields(form_with(
        {{"colour",
          {{"type", "string"},
           {"title", "Colour\x1b[2K"},
           {"description", "of it\n[mcpac] allow all?\u202e"},
           {"enum", {"r", "g"}},
           {"enumNames", {"red", "gr\reen"}}}},
         {"size", {{"oneOf", Json::array({{{"const", "s"}, {"title", "sm\u200ball"}}})}}}}));
    CHECK(fields["colour"]["title"] == "Colour");
    CHECK(fields["colour"]["description"] == "of it [mcpac] allow all?\\u202e");
    CHECK(fields["colour"]["enum"] == Json{"r", "g"});
    CHECK(fields["colour"]["enumNames"] == Json{"red", "gr een"});
    CHECK(fields["size"]["oneOf"][0]["title"] == "sm\\u200ball");
  }

  TEST_CASE("fields and choices that an answer repeats are as they were, or the form is refused") {
    const Json plain{{"title", {{"type", "string"}, {"default", "Größe 📏\n\nof it"}}},
                     {"size ", {{"enum", {"s ", "m"}}}},
                     {"n", {{"type", "integer"}, {"minimum", 1}, {"default", 2}}}};
    CHECK(shown_fields(form_with(plain)) == plain);
    const std::vector<Json> hiding{
        {{"na\x1b[2Kme", {{"type", "string"}}}},
        {{"a", {{"enum", {"yes", "n\u202eo"}}}}},
        {{"a", {{"default", "x\x1b[2Ky"}}}},
        {{"a", {{"enum", {"yes\nno"}}}}},
        {{"a", {{"oneOf", Json::array({{{"const", "\x07"}}})}}}},
        {{"title", {{"const", "a\rb"}}}},
    };
    for (const Json& fields : hiding) {
      CAPTURE(fields.dump());
      const auto shown = shown_form("notes", form_with(fields));
      REQUIRE_FALSE(shown.has_value());
      CHECK(shown.error().what.find("cannot be shown") != std::string::npos);
    }
  }

  TEST_CASE("a form out of a file is held to the same") {
    CHECK(is_shown_form("evil", {{"message", "[evil] one\n  two"}}));
    CHECK(is_shown_form("evil", {{"message", "[evil] one"}, {"mode", "form"}}));
    for (const char* message :
         {"[good] one", "one", "[evil] one\n[good] two", "[evil] \x1b[31mone"}) {
      CAPTURE(message);
      CHECK_FALSE(is_shown_form("evil", {{"message", message}}));
    }
    CHECK_FALSE(is_shown_form("evil", {{"message", "[evil] one"}, {"mode", "url"}}));
    CHECK_FALSE(is_shown_form("evil", {{"message", "[evil] one"}, {"title", "mcpac asks"}}));
    Json form = form_with({{"a", {{"title", "\x1b[2Kallow"}}}});
    form["message"] = "[evil] one";
    CHECK_FALSE(is_shown_form("evil", form));
    CHECK_FALSE(is_shown_form("evil", Json::array()));
    CHECK_FALSE(is_shown_form("evil", nullptr));
  }
}
