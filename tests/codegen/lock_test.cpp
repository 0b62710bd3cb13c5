#include "codegen/lock.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "codegen/generate.h"

using namespace mcpac;
using namespace mcpac::codegen;

namespace {

OrderedJson definition(const std::string& name, const std::string& description) {
  return OrderedJson::parse(
      R"({"name": ")" + name + R"(", "description": ")" + description +
      R"(", "inputSchema": {"type": "object", "properties": {"b": {}, "a": {"default": 1.50}}}})");
}

Lock example_lock() {
  LockedTool read{.name = "read",
                  .cpp_name = "mcp::files::read",
                  .digest{},
                  .definition = definition("read", "Reads \\u202e it.")};
  read.digest = definition_digest(read.definition);
  LockedTool write{.name = "wri/te",
                   .cpp_name = "mcp::files::wri_te",
                   .digest{},
                   .definition = definition("wri/te", "")};
  write.digest = definition_digest(write.definition);
  return {.servers = {{.name = "files",
                       .identity = "npx \"files\"",
                       .implementation = "files 1.0",
                       .protocol_version = "2025-06-18",
                       .cpp_name = "mcp::files",
                       .tools = {read, write}}},
          .headers = {{"files.hpp", std::string(64, 'a')},
                      {"mcpac/runtime.hpp", std::string(64, 'b')}}};
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

// The error of a lock text in which `what` was edited.
Error edited(std::string_view what, std::string_view by) {
  auto lock = parse_lock(replaced(to_text(example_lock()), what, by), "mcpac.lock");
  REQUIRE_FALSE(lock);
  CHECK(lock.error().id == ErrorId::kLockInvalid);
  return lock.error();
}

}  // namespace

TEST_SUITE("codegen/lock") {
  TEST_CASE("a lock that was written reads back the same, byte for byte") {
    const std::string text = to_text(example_lock());
    const auto lock = parse_lock(text, "mcpac.lock");
    REQUIRE(lock);
    CHECK(to_text(*lock) == text);
    REQUIRE(lock->find_tool("files", "wri/te") != nullptr);
    CHECK(lock->find_tool("files", "wri/te")->cpp_name == "mcp::files::wri_te");
    CHECK(lock->find_tool("files", "nothing") == nullptr);
    CHECK(lock->find_tool("other", "read") == nullptr);
  }

  TEST_CASE("the order of a definition's members is kept, each on its own line") {
    const std::string text = to_text(example_lock());
    CHECK(text.find(R"("properties": {"b": {}, "a": {"default": 1.5}})") != std::string::npos);
    CHECK(text.find("\n            \"description\": \"Reads \\u202e it.\",\n") !=
          std::string::npos);
  }

  TEST_CASE("what an entry and a manifest say is kept, and claims of a tool with its digest") {
    Lock lock = example_lock();
    LockedServer& server = lock.servers[0];
    server.entry = OrderedJson::parse(
        R"({"cwd": "./x", "env": {"PATH": "/bin"}, "sandbox": {"files": ["./data:rw"]}})");
    server.claims =
        read_claims(
            OrderedJson::parse(
                R"([{"effect": "NetRead", "host": "a.example", "required": true}, "Exec"])"))
            .list;
    LockedTool& tool = server.tools[0];
    tool.definition["_meta"] = {{"other", 1}, {kEffectsMember, {{{"effect", "EnvRead"}}}}};
    const std::string without = tool.digest;
    tool.digest = definition_digest(tool.definition);
    CHECK(tool.digest != without);
    CHECK(digest_without_claims(tool.definition) == without);
    const std::string text = to_text(lock);
    CHECK(
        text.find(R"(        {"effect": "NetRead", "host": "a.example:443", "required": true})") !=
        std::string::npos);
    const auto again = parse_lock(text, "mcpac.lock");
    REQUIRE(again);
    CHECK(to_text(*again) == text);
    CHECK(again->servers[0].claims == server.claims);
    CHECK(again->servers[0].entry == server.entry);
    for (const auto& [what, by] :
         {std::pair(R"("EnvRead")", R"("Exec")"), std::pair(R"("a.example:443")", R"("A.example")"),
          std::pair(R"("cwd": "./x")", R"("cwd": 1)"),
          std::pair(R"("PATH": "/bin")", R"("PATH": ["/bin"])"),
          std::pair(R"("cwd": "./x")", R"("command": "x")")}) {
      CAPTURE(what);
      CHECK_FALSE(parse_lock(replaced(text, what, by), "mcpac.lock"));
    }
    // Of a lock that was written before claims were kept, nobody approved any.
    const auto older = parse_lock(replaced(text, tool.digest, without), "mcpac.lock");
    REQUIRE(older);
    CHECK(older->servers[0].tools[0].definition["_meta"] == OrderedJson{{"other", 1}});
  }

  TEST_CASE("an empty lock reads back") {
    const auto lock = parse_lock(to_text(Lock{}), "mcpac.lock");
    REQUIRE(lock);
    CHECK(lock->servers.empty());
  }

  TEST_CASE("an edited description is refused and the tool is named") {
    CHECK(edited("Reads", "Deletes").what.find("files.read") != std::string::npos);
  }

  TEST_CASE("an edited digest is refused") {
    const std::string digest = example_lock().servers[0].tools[0].digest;
    CHECK(edited(digest, std::string(64, '0')).what.find("files.read") != std::string::npos);
  }

  TEST_CASE("a tool under another name than its definition has is refused") {
    edited("\"name\": \"read\"", "\"name\": \"Read\"");
    edited("\"read\": {", "\"ready\": {");
  }

  TEST_CASE("two permissions behind one C++ type are refused") {
    edited("mcp::files::wri_te", "mcp::files::read");
  }

  TEST_CASE("a C++ name outside the server's namespace or illegal is refused") {
    edited("mcp::files::read", "mcp::other::read");
    edited("mcp::files::read", "mcp::files::re-ad");
    edited("\"mcp::files\"", "\"std::files\"");
  }

  TEST_CASE("unknown members, versions and paths out of servers/ are refused") {
    edited("\"version\": 1", "\"version\": 2");
    edited("\"identity\":", "\"trusted\": true, \"identity\":");
    edited("\"files.hpp\"", "\"../files.hpp\"");
    edited("\"files.hpp\"", "\"/files.hpp\"");
    edited("\"headers\"", "\"header\"");
  }

  TEST_CASE("a C++ name that says something else than the tool is refused") {
    CHECK(edited("mcp::files::read", "mcp::files::write").what.find("files.read") !=
          std::string::npos);
    edited("mcp::files::wri_te", "mcp::files::read_2");
  }

  TEST_CASE("the error of an edited entry names its line") {
    const std::string text = replaced(to_text(example_lock()), "Reads", "Deletes");
    const auto lock = parse_lock(text, "/p/mcpac.lock");
    REQUIRE_FALSE(lock);
    const auto line =
        1 + std::count(text.begin(),
                       text.begin() + static_cast<std::ptrdiff_t>(text.find("\"read\": {")), '\n');
    CHECK(lock.error().where == "/p/mcpac.lock:" + std::to_string(line));
  }

  TEST_CASE("the marks of a merge conflict are named as such, with the line and the way out") {
    std::string text = to_text(example_lock());
    const auto at = text.find("          \"sha256\"");
    text.insert(at, "<<<<<<< HEAD\n");
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const auto lock = parse_lock(text, "mcpac.lock");
    REQUIRE_FALSE(lock);
    CHECK(lock.error().id == ErrorId::kLockInvalid);
    CHECK(lock.error().what.find("merge conflict") != std::string::npos);
    CHECK(lock.error().where == "mcpac.lock:" + std::to_string(line));
    CHECK(lock.error().fix.find("--ours") != std::string::npos);
  }

  TEST_CASE("a newer version asks for a newer mcpac, not for a new lock") {
    const Error error = edited("\"version\": 1", "\"version\": 2");
    CHECK(error.what == "mcpac.lock has version 2; this mcpac reads version 1");
    CHECK(error.fix.find("remove") == std::string::npos);
  }

  TEST_CASE("a lock that was cut off anywhere is refused with a place") {
    const std::string text = to_text(example_lock());
    for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
      const auto lock = parse_lock(text.substr(0, size), "mcpac.lock");
      REQUIRE_FALSE(lock);
      CHECK(lock.error().id == ErrorId::kLockInvalid);
      CHECK(lock.error().where.starts_with("mcpac.lock:"));
    }
  }

  TEST_CASE("a tool that stands twice is refused with its line") {
    const std::string text = to_text(example_lock());
    const auto begin = text.find("        \"read\": {");
    const auto end = text.find("        \"wri/te\"");
    const auto lock = parse_lock(
        text.substr(0, end) + text.substr(begin, end - begin) + text.substr(end), "mcpac.lock");
    REQUIRE_FALSE(lock);
    CHECK(lock.error().id == ErrorId::kLockInvalid);
    CHECK(lock.error().what.find("read") != std::string::npos);
    CHECK(lock.error().where.starts_with("mcpac.lock:"));
  }

  TEST_CASE("text that is no JSON, or has one member twice, is refused as a broken lock") {
    for (const char* text : {"", "{", "[]", "null", R"({"version": 1, "version": 1})"}) {
      const auto lock = parse_lock(text, "mcpac.lock");
      REQUIRE_FALSE(lock);
      CHECK(lock.error().id == ErrorId::kLockInvalid);
    }
  }

  TEST_CASE("the digest covers what a user approves and nothing else") {
    const OrderedJson one = definition("read", "Reads.");
    OrderedJson other = one;
    other["_meta"] = "changes from start to start";
    CHECK(definition_digest(one) == definition_digest(other));
    for (const char* part :
         {"title", "description", "outputSchema", "annotations", "inputSchema"}) {
      other = one;
      other[part] = "changed";
      CHECK(definition_digest(one) != definition_digest(other));
    }
  }

  TEST_CASE("the digest does not depend on the order of members or the spelling of numbers") {
    CHECK(definition_digest(
              OrderedJson::parse(R"({"name": "a", "inputSchema": {"x": 1, "y": 2.0}})")) ==
          definition_digest(
              OrderedJson::parse(R"({"inputSchema": {"y": 2, "x": 1.0}, "name": "a"})")));
  }
}
