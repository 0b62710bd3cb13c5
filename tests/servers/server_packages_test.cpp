// Launchers that download, taken apart: what would be installed, and what is run of it.
#include "servers/confine/server_packages.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/file.h"
#include "run/server_stamps.h"

using namespace mcpac;

namespace {

namespace fs = std::filesystem;

// "packages | program | options | the server's own words", "" for other programs, or the error.
std::string taken_apart(const std::vector<std::string>& words) {
  const auto run = servers::package_run_of(words);
  if (!run) return run.error().to_text();
  if (!*run) return "";
  const auto own = std::vector<std::string>(
      words.begin() + static_cast<std::ptrdiff_t>((*run)->first_own), words.end());
  return fmt::format("{} | {} | {} | {}", fmt::join((*run)->packages, " "), (*run)->program,
                     fmt::join((*run)->options, " "), fmt::join(own, " "));
}

}  // namespace

TEST_SUITE("execute/server packages") {
  TEST_CASE("launchers are taken apart as they read their words themselves") {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{"npx", "-y", "@scope/server", "./data"}, "@scope/server |  |  | ./data"},
        {{"/usr/bin/npx", "--yes", "server@1.2", "--port", "1"}, "server@1.2 |  |  | --port 1"},
        {{"npx", "-p", "@s/a@^1", "--package=b", "run-a", "-y"}, "@s/a@^1 b | run-a |  | -y"},
        {{"npx", "--registry", "http://r", "a@latest", "--", "x"},
         "a@latest |  | --registry http://r | -- x"},
        {{"npx", "-y", "--", "a", "x"}, "a |  |  | x"},
        {{"npx", "x@npm:@s/real@1"}, "x@npm:@s/real@1 |  |  | "},
        {{"npm", "exec", "-y", "--", "@s/a", "--flag"}, "@s/a |  |  | --flag"},
        {{"npm", "x", "@s/a", "--", "--flag"}, "@s/a |  |  | --flag"},
        {{"bunx", "--bun", "a", "b"}, "a |  |  | b"},
        {{"pnpm", "dlx", "a", "b"}, "a |  |  | b"},
        {{"yarn", "dlx", "-p", "a", "prog"}, "a | prog |  | "},
        {{"uvx", "mcp-server-fetch@1.2", "--x"}, "mcp-server-fetch@1.2 |  |  | --x"},
        {{"uvx", "--from", "pkg[cli]==1.0", "--with", "more", "--python=3.12", "prog", "a"},
         "pkg[cli]==1.0 more | prog | --python 3.12 | a"},
        {{"pipx", "run", "--spec", "pkg==2", "prog", "-v"}, "pkg==2 | prog |  | -v"},
        // What runs no package is no affair of this.
        {{"node", "npx"}, ""},
        {{"npm", "start"}, ""},
        {{"uv", "run", "server.py"}, ""},
        {{"yarn", "start"}, ""},
    };
    for (const auto& [words, expected] : cases) {
      CAPTURE(fmt::format("{}", fmt::join(words, " ")));
      CHECK(taken_apart(words) == expected);
    }
  }

  TEST_CASE("what would be installed is known, or the launcher is refused with what to write") {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{"npx", "-y"}, "runs no package"},
        {{"npx", "-c", "a && b"}, "a command of a shell"},
        {{"npx", "--prefix", "/x", "a"}, "--prefix cannot be confined"},
        {{"npx", "-p"}, "has no value"},
        {{"npx", "./server"}, "no name of a package"},
        {{"npx", "github:a/b"}, "no name of a package"},
        {{"npx", "a/b"}, "no name of a package"},
        {{"npx", "https://a.example/a.tgz"}, "no name of a package"},
        {{"npx", "a@file:../x"}, "no name of a package"},
        {{"npx", "a@npm:b@git+ssh://x"}, "no name of a package"},
        {{"npx", "@s"}, "no name of a package"},
        {{"npx", "@s/../x"}, "no name of a package"},
        {{"npx", std::string("a\nb")}, "no name of a package"},
        {{"npx", "-p", "a", "../run"}, "no name of a program"},
        {{"npm", "exec", "a", "--flag"}, "npm exec -- a --flag"},
        {{"uvx", "--env-file", ".env", "a"}, "--env-file cannot be confined"},
        {{"uvx", "--from", ".", "a"}, "no name of a package"},
        {{"uvx", "--from", "/srv/a", "a"}, "no name of a package"},
        {{"pipx", "run", "https://a.example/x.py"}, "no name of a package"},
        // A program of the project would be run by the installer.
        {{"pipx", "run", "--python", "./x", "a"}, "no version of Python"},
        {{"pipx", "run", "--python=/srv/x", "a"}, "no version of Python"},
        {{"uvx", "-p", "x/python", "a"}, "no version of Python"},
        {{"uv", "tool", "run", "--python", "-c", "a"}, "no version of Python"},
        // What two projects would share, and each read as its own.
        {{"uvx", "--find-links", "./wheels", "a"}, "no whole path"},
        {{"uvx", "-f", "wheels", "a"}, "no whole path"},
        {{"uvx", "--index", "own=../simple", "a"}, "no whole path"},
        {{"uvx", "--index", "git+ssh://x", "a"}, "no whole path"},
        {{"pipx", "run", "-i", "simple", "a"}, "no whole path"},
        {{"npx", "--registry=registry", "a"}, "no whole path"},
    };
    for (const auto& [words, expected] : cases) {
      const std::string said = taken_apart(words);
      CAPTURE(said);
      CHECK(said.contains(expected));
      CHECK(said.contains("MCPAC-E0300"));
    }
  }

  TEST_CASE("what is started is what was installed, by its package and not by who asks") {
    const auto folder =
        TemporaryFolder::create(fs::canonical(fs::temp_directory_path()), "mcpac-test-packages");
    REQUIRE(folder.has_value());
    const fs::path fake = folder->path() / "bin";
    fs::create_directories(fake);
    // An installer that leaves what npm would, and fails where it is told to.
    std::ofstream(fake / "npm") << R"(#!/bin/sh
case "$*" in *broken*) echo "404 Not Found: $npm_config_token" >&2; exit 1;; esac
case "$*" in *--ignore-scripts=false*) made=,built;; esac
mkdir -p node_modules/a node_modules/.bin
echo '{"version": "1.2.3", "bin": {"a": "i.js", "b": "j.js"}}' > node_modules/a/package.json
echo '#!/bin/sh' > node_modules/.bin/a; echo '#!/bin/sh' > node_modules/.bin/b
echo '{"packages": {"node_modules/x/node_modules/@s/n": {"hasInstallScript": true}}}' > node_modules/.package-lock.json
)";
    fs::permissions(fake / "npm", fs::perms(0755));
    project::Folders folders;
    folders.cache = folder->path() / "a cache";
    mcp::ServerConfig server;
    server.name = "one";
    // The PATH of an entry, which a project writes, does not say which installer runs.
    const fs::path theirs = folder->path() / "theirs";
    fs::create_directories(theirs);
    std::ofstream(theirs / "npm") << "#!/bin/sh\ntouch " << (folder->path() / "taken").string()
                                  << "\n";
    fs::permissions(theirs / "npm", fs::perms(0755));
    server.environment = {{"PATH", theirs.string() + ":/usr/bin:/bin"},
                          {"npm_config_token", "${env:MCPAC_TEST_TOKEN}"}};
    const char* const path_before = ::getenv("PATH");
    const std::string path = path_before == nullptr ? "" : path_before;
    ::setenv("PATH", (fake.string() + ":/usr/bin:/bin").c_str(), 1);
    ::setenv("MCPAC_TEST_TOKEN", "s3cr3t-token", 1);
    const auto run_of = [](std::vector<std::string> words) {
      words.insert(words.begin(), "npx");
      return servers::package_run_of(words).value().value();
    };
    mcp::SpawnOptions options{.program = "/usr/bin/npx"};
    options.arguments = {"npx", "-y", "a", "./data"};
    options.environment = {"PATH=/usr/bin"};
    const auto before = servers::server_start(options, folders);
    REQUIRE_FALSE(before.has_value());
    CHECK(before.error().fix.contains("mcpac server install"));

    const auto made =
        servers::install_server(run_of({"a"}), server, folders, servers::InstallScripts::kLeftOut);
    INFO((made ? std::string() : made.error().to_text()));
    REQUIRE(made.has_value());
    CHECK(made->text() == "a 1.2.3");
    CHECK_FALSE(fs::exists(folder->path() / "taken"));
    CHECK(made->left_out == std::vector<std::string>{"@s/n"});
    const auto start = servers::server_start(options, folders);
    REQUIRE(start.has_value());
    CHECK(start->options.arguments ==
          std::vector<std::string>{(made->folder / "node_modules/.bin/a").string(), "./data"});
    // The same name in another registry is another package.
    options.environment.emplace_back("npm_config_registry=http://other.example");
    CHECK_FALSE(servers::server_start(options, folders).has_value());
    // And another one through another proxy.
    options.environment.back() = "npm_config_https_proxy=http://127.0.0.1:9";
    CHECK_FALSE(servers::server_start(options, folders).has_value());
    CHECK(start->trees == std::vector<fs::path>{made->folder});
    CHECK(start->options.environment[0].starts_with("PATH=" + made->folder.string()));
    server.command = "npx";
    server.arguments = {"-y", "a", "./data"};
    server.sandbox = mcp::Confinement();
    std::ofstream(fake / "npx") << "#!/bin/sh\n";
    fs::permissions(fake / "npx", fs::perms(0755));
    const auto stamp = run::stamp_of_server(server, folders);
    CHECK(run::stamp_of_server(server, folders) == stamp);
    // Another installation takes its place: another server. What was there goes one time later.
    const auto again =
        servers::install_server(run_of({"a"}), server, folders, servers::InstallScripts::kRun);
    REQUIRE(again.has_value());
    CHECK(again->folder != made->folder);
    CHECK(again->left_out.empty());
    CHECK(run::stamp_of_server(server, folders) != stamp);
    CHECK(fs::exists(made->folder));
    REQUIRE(
        servers::install_server(run_of({"a"}), server, folders, servers::InstallScripts::kLeftOut)
            .has_value());
    CHECK_FALSE(fs::exists(made->folder));
    CHECK(fs::exists(again->folder));
    // What fails leaves what was there, says what the installer said, and no secret.
    const auto broken = servers::install_server(run_of({"broken"}), server, folders,
                                                servers::InstallScripts::kLeftOut);
    REQUIRE_FALSE(broken.has_value());
    CHECK(broken.error().why.contains("404 Not Found: ${env:MCPAC_TEST_TOKEN}"));
    // npm leaves scripts out without failing for them: they are no way out.
    CHECK(broken.error().fix.starts_with("try it: npm install"));
    CHECK_FALSE(broken.error().fix.contains("--scripts"));
    const auto other = servers::install_server(run_of({"-p", "a", "c"}), server, folders,
                                               servers::InstallScripts::kLeftOut);
    REQUIRE_FALSE(other.has_value());
    CHECK(other.error().what.contains("has no program c: it has a, b"));
    CHECK(servers::installed_server(run_of({"a"}), folders).has_value());
    fs::remove(servers::installed_server(run_of({"a"}), folders)->program);
    CHECK_FALSE(servers::installed_server(run_of({"a"}), folders).has_value());
    folders.cache = "/proc/self/nowhere";
    const auto unwritable =
        servers::install_server(run_of({"a"}), server, folders, servers::InstallScripts::kLeftOut);
    REQUIRE_FALSE(unwritable.has_value());
    CHECK(unwritable.error().id == ErrorId::kFileUnwritable);
    folders.cache = folder->path() / "a cache";
    server.environment["PATH"] = fake.string();
    ::setenv("PATH", "/nowhere", 1);
    const auto none =
        servers::install_server(run_of({"a"}), server, folders, servers::InstallScripts::kLeftOut);
    REQUIRE_FALSE(none.has_value());
    CHECK(none.error().what.contains("npm is not there to install a"));
    CHECK(none.error().why.contains("your own PATH, and not in that of the entry"));
    ::setenv("PATH", path.c_str(), 1);
  }
}
