// What a program is given where its run is recorded or replayed.
#include "history/recording/run_recording.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "core/file.h"
#include "core/hash.h"
#include "history/support_recording.h"

using namespace mcpac;
using namespace mcpac::history;
using namespace mcpac::history::testing;

namespace {

// A recording of no calls, on disk.
struct Written {
  explicit Written(std::optional<Cleaned> arguments) {
    Recording recording;
    recording.header.lock = sha256_hex(codegen::to_text(lock));
    recording.header.arguments = std::move(arguments);
    REQUIRE(write_file_atomic(file, history::to_text(recording).value()).has_value());
  }
  [[nodiscard]] Result<Json> given(std::optional<Json> arguments) const {
    auto opened = RunRecording::open({.record = {}, .replay = file}, lock, [](std::string_view) {});
    REQUIRE_MESSAGE(opened.has_value(), opened.error().to_text());
    return (*opened)->arguments_for(std::move(arguments));
  }

  codegen::Lock lock = some_lock();
  TemporaryFolder folder =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "recording-").value();
  std::filesystem::path file = folder.path() / "run.rec";
};

}  // namespace

TEST_SUITE("execute/run recording") {
  TEST_CASE("without a recording a program is given what its user gave, or nothing") {
    const auto lock = some_lock();
    const auto none = RunRecording::open({}, lock, [](std::string_view) {});
    REQUIRE(none.has_value());
    CHECK((*none)->arguments_for(std::nullopt).value() == Json::object());
    CHECK((*none)->arguments_for(Json{{"a", 1}}).value() == Json{{"a", 1}});
  }

  TEST_CASE("a replayed program is given what was recorded, and its user can give no other") {
    const Written here(Cleaned{{{"path", "a"}, {"n", 1}}});
    CHECK(here.given(std::nullopt).value() == Json{{"path", "a"}, {"n", 1}});
    CHECK(here.given(Json{{"n", 1.0}, {"path", "a"}}).has_value());
    const auto other = here.given(Json{{"path", "b"}, {"more", true}, {"n", 1}});
    REQUIRE_FALSE(other.has_value());
    CHECK(other.error().id == ErrorId::kRecordingDiffers);
    CHECK(other.error().why == R"(/more is true, recorded nothing; /path is "b", recorded "a")");
    CHECK_FALSE(here.given(Json::object()).has_value());
    CHECK_FALSE(Written(Cleaned{Json::object()}).given(Json{{"path", "a"}}).has_value());
  }

  TEST_CASE("a secret that was taken out fits any text, and is known to who gives it alone") {
    const Written here(Cleaned{{{"token", "${env:TOKEN}"}}, {"/token"}});
    CHECK(here.given(std::nullopt).value() == Json{{"token", "${env:TOKEN}"}});
    CHECK(here.given(Json{{"token", "the real one"}}).value() == Json{{"token", "the real one"}});
    CHECK_FALSE(here.given(Json{{"token", ""}}).has_value());
    CHECK_FALSE(here.given(Json{{"token", 1}}).has_value());
  }

  TEST_CASE("a recording of clients says nothing of a program's arguments") {
    const Written here(std::nullopt);
    CHECK(here.given(std::nullopt).value() == Json::object());
    CHECK(here.given(Json{{"path", "a"}}).value() == Json{{"path", "a"}});
  }
}
