// What the configuration of git and Mercurial names, held against what the real git reads.
#include "project/files/obeyed_places.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <set>

#include "core/file.h"
#include "core/shell_quote.h"
#include "project/files/file_mounts.h"

using namespace mcpac;
using policy::FileMode;
using policy::FilePlace;
using project::FileMounts;
using ObeyedAccess = sandbox::Mount::Access;

namespace {

namespace fs = std::filesystem;

// A folder to grant, `work`, and a home of its own, as the user's configuration counts, too.
class Grounds {
 public:
  Grounds() {
    fs::create_directories(folder);
    set("HOME", (base_.path() / "home").string());
    set("XDG_CONFIG_HOME", "");
    set("GIT_CONFIG_SYSTEM", "/dev/null");
    set("GIT_CONFIG_GLOBAL", "");
  }
  Grounds(const Grounds&) = delete;
  Grounds& operator=(const Grounds&) = delete;
  ~Grounds() {
    for (const auto& [name, value] : before_) {
      if (value)
        ::setenv(name.c_str(), value->c_str(), 1);
      else
        ::unsetenv(name.c_str());
    }
  }
  void put(const fs::path& name, const std::string& text) const {
    fs::create_directories((base_.path() / name).parent_path());
    std::ofstream(base_.path() / name) << text;
  }
  [[nodiscard]] fs::path at(const fs::path& name) const { return base_.path() / name; }
  [[nodiscard]] Result<FileMounts> grant(const fs::path& path) const {
    return project::mounts_of(
        std::vector{FilePlace{at(path).string(), FileMode::kReadWrite, "--files"}}, {});
  }
  // As names below `work`, in order.
  [[nodiscard]] std::vector<std::string> kept() const {
    const auto made = grant("work");
    REQUIRE(made.has_value());
    std::set<std::string> names;
    for (const auto& path : made->kept_places)
      names.insert(fs::path(path).lexically_relative(folder).string());
    return {names.begin(), names.end()};
  }

 private:
  void set(const char* name, const std::string& value) {
    const char* const now = ::getenv(name);
    before_.emplace_back(name, now == nullptr ? std::nullopt : std::optional<std::string>(now));
    ::setenv(name, value.c_str(), 1);
  }
  TemporaryFolder base_ =
      TemporaryFolder::create(fs::canonical(fs::temp_directory_path()), "mcpac-test-").value();
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;

 public:
  fs::path folder = base_.path() / "work";
};

using KeptList = std::vector<std::string>;

// `section.Sub.key\nvalue`, as `git config --list -z` has them; nothing where git refuses the file.
std::optional<std::set<std::string>> as_git_reads(const fs::path& file) {
  const std::string command =
      "git config --file " + shell_quoted(file.string()) + " --list -z 2>/dev/null";
  FILE* const out = ::popen(command.c_str(), "r");
  REQUIRE(out != nullptr);
  std::string text;
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out)) text += static_cast<char>(c);
  if (::pclose(out) != 0) return std::nullopt;
  std::set<std::string> settings;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\0', at);
    settings.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return settings;
}

std::set<std::string> as_we_read(const std::string& text) {
  std::set<std::string> settings;
  for (const auto& one : project::read_git_settings(text)) {
    const std::string key =
        one.section + (one.subsection.empty() ? "" : "." + one.subsection) + "." + one.key;
    settings.insert(one.value.empty() ? key : key + "\n" + one.value);
  }
  return settings;
}

}  // namespace

TEST_SUITE("execute/obeyed places") {
  TEST_CASE("a configuration is read as git reads it") {
    const Grounds grounds;
    for (const std::string& text : std::vector<std::string>{
             "[core]\n\thooksPath = tools/hooks\n",
             "[CORE] HooksPath=a b  c   # not this\n[core]\nfsmonitor = \"a # b\" ; nor this\n",
             "[filter \"Lower Case\"]\nclean = x \\\n  y\n[filter.OLD]\nsmudge = z\n",
             "[a \"b\\\"c\\\\d\"]\nx = \"  kept  \"  tail  \ny=\\\"quoted\\\"\\ttab\\nline\n",
             "\xef\xbb\xbf[core]\r\n\tpager = less -R\r\n\teditor = vi\r\n",
             "[include]\n\tpath = ../other\n\n# [core]\n;hooksPath = no\n[core] bare\n",
             "[core] hooksPath = \"one\"two\" three\"\n", "[x]\ny = a;b\nz = \"a;b\"\n"}) {
      CAPTURE(text);
      grounds.put("config", text);
      auto theirs = as_git_reads(grounds.at("config"));
      REQUIRE(theirs.has_value());
      // A key without a value is true to git, and names nothing.
      CHECK(as_we_read(text) == *theirs);
    }
  }

  TEST_CASE("whatever a configuration holds, reading it ends") {
    for (const char* text : {"[", "[a", "[a \"", "[a \"\\", "[a]\nb = \"", "[a]\nb = \\", "=", "\\",
                             "[a]\n=\n", "]\n", "[a]b", "\"\"\"", "[.]\nx=y", "[a.b"}) {
      CAPTURE(text);
      CHECK(project::read_git_settings(text).size() <= 2);
    }
  }

  TEST_CASE("what git runs by its configuration is held, there or not") {
    const Grounds grounds;
    grounds.put("work/.git/config",
                "[core]\n hooksPath = tools/hooks\n fsmonitor = ./watch.sh --fast\n editor = vi\n"
                "[filter \"x\"]\n clean = python3 clean.py %f\n smudge = cat src\n"
                "[diff \"y\"]\n textconv = \"sh -c 'scripts/show \\\"$1\\\"'\"\n"
                "[merge \"z\"]\n driver = ~/bin/merge %O %A %B\n"
                "[alias]\n deploy = !./deploy.sh\n[gui]\n recentrepo = " +
                    grounds.folder.string() + "\n[credential]\n helper = !./keys.sh get\n");
    grounds.put("work/clean.py", "pass");
    grounds.put("work/src/main.c", "");
    grounds.put("work/vi", "");
    CHECK(grounds.kept() ==
          KeptList{"clean.py", "keys.sh", "scripts/show", "tools/hooks", "watch.sh"});
    const auto made = grounds.grant("work");
    REQUIRE(made.has_value());
    // What is there is mounted, too, and the folders above it stay.
    const auto mounted =
        std::ranges::find(made->mounts, grounds.folder / "clean.py", &sandbox::Mount::inside);
    REQUIRE(mounted != made->mounts.end());
    CHECK(mounted->access == ObeyedAccess::kRead);
  }

  TEST_CASE("configuration counts that is included, above, elsewhere or the user's") {
    const Grounds grounds;
    grounds.put(".git/config",
                "[core]\n hooksPath = work/hooks\n[include]\n path = ../work/more\n");
    grounds.put("work/more",
                "[includeIf \"gitdir:/nowhere\"]\n path = missing\n"
                "[core]\n attributesFile = work/attributes\n");
    grounds.put("work/tree/.git",
                "gitdir: " + grounds.at("main/.git/worktrees/tree").string() + "\n");
    grounds.put("main/.git/worktrees/tree/commondir", "../..\n");
    grounds.put("main/.git/worktrees/tree/config.worktree", "[core]\n pager = ./page\n");
    grounds.put("main/.git/config", "[core]\n hooksPath = checks\n");
    grounds.put("work/sub/.git", "gitdir: ../store\n");
    grounds.put("home/.gitconfig", "[core]\n fsmonitor = bin/monitor\n");
    grounds.put("work/mine/.hg/hgrc",
                "[hooks]\ncommit.x = sh tools/h.sh\n"
                " more.sh\nupdate = python:../ext/u.py:go\n[extensions]\n"
                "e = ~/no\n%include ../extra.rc\n[alias]\nd = !./d.sh\n");
    grounds.put("work/mine/more.sh", "");
    CHECK(grounds.kept() == KeptList{"attributes", "ext/u.py", "hooks", "mine/extra.rc",
                                     "mine/more.sh", "mine/tools/h.sh", "missing", "more", "store",
                                     "sub/bin/monitor", "tree/bin/monitor", "tree/checks",
                                     "tree/page"});
  }

  TEST_CASE("names with blanks are held as a shell and git have them") {
    const Grounds grounds;
    grounds.put("work/.git/config",
                "[core]\n fsmonitor = 'my tools/fsm.sh' --fast\n hooksPath = my hooks\n"
                "[gpg]\n program = ./my keys/gpg\n[filter \"x\"]\n clean = sh my\\\\ tools/c.sh\n"
                "[gc]\n recentObjectsHook = ./recent\n[svn]\n authorsProg = ./authors\n"
                "[sendemail]\n headerCmd = ./head\n");
    const auto kept = grounds.kept();
    for (const char* name : {"my tools/fsm.sh", "my hooks", "my keys/gpg", "my tools/c.sh",
                             "recent", "authors", "head"}) {
      CAPTURE(name);
      CHECK(std::ranges::find(kept, name) != kept.end());
    }
  }

  TEST_CASE("the user's own configuration counts where no repository is near") {
    const Grounds grounds;
    grounds.put("home/.gitconfig", "[core]\n hooksPath = " + grounds.at("work/hooks").string() +
                                       "\n pager = relative/page\n");
    grounds.put("home/.config/git/config",
                "[diff]\n external = " + grounds.at("work/show").string() + "\n");
    grounds.put("home/.hgrc", "[hooks]\nupdate = " + grounds.at("work/u.sh").string() + "\n");
    CHECK(grounds.kept() == KeptList{"hooks", "show", "u.sh"});
    // Another file for this shell does not end what others of the user's read.
    ::setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    ::setenv("XDG_CONFIG_HOME", grounds.at("elsewhere").c_str(), 1);
    CHECK(grounds.kept() == KeptList{"hooks", "show", "u.sh"});
  }

  TEST_CASE("a configuration that includes more than is read makes the grant a refusal") {
    const auto chain = [](int length) {
      const Grounds grounds;
      grounds.put("work/.git/config", "[include]\n path = c1\n");
      for (int i = 1; i <= length; ++i) {
        grounds.put("work/.git/c" + std::to_string(i),
                    "[include]\n path = c" + std::to_string(i + 1) + "\n");
      }
      return grounds.grant("work");
    };
    CHECK(chain(10).has_value());
    const auto deep = chain(11);
    REQUIRE_FALSE(deep.has_value());
    CHECK(deep.error().id == ErrorId::kFilesRefused);
    const Grounds grounds;
    std::string many = "[include]\n";
    for (int i = 0; i < 70; ++i) {
      many += " path = m" + std::to_string(i) + "\n";
      grounds.put("work/.git/m" + std::to_string(i), "[core]\n");
    }
    grounds.put("work/.git/config", many);
    const auto wide = grounds.grant("work");
    REQUIRE_FALSE(wide.has_value());
    CHECK(wide.error().what.find("is included beyond what is read") != std::string::npos);
  }

  TEST_CASE("what git names is not granted itself, nor what lies in it") {
    const Grounds grounds;
    grounds.put("work/.git/config", "[core]\n hooksPath = hooks\n");
    grounds.put("work/hooks/pre-commit", "");
    grounds.put("work/src/a", "");
    for (const char* path : {"work/hooks", "work/hooks/pre-commit"}) {
      CAPTURE(path);
      const auto made = grounds.grant(path);
      REQUIRE_FALSE(made.has_value());
      CHECK(made.error().id == ErrorId::kFilesRefused);
      CHECK(made.error().why.find("hooks") != std::string::npos);
      CHECK(made.error().fix == "grant it read-only");
    }
    CHECK(grounds.grant("work/src").has_value());
    // A folder in a repository that only its contents give away.
    for (const char* part : {"bare/HEAD", "bare/objects/x", "bare/refs/x", "bare/hooks/x"})
      grounds.put(part, "");
    CHECK_FALSE(grounds.grant("bare/hooks").has_value());
  }

  TEST_CASE("a configuration that cannot be read whole is not taken for an empty one") {
    const Grounds grounds;
    grounds.put("work/.git/config", "[core]\n pager = " + std::string(2U << 20U, 'x') + "\n");
    const auto made = grounds.grant("work");
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().what.find("cannot be read whole") != std::string::npos);
    // A pipe is not waited for.
    fs::remove(grounds.at("work/.git/config"));
    REQUIRE(::mkfifo(grounds.at("work/.git/config").c_str(), 0600) == 0);
    CHECK(grounds.grant("work").has_value());
  }
}
