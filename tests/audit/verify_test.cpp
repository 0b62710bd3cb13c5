// Whatever is done to a log, verify says so; and of a log that nobody touched it says nothing.
#include "audit/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <thread>

#include "audit/accept.h"
#include "audit/limits.h"
#include "audit/run_index.h"
#include "audit/support_audit.h"

namespace mcpac::audit {
namespace {

std::string text_of(const std::filesystem::path& path) {
  auto text = read_file(path);
  REQUIRE(text);
  return *std::move(text);
}

void put(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::trunc | std::ios::binary) << text;
}

std::vector<PublicKey> keys_of(const LogFolder& folder) {
  auto keys = read_public_keys(folder.public_key());
  REQUIRE(keys);
  return *std::move(keys);
}

Verification verified(const LogFolder& folder, std::optional<std::string> run = std::nullopt) {
  auto result = verify(folder.path(), keys_of(folder), run);
  REQUIRE(result);
  return *std::move(result);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line;
  return text;
}

// A run of a few records with checkpoints in between, closed.
void write_run(const LogFolder& folder, const std::string& run_id, int records = 5) {
  auto log = RunLog::create(folder.path(), run_id, kClock, {.records = 2});
  REQUIRE(log);
  REQUIRE((*log)->append("RunStarted", {{"program", "a.cpp"}}));
  for (int i = 0; i < records; ++i)
    REQUIRE((*log)->append("CapabilityCheck", {{"capability", "fs.read"}, {"n", i}}));
  REQUIRE((*log)->close());
}

struct Sample {
  LogFolder folder = temporary_folder();
  std::vector<PublicKey> keys;
  std::string text;
  IndexEntry entry;

  Sample() {
    write_run(folder, "run-1");
    keys = keys_of(folder);
    text = text_of(folder.path() / "run-1.jsonl");
    auto index = read_index(folder.path() / kIndexFile, keys);
    REQUIRE(index);
    entry = index->runs.at("run-1");
  }
  [[nodiscard]] Standing standing(std::string_view changed) const {
    return verify_run("run-1.jsonl", "run-1", changed, &entry, false, keys).standing;
  }
};

TEST_SUITE("audit/verify") {
  TEST_CASE("a run whose log nobody closed is signed for, and not proven") {
    const auto folder = temporary_folder();
    {
      auto log = RunLog::create(folder.path(), "run-1", kClock);
      REQUIRE(log);
      REQUIRE((*log)->append("RunStarted", {{"program", "a.cpp"}}));
    }
    const auto result = verified(folder);
    REQUIRE(result.runs.size() == 1);
    CHECK(result.runs[0].standing == Standing::kUnfinished);
    CHECK(result.runs[0].records == 2);
    CHECK(result.runs[0].signed_records == 2);
    CHECK(result.runs[0].problems.empty());
  }

  TEST_CASE("a run that was killed is accepted by a person, as it lies there and no other") {
    const auto folder = temporary_folder();
    const auto file = folder.path() / "run-1.jsonl";
    {
      auto log = RunLog::create(folder.path(), "run-1", kClock, {.records = 2});
      REQUIRE(log);
      for (int i = 0; i < 5; ++i) REQUIRE((*log)->append("RunStarted", {{"n", i}}));
    }
    write_run(folder, "run-2");
    const auto before = text_of(file);
    // Only one that has no end.
    const auto other = accept(folder.path(), "run-2", kClock);
    REQUIRE_FALSE(other);
    CHECK(other.error().id == ErrorId::kUsage);
    CHECK(accept(folder.path(), "run-3", kClock).error().id == ErrorId::kUnknownRun);
    const auto accepted = accept(folder.path(), "run-1", kClock);
    REQUIRE(accepted);
    CHECK(*accepted == "run-1");
    CHECK(verified(folder).standing() == Standing::kAccepted);
    CHECK_FALSE(accept(folder.path(), "run-1", kClock));
    // From here on a cut tail is what it is of a run that was closed.
    auto lines = lines_of(before);
    while (lines.size() > 1) {
      lines.pop_back();
      CAPTURE(lines.size());
      put(file, joined(lines));
      CHECK(verified(folder).standing() == Standing::kTampered);
      const auto again = accept(folder.path(), "run-1", kClock);
      REQUIRE_FALSE(again);
      CHECK(again.error().id == ErrorId::kAuditTampered);
    }
    put(file, before + before);
    CHECK(verified(folder).standing() == Standing::kTampered);
    // Without the entry it is what it was.
    put(file, before);
    auto index = lines_of(text_of(folder.path() / kIndexFile));
    index.pop_back();
    put(folder.path() / kIndexFile, joined(index));
    CHECK(verified(folder).standing() == Standing::kUnfinished);
  }

  TEST_CASE("an acceptance that somebody else wrote is none") {
    const auto folder = temporary_folder();
    const auto stranger = temporary_folder();
    for (const auto* one : {&folder, &stranger}) {
      auto log = RunLog::create(one->path(), "run-1", kClock);
      REQUIRE(log);
      REQUIRE((*log)->append("RunStarted", {{"program", "a.cpp"}}));
    }
    REQUIRE(accept(stranger.path(), "run-1", kClock));
    const auto line = lines_of(text_of(stranger.path() / kIndexFile)).back();
    put(folder.path() / kIndexFile, text_of(folder.path() / kIndexFile) + line);
    CHECK(verified(folder).standing() == Standing::kTampered);
  }

  TEST_CASE("a run that nobody touched is proven, whole and up to its end") {
    const auto folder = temporary_folder();
    write_run(folder, "run-1");
    const auto result = verified(folder);
    CHECK(result.standing() == Standing::kProven);
    REQUIRE(result.runs.size() == 1);
    CHECK(result.runs[0].problems.empty());
    CHECK(result.runs[0].signed_records == result.runs[0].records);
    CHECK(result.index.lines == 2);
  }

  TEST_CASE("every single changed byte is found") {
    const Sample sample;
    REQUIRE(sample.standing(sample.text) == Standing::kProven);
    for (std::size_t i = 0; i < sample.text.size(); ++i) {
      for (const int change : {1, 2, 32, 128}) {
        std::string changed = sample.text;
        changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ change);
        CAPTURE(i);
        CAPTURE(change);
        REQUIRE(sample.standing(changed) == Standing::kTampered);
      }
    }
  }

  TEST_CASE("every single removed or added byte is found") {
    const Sample sample;
    for (std::size_t i = 0; i < sample.text.size(); ++i) {
      CAPTURE(i);
      std::string changed = sample.text;
      changed.erase(i, 1);
      REQUIRE(sample.standing(changed) == Standing::kTampered);
      for (const char added : {'\n', ' ', '0', '}'}) {
        changed = sample.text;
        changed.insert(i, 1, added);
        // A byte beside its like is the same text wherever it was put.
        if (changed != sample.text) REQUIRE(sample.standing(changed) == Standing::kTampered);
      }
    }
    CHECK(sample.standing(sample.text + "x") == Standing::kTampered);
    CHECK(sample.standing(sample.text + "\n") == Standing::kTampered);
  }

  TEST_CASE("every removed, doubled, moved or swapped line is found, and every cut tail") {
    const Sample sample;
    const auto lines = lines_of(sample.text);
    REQUIRE(lines.size() >= 7);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      CAPTURE(i);
      auto changed = lines;
      changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
      REQUIRE(sample.standing(joined(changed)) == Standing::kTampered);
      changed = {lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(i)};
      REQUIRE(sample.standing(joined(changed)) == Standing::kTampered);
      for (std::size_t j = 0; j < lines.size(); ++j) {
        CAPTURE(j);
        changed = lines;
        changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(j), lines[i]);
        REQUIRE(sample.standing(joined(changed)) == Standing::kTampered);
        if (i == j) continue;
        changed = lines;
        std::swap(changed[i], changed[j]);
        REQUIRE(sample.standing(joined(changed)) == Standing::kTampered);
        changed = lines;
        std::rotate(changed.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)),
                    changed.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)), changed.end());
        if (changed != lines) REQUIRE(sample.standing(joined(changed)) == Standing::kTampered);
      }
    }
  }

  TEST_CASE("who rewrites the chain without the key is found at the first checkpoint") {
    const Sample sample;
    Digest head = chain_start("run", "run-1");
    std::string forged;
    for (const auto& line : lines_of(sample.text)) {
      auto read = open_line(std::string_view(line).substr(0, line.size() - 1));
      REQUIRE(read);
      std::string body(read->body);
      if (const auto at = body.find("fs.read"); at != std::string::npos)
        body.replace(at, 7, "fs.show");
      head = chain_next(head, body);
      forged += closed_line(body, head, read->signature);
    }
    IndexEntry entry = sample.entry;
    entry.head = head;  // even if the index could be changed as well
    const auto verdict = verify_run("run-1.jsonl", "run-1", forged, &entry, false, sample.keys);
    CHECK(verdict.standing == Standing::kTampered);
    CHECK(verdict.signed_records < verdict.records);
  }

  TEST_CASE("another run's file under this run's name is found, and a file from nowhere") {
    const auto folder = temporary_folder();
    write_run(folder, "run-1");
    write_run(folder, "run-2");
    const auto one = folder.path() / "run-1.jsonl";
    const std::string own = text_of(one);
    put(one, text_of(folder.path() / "run-2.jsonl"));
    CHECK(verified(folder, "run-1").standing() == Standing::kTampered);
    CHECK(verified(folder, "run-2").standing() == Standing::kProven);
    put(one, own);
    CHECK(verified(folder).standing() == Standing::kProven);

    const auto elsewhere = temporary_folder();
    write_run(elsewhere, "run-3");
    put(folder.path() / "run-3.jsonl", text_of(elsewhere.path() / "run-3.jsonl"));
    CHECK(verified(folder, "run-3").standing() == Standing::kTampered);
  }

  TEST_CASE("a run that was deleted as a whole is missed") {
    const auto folder = temporary_folder();
    write_run(folder, "run-1");
    write_run(folder, "run-2");
    std::filesystem::remove(folder.path() / "run-1.jsonl");
    const auto result = verified(folder);
    CHECK(result.standing() == Standing::kTampered);
    REQUIRE(result.runs.size() == 2);
    CHECK(result.runs[0].standing == Standing::kTampered);
    CHECK(result.runs[1].standing == Standing::kProven);
  }

  TEST_CASE("every change of the index is found") {
    const auto folder = temporary_folder();
    write_run(folder, "run-1", 1);
    write_run(folder, "run-2", 1);
    const auto keys = keys_of(folder);
    const auto file = folder.path() / kIndexFile;
    const std::string text = text_of(file);
    const auto lines = lines_of(text);
    REQUIRE(lines.size() == 4);
    // All but the last newline: without it the last entry is half a line, as a writer that was
    // killed leaves one, and the run's own closing record still proves it.
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      put(file, changed);
      CAPTURE(i);
      REQUIRE(verified(folder).standing() == Standing::kTampered);
    }
    put(file, text.substr(0, text.size() - 1));
    CHECK(verified(folder).standing() == Standing::kProven);
    CHECK(verified(folder).index.torn_bytes > 0);
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      auto changed = lines;
      changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
      put(file, joined(changed));
      REQUIRE(verified(folder).standing() == Standing::kTampered);
    }
    // A run that nothing in the index speaks of any more, since its end was cut off.
    put(file, lines[0] + lines[1]);
    CHECK(verified(folder, "run-2").standing() == Standing::kTampered);
    std::filesystem::remove(file);
    CHECK(verified(folder).standing() == Standing::kTampered);
  }

  TEST_CASE("a run that still writes is running, and never under suspicion") {
    const auto folder = temporary_folder();
    const auto log = new_log(folder.path(), "run-1");
    REQUIRE(log->append("RunStarted", nullptr));
    auto result = verified(folder);
    REQUIRE(result.runs.size() == 1);
    CHECK(result.runs[0].standing == Standing::kRunning);
    CHECK(result.runs[0].signed_records == 0);
  }

  TEST_CASE("runs that begin, write and end while verify looks are never under suspicion") {
    const auto folder = temporary_folder();
    write_run(folder, "run-0");
    std::vector<std::jthread> writers;
    for (int w = 0; w < 3; ++w) {
      writers.emplace_back([&, w](const std::stop_token& stop) {
        for (int i = 0; i < 12 && !stop.stop_requested(); ++i) {
          auto log =
              RunLog::create(folder.path(), fmt::format("run-{}-{}", w, i), kClock, {.records = 4});
          for (int n = 0; log && n < 20; ++n) (void)(*log)->append("CapabilityCheck", n);
          if (log) (void)(*log)->close();
        }
      });
    }
    for (int i = 0; i < 20; ++i) {
      const auto result = verified(folder);
      for (const auto& run : result.runs) {
        CAPTURE(run.run_id);
        CAPTURE((run.problems.empty() ? "" : run.problems[0].what));
        REQUIRE((run.standing == Standing::kProven || run.standing == Standing::kRunning ||
                 run.records == 0));
      }
      REQUIRE(result.index.problems.empty());
    }
    for (auto& writer : writers) writer.join();
    const auto result = verified(folder);
    CHECK(result.runs.size() == 37);
    CHECK(result.standing() == Standing::kProven);
  }

  TEST_CASE("a torn last line of the index is noted by the next run and accuses nobody") {
    const auto folder = temporary_folder();
    write_run(folder, "run-1");
    std::ofstream(folder.path() / kIndexFile, std::ios::app) << R"({"event":"beg)";
    CHECK(verified(folder).index.torn_bytes == 13);
    CHECK(verified(folder).standing() == Standing::kProven);
    write_run(folder, "run-2");
    const auto result = verified(folder);
    CHECK(result.standing() == Standing::kProven);
    CHECK(result.index.torn_bytes == 0);
    CHECK(result.index.lines == 5);
    CHECK(text_of(folder.path() / kIndexFile).find(R"("event":"recovered")") != std::string::npos);
  }

  TEST_CASE("a log of before the chain is unprovable, unless the index knows better") {
    const std::string old = R"({"event_id":"1","kind":"k","payload":1,"run_id":"run-1","time":"t"})"
                            "\n";
    const auto folder = temporary_folder();
    write_run(folder, "run-2");
    put(folder.path() / "run-1.jsonl", old);
    CHECK(verified(folder, "run-1").standing() == Standing::kUnprovable);
    CHECK(verified(folder).standing() == Standing::kUnprovable);
    put(folder.path() / "run-2.jsonl", old);
    CHECK(verified(folder, "run-2").standing() == Standing::kTampered);
  }

  TEST_CASE("with another key nothing is proven") {
    const auto folder = temporary_folder();
    write_run(folder, "run-1");
    const auto other = temporary_folder();
    write_run(other, "run-1");
    const auto result = verify(folder.path(), keys_of(other), std::nullopt);
    REQUIRE(result);
    CHECK(result->standing() == Standing::kTampered);
    CHECK(result->runs.at(0).signed_records == 0);
  }

  TEST_CASE("after a certain time there is a checkpoint, also for few records") {
    const auto folder = temporary_folder();
    auto log = RunLog::create(folder.path(), "run-1", kClock,
                              {.records = 1000, .time = std::chrono::milliseconds(20)});
    REQUIRE(log);
    REQUIRE((*log)->append("RunStarted", nullptr));
    for (int i = 0; i < 15'000 && verified(folder).runs[0].signed_records == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(verified(folder).runs[0].signed_records >= 1);
  }
}

TEST_SUITE("audit/key") {
  TEST_CASE("the key is made once, for its user alone, and its loss is said") {
    const auto folder = temporary_folder();
    write_run(folder, "run-1");
    const auto secret = key_folder(folder.path()) / "secret";
    const auto before = text_of(secret);
    CHECK((std::filesystem::status(secret).permissions() & std::filesystem::perms::all) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    write_run(folder, "run-2");
    CHECK(text_of(secret) == before);

    std::filesystem::permissions(secret, std::filesystem::perms::group_read,
                                 std::filesystem::perm_options::add);
    auto log = RunLog::create(folder.path(), "run-3", kClock);
    REQUIRE_FALSE(log);
    CHECK(log.error().id == ErrorId::kAuditKey);
    CHECK_FALSE(log.error().fix.empty());
    std::filesystem::remove(secret);
    log = RunLog::create(folder.path(), "run-3", kClock);
    REQUIRE_FALSE(log);
    CHECK(log.error().id == ErrorId::kAuditKey);
    CHECK_FALSE(log.error().fix.empty());
    CHECK_FALSE(std::filesystem::exists(secret));
  }

  TEST_CASE("many that make the key at once end with one key") {
    const auto folder = temporary_folder();
    std::vector<std::jthread> makers;
    std::array<PublicKey, 8> keys{};
    for (auto& key : keys) {
      makers.emplace_back([&] {
        if (auto loaded = SigningKey::load(key_folder(folder.path()))) key = loaded->public_key();
      });
    }
    makers.clear();
    CHECK(keys[0] != PublicKey{});
    CHECK(std::ranges::all_of(keys, [&](const auto& key) { return key == keys[0]; }));
  }

  TEST_CASE("digests of arguments differ from run to run, and need the key") {
    const auto folder = temporary_folder();
    const auto one = new_log(folder.path(), "run-1");
    const auto two = new_log(folder.path(), "run-2");
    const Digest key = one->argument_key();
    CHECK(key != two->argument_key());
    CHECK(blake2b("{}", &key) != blake2b("{}"));
    CHECK(one->keyed_digest("{}") == hex(blake2b("{}", &key)));
    CHECK(one->keyed_digest("{}") != two->keyed_digest("{}"));
    auto again = SigningKey::load(key_folder(folder.path()));
    REQUIRE(again);
    CHECK(again->argument_key("run-1") == key);
  }

  TEST_CASE("a key that cannot be used says what to do") {
    const auto folder = temporary_folder();
    const auto file = folder.path() / "keys";
    for (const char* text : {"", "# nothing\n", "no key\n"}) {
      std::ofstream(file) << text;
      const auto keys = read_public_keys(file);
      REQUIRE_FALSE(keys);
      CHECK(keys.error().id == ErrorId::kAuditKey);
      CHECK(keys.error().fix.find("--key") != std::string::npos);
    }
    CHECK(read_public_keys(folder.path() / "absent").error().id == ErrorId::kAuditKey);
    std::filesystem::create_directory(key_folder(folder.path()));
    std::filesystem::permissions(key_folder(folder.path()), std::filesystem::perms::all);
    const auto key = SigningKey::load(key_folder(folder.path()));
    REQUIRE_FALSE(key);
    CHECK(key.error().id == ErrorId::kAuditKey);
    CHECK(key.error().fix.find("chmod 700") != std::string::npos);
  }
}

}  // namespace
}  // namespace mcpac::audit
