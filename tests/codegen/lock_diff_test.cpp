#include "codegen/lock_diff.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "codegen/text_change.h"
#include "support_codegen.h"

using namespace mcpac;
using namespace mcpac::codegen;
using namespace mcpac::codegen::testing;

namespace {

const std::string kRead =
    R"({"name": "read", "description": "Reads a file. It is quick.", "inputSchema": {"type":
    "object", "properties": {"path": {"type": "string"}, "head": {"type": "integer"}},
    "required": ["path"]}, "annotations": {"readOnlyHint": true}})";

LockedServer locked(const std::string& tools) {
  auto output = generate({listing("files", tools)});
  REQUIRE(output);
  return output->lock.servers.front();
}

ServerDiff diff_of(const std::string& before, const std::string& after) {
  const LockedServer old_server = locked(before);
  std::vector<Note> notes;
  const ServerListing live = lockable(listing("files", after), notes);
  return compare_server(&old_server, &live);
}

// The one changed tool, after `what` became `by` in the definition of read.
ToolDiff changed(const std::string& what, const std::string& by) {
  std::string after = kRead;
  const auto at = after.find(what);
  REQUIRE(at != std::string::npos);
  after.replace(at, what.size(), by);
  const ServerDiff diff = diff_of("[" + kRead + "]", "[" + after + "]");
  REQUIRE(diff.tools.size() == 1);
  CHECK(diff.tools[0].kind == ToolDiff::Kind::kChanged);
  CHECK(diff.drifted());
  return diff.tools[0];
}

bool contains_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("codegen/lock diff") {
  TEST_CASE("what is the same is no difference") {
    const ServerDiff diff = diff_of("[" + kRead + "]", "[" + kRead + "]");
    CHECK(diff.empty());
    CHECK_FALSE(diff.drifted());
  }

  TEST_CASE("every part that the digest covers is told apart") {
    CHECK(changed("Reads", "Deletes").description->after == "Deletes a file. It is quick.");
    CHECK(changed(R"("name": "read",)", R"("name": "read", "title": "Read",)").title->after ==
          "Read");
    const auto hints = changed("true", "false").hints;
    REQUIRE(hints.size() == 1);
    CHECK(hints[0].name == "readOnlyHint");
    CHECK(hints[0].before == "true");
    CHECK(hints[0].after == "false");
    CHECK(changed("\"integer\"", "\"number\"").input.effect() == SchemaEffect::kWidened);
    CHECK(changed(R"(["path"])", R"(["path", "head"])").input.effect() == SchemaEffect::kNarrowed);
    const auto output =
        changed(R"("annotations")", R"("outputSchema": {"type": "object"}, "annotations")").output;
    CHECK(output.effect() == SchemaEffect::kNarrowed);
  }

  TEST_CASE("texts alone are told apart from what decides") {
    const auto only_texts = [](const std::string& what, const std::string& by) {
      return changed(what, by).texts_only;
    };
    CHECK(only_texts("Reads", "Deletes"));
    CHECK(only_texts(R"("name": "read",)", R"("name": "read", "title": "Read",)"));
    CHECK(only_texts(R"("annotations": {)", R"("annotations": {"title": "42 notes", )"));
    CHECK(only_texts(R"({"type": "string"})", R"({"type": "string", "description": "one of 42"})"));
    CHECK(only_texts(R"("required")", R"("title": "All", "$comment": "x", "required")"));
    CHECK(only_texts(R"({"type": "integer"})",
                     R"({"type": "integer", "description": "from 1 to 9"})"));
    // A hint is a claim that something goes by (recordings), and no text.
    CHECK_FALSE(only_texts("true", "false"));
    CHECK_FALSE(only_texts(R"("annotations": {)", R"("annotations": {"other": "text", )"));
    CHECK_FALSE(only_texts("\"integer\"", "\"number\""));
    CHECK_FALSE(only_texts(R"(["path"])", R"(["path", "head"])"));
    CHECK_FALSE(
        only_texts(R"("annotations")", R"("outputSchema": {"type": "object"}, "annotations")"));
    // A property may be called as the keyword is, and what is no text is not read over.
    CHECK_FALSE(only_texts(R"("head": {)", R"("description": {"type": "string"}, "head": {)"));
    CHECK_FALSE(only_texts(R"({"type": "integer"})", R"({"type": "integer", "description": {}})"));
    CHECK_FALSE(
        only_texts(R"({"type": "integer"})", R"({"type": "integer", "default": {"title": "x"}})"));
    CHECK_FALSE(only_texts(R"({"type": "integer"})",
                           R"({"type": "integer", "const": {"description": "x"}})"));
    CHECK_FALSE(only_texts("\"name\": \"read\",", "\"name\": \"read\", \"title\": {},"));
    // Below every keyword that holds schemas, and nowhere else.
    const auto below = [](const std::string& before, const std::string& after) {
      const auto tool = [](const std::string& schema) {
        return parse_ordered_json(R"({"name": "t", "inputSchema": {"type": "object", )" + schema +
                                  "}}")
            .value();
      };
      return differ_in_texts_alone(tool(before), tool(after));
    };
    for (const std::string keyword : {"items", "additionalProperties", "not", "if", "then", "else",
                                      "contains", "propertyNames", "unevaluatedProperties"}) {
      CAPTURE(keyword);
      CHECK(
          below("\"" + keyword + R"(": {"title": "1"})", "\"" + keyword + R"(": {"title": "2"})"));
    }
    for (const std::string keyword : {"allOf", "anyOf", "oneOf", "prefixItems"})
      CHECK(below("\"" + keyword + R"(": [{"title": "1"}])",
                  "\"" + keyword + R"(": [{"title": "2"}])"));
    for (const std::string keyword :
         {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}) {
      CHECK(below("\"" + keyword + R"(": {"title": {"title": "1"}})",
                  "\"" + keyword + R"(": {"title": {"title": "2"}})"));
      CHECK_FALSE(
          below("\"" + keyword + R"(": {"title": "1"})", "\"" + keyword + R"(": {"title": "2"})"));
    }
    for (const std::string keyword : {"enum", "examples", "x-mcp-header", "dependencies"})
      CHECK_FALSE(below("\"" + keyword + R"(": {"a": {"title": "1"}})",
                        "\"" + keyword + R"(": {"a": {"title": "2"}})"));
  }

  TEST_CASE("where the locked texts hold, other texts are no drift, and all else is") {
    std::string other = kRead;
    other.replace(other.find("Reads"), 5, "Shows");
    ServerDiff diff = diff_of("[" + kRead + "]", "[" + other + "]");
    CHECK(diff.drifted());
    CHECK(diff.drifted_in_texts_alone());
    CHECK(contains_part(to_lines(diff), "~ files.read  (texts only)\n"));
    diff.keeps_texts = true;
    CHECK_FALSE(diff.drifted());
    CHECK(contains_part(to_lines(diff), "(texts only; the locked ones hold)"));
    CHECK(to_json(diff)["keeps_texts"] == true);
    CHECK(to_json(diff)["tools"][0]["texts_only"] == true);
    other.replace(other.find("integer"), 7, "number");
    diff = diff_of("[" + kRead + "]", "[" + other + "]");
    diff.keeps_texts = true;
    CHECK(diff.drifted());
    CHECK_FALSE(diff.drifted_in_texts_alone());
    diff = diff_of("[" + kRead + "]", "[]");
    diff.keeps_texts = true;
    CHECK(diff.drifted());
    CHECK_FALSE(diff.drifted_in_texts_alone());
  }

  TEST_CASE("a tool whose digest differs is never without a difference") {
    const std::string before =
        R"([{"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"enum": [1, 2]}}}}])";
    const std::string after =
        R"([{"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"enum": [2, 1]}}}}])";
    const ServerDiff diff = diff_of(before, after);
    REQUIRE(diff.tools.size() == 1);
    CHECK(contains_part(to_lines(diff), "written in another way"));
  }

  TEST_CASE("added, withdrawn, and probably renamed as a hint") {
    std::string renamed = kRead;
    renamed.replace(renamed.find("\"read\""), 6, "\"read_file\"");
    const ServerDiff diff = diff_of("[" + kRead + "]", "[" + renamed + R"(, {"name": "new"}])");
    CHECK(diff.count(ToolDiff::Kind::kAdded) == 2);
    CHECK(diff.count(ToolDiff::Kind::kWithdrawn) == 1);
    CHECK(diff.drifted());
    const std::string lines = to_lines(diff);
    CHECK(contains_part(lines,
                        "- files.read  (its server does not offer it; probably renamed to "
                        "files.read_file)"));
    CHECK(contains_part(lines, "+ files.read_file  (probably files.read renamed)"));
    CHECK(contains_part(lines, "+ files.new\n"));
  }

  TEST_CASE("new tools alone are no drift") {
    CHECK_FALSE(diff_of("[" + kRead + "]", "[" + kRead + R"(, {"name": "new"}])").drifted());
  }

  TEST_CASE("another command is drift, another version is said") {
    const LockedServer old_server = locked("[" + kRead + "]");
    ServerListing live = listing("files", "[" + kRead + "]");
    live.implementation = "files 2";
    ServerDiff diff = compare_server(&old_server, &live);
    CHECK(diff.version);
    CHECK_FALSE(diff.drifted());
    live.identity = "npx evil";
    diff = compare_server(&old_server, &live);
    CHECK(diff.drifted());
    CHECK(contains_part(to_lines(diff),
                        "ANOTHER SERVER is started or called\n    - recorded\n    + npx evil\n"));
  }

  TEST_CASE("an argument that must be called by another name in C++ is said") {
    const auto diff = diff_of(
        R"([{"name": "t", "inputSchema": {"properties": {"a-b": {"type": "string"}}}}])",
        R"([{"name": "t", "inputSchema": {"properties": {"a-b": {"type": "string"}, "a_b": {"type": "string"}}}}])");
    REQUIRE(diff.tools.size() == 1);
    REQUIRE(diff.tools[0].fields.size() == 1);
    CHECK(contains_part(to_lines(diff), "in C++ the argument a-b is .a_b_2 now, it was .a_b"));
  }

  TEST_CASE("only the sentences that changed are shown, and marks of the text's own are not ours") {
    CHECK(text_change("One. Two. Three.", "One. 2. Three.") ==
          std::vector<std::string>{"  …", "- Two.", "+ 2.", "  …"});
    CHECK(text_change("a", "a").empty());
    CHECK(text_change("", "a\n- b") == std::vector<std::string>{"+ a", "+ - b"});
    CHECK(text_change("a b", "a  b").size() == 2);
    CHECK(text_change("One.", "One. Two.") == std::vector<std::string>{"  …", "+ Two."});
    CHECK(text_change("One. Two.", "One.\nTwo.") ==
          std::vector<std::string>{"~ only spaces and line breaks between sentences differ"});
    const auto hidden = text_change("safe", "safe\xe2\x80\x8b\x1b[2K");
    REQUIRE(hidden.size() == 2);
    CHECK(hidden[0] == "- safe");
    CHECK(contains_part(hidden[1], "<U+200B>"));
    CHECK_FALSE(contains_part(hidden[1], "\x1b"));
    // Also where people would write it: what differs is what a person looks for.
    CHECK(text_change("\u2764 it", "\u2764\ufe0f it").back() == "+ \u2764<U+FE0F> it");
    CHECK(text_change("می\u200cخ", "میخ").front() == "- می<U+200C>خ");
  }

  TEST_CASE("what differs late in a long value is seen, in lines and in JSON") {
    const std::string same(300, 's');
    const auto tool = [&](const std::string& words) {
      return R"([{"name": "t", "inputSchema": {"properties": {"a": {"description": ")" + same +
             words + same + R"("}}}}])";
    };
    const ServerDiff diff = diff_of(tool(" reads "), tool(" sends it to evil "));
    const std::string around(60, 's');
    const std::string near(59, 's');  // and the blank, which is the same too
    const std::string lines = to_lines(diff);
    CHECK(contains_part(lines, "- …" + near + " reads " + near + "…\n"));
    CHECK(contains_part(lines, "+ …" + near + " sends it to evil " + near + "…\n"));
    const Json change = to_json(diff)["tools"][0]["input"]["changes"][0];
    CHECK(change["before"] == "\"" + same + " reads " + same + "\"");
    CHECK(change["after"] == "\"" + same + " sends it to evil " + same + "\"");
    // Nothing but the last byte; and a character of two bytes that shares one with its neighbour.
    CHECK(value_change(same + "a", same + "b") ==
          std::vector<std::string>{"- …" + around + "a", "+ …" + around + "b"});
    CHECK(contains_part(value_change(same + "ä", same + "ö")[1], around.substr(1) + "ö"));
    CHECK(value_change("1", "") == std::vector<std::string>{"- 1"});
    CHECK(value_change("", std::string(1300, 'n')).size() == 3);
  }

  TEST_CASE("a change behind hundreds of others is shown") {
    OrderedJson before = OrderedJson::object();
    OrderedJson after = OrderedJson::object();
    for (int i = 0; i < 300; ++i) {
      before["p" + std::to_string(i)] = {{"title", "a"}};
      after["p" + std::to_string(i)] = {{"title", "b"}};
    }
    after["zz_evil"] = {{"description", "the private key"}};
    const auto tool = [](const OrderedJson& properties) {
      return OrderedJson::array({{{"name", "t"}, {"inputSchema", {{"properties", properties}}}}})
          .dump();
    };
    const ServerDiff diff = diff_of(tool(before), tool(after));
    CHECK(contains_part(to_lines(diff), "/properties/zz_evil"));
    CHECK(contains_part(to_lines(diff), "the private key"));
    CHECK(contains_part(to_json(diff).dump(), "the private key"));
  }

  TEST_CASE("a new tool is shown whole: title, words, arguments, result and hints") {
    std::string words;
    for (int i = 0; i < 100; ++i) words += "Sentence " + std::to_string(i) + ". ";
    const std::string tool =
        R"([{"name": "new", "title": "The title", "description": ")" + words +
        R"(And it sends them.", "inputSchema": {"type": "object", "properties": {"path": {"type":
        "string", "description": "where"}, "key": {}}, "required": ["path"],
        "additionalProperties": false}, "outputSchema": {"type": "object", "properties": {"n": {}}},
        "annotations": {"destructiveHint": true}}])";
    const ServerDiff diff = diff_of("[]", tool);
    const std::string lines = to_lines(diff);
    for (const char* part :
         {"+ The title", "+ Sentence 50.", "+ And it sends them.",
          "arguments\n        + \"path\" (required): "
          "{\"type\": \"string\", \"description\": "
          "\"where\"}",
          "        + \"key\": {}\n", "        + \"additionalProperties\" of the whole: false\n",
          "result\n        + \"n\": {}\n", "destructiveHint: not said → true"}) {
      INFO(lines);
      CHECK_MESSAGE(contains_part(lines, part), std::string(part));
    }
    const Json json = to_json(diff)["tools"][0];
    CHECK(json["definition"] == Json::parse(tool)[0]);
  }

  TEST_CASE("what a tool or a manifest says that it needs drifts, and is shown in plain words") {
    const auto tool = [](const std::string& meta) {
      return R"([{"name": "t", "_meta": {"x": 1, "io.mcpac/effects": )" + meta + "}}]";
    };
    const ServerDiff diff = diff_of(tool(R"(["FsRead"])"), tool(R"([{"effect": "NetRead",
        "host": "api.github.com", "required": true}])"));
    REQUIRE(diff.tools.size() == 1);
    CHECK(diff.drifted());
    CHECK_FALSE(diff.drifted_in_texts_alone());
    const std::string lines = to_lines(diff);
    CHECK_MESSAGE(contains_part(lines,
                                "      says it needs (its own claims, which grant nothing)\n"
                                "        - reads files (optional)\n"
                                "        + network api.github.com:443 (required)\n"),
                  lines);
    // Order, repetition, malformed entries and the rest of _meta are no change.
    CHECK(diff_of(tool(R"(["FsRead", "Exec"])"), tool(R"(["Exec", 7, "FsRead", "Exec"])")).empty());

    LockedServer old_server = locked(tool("[]"));
    std::vector<Note> notes;
    ServerListing live = lockable(listing("files", tool("[]")), notes);
    live.claims = read_manifest(R"({"effects": [{"effect": "Exec", "tool": "t"}, "nothing"]})");
    live = lockable(std::move(live), notes);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].permission == "files");
    live.entry = OrderedJson::object();
    // An older mcpac kept nothing, so there is nothing to compare.
    CHECK_FALSE(compare_server(&old_server, &live).drifted());
    old_server.entry = OrderedJson::object();
    const ServerDiff of_manifest = compare_server(&old_server, &live);
    CHECK(of_manifest.drifted());
    CHECK(contains_part(to_lines(of_manifest), "    + t: starts programs (optional)\n"));
    CHECK(needs_others(old_server, old_server.tools[0], live, live.tools[0].definition));
    ServerDiff without = of_manifest;
    without.claims = {};
    CHECK(digest_of({of_manifest}) != digest_of({without}));
  }

  TEST_CASE("an entry that starts another program or gives more drifts, one that gives less not") {
    struct Case {
      std::string locked;
      std::string live;
      std::string said;  // empty: no drift
    };
    for (const auto& [locked_text, live_text, said] : std::vector<Case>{
             {R"({})", R"({})", ""},
             {R"({})", R"({"cwd": "./x"})", "\"cwd\" was added"},
             {R"({"cwd": "./x"})", R"({})", "\"cwd\" was taken away"},
             {R"({"cwd": "./x"})", R"({"cwd": "./y"})", "\"cwd\" was changed"},
             {R"({})", R"({"env": {"NODE_OPTIONS": "-r ./x.js"}})",
              "\"env.NODE_OPTIONS\" was added"},
             {R"({"env": {"PATH": "/bin", "A": "1"}})", R"({"env": {"A": "1", "PATH": "./bin"}})",
              "\"env.PATH\" was changed"},
             {R"({"headers": {"X": "a"}})", R"({"headers": {"X": "b"}})",
              "\"headers.X\" was changed"},
             {R"({"sandbox": {}})", R"({})", "\"sandbox\" was taken away"},
             {R"({})", R"({"sandbox": {"files": ["./a"]}})", ""},
             {R"({"sandbox": {}})", R"({"sandbox": {"files": ["./a"]}})",
              "\"sandbox.files\" gives it more"},
             {R"({"sandbox": {"files": ["./a:rw"]}})", R"({"sandbox": {"files": ["a/b", "./a/"]}})",
              ""},
             {R"({"sandbox": {"files": ["./a"]}})", R"({"sandbox": {"files": ["./a:rw"]}})",
              "\"sandbox.files\" gives it more"},
             {R"({"sandbox": {"files": ["./a"]}})", R"({"sandbox": {"files": ["./ab"]}})",
              "\"sandbox.files\" gives it more"},
             {R"({"sandbox": {"files": ["./a"]}})", R"({"sandbox": {"files": ["./a/../b"]}})",
              "\"sandbox.files\" gives it more"},
             {R"({"sandbox": {"files": ["/"]}})", R"({"sandbox": {"files": ["/srv:ro"]}})", ""},
             {R"({"sandbox": {"files": ["."]}})", R"({"sandbox": {"files": ["./a"]}})", ""},
             {R"({"sandbox": {"files": ["."]}})", R"({"sandbox": {"files": ["../a"]}})",
              "\"sandbox.files\" gives it more"},
             {R"({"sandbox": {"network": ["any"]}})",
              R"({"sandbox": {"network": ["any", "169.254.169.254:80"]}})",
              "\"sandbox.network\" gives it more"},
             {R"({"sandbox": {"files": ["."]}})", R"({"sandbox": {"files": ["${env:HOME}/.ssh"]}})",
              "\"sandbox.files\" gives it more"},
             {R"({"sandbox": {"files": ["./data"]}})",
              R"({"sandbox": {"files": ["./data/${env:X}"]}})", "\"sandbox.files\" gives it more"},
             {R"({"sandbox": {"files": ["${env:HOME}/a", "b"]}})",
              R"({"sandbox": {"files": ["${env:HOME}/a"]}})", ""},
             {R"({"sandbox": {"network": ["a:443", "b:443"]}})",
              R"({"sandbox": {"network": ["b:443"]}})", ""},
             {R"({"sandbox": {"network": ["a:443"]}})", R"({"sandbox": {"network": ["b:443"]}})",
              "\"sandbox.network\" gives it more"},
             {R"({"sandbox": {"memory": "1GB"}})", R"({"sandbox": {"memory": "512MB"}})", ""},
             {R"({"sandbox": {"memory": "1GB"}})", R"({"sandbox": {"memory": "2GB"}})",
              "\"sandbox.memory\" gives it more"},
             {R"({"sandbox": {"share": "client"}})", R"({"sandbox": {}})",
              "\"sandbox.share\" gives it more"},
             {R"({"sandbox": {}})", R"({"sandbox": {"share": "client"}})", ""},
         }) {
      CAPTURE(locked_text);
      CAPTURE(live_text);
      const auto changes =
          compare_entries(OrderedJson::parse(locked_text), OrderedJson::parse(live_text));
      std::string found;
      for (const EntryChange& one : changes) {
        if (one.effect == EntryChange::Effect::kAnother) found += in_words(one);
      }
      CHECK(found == said);
      CHECK(starts_another(changes) == !said.empty());
    }
    // Nothing was kept, or nothing is there: nothing to compare.
    const OrderedJson some = {{"cwd", "./x"}};
    CHECK_FALSE(starts_another(compare_entries(nullptr, some)));
    CHECK(compare_entries(nullptr, some).size() == 1);
    CHECK(compare_entries(some, nullptr).empty());

    LockedServer old_server = locked(R"([{"name": "t"}])");
    std::vector<Note> notes;
    ServerListing live = lockable(listing("files", R"([{"name": "t"}])"), notes);
    old_server.entry = OrderedJson::object();
    live.entry = OrderedJson::parse(R"({"env": {"PATH": "/tmp/\u001b[31mx"}})");
    const ServerDiff diff = compare_server(&old_server, &live);
    CHECK(diff.is_another());
    CHECK(diff.drifted());
    CHECK(contains_part(to_lines(diff), "  in mcpac.json: \"env.PATH\" was added\n    + /tmp/"));
    CHECK_FALSE(contains_part(to_lines(diff), "\x1b"));
    live.entry = OrderedJson::parse(R"({"sandbox": {}})");
    const ServerDiff narrower = compare_server(&old_server, &live);
    CHECK_FALSE(narrower.drifted());
    CHECK(contains_part(to_lines(narrower), "which only takes away: \"sandbox\" was added"));
  }

  TEST_CASE("a digest that differs by what means nothing is said to differ") {
    CHECK(contains_part(to_lines(diff_of(R"([{"name": "t", "title": ""}])", R"([{"name": "t"}])")),
                        "  ~ files.t  (texts only)\n      written in another way\n"));
  }

  TEST_CASE("a hostile listing gives a bounded diff without control characters") {
    std::string tools;
    const OrderedJson evil =
        "\x1b]0;x\x07 */ \n+ files.safe\n" + std::string(1'000'000, 'x') + " \xe2\x80\xae";
    for (int i = 0; i < 20; ++i) {
      const OrderedJson name = "t" + std::to_string(i) + "\x7f\xe2\x80\xae";
      OrderedJson tool{{"name", name}, {"description", evil}, {"title", evil}};
      tool["annotations"] = {{evil.get<std::string>().substr(0, 2000), evil}};
      tool["inputSchema"]["properties"][evil.get<std::string>()] = {{"type", evil}};
      tools += (tools.empty() ? "" : ",") + tool.dump();
    }
    std::string before = tools;
    for (auto at = before.find(R"("type")"); at != std::string::npos;
         at = before.find(R"("type")", at + 1))
      before.replace(at, 6, R"("kind")");
    const ServerDiff diff = diff_of("[" + before + "]", "[" + tools + "]");
    const std::string lines = to_lines(diff);
    // Twenty tools of five megabytes, all of it shown, but in lines of a length that can be read.
    CHECK(lines.size() < 20 * 5 * 1'100'000);
    std::size_t longest = 0;
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', at), lines.size());
      longest = std::max(longest, end - at);
      at = end + 1;
    }
    CHECK(longest < 6'000);  // 600 bytes, where each is written as <U+0080>
    CHECK(std::ranges::none_of(
        lines, [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == 0x7f; }));
    CHECK_FALSE(contains_part(lines, "\n  + files.safe"));
    CHECK_FALSE(contains_part(lines, "\xe2\x80\xae"));
  }

  TEST_CASE("two long texts without a common sentence are compared in time") {
    std::string one;
    std::string two;
    for (int i = 0; i < 50'000; ++i) {
      one += "a" + std::to_string(i) + ". ";
      two += "b" + std::to_string(i) + ". ";
    }
    CHECK(text_change(one, two).size() == 100'000);
  }
}
