// What a person or a model sees of tools: tools list, describe, search, and the prompt; and that
// what the prompt shows as programs passes analysis, check and compilation.
#include <doctest/doctest.h>

#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;

TEST_SUITE("e2e/tools") {
  TEST_CASE(
      "a tool that was named not quite, and without its server, is answered with its whole name") {
    for (const char* name : {"get-smu", "get-su"}) {
      CAPTURE(name);
      const auto called = Workspace::shared().mcpac({"tools", "call", name});
      CHECK(called.exit_code != 0);
      CHECK(has(called.err, "did you mean everything.get-sum"));
    }
  }

  TEST_CASE("describe takes the original and the C++ name, and says where they differ") {
    const auto original = Workspace::shared().mcpac({"tools", "describe", "everything.get-sum"});
    INFO(original.err);
    CHECK(original.exit_code == 0);
    CHECK(has(original.out, "grants use the server's own name for it, get-sum:"));
    CHECK(has(original.out, "--grant everything.get-sum"));
    for (const char* name : {"mcp::everything::get_sum", "everything.get_sum", "get_sum"})
      CHECK(Workspace::shared().mcpac({"tools", "describe", name}).out == original.out);
  }

  TEST_CASE("a mistyped tool names the nearest ones") {
    const auto run = Workspace::shared().mcpac({"tools", "describe", "everything.get-sun"});
    CHECK(run.exit_code == 78);
    CHECK(has(run.err, "MCPAC-E0405"));
    CHECK(has(run.err, "everything.get-sum"));
  }

  TEST_CASE("several tools are described by one line each") {
    const auto run = Workspace::shared().mcpac({"tools", "describe", "memory", "everything.get-*"});
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, "namespace memory\n"));
    CHECK(has(run.out, "\nget_sum{double a"));
    CHECK(Workspace::shared().mcpac({"tools", "describe", "--json", "memory"}).json().size() == 9);
  }

  TEST_CASE("search ranks, bounds its answers, and reads no query syntax") {
    const auto run = Workspace::shared().mcpac({"tools", "search", "read", "a", "text", "file"});
    CHECK(run.exit_code == 0);
    CHECK(has(run.out.substr(0, run.out.find('\n')), "filesystem.read_text_file"));
    const auto json =
        Workspace::shared().mcpac({"--json", "tools", "search", "--limit", "2", "file"}).json();
    CHECK(json.size() == 2);
    CHECK(Workspace::shared().mcpac({"tools", "search", "\"file\" OR *"}).exit_code == 0);
    CHECK(has(Workspace::shared().mcpac({"tools", "search", "zebra"}).err, "no tool matches"));
  }

  TEST_CASE("options for every command may stand before it, too") {
    const auto before = Workspace::shared().mcpac({"--json", "tools", "list", "memory"});
    const auto between = Workspace::shared().mcpac({"tools", "--json", "list", "memory"});
    const auto after = Workspace::shared().mcpac({"tools", "list", "memory", "--json"});
    CHECK(before.json().size() == 9);
    CHECK(between.out == before.out);
    CHECK(after.out == before.out);
  }

  TEST_CASE("the programs of the prompt pass analysis, check and compilation") {
    const auto prompt = Workspace::shared().mcpac({"prompt", "--json"}).json();
    REQUIRE(prompt["examples"].size() == 2);
    for (const auto& program : prompt["examples"]) {
      const auto text = program.get<std::string>();
      CHECK(has(prompt["prompt"].get<std::string>(), text));
      const auto run =
          Workspace::shared().execute(text, "filesystem.*,memory.*,everything.*", {"--dry-run"});
      INFO(text, run.err);
      CHECK(run.exit_code == 0);
    }
  }

  TEST_CASE("with grants the prompt has the tools that they admit, and the conditions") {
    const auto run = Workspace::shared().mcpac(
        {"prompt", "--grant", "filesystem.read_text_file(path within ./data),memory.read_graph"});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, "\nread_text_file{string path"));
    CHECK(has(run.out, "\nread_graph{}"));
    CHECK_FALSE(has(run.out, "write_file"));
    CHECK(has(run.out, "path within ./data"));
  }

  TEST_CASE("a call that is denied says by which rule, and the narrowest grant that admits it") {
    const auto run = Workspace::shared().mcpac({"tools", "call", "filesystem.read_text_file",
                                                "--path", "mcpac.json", "--grant",
                                                "filesystem.read_text_file(path within ./data)"});
    INFO(run.err);
    CHECK(run.exit_code == 77);
    CHECK(
        has(run.err,
            "path \"mcpac.json\" is not within ./data [allow filesystem.read_text_file(path within "
            "./data)]"));
    CHECK(has(run.err, "counted from"));
    CHECK(has(run.err, "fix: --grant 'filesystem.read_text_file(path == \"mcpac.json\")'"));
  }

  TEST_CASE(
      "what a tool answers is shown as text, and what came where another type belongs is said") {
    const auto call = [](const std::string& tool, const std::string& arguments) {
      return Workspace::shared().mcpac(
          {"tools", "call", "everything." + tool, arguments, "--grant", "everything." + tool});
    };
    const auto image = call("get-tiny-image", "{}");
    INFO(image.err);
    CHECK(has(image.out, "\nimage/png, "));
    CHECK_FALSE(has(image.out, "base64"));
    CHECK(image.out.size() < 1'000);
    const auto weather = call("get-structured-content", R"({"location": "Chicago"})");
    CHECK(mcpac::Json::parse(weather.out, nullptr, false)
              .is_object());  // once, as its text says the same
    const auto refused = call("get-sum", R"({"a": "1", "b": 2})");
    CHECK(refused.exit_code == 65);
    CHECK(has(refused.err,
              "/a must be a number, and is a text that holds a number: pass the number"));
  }

  TEST_CASE("the same project gives the same prompt, byte for byte") {
    const auto first = Workspace::shared().mcpac({"prompt"});
    CHECK(first.out == Workspace::shared().mcpac({"prompt"}).out);
    CHECK(first.out.size() > 2'000);
  }
}
