// Answers that outlive their run, and all that must not be taken for one.
#include "run/asking/approval_store.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "core/file.h"
#include "project/support_nobody.h"

using namespace mcpac;
using namespace mcpac::run;
using gate::Answered;
using project::testing::AsNobody;

namespace {

class HandClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::steady_clock::time_point steady_now() const override {
    return std::chrono::steady_clock::time_point(now);
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return std::chrono::system_clock::time_point(now);
  }
  std::chrono::seconds now = std::chrono::hours(500'000);
};

const gate::Binding kBinding{"p", "h", "l", "r", "e"};
const policy::AskRule kRule{"the command line", "ask fs.write"};

struct Kept {
  std::optional<gate::Reply> find(const gate::Binding& binding = kBinding,
                                  const policy::AskRule& rule = kRule) {
    return RunMemory(store, binding, "a.cpp").find(rule);
  }
  Result<void> keep(Answered answer, std::chrono::minutes time = {}) {
    return RunMemory(store, kBinding, "a.cpp")
        .keep({kRule}, {.answer = answer, .until = clock.wall_now() + time, .who = "me"});
  }
  [[nodiscard]] std::string text() const { return read_file(file).value(); }
  void put(const std::string& text) const { REQUIRE(write_file_atomic(file, text, 0600)); }

  TemporaryFolder folder =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "approvals-").value();
  std::filesystem::path file = folder.path() / "state/mcpac/approvals.json";
  HandClock clock;
  std::vector<std::string> warnings;
  ApprovalStore store{file, [this](std::string_view text) { warnings.emplace_back(text); }, clock};
};

}  // namespace

TEST_SUITE("execute/approval_store") {
  TEST_CASE("an answer holds for exactly its rule and binding, in a private file") {
    Kept kept;
    CHECK_FALSE(kept.find());
    REQUIRE(kept.keep(Answered::kNever));
    const auto found = kept.find();
    REQUIRE(found);
    CHECK(found->answer == Answered::kNever);
    CHECK(found->who == "me");
    for (const gate::Binding& other : {gate::Binding{"q", "h", "l", "r", "e"},
                                       {"p", "i", "l", "r", "e"},
                                       {"p", "h", "m", "r", "e"},
                                       {"p", "h", "l", "s", "e"},
                                       {"p", "h", "l", "r", "f"},
                                       {"p", "h", "l", "r", "e", "a"}})
      CHECK_FALSE(kept.find(other));
    CHECK_FALSE(kept.find(kBinding, {"mcpac.policy", "ask fs.write"}));
    CHECK_FALSE(kept.find(kBinding, {"the command line", "ask fs.*"}));
    struct stat info {};
    REQUIRE(::stat(kept.file.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600U);
    REQUIRE(::stat(kept.file.parent_path().c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0700U);
    CHECK(kept.warnings.empty());
  }

  TEST_CASE("until holds until its time, is gone after it, and the newest answer is the one") {
    Kept kept;
    REQUIRE(kept.keep(Answered::kNever));
    REQUIRE(kept.keep(Answered::kUntil, std::chrono::minutes(10)));
    CHECK(kept.store.read().answers.size() == 1);  // it took the place of the other
    RunMemory live(kept.store, kBinding, "a.cpp");
    CHECK(live.find(kRule)->answer == Answered::kUntil);
    kept.clock.now += std::chrono::minutes(10);
    CHECK_FALSE(live.find(kRule));  // also for a run that read it in time
    CHECK(kept.store.read().answers.empty());
  }

  TEST_CASE("a changed entry is ignored with a warning, and the others hold") {
    Kept kept;
    REQUIRE(kept.keep(Answered::kNever));
    const policy::AskRule other{"the command line", "ask fs.read"};
    REQUIRE(RunMemory(kept.store, kBinding, "a.cpp").keep({other}, {.answer = Answered::kNever}));
    const std::string whole = kept.text();
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"ask fs.write", "ask fs.wrote"}, {"\"me\"", "\"you\""}}) {
      CAPTURE(from);
      std::string text = whole;
      REQUIRE(text.find(from) != std::string::npos);
      kept.put(text.replace(text.find(from), from.size(), to));
      kept.warnings.clear();
      CHECK_FALSE(kept.find());
      CHECK(kept.find(kBinding, other));
      REQUIRE_FALSE(kept.warnings.empty());
      CHECK(kept.warnings[0].find("was changed") != std::string::npos);
    }
    // A "never" that became an "until" of all time, with everything else as it was.
    std::string text = whole;
    while (text.find("\"never\"") != std::string::npos)
      text.replace(text.find("\"never\""), 7, R"("until","until":"2999-01-01T00:00:00Z")");
    kept.put(text);
    CHECK(kept.store.read().answers.empty());
  }

  TEST_CASE("a file that is cut, is no file, or that others may touch is not read at all") {
    Kept kept;
    REQUIRE(kept.keep(Answered::kNever));
    const std::string whole = kept.text();
    const auto ignored = [&] {
      kept.warnings.clear();
      const bool none = !kept.find();
      return none && !kept.warnings.empty();
    };
    for (const std::string& text : {whole.substr(0, whole.size() / 2), std::string(),
                                    std::string("[]"), std::string("{\"answers\":{}}")}) {
      CAPTURE(text);
      kept.put(text);
      CHECK(ignored());
    }
    kept.put(whole);
    for (const mode_t mode : {0640U, 0604U, 0666U}) {
      REQUIRE(::chmod(kept.file.c_str(), mode) == 0);
      CHECK(ignored());
    }
    REQUIRE(::chmod(kept.file.c_str(), 0600) == 0);
    CHECK_FALSE(ignored());
    const auto elsewhere = kept.folder.path() / "elsewhere.json";
    std::filesystem::rename(kept.file, elsewhere);
    std::filesystem::create_symlink(elsewhere, kept.file);
    CHECK(ignored());
    std::filesystem::remove(kept.file);
    REQUIRE(::mkfifo(kept.file.c_str(), 0600) == 0);
    CHECK(ignored());  // and does not wait for a writer
  }

  TEST_CASE("runs that end together lose none of their answers") {
    Kept kept;
    std::vector<std::thread> runs;
    for (int run = 0; run < 8; ++run) {
      runs.emplace_back([&kept, run] {
        const ApprovalStore own(
            kept.file, [](std::string_view) {}, kept.clock);
        for (int i = 0; i < 5; ++i) {
          const policy::AskRule rule{"the command line", "ask a.t" + std::to_string(run * 5 + i)};
          CHECK(RunMemory(own, kBinding, "a").keep({rule}, {.answer = Answered::kNever}));
        }
      });
    }
    for (auto& run : runs) run.join();
    CHECK(kept.store.read().answers.size() == 40);
  }

  TEST_CASE("where the folder cannot be locked nothing is written, and it is said") {
    Kept kept;
    REQUIRE(kept.keep(Answered::kNever));
    const std::string before = kept.text();
    const auto folder = kept.file.parent_path();
    // A folder that may be entered and written, and not be opened to lock it.
    for (const auto& path : {kept.folder.path(), folder.parent_path(), folder, kept.file})
      AsNobody::give(path);
    REQUIRE(::chmod(folder.c_str(), 0300) == 0);
    const auto done = [&] {
      const AsNobody unprivileged;
      return kept.keep(Answered::kUntil, std::chrono::minutes(10));
    }();
    REQUIRE(::chmod(folder.c_str(), 0700) == 0);
    const std::string after = kept.text();
    REQUIRE_FALSE(done);
    CHECK(done.error().what.find("cannot be locked") != std::string::npos);
    CHECK(done.error().where == folder.string());
    CHECK(after == before);
    REQUIRE_FALSE(kept.warnings.empty());
    CHECK(kept.warnings.back().find("holds for this run only") != std::string::npos);
  }

  TEST_CASE("of more answers than a person gives the oldest go") {
    Kept kept;
    REQUIRE(kept.store.change([](Approvals& all) {
      for (int i = 0; i < 600; ++i) all.programs.push_back({"p", std::to_string(i), "t", {}});
    }));
    const auto programs = kept.store.read().programs;
    REQUIRE(programs.size() == 500);
    CHECK(programs.front().program == "100");
  }
}
