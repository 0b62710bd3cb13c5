// `mcpac run`: programs that somebody else compiled, in the same sandbox at the same gate.
#include <doctest/doctest.h>

#include <chrono>

#include "core/file.h"
#include "e2e/workspace.h"
#include "toolchain/support_symbols.h"

using e2e::Workspace;

namespace {

// Built as docs/agents.md says, against the headers that the workspace generated.
std::string build(const std::string& name, const std::string& source,
                  std::vector<std::string> flags) {
  auto& workspace = Workspace::shared();
  const auto file = workspace.write(name + ".cpp", source);
  const auto program = (workspace.folder() / name).string();
  std::vector<std::string> words{"g++", "-std=c++20", "-Iservers", file.string(), "-o", program};
  words.insert(words.end(), flags.begin(), flags.end());
  const auto built = e2e::run_program(words, {}, {.folder = workspace.folder()});
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
  return program;
}

const std::string kOwnProgram = R"(#include <mcpac.hpp>
#include <cstdio>
int main() {
  auto rt = mcpac::connect<mcpac::Requires<mcp::filesystem::read_text_file>>();
  auto text = rt.filesystem.read_text_file.try_call({.path = "data/a.txt", .head = 1});
  std::puts(text ? text->text().c_str() : "denied");
}
)";

const std::string kNarrowProgram = R"(#include <mcpac.hpp>
#include <cstdio>
namespace {
struct read_data : mcpac::Narrow<mcp::filesystem::read_text_file> {
  static constexpr char where[] = "path within ./data, ?head any";
};
}
int main() {
  auto rt = mcpac::connect<mcpac::Requires<read_data>>();
  for (const char* path : {"data/a.txt", "mcpac.json"}) {
    auto text = rt.filesystem.read_text_file.try_call({.path = path, .head = 1});
    std::puts(text ? text->text().c_str() : "denied");
  }
}
)";

// Ends by what its first argument names.
const std::string kEndingProgram = R"(#include <mcpac.hpp>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
int main(int count, char** words) {
  const std::string_view how = count > 1 ? words[1] : "";
  if (how == "early") throw std::runtime_error("before connect");
  auto rt = mcpac::connect<mcpac::Requires<mcp::filesystem::read_text_file>>();
  if (how == "abort") std::abort();
  if (how == "terminate") std::terminate();
  if (how == "missing") rt.filesystem.read_text_file({.path = "data/none.txt"});
  throw std::length_error("boom");
}
)";

// Declares that it reads, and writes a frame of its own on the channel, past every type.
const std::string kForgingProgram = R"p(#include <mcpac.hpp>
#include <cstdio>
#include <cstring>
#include <unistd.h>
int main(int count, char**) {
  const char* call = R"x({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"filesystem.write_file",)x"
                     R"x("arguments":{"path":"data/forged.txt","content":"x"},"grantedPermissions":["filesystem.write_file"]}})x" "\n";
  if (count > 5) (void)mcpac::connect<mcpac::Requires<mcp::filesystem::read_text_file>>();
  if (write(3, call, std::strlen(call)) < 0) return 1;
  static char answer[4096];
  const auto n = read(3, answer, sizeof answer - 1);
  return n > 0 && std::puts(answer) >= 0 ? 0 : 1;
}
)p";

// Speaks the protocol by itself, without our headers: no note.
const std::string kSilentProgram = R"(#include <cstdio>
#include <cstring>
#include <unistd.h>
int main() {
  const char* call = R"x({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"filesystem.read_text_file",)x"
                     R"x("arguments":{"path":"data/a.txt"}}})x" "\n";
  if (write(3, call, std::strlen(call)) < 0) return 1;
  static char answer[4096];
  const auto n = read(3, answer, sizeof answer - 1);
  return n > 0 && std::puts(answer) >= 0 ? 0 : 1;
}
)";

// Sends more than a message may have, and ends as if all were well.
const std::string kFloodingProgram = R"(#include <csignal>
#include <unistd.h>
int main() {
  std::signal(SIGPIPE, SIG_IGN);
  static char piece[65536];
  for (char& c : piece) c = 'x';
  for (int i = 0; i < 300; ++i) {
    if (write(3, piece, sizeof piece) < 0) break;
  }
}
)";

}  // namespace

TEST_SUITE("e2e/run") {
  TEST_CASE("a program whose connection was ended for what it sent has not ended well") {
    const auto program = build("flooding", kFloodingProgram, {});
    const auto run = Workspace::shared().mcpac(
        {"run", "--json", "--grant", "filesystem.read_text_file", "--", program});
    INFO(run.out, run.err);
    CHECK(run.exit_code == 137);
    const auto error = run.json().value("error", mcpac::Json::object());
    CHECK(error.value("id", "") == "MCPAC-E0709");
    CHECK(error.value("what", "") ==
          "the program's connection was ended: a line is longer than 16777216 bytes");
  }

  TEST_CASE("a frame of its own gains nothing: the gate asks what was declared and granted") {
    const auto program = build("forging", kForgingProgram, {});
    const auto run = Workspace::shared().mcpac(
        {"run", "--grant", "filesystem.read_text_file,filesystem.write_file", "--", program});
    INFO(run.out, run.err);
    CHECK(run.out.find("-32001") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(Workspace::shared().folder() / "data/forged.txt"));
  }

  TEST_CASE("a program of somebody's own has what was granted, static or dynamic") {
    const auto fixed = build("own-static", kOwnProgram, {"-static"});
    const auto dynamic = build("own-dynamic", kOwnProgram, {});
    for (const auto& program : {fixed, dynamic}) {
      const auto run =
          Workspace::shared().mcpac({"run", "--grant", "filesystem.read_text_file", "--", program});
      INFO(run.err);
      CHECK(run.exit_code == 0);
      CHECK(run.out == "alpha\n");
    }
  }

  TEST_CASE("a program of somebody's own ends with the documented codes") {
    const auto program = build("ending", kEndingProgram, {});
    const auto ended = [&](const std::string& how) {
      return Workspace::shared().mcpac(
          {"run", "--grant", "filesystem.read_text_file", "--", program, how});
    };
    const auto thrown = ended("throw");
    INFO(thrown.err);
    CHECK(thrown.exit_code == 71);
    CHECK(e2e::has(thrown.err, "mcpac: uncaught exception: std::length_error: boom\n"));
    CHECK(ended("early").exit_code == 71);
    CHECK(ended("terminate").exit_code == 71);
    CHECK(ended("missing").exit_code == 69);
    const auto aborted = ended("abort");
    CHECK(aborted.exit_code == 134);
    CHECK(e2e::has(aborted.err, "mcpac: the program called abort()\n"));
  }

  TEST_CASE("a program of somebody's own is given arguments, beside those of its command line") {
    const auto program = build("own-given", R"(#include <mcpac.hpp>
#include <cstdio>
int main(int count, char** words) {
  auto rt = mcpac::connect<mcpac::Requires<mcp::filesystem::read_text_file>>();
  const auto path = mcpac::argument<std::string>("path");
  std::printf("%s %s", count == 2 ? words[1] : "none",
              rt.filesystem.read_text_file({.path = path, .head = 1}).text().c_str());
}
)",
                               {});
    const auto run =
        Workspace::shared().mcpac({"run", "--grant", "filesystem.read_text_file", "--arguments",
                                   R"({"path": "data/a.txt"})", "--", program, "word"});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.out == "word alpha");
  }

  TEST_CASE("a program that declares more than is granted is refused before it starts") {
    const auto program = build("own-refused", kOwnProgram, {"-O2", "-s", "-Wl,--gc-sections"});
    for (const char* grant : {"filesystem.list_directory", "memory.*"}) {
      const auto run = Workspace::shared().mcpac({"run", "--grant", grant, "--", program});
      CHECK(run.exit_code == 77);
      CHECK(run.out.empty());
      CHECK(run.err.find("MCPAC-E0704") != std::string::npos);
      CHECK(run.err.find("--grant filesystem.read_text_file") != std::string::npos);
    }
  }

  TEST_CASE("validate holds what a source declares against grants, as a run would") {
    auto& workspace = Workspace::shared();
    workspace.write("declares.cpp",
                    "#include <mcpac.hpp>\n"
                    "int agent_main(mcpac::Requires<mcp::filesystem::list_directory> rt) {\n"
                    "  rt.filesystem.list_directory({.path = \"data\"});\n  return 0;\n}\n");
    const auto validate = [&workspace](const std::string& grant) {
      return workspace.mcpac({"permissions", "validate", "--grant", grant, "declares.cpp"});
    };
    CHECK(validate("filesystem.list_directory").exit_code == 0);
    const auto refused = validate("filesystem.read_text_file");
    CHECK(refused.exit_code == 77);
    CHECK(refused.err.find(R"(--grant 'filesystem.list_directory(path == "data")')") !=
          std::string::npos);
    CHECK(workspace.mcpac({"permissions", "validate", "declares.cpp"}).exit_code == 0);
  }

  TEST_CASE("a narrowed declaration in the binary binds where more was granted") {
    const auto program = build("own-narrow", kNarrowProgram, {"-O1"});
    auto& workspace = Workspace::shared();
    const auto report = workspace.mcpac({"permissions", "analyze", "--json", program}).json();
    CHECK(report["declared"] ==
          mcpac::Json{"filesystem.read_text_file where path within ./data, ?head any"});
    const auto run =
        workspace.mcpac({"run", "-v", "--grant", "filesystem.read_text_file", "--", program});
    INFO(run.err);
    CHECK(run.out == "alpha\ndenied\n");
    const auto started =
        workspace.mcpac({"audit", "list", "--kind", "RunStarted", "--json"}).json().back();
    CHECK(started["payload"]["declared_in"] == "note");
    CHECK(started["payload"]["declared"] == report["declared"]);
  }

  TEST_CASE("a program that says nothing has what was granted, and mcpac says so") {
    const auto program = build("own-silent", kSilentProgram, {});
    auto& workspace = Workspace::shared();
    const auto run =
        workspace.mcpac({"run", "--grant", "filesystem.read_text_file", "--", program});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.out.find("alpha") != std::string::npos);
    CHECK(run.err.find("does not say what it declares") != std::string::npos);
    const auto report = workspace.mcpac({"permissions", "analyze", program});
    CHECK(report.exit_code == 65);
    CHECK(report.out.empty());
    CHECK(report.err.find("MCPAC-E0708") != std::string::npos);
    const auto started =
        workspace.mcpac({"audit", "list", "--kind", "RunStarted", "--json"}).json().back();
    CHECK(started["payload"]["declared_in"] == "grants");
  }

  TEST_CASE("the connection is found where MCPAC_FD says, and without it the program says why") {
    const auto program = build("own-alone", kOwnProgram, {});
    auto& workspace = Workspace::shared();
    const auto alone = e2e::run_program({program}, {}, {.folder = workspace.folder()});
    CHECK(alone.exit_code == 69);
    CHECK(alone.err.find("start this program with mcpac run") != std::string::npos);
    const auto wrong =
        e2e::run_program({program}, {"MCPAC_FD=three"}, {.folder = workspace.folder()});
    CHECK(wrong.exit_code == 69);
    CHECK(wrong.err.find("MCPAC_FD is not the number of a descriptor") != std::string::npos);
  }

  TEST_CASE("a program that crashes with symbols made to keep us is recorded to its end") {
    auto& workspace = Workspace::shared();
    const auto program =
        build("crashing", "int main() { *(volatile int*)8 = 1; }\n", {"-static", "-no-pie"});
    const auto whole = mcpac::read_file(program, std::size_t{16} << 20U);
    REQUIRE(whole.has_value());
    struct Symbols {
      std::size_t count;
      std::size_t name;
      std::uint16_t tables;
    };
    for (const auto& [count, name, tables] :
         {Symbols{60'000, std::size_t{8} << 20U, 1}, Symbols{100'000, 30, 60'000}}) {
      CAPTURE(tables);
      const auto bent = workspace.folder() / "bent";
      REQUIRE(mcpac::write_file_atomic(
          bent, mcpac::testing::with_symbols(*whole, count, name, tables), 0755));
      const auto begin = std::chrono::steady_clock::now();
      const auto run = workspace.mcpac({"run", bent.string()});
      INFO(run.err);
      CHECK(run.exit_code == 128 + 11);
      CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
      const auto ended =
          workspace.mcpac({"audit", "list", "--kind", "RunEnded", "--json"}).json().back();
      CHECK(ended.at("payload").at("verdict") == "signalled");
    }
  }

  TEST_CASE("what is no program for the sandbox is refused before it runs") {
    auto& workspace = Workspace::shared();
    workspace.write("script.sh", "#!/bin/sh\necho hi\n");
    const auto run = workspace.mcpac({"run", "--", (workspace.folder() / "script.sh").string()});
    CHECK(run.exit_code == 65);
    CHECK(run.err.find("MCPAC-E0708") != std::string::npos);
  }
}
