#include "history/changes/changes_diff.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "history/support_changes.h"

using namespace mcpac;
using namespace mcpac::history::testing;
using history::Changeset;

namespace {

// Of the one file that a program wrote.
std::string diff_of_file(const std::string& before, const std::string& after, mode_t mode = 0644) {
  Run run;
  if (!before.empty()) put(run.folder / "file", before);
  auto open = run.begin();
  put(run.upper() / "file", after);
  REQUIRE(::chmod((run.upper() / "file").c_str(), mode) == 0);
  const Changeset changes = run.keep(open);
  return history::diff_of(changes, 0, changes.places.front().changes.front());
}

}  // namespace

TEST_SUITE("execute/changes diff") {
  TEST_CASE("each byte that is applied is seen, and none of it moves the cursor") {
    const std::string shown = diff_of_file("", "echo \x1b[;x\x1b[;yhello\n");
    CHECK(has(shown, "+echo \\u001b[;x\\u001b[;yhello\n"));
    CHECK(shown.find('\x1b') == std::string::npos);
    const std::string changed = diff_of_file("true\n", "true\x1b[;;;;l\n");
    CHECK(has(changed, "-true\n+true\\u001b[;;;;l\n"));
    CHECK(has(diff_of_file("a\n", "a  \n"), "-a\n+a  \n"));
    CHECK(has(diff_of_file("a\n", "rm -rf x\rls\n"), "+rm -rf x^Mls\n"));
    CHECK(has(diff_of_file("a\n", "\tindented\n"), "+\tindented\n"));
    CHECK(has(diff_of_file("a\n", "left\u202eright\n"), "+left\\u202eright\n"));
  }

  TEST_CASE("of a line that is too long it is said how much more there is") {
    const std::string shown = diff_of_file("", std::string(2'000, 'a') + "; evil\n");
    CHECK(has(shown, "a… (6 more bytes)\n"));
  }

  TEST_CASE("the permissions of a new file are shown, and those that change") {
    CHECK(has(diff_of_file("", "text\n", 0755), "(new file mode 755)\n"));
    CHECK(has(diff_of_file("", "text\n", 0777), "(new file mode 755)\n"));
    CHECK(has(diff_of_file("before\n", "after\n", 0755), " becomes 755)\n"));
  }

  TEST_CASE("folders and what is refused are shown by their names") {
    Run run;
    auto open = run.begin();
    fs::create_directories(run.upper() / "new");
    fs::create_symlink("/etc/passwd", run.upper() / "link");
    const Changeset changes = run.keep(open);
    std::string text;
    for (const auto& change : changes.places.front().changes)
      text += history::diff_of(changes, 0, change);
    CHECK(has(text, "--- /dev/null\n+++ " + (run.folder / "new").string() + "\n(folder-added"));
    CHECK(has(text, "+++ " + (run.folder / "link").string() + "\n(never applied"));
  }
}
