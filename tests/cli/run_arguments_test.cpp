// --arguments: one JSON object, from the command line or a file, or an error that says what is
// wrong.
#include "cli/run_arguments.h"

#include <doctest/doctest.h>

#include "core/file.h"
#include "run/run_limits.h"

using namespace mcpac;
using namespace mcpac::cli;

namespace {

ErrorId refused(const std::string& text) {
  const auto read = to_arguments(text);
  REQUIRE_FALSE_MESSAGE(read.has_value(), text.substr(0, 100));
  return read.error().id;
}

}  // namespace

TEST_SUITE("cli/run arguments") {
  TEST_CASE("an object is taken as it is, and nothing is nothing") {
    CHECK_FALSE(to_arguments(std::nullopt).value().has_value());
    CHECK(to_arguments("{}").value() == Json::object());
    CHECK(to_arguments(R"( {"path": "a", "n": [1, null]} )").value() ==
          Json{{"path", "a"}, {"n", {1, nullptr}}});
  }

  TEST_CASE("what is no JSON, or has a member twice, is refused with its place") {
    for (const char* text :
         {"", "{", "{'a': 1}", R"({"a": 1, "a": 2})", R"({"a": {"b": 1, "b": 1}})", R"({"a": 1} x)",
          "path=a", "{\"a\": \"\xff\"}"})
      CHECK(refused(text) == ErrorId::kJsonSyntax);
    CHECK(to_arguments("path=a").error().fix.starts_with("--arguments '{"));
    const auto twice = to_arguments("{\n\"a\": 1, \"a\": 2}");
    CHECK(twice.error().where.starts_with("--arguments:2:"));
    CHECK(exit_code_of(ErrorId::kJsonSyntax) == ExitCode::kData);
  }

  TEST_CASE("JSON that is no object is a mistake of use") {
    for (const char* text : {"[]", "1", "null", R"("a")"}) CHECK(refused(text) == ErrorId::kUsage);
  }

  TEST_CASE("a file is read by its name, and one that is not there is said so") {
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "arguments-").value();
    const auto file = folder.path() / "run.json";
    REQUIRE(write_file_atomic(file, "{\"path\": \"a\"}\n").has_value());
    CHECK(to_arguments("@" + file.string()).value() == Json{{"path", "a"}});
    CHECK(refused("@" + (folder.path() / "none").string()) == ErrorId::kFileUnreadable);
    CHECK(refused("@") == ErrorId::kFileUnreadable);
    REQUIRE(write_file_atomic(file, "{").has_value());
    const auto broken = to_arguments("@" + file.string());
    CHECK(broken.error().where.starts_with(file.string() + ":1:"));
  }

  TEST_CASE("a mebibyte is enough, from either place") {
    const auto of_size = [](std::size_t bytes) {
      return "{\"a\":\"" + std::string(bytes - 8, 'x') + "\"}";
    };
    CHECK(to_arguments(of_size(run::kMaxArguments)).has_value());
    CHECK(refused(of_size(run::kMaxArguments + 1)) == ErrorId::kJsonLimit);
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "arguments-").value();
    const auto file = folder.path() / "run.json";
    REQUIRE(write_file_atomic(file, of_size(run::kMaxArguments + 1)).has_value());
    CHECK(refused("@" + file.string()) == ErrorId::kJsonLimit);
  }
}
