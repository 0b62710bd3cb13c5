// The main job through the real binary, with real servers, in the real sandbox.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "e2e/workspace.h"
#include "places.h"

using e2e::has;
using e2e::Workspace;

namespace {

const std::string kReader = R"(#include <mcpac.hpp>
#include <print>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  std::println("{}", rt.filesystem.read_text_file({.path = "data/a.txt", .head = 1}).text());
  return 0;
}
)";

}  // namespace

TEST_SUITE("e2e/execute") {
  TEST_CASE("executes with valid permissions") {
    const auto run = Workspace::shared().execute(kReader, "filesystem.read_text_file");
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.out == "alpha\n");
  }

  TEST_CASE("rejects missing permissions at the static check, with the text to add") {
    const auto run = Workspace::shared().execute(kReader, "");
    CHECK(run.exit_code == 77);
    CHECK(run.out.empty());
    CHECK(has(run.err, "MCPAC-E0704"));
    INFO(run.err);
    CHECK(has(run.err, R"(--grant 'filesystem.read_text_file(head == 1, path == "data/a.txt")')"));
    const auto json = Workspace::shared().execute(kReader, "", {"--json"}).json();
    CHECK(json["missing"] == mcpac::Json::array({"filesystem.read_text_file"}));
    CHECK_FALSE(json.contains("run_id"));
    // Refused before anything is compiled.
    for (const auto& stage : json["stages"]) CHECK(stage["name"] != "compile");
  }

  TEST_CASE("blocks when one of two is missing, allows when all granted") {
    const std::string source = R"(#include <mcpac.hpp>
#include <print>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file, filesystem::list_directory> rt) {
  std::println("{}", rt.filesystem.list_directory({.path = "data"}).text());
  std::println("{}", rt.filesystem.read_text_file({.path = "data/a.txt"}).text());
  return 0;
}
)";
    CHECK(Workspace::shared().execute(source, "filesystem.read_text_file").exit_code == 77);
    const auto run =
        Workspace::shared().execute(source, "filesystem.read_text_file,filesystem.list_directory");
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, "a.txt"));
  }

  TEST_CASE("a tool that is granted and not declared is a note, for who asks for notes") {
    const std::string grants = "filesystem.read_text_file,filesystem.write_file";
    const auto run = Workspace::shared().execute(kReader, grants);
    CHECK(run.exit_code == 0);
    CHECK_FALSE(has(run.err, "filesystem.write_file"));
    const auto verbose = Workspace::shared().execute(kReader, grants, {"--verbose"});
    CHECK(has(verbose.err, "note: filesystem.write_file is granted, but"));
  }

  TEST_CASE("the exit code of the program is the exit code of mcpac") {
    const auto run = Workspace::shared().execute(
        "#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return 42; }\n", "");
    INFO(run.err);
    CHECK(run.exit_code == 42);
  }

  TEST_CASE("a result returned as Json is printed") {
    const auto run = Workspace::shared().execute(
        "#include <mcpac.hpp>\nmcpac::Json agent_main(mcpac::Requires<>) { return {{\"answer\", "
        "42}}; }\n",
        "");
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.json() == mcpac::Json{{"answer", 42}});
  }

  TEST_CASE(
      "what an agent has of the runtime is formatted, and views that the library lacks are there") {
    const auto run = Workspace::shared().execute(
        R"(#include <mcpac.hpp>
#include <algorithm>
#include <chrono>
#include <future>
#include <list>
#include <print>
#include <ranges>
#include <string>
#include <vector>
using namespace mcp;
struct Part { std::string name; std::optional<int> size; };
struct Whole { std::vector<Part> parts; };
int agent_main(mcpac::Requires<filesystem::read_text_file, memory::create_entities> rt) {
  const auto whole = mcpac::Json::parse(R"x({"parts":[{"name":"a"}]})x").get<Whole>();
  const mcpac::Json json = whole;
  std::println("{} {} {:2}", json, whole.parts[0].name, mcpac::Json{1});
  memory::create_entities::Entities entity;
  entity.name = "n";
  entity.observations = {"x", "y"};
  if (entity.name.empty()) entity.entityType = "never";
  std::println("{:>3}|{}", entity.name, entity.observations);
  const auto result = rt.filesystem.read_text_file({.path = "data/a.txt"});
  std::println("{} {}", result.content()[0].type, result.content()[0].type == "text");
  try {
    std::println("{}", result.json());
  } catch (const mcpac::ToolError& error) {
    std::println("{}", error);
  }
  try {
    rt.memory.create_entities({.entities = {entity}});
  } catch (const mcpac::InvalidArguments& error) {
    std::println("{}", error);
  }
  std::vector<std::string> words{"a", "b", "c"};
  for (auto [i, word] : words | mcpac::views::enumerate) word += std::to_string(i);
  for (auto part : words | mcpac::views::chunk(2)) std::print("{} ", part);
  for (auto part : std::list<int>{1, 2, 3} | mcpac::views::slide(2)) std::print("{} ", part);
  for (auto [a, b] : words | mcpac::views::take(3) | mcpac::views::pairwise) std::print("{}{} ", a, b);
  for (auto& word : words | mcpac::views::stride(2)) word += "!";
  for (auto [a, b, c] : std::list<int>{1, 2, 3} | mcpac::views::adjacent<3>) std::print("{} ", a + b + c);
  for (const auto& word : mcpac::views::zip_transform([](auto& w, int n) { return w + std::to_string(n); },
                                                      words, std::vector{7, 8}))
    std::print("{} ", word);
  std::println("{}", words | mcpac::views::as_const);
  for (auto [a, b] : mcpac::views::cartesian_product(words, std::vector{1, 2})) std::print("{}{} ", a, b);
  std::println("{}", words | mcpac::views::join_with(", "));
  auto later = rt.filesystem.read_text_file.async({.path = "data/a.txt"});
  while (later.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) continue;
  const auto size = rt.filesystem.read_text_file.try_call({.path = "data/a.txt"})
                        .transform([](auto&& r) { return r.text().size(); }).value_or(0);
  const auto none = rt.filesystem.read_text_file.try_call({.path = "data/none.txt"});
  auto list = mcpac::Json::parse("[3, 1, 2]");
  std::ranges::sort(list);
  enum class Level { low, high };
  std::println("{} {} {} {}", later.get().text().size() == size, none.error().kind() == mcpac::ErrorKind::ToolError,
               list, mcpac::Json("high").get<Level>() == Level::high);
  mcpac::log("{} of {}", 1, 2);
  return 0;
}
)",
        "filesystem.read_text_file,memory.create_entities");
    INFO(run.err);
    CHECK(run.exit_code == 0);
    const std::string expected =
        "{\"parts\":[{\"name\":\"a\"}]} a [\n  1\n]\n"
        "  n|[\"x\", \"y\"]\n"
        "text true\n"
        "the answer is text and no JSON: .text() or .lines() reads it";
    CHECK(run.out.substr(0, expected.size()) == expected);
    CHECK(
        run.out.ends_with("the required argument `entityType` was never given a value\n"
                          "[\"a0\", \"b1\"] [\"c2\"] [1, 2] [2, 3] a0b1 b1c2 6 a0!7 b18 "
                          "[\"a0!\", \"b1\", \"c2!\"]\n"
                          "a0!1 a0!2 b11 b12 c2!1 c2!2 a0!, b1, c2!\ntrue true [1,2,3] true\n"));
    CHECK(e2e::has(run.err, "1 of 2"));
  }

  TEST_CASE("the runtime object form works like agent_main, also beside a comment about that") {
    for (const std::string comment : {"", "// Like agent_main, but with an object.\n"}) {
      const auto run = Workspace::shared().execute(comment + R"(#include <mcpac.hpp>
#include <cstdio>
extern mcpac::Requires<mcp::filesystem::read_text_file> runtime;
int main() { std::puts(runtime.filesystem.read_text_file({.path = "data/a.txt", .head = 1}).text().c_str()); }
)",
                                                   "filesystem.read_text_file");
      INFO(run.err);
      CHECK(run.exit_code == 0);
      CHECK(run.out == "alpha\n");
    }
  }

  TEST_CASE("reads the program from standard input") {
    const auto run = Workspace::shared().mcpac(
        {"execute", "-", "--grant", "filesystem.read_text_file"}, {.input = kReader});
    INFO(run.err);
    CHECK(run.out == "alpha\n");
  }

  TEST_CASE("a dry run does all but run") {
    const auto run =
        Workspace::shared().execute(kReader, "filesystem.read_text_file", {"--dry-run"});
    CHECK(run.exit_code == 0);
    CHECK(run.out.empty());
    CHECK(has(run.err, "dry run"));
  }

  TEST_CASE("a program that ran before is not built again, and is checked as at the first time") {
    const auto built = [] {
      std::size_t count = 0;
      for (const auto& file :
           std::filesystem::directory_iterator(Workspace::shared_cache() / "mcpac/programs"))
        count += file.path().extension() == ".program" ? 1 : 0;
      return count;
    };
    const std::string source = kReader + "// a program of its own\n";
    const auto first = Workspace::shared().execute(source, "filesystem.read_text_file");
    const std::size_t after_first = built();
    const auto again = Workspace::shared().execute(source, "filesystem.read_text_file");
    CHECK(again.exit_code == 0);
    CHECK(again.out == first.out);
    CHECK(built() == after_first);
    const auto refused = Workspace::shared().execute(source, "memory.read_graph");
    CHECK(refused.exit_code == 77);
    CHECK(refused.out.empty());
    const auto denied = Workspace::shared().execute(
        source, "filesystem.read_text_file(path == \"data/b.txt\", head any)");
    CHECK(denied.exit_code == 77);
    CHECK(denied.out.empty());
  }

  TEST_CASE("observe mode warns, makes the call, and audits what would have been denied") {
    if (!Workspace::shared().allow_off_switch()) return;
    const auto run = Workspace::shared().execute(kReader, "", {"--no-permission-check", "--json"});
    const auto json = run.json();
    INFO(run.out);
    CHECK(run.exit_code == 0);
    CHECK(json["stdout"] == "alpha\n");
    CHECK(has(run.err, "warning: permission checks are off"));
    const auto events = Workspace::shared()
                            .mcpac({"audit", "list", "--json", "--run",
                                    json["run_id"].get<std::string>(), "--kind", "CapabilityCheck"})
                            .json();
    REQUIRE(events.size() == 1);
    CHECK(events[0]["payload"]["would_deny"] == true);
    const auto id = json["run_id"].get<std::string>();
    const auto listed = Workspace::shared().mcpac({"audit", "list", "--run", id});
    CHECK(has(listed.out, "OBSERVED  filesystem.read_text_file"));
    CHECK(has(listed.out, "(permission checks off); by the word of "));
    CHECK(has(listed.out, "; declares: filesystem.read_text_file"));
    const auto denied = Workspace::shared().mcpac({"audit", "query", "denied", "--run", id});
    CHECK(has(denied.out, "OBSERVED"));
  }

  TEST_CASE("random numbers of the kernel's are there, without a file that they come from") {
    const auto run = Workspace::shared().execute(R"(#include <mcpac.hpp>
#include <print>
#include <random>
#include <system_error>
int agent_main(mcpac::Requires<>) {
  std::random_device device;
  bool differs = false;
  const unsigned first = device();
  for (int i = 0; i < 8; ++i) differs = differs || device() != first;
  std::mt19937_64 engine{std::random_device{}()};
  const int die = std::uniform_int_distribution<int>(1, 6)(engine);
  std::println("{} {}", differs ? "random" : "always the same", die >= 1 && die <= 6);
  try {
    std::random_device("/dev/hwrng");
  } catch (const std::system_error&) {
    std::println("no such device");
  }
  return 0;
}
)",
                                                 "");
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.out == "random true\nno such device\n");
  }

  TEST_CASE("too little memory to start anything is a wrong command line") {
    const auto run = Workspace::shared().execute(kReader, "", {"--memory", "4096"});
    CHECK(run.exit_code == 64);
    CHECK(has(run.err, "at least 32MiB"));
  }

  TEST_CASE("what is denied is said to be denied, with what lifts it") {
    const auto run = Workspace::shared().execute(kReader, "filesystem.*",
                                                 {"--deny", "filesystem.read_text_file"});
    CHECK(run.exit_code == 77);
    CHECK(has(run.err, "declares a permission that was denied: filesystem.read_text_file"));
    CHECK(
        has(run.err,
            "fix: take what `deny filesystem.read_text_file` (--deny) denies out of the program"));
  }

  TEST_CASE("every check is an event with the fields that the issue names") {
    const auto json =
        Workspace::shared().execute(kReader, "filesystem.read_text_file", {"--json"}).json();
    const auto events = Workspace::shared()
                            .mcpac({"audit", "list", "--json", "--run",
                                    json["run_id"].get<std::string>(), "--kind", "CapabilityCheck"})
                            .json();
    REQUIRE(events.size() == 1);
    const auto& event = events[0];
    CHECK(event["event_id"].is_string());
    CHECK(event["run_id"] == json["run_id"]);
    CHECK(event["kind"] == "CapabilityCheck");
    CHECK(event["payload"]["capability"] == "filesystem.read_text_file");
    CHECK(event["payload"]["target"] == "data/a.txt");
    CHECK(event["payload"]["allowed"] == true);
    CHECK(event["payload"]["policy_decision_id"].is_string());
  }

  TEST_CASE("a narrowed permission binds the program even where the whole tool was granted") {
    const auto run = Workspace::shared().execute(R"(#include <mcpac.hpp>
#include <print>
struct read_data : mcpac::Narrow<mcp::filesystem::read_text_file> { static constexpr char where[] = "path == \"data/a.txt\", ?head any"; };
int agent_main(mcpac::Requires<read_data> rt) {
  std::println("{}", rt.filesystem.read_text_file({.path = "data/a.txt", .head = 1}).text());
  const auto other = rt.filesystem.read_text_file.try_call({.path = "data/b.txt"});
  std::println("{}", other ? "allowed" : "denied");
  return 0;
}
)",
                                                 "filesystem.read_text_file", {"--expect-denials"});
    INFO(run.err);
    CHECK(run.out == "alpha\ndenied\n");
  }

  TEST_CASE("a program that does not compile is refused with its place") {
    const auto run = Workspace::shared().execute(
        "#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return nonsense; }\n", "");
    CHECK(run.exit_code == 65);
    CHECK(has(run.err, "<code>:2"));
    CHECK(has(run.err, "nonsense"));
  }

  TEST_CASE("a generated header that is included by where it lies is one refusal, with the name") {
    auto& workspace = Workspace::shared();
    const std::string body =
        "#include <print>\nusing namespace mcp;\n"
        "int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {\n"
        "  std::print(\"{}\", rt.filesystem.read_text_file({.path = \"data/a.txt\"}).text());\n"
        "  return 0;\n}\n";
    const auto including = [&](const std::string& line) {
      workspace.write("including.cpp", line + "\n" + body);
      return workspace.mcpac({"execute", "-f", "including.cpp", "--grant",
                              "filesystem.read_text_file(path within ./data)"});
    };
    for (const char* name : {"servers/filesystem.hpp", "./servers/filesystem.hpp"}) {
      const auto run = including(fmt::format("#include \"{}\"", name));
      INFO(run.err);
      CHECK(run.exit_code == 77);
      CHECK(std::count(run.err.begin(), run.err.end(), '\n') < 8);
      CHECK(has(run.err, fmt::format("including.cpp:1:1: refuses: `{}` is a generated header, "
                                     "included by where it lies",
                                     name)));
      CHECK(has(run.err,
                "fix: #include <filesystem.hpp>: mcpac finds what it generates by the "
                "name alone; <mcpac.hpp> has all servers"));
    }
    const auto all = including("// \"servers/\"\n#include \"servers/mcpac.hpp\"");
    CHECK(has(all.err, "including.cpp:2:1: refuses: `servers/mcpac.hpp`"));
    CHECK(has(all.err, "fix: #include <mcpac.hpp>: mcpac finds"));
    for (const char* name : {"<servers/filesystem.hpp>", "<mcp/filesystem.hpp>"}) {
      const auto run = including(fmt::format("#include {}", name));
      INFO(run.err);
      CHECK(run.exit_code == 65);
      CHECK(has(run.err, "fix: #include <filesystem.hpp>: mcpac finds"));
    }
    CHECK(including("#include <filesystem.hpp>").exit_code == 0);
    CHECK(including("// #include \"servers/filesystem.hpp\"\n#include <mcpac.hpp>").exit_code == 0);
  }

  TEST_CASE("an undeclared tool does not compile, and the message says what to add") {
    const auto run = Workspace::shared().execute(
        "#include <mcpac.hpp>\nint agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) "
        "{ rt.filesystem.write_file({.path = \"x\", "
        ".content = \"y\"}); return 0; }\n",
        "filesystem.read_text_file,filesystem.write_file");
    CHECK(run.exit_code == 65);
    CHECK(has(run.err, "write_file"));
  }

  TEST_CASE("a run over its time is ended and says so") {
    const auto run = Workspace::shared().execute(
        "#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { for (volatile int i = 0;; i = i "
        "+ 1) {} }\n",
        "", {"--timeout", "0.5"});
    INFO(run.err);
    CHECK(run.exit_code == 124);
    CHECK(has(run.err, "MCPAC-E0705"));
  }

  TEST_CASE("a run over its memory ends with the program's own failure") {
    const auto run = Workspace::shared().execute(R"(#include <mcpac.hpp>
#include <vector>
int agent_main(mcpac::Requires<>) { std::vector<char> big(512u << 20u, 'x'); return big[1000] == 'x' ? 0 : 1; }
)",
                                                 "", {"--memory", "128MiB"});
    INFO(run.err);
    CHECK(run.exit_code != 0);
    CHECK(has(run.err, "bad_alloc"));
  }

  TEST_CASE("a run over its output is ended and says so") {
    const auto run = Workspace::shared().execute(
        "#include <mcpac.hpp>\n#include <print>\nint agent_main(mcpac::Requires<>) { for (;;) "
        "std::println(\"flood flood flood\"); }\n",
        "", {"--output-limit", "64KiB"});
    CHECK(run.exit_code == 137);
    CHECK(has(run.err, "MCPAC-E0707"));
    CHECK(run.out.size() <= 64U << 10U);
  }

  // script(1) gives mcpac a terminal, so that a person seems to be there.
  TEST_CASE("on a terminal it asks once, and a yes grants what was shown for this run only") {
    auto& workspace = Workspace::shared();
    workspace.write("asks.cpp", kReader);
    const std::string mcpac = mcpac::testing::in_build("bin/mcpac execute -f asks.cpp");
    const auto at_terminal = [&](const std::string& command, const std::string& answer) {
      return e2e::run_program({"script", "-qec", command, "/dev/null"}, workspace.environment(),
                              {.input = answer, .folder = workspace.folder()});
    };
    const auto yes = at_terminal(mcpac, "y\n");
    INFO(yes.out);
    CHECK(yes.exit_code == 0);
    CHECK(has(yes.out, "Allow for this run? [y/N]"));
    CHECK(has(yes.out, "alpha"));
    CHECK(at_terminal(mcpac, "n\n").exit_code == 77);
    CHECK(at_terminal(mcpac, "\n").exit_code == 77);
    // A yes does not lift a deny.
    const auto denied = at_terminal(mcpac + " --deny filesystem.read_text_file", "y\n");
    CHECK(denied.exit_code == 77);
    CHECK_FALSE(has(denied.out, "alpha"));
  }
}
