#include "project/generate_project.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/abandoned.h"
#include "core/file.h"
#include "project/project_turn.h"

using namespace mcpac;
using namespace mcpac::project;
namespace fs = std::filesystem;

namespace {

struct GeneratedPlace {
  TemporaryFolder temporary = TemporaryFolder::create(fs::temp_directory_path(), "project").value();
  Project project;
  Folders folders;
  GeneratedPlace() {
    project.folder = temporary.path() / "project";
    folders.state = temporary.path() / "state";
    fs::create_directory(project.folder);
    project.config_file = project.folder / "mcpac.json";
    mcp::ServerConfig server;
    server.name = "s";
    project.config.servers.push_back(std::move(server));
  }
  [[nodiscard]] std::string lock() const { return read_file(project.lock_file()).value_or(""); }
};

std::vector<ServerListing> offering(const char* definition) {
  ServerListing listing;
  listing.server = "s";
  listing.identity = "stdio s";
  listing.tools.push_back({"t", parse_ordered_json(definition).value()});
  return {listing};
}

}  // namespace

TEST_SUITE("execute/generate project") {
  TEST_CASE("generate leaves an approved definition as it is, also where no digest tells") {
    const GeneratedPlace place;
    REQUIRE(write_project(
        place.project, place.folders,
        offering(R"({"name":"t","description":"d","inputSchema":{"type":"object"}})")));
    const std::string before = place.lock();
    REQUIRE(before.find("inputSchema") != std::string::npos);
    const auto again =
        write_project(place.project, place.folders,
                      offering(R"({"inputSchema":{"type":"object"},"_meta":{"x":1},"name":"t",
                                    "icons":[{"src":"https://evil"}],"description":"d"})"));
    REQUIRE(again);
    CHECK(again->drifted.empty());
    CHECK(place.lock() == before);
  }

  TEST_CASE("an entry that gives less is kept at once, so that giving it back is drift") {
    GeneratedPlace place;
    mcp::ServerConfig& config = place.project.config.servers.front();
    config.command = "s";
    const auto offered = [&] {
      auto listings = offering(R"({"name":"t","inputSchema":{"type":"object"}})");
      listings.front().identity = config.identity();
      listings.front().entry = config.entry();
      return listings;
    };
    const auto entry = [&] {
      return codegen::parse_lock(place.lock(), "mcpac.lock").value().servers.front().entry;
    };
    const auto keep = [&] {
      return keep_narrower_entry(place.project, place.folders, "s").value();
    };
    CHECK_FALSE(keep());  // nothing is locked
    REQUIRE(write_project(place.project, place.folders, offered()));
    CHECK(entry() == OrderedJson::object());
    CHECK_FALSE(keep());

    config.sandbox = {.files = {"./data:rw"}};
    CHECK(keep());  // server add or confine, of the user's own
    CHECK(entry()["sandbox"]["files"] == OrderedJson{"./data:rw"});
    config.sandbox = {.files = {"./data"}};
    const auto narrower = write_project(place.project, place.folders, offered());
    REQUIRE(narrower);
    CHECK(narrower->other_servers.empty());
    CHECK(entry()["sandbox"]["files"] == OrderedJson{"./data"});

    const std::string before = place.lock();
    for (const auto& wider : std::vector<std::function<void()>>{
             [&] { config.sandbox = {.files = {"./data:rw"}}; }, [&] { config.sandbox.reset(); },
             [&] { config.working_directory = "/tmp"; },
             [&] { config.environment["PATH"] = "./bin"; }}) {
      const mcp::ServerConfig kept = config;
      wider();
      CHECK_FALSE(keep());
      const auto other = write_project(place.project, place.folders, offered());
      REQUIRE(other);
      CHECK(other->other_servers == std::vector<std::string>{"s"});
      CHECK(place.lock() == before);
      config = kept;
    }
  }

  TEST_CASE("the first generate of a server proposes all, what it gains later waits") {
    const GeneratedPlace place;
    const auto with = [](std::initializer_list<const char*> names) {
      auto listings = offering(R"({"name":"t","inputSchema":{"type":"object"}})");
      for (const char* name : names) {
        OrderedJson definition = {{"name", name}, {"inputSchema", {{"type", "object"}}}};
        listings.front().tools.push_back({name, std::move(definition)});
      }
      return listings;
    };
    const auto first = write_project(place.project, place.folders, with({"a"}));
    REQUIRE(first);
    CHECK(first->added == std::vector<std::string>{"s.a", "s.t"});
    CHECK(first->pending.empty());
    const std::string lock = place.lock();
    const auto second = write_project(place.project, place.folders, with({"a", "b"}));
    REQUIRE(second);
    CHECK(second->added.empty());
    REQUIRE(second->pending.size() == 1);
    CHECK(second->pending.front().name == "s.b");
    CHECK(second->pending.front().definition.at("name") == "b");
    CHECK(place.lock() == lock);
    const auto taken =
        write_project(place.project, place.folders, with({"a", "b"}), NewTools::kAccept);
    REQUIRE(taken);
    CHECK(taken->added == std::vector<std::string>{"s.b"});
    CHECK(taken->pending.empty());
    // A run that was interrupted before the lock was written has had no first one yet.
    fs::remove(place.project.lock_file());
    const auto again = write_project(place.project, place.folders, with({"a", "b", "c"}));
    REQUIRE(again);
    CHECK(again->added.size() == 4);
    CHECK(again->pending.empty());
    // Of another server nothing comes in, whatever is accepted with it.
    auto other = with({"d"});
    other.front().identity = "stdio other";
    const auto replaced =
        write_project(place.project, place.folders, std::move(other), NewTools::kAccept);
    REQUIRE(replaced);
    CHECK(replaced->other_servers == std::vector<std::string>{"s"});
    CHECK(replaced->added.empty());
    CHECK(place.lock().find("\"d\"") == std::string::npos);
  }

  TEST_CASE("where the locked texts hold, other texts are no drift and stand nowhere") {
    GeneratedPlace place;
    const auto described = [](const char* words, const char* type) {
      return offering(
          fmt::format(R"({{"name":"t","description":"{}","inputSchema":{{"type":"{}"}}}})", words,
                      type)
              .c_str());
    };
    REQUIRE(write_project(place.project, place.folders, described("3 notes", "object")));
    const std::string lock = place.lock();
    const auto strict = write_project(place.project, place.folders, described("4 notes", "object"));
    CHECK(strict.value().drifted == std::vector<std::string>{"s.t"});
    CHECK(strict.value().reworded == std::vector<std::string>{"s.t"});
    place.project.config.servers.front().texts = mcp::Texts::kLocked;
    const auto held = write_project(place.project, place.folders, described("4 notes", "object"));
    CHECK(held.value().drifted.empty());
    const auto other = write_project(place.project, place.folders, described("4 notes", "array"));
    CHECK(other.value().drifted == std::vector<std::string>{"s.t"});
    CHECK(other.value().reworded.empty());
    CHECK(place.lock() == lock);
  }

  TEST_CASE("what somebody was writing who was killed goes when the next one writes") {
    const GeneratedPlace place;
    const auto tools = offering(R"({"name":"t","inputSchema":{"type":"object"}})");
    REQUIRE(write_project(place.project, place.folders, tools));
    const std::string ours = own_mark();
    const std::string dead = "." + ours.substr(0, ours.rfind('-')) + "-1.1f2e3d4c.tmp";
    const std::vector<fs::path> half = {place.project.lock_file().string() + dead,
                                        place.project.headers() / ("s.hpp" + dead),
                                        place.project.headers() / "mcpac" / ("lock.hpp" + dead)};
    for (const fs::path& file : half) REQUIRE(write_file_atomic(file, "half"));
    REQUIRE(write_project(place.project, place.folders, tools));
    for (const fs::path& file : half) CHECK_FALSE(fs::exists(file));
    CHECK_FALSE(place.lock().empty());
  }

  TEST_CASE("only a path that leads to nothing is a lock that is not there yet") {
    const GeneratedPlace place;
    CHECK(read_lock_file(place.project).value().text.empty());
    const auto tools = offering(R"({"name":"t","inputSchema":{"type":"object"}})");
    for (const char* target : {"nowhere", "mcpac.lock"}) {
      INFO(target);
      fs::create_symlink(target, place.project.lock_file());
      CHECK_FALSE(read_lock_file(place.project));
      CHECK_FALSE(write_project(place.project, place.folders, tools));
      CHECK(fs::is_symlink(place.project.lock_file()));
      const auto loaded = load_lock(place.project);
      REQUIRE_FALSE(loaded);
      CHECK(loaded.error().id != ErrorId::kLockMissing);
      fs::remove(place.project.lock_file());
    }
    CHECK(write_project(place.project, place.folders, tools));
  }

  TEST_CASE("a process that holds a project's folder for ever keeps no writer waiting") {
    const GeneratedPlace place;
    // Who may read it may do that: another user, too.
    const UniqueFd held(::open(place.project.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::flock(held.get(), LOCK_EX) == 0);
    const auto tools = offering(R"({"name":"t","inputSchema":{"type":"object"}})");
    CHECK(write_project(place.project, place.folders, tools));
    CHECK_FALSE(place.lock().empty());
  }

  TEST_CASE("writers of one user take turns, and who waits in vain is told") {
    using std::chrono::milliseconds;
    const GeneratedPlace place;
    const TurnPatience little{.with_own = milliseconds(50), .with_others = milliseconds(50)};
    auto first = ProjectTurn::take(place.project, place.folders);
    REQUIRE(first);
    const auto second = ProjectTurn::take(place.project, place.folders, little);
    REQUIRE_FALSE(second);
    CHECK(second.error().id == ErrorId::kLockBusy);
    // The turn is in a file that nobody else can open.
    const fs::path turns = place.folders.state / "turns";
    CHECK(fs::status(turns).permissions() == fs::perms(0700));
    CHECK(fs::directory_iterator(turns)->status().permissions() == fs::perms(0600));
    first = fail(ErrorId::kInternal, "");
    CHECK(ProjectTurn::take(place.project, place.folders, little));
  }
}
