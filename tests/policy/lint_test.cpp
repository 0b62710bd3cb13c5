#include "policy/explain/lint.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "policy/match/parameter_names.h"
#include "policy/support_inclusion.h"
#include "policy/support_world.h"
#include "policy/text/parser.h"

namespace mcpac::policy::testing {
namespace {

// "kind line: text", in the order of the lines.
std::vector<std::string> overlap_lines(const World& world, const std::string& text) {
  const std::string filled = world.fill(text);
  const auto loaded =
      world.load({{.name = "p", .grants = {}, .asks = {}, .denies = {}, .files = {filled}}});
  INFO((loaded ? std::string() : loaded.error().to_text()));
  REQUIRE(loaded);
  std::vector<std::string> lines;
  for (const auto& note : find_overlaps(SourceText{"p", filled}, world.environment())) {
    CHECK_FALSE(note.why.empty());
    CHECK_FALSE(note.fix.empty());
    lines.push_back(fmt::format("{} {}: {}", note.kind, note.place, note.text));
  }
  std::ranges::sort(lines);
  return lines;
}

// The kinds and lines alone: "dead p:2".
std::string overlap_places(const World& world, const std::string& text) {
  std::string all;
  for (const std::string& line : overlap_lines(world, text))
    all += (all.empty() ? "" : ", ") + line.substr(0, line.find(": "));
  return all;
}

}  // namespace

TEST_CASE("a deny over all tools that names an argument is noted, for not all need to have it") {
  const auto notes = [](const char* text) {
    return summarize(SourceText{"p", text}).value().notes;
  };
  const auto found = notes("allow fs.read\ndeny fs.*(path within /etc)\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].place == "p:2");
  CHECK(found[0].text.find("says nothing of tools whose arguments have other names") !=
        std::string::npos);
  CHECK(notes("ask *.*(path within /etc)\n").size() == 1);
  CHECK(notes("deny fs.read(path within /etc)\n").empty());
  CHECK(notes("deny fs.*\n").empty());
  CHECK(notes("allow fs.*(path within /etc)\n").empty());
}

TEST_CASE("rules that decide nothing beside the others of their file are found") {
  struct Row {
    std::string rules;
    std::string found;
  };
  const World world;
  for (const auto& [rules, found] : std::vector<Row>{
           // Dead: denies take all that it is about.
           {"allow kv.get\ndeny kv.get\n", "dead p:1"},
           {"deny kv.*\nallow kv.get(key == \"a\")\n", "dead p:2"},
           {"ask kv.get(key == \"a\")\ndeny kv.get(key starts \"a\")\n", "dead p:1"},
           {"allow filesystem.read_text_file(path within ${BASE}/a/b, ..)\n"
            "deny filesystem.*(path within ${BASE}/a)\n",
            "dead p:1"},
           {"allow kv.get(key in {\"a\", \"b\"})\ndeny kv.get(key == \"a\")\n"
            "deny kv.get(key == \"b\")\n",
            "dead p:1"},
           // One target of a list is.
           {"allow kv.get, kv.clear\ndeny kv.clear\n", "dead p:1"},
           // Not dead: something is left.
           {"allow kv.get\ndeny kv.get(key == \"a\")\n", ""},
           {"allow kv.*\ndeny kv.get\n", ""},
           {"allow filesystem.read_text_file(path within ${BASE}/a, ..)\n"
            "deny filesystem.*(path within ${BASE}/a/b)\n",
            ""},
           // A deny that takes nothing from any allow is a deny all the same.
           {"allow kv.get\ndeny kv.clear\n", ""},
           // An ask takes all that an allow admits.
           {"allow kv.get(key == \"a\")\nask kv.get\n", "shadowed p:1"},
           {"ask filesystem.*\nallow filesystem.read_text_file(path within ${BASE}, ..)\n",
            "shadowed p:2"},
           {"allow kv.get(key in {\"a\", \"b\"})\nask kv.get(key == \"a\")\n"
            "deny kv.get(key == \"b\")\n",
            "shadowed p:1"},
           {"allow kv.get\nask kv.get(key == \"a\")\n", ""},
           {"allow kv.*\nask kv.clear\n", ""},
           // Another allow admits all of it.
           {"allow kv.get\nallow kv.get(key == \"a\")\n", "shadowed p:2"},
           {"allow kv.get(key == \"a\")\nallow kv.*\n", "shadowed p:1"},
           {"allow filesystem.read_text_file(path within ${BASE}/a/b, ..)\n"
            "allow filesystem.read_text_file(path within ${BASE}/a, ..)\n",
            "shadowed p:1"},
           {"allow kv.get\nallow kv.get calls <= 3\n", "shadowed p:2"},
           {"allow kv.get calls <= 3\nallow kv.get(key == \"a\")\n", ""},
           {"allow kv.get(key == \"a\")\nallow kv.get(key == \"b\")\n", ""},
           // Of two that say the same in other words the first one stands.
           {"allow kv.get(key in {\"a\", \"b\"})\nallow kv.get(key in {\"b\", \"a\"})\n",
            "shadowed p:2"},
           // Its record is more than the other one's: it decides something.
           {"allow kv.get\nallow kv.get(key == \"a\") audit args\n", ""},
           // Denies and asks within each other.
           {"deny kv.get(key == \"a\")\ndeny kv.*\n", "shadowed p:1"},
           {"ask kv.get\nask kv.get(key starts \"a\")\n", "shadowed p:2"},
           {"deny kv.get(key == \"a\")\ndeny kv.get(key == \"b\")\n", ""},
           {"deny filesystem.*(* within ${BASE}/a/b)\ndeny filesystem.*(* within ${BASE}/a)\n",
            "shadowed p:1"},
           // Undecided for tools that take members of any name: nothing is said.
           {"deny *.*(* within ${BASE}/a/b)\ndeny *.*(* within ${BASE}/a)\n", ""},
           // A reason that the wider one does not give.
           {"deny kv.clear because \"it cannot be undone\"\ndeny kv.*\n", ""},
           // The same twice; what it is told of once it is not told of again.
           {"allow kv.get\nallow kv.set\nallow kv.get\n", "doubled p:3"},
           {"allow kv.get\nallow kv.get because \"twice\"\n", "doubled p:2"},
           {"deny kv.get\ndeny kv.get\n", "doubled p:2"},
           {"allow kv.get calls <= 3\nallow kv.get calls <= 3\n", "doubled p:2"},
           // Over.
           {"allow kv.get until 2026-05-31T00:00:00Z\n", "expired p:1"},
           {"allow kv.get until 2026-06-02T00:00:00Z\n", ""},
           // One that is over covers nothing.
           {"allow kv.get(key == \"a\")\nallow kv.* until 2020-01-01T00:00:00Z\n", "expired p:2"},
           // Blocks of policy are the file's; a profile is read beside them, and by itself.
           {"policy \"x\" {\n  allow kv.get\n}\ndeny kv.*\n", "dead p:2"},
           {"deny kv.*\nprofile \"x\" {\n  allow kv.get\n}\n", "dead p:3"},
           {"profile \"x\" {\n  allow kv.get\n}\nprofile \"y\" {\n  deny kv.get\n}\n", ""},
           {"use \"x\"\nallow kv.get\nprofile \"x\" {\n  deny kv.get\n}\n", "dead p:2"},
           {"allow kv.get\ndeny kv.get\nprofile \"x\" {\n  allow kv.set\n}\n", "dead p:1"},
           // Nothing to say.
           {"allow mcpac.spawn\ndeny kv.*\n", ""},
           {"allow mcpac.spawn\ndeny mcpac.spawn\n", "dead p:1"}}) {
    CAPTURE(rules);
    CHECK(overlap_places(world, rules) == found);
  }
}

TEST_CASE("a rule that decides nothing is named with the one that decides in its place") {
  const World world;
  CHECK(overlap_lines(world, "allow kv.get(key == \"a\")\ndeny kv.set\ndeny kv.get\n") ==
        std::vector<std::string>{"dead p:1: 'allow kv.get(key == \"a\")' never admits a call: "
                                 "'deny kv.get' (p:3) denies all that it is about"});
  CHECK(overlap_lines(world,
                      "allow kv.get(key in {\"a\", \"b\"})\ndeny kv.get(key == \"a\")\n"
                      "deny kv.get(key == \"b\")\n")
            .front()
            .find("'deny kv.get(key == \"a\")' (p:2) and 'deny kv.get(key == \"b\")' (p:3)") !=
        std::string::npos);
  CHECK(
      overlap_lines(world, "allow kv.get\nask kv.*\n").front() ==
      "shadowed p:1: 'allow kv.get' admits no call unasked: 'ask kv.*' (p:2) is about all of them");
  CHECK(overlap_lines(world, "allow kv.get rate 3/min\nallow kv.*\n").front() ==
        "shadowed p:1: 'allow kv.get rate 3/min' limits nothing: 'allow kv.*' (p:2) admits these "
        "calls without a limit");
  CHECK(overlap_lines(world, "allow kv.get\n\nallow kv.get\n").front() ==
        "doubled p:3: 'allow kv.get' stands at p:1 already");
}

TEST_CASE("what a note of 'dead' or 'shadowed' says is what the decisions are") {
  const World world;
  // Without the rule that is told of, every policy here decides all calls as with it.
  for (const auto& [kept, told] : std::vector<std::pair<std::string, std::string>>{
           {"deny kv.*\n", "allow kv.get(key == \"a\")\n"},
           {"ask kv.get\n", "allow kv.get(key starts \"a\")\n"},
           {"allow kv.get\n", "allow kv.get calls <= 3\n"},
           {"allow *.*\ndeny kv.get(key starts \"a\")\n", "deny kv.get(key starts \"ab\")\n"}}) {
    CAPTURE(told);
    CHECK(overlap_lines(world, kept + told).size() == 1);
    const auto with = policy_of(world, kept + told);
    const auto without = policy_of(world, kept);
    CHECK(std::holds_alternative<Included>(with.includes(without)));
    CHECK(std::holds_alternative<Included>(without.includes(with)));
  }
}

TEST_CASE("a file of very many rules is looked at for what the text alone tells") {
  const World world;
  std::string text = "allow kv.get\ndeny kv.get\n";
  for (int i = 0; i < 600; ++i) text += fmt::format("allow kv.set(key == \"{}\", ..)\n", i);
  CHECK(overlap_places(world, text + "allow kv.set(key == \"7\", ..)\n") == "doubled p:603");
}

TEST_CASE("wildcards over a tool are those that cover it, and no rule that names it") {
  const World world;
  const auto authority = policy_of(
      world,
      "allow kv.*\nallow kv.clear\ndeny *.*(* within /etc)\nallow *.*(path within /srv, ..)\n"
      "allow notes.*, kv.*(key == \"a\", ..) calls <= 3\n");
  const auto over = [&](const char* tool) {
    std::string lines;
    for (const auto& rule : authority.wildcards_over(Permission::parse(tool).value()))
      lines += rule.place + " " + rule.text + "\n";
    return lines;
  };
  // A tool without the argument that a rule tests is none of its tools.
  CHECK(over("kv.clear") == "mcpac.policy:1 allow kv.*\nmcpac.policy:3 deny *.*(* within /etc)\n");
  CHECK(over("kv.get") ==
        "mcpac.policy:1 allow kv.*\nmcpac.policy:5 allow kv.*(key == \"a\", ..) calls <= "
        "3\nmcpac.policy:3 deny *.*(* within /etc)\n");
  CHECK(over("notes.add") ==
        "mcpac.policy:5 allow notes.* calls <= 3\nmcpac.policy:3 deny *.*(* within /etc)\n");
  CHECK(over("mcpac.spawn").empty());
}

TEST_CASE("an allow with a wildcard is said to cover the tools that come") {
  const auto found = find_wildcards(
      {"p",
       "allow kv.*\nask kv.*\ndeny *.*\nallow kv.get\nprofile \"x\" {\n  allow *.*(path within "
       "/srv, ..)\n}\n"});
  REQUIRE(found.size() == 2);
  CHECK(found[0].place == "p:1");
  CHECK(found[0].kind == "new-tools");
  CHECK(found[0].text.find("'allow kv.*' covers every tool that kv gains, from the moment") == 0);
  CHECK(found[1].place == "p:6");
  CHECK(found[1].text.find("every tool that any server gains and that has what it tests") !=
        std::string::npos);
}

namespace {

std::string open_end(const std::string& rule) {
  const auto notes = open_ends("allow " + rule);
  return notes.size() == 1 ? notes.front() : fmt::format("{} notes", notes.size());
}
bool says(const std::string& note, std::string_view what) {
  return note.find(what) != std::string::npos;
}
// The last rule that a note proposes for the argument.
std::string closed_in(const std::string& note, const std::string& begin) {
  const auto at = note.rfind(begin);
  return at == std::string::npos ? "" : note.substr(at, note.find("; its dot", at) - at);
}

}  // namespace

TEST_CASE("a test of a text that leaves a part open is noted with a value that passes") {
  const std::string note = open_end("s.run(command starts \"git log\")");
  CHECK(says(note, R"(admits "git log; id", too)"));
  CHECK(says(note, R"(command re /git log( [A-Za-z0-9_.-]+)*/)"));
  CHECK(says(open_end("s.run(command ends \"log\")"), R"(admits "; idlog")"));
  CHECK(says(open_end("s.run(command like \"git * log\")"), R"(admits "git ; id log")"));
  CHECK(says(open_end("s.run(command re /git .*/)"), R"(admits "git ; id")"));
  CHECK(says(open_end("s.run(command re /git .*/)"), "its dot matches no line feed"));
  CHECK(says(open_end("s.run(command re /(?i)git [^;]*/)"), R"(admits "git |id")"));
  CHECK(says(open_end("s.run(command re /git [^;|$]*/)"), R"(admits "git \nid")"));
  CHECK(says(open_ends("ask s.run(command starts \"git log\")").at(0), "asks about"));
}

TEST_CASE("the closed rule that a note proposes is closed, and admits what was meant") {
  for (const char* rule : {"starts \"git log\"", "starts \"user:\"", "ends \".md\"",
                           "like \"a*b*c\"", "re /x.*y.+/"}) {
    const std::string note = open_end(fmt::format("s.run(command {})", rule));
    const std::string closed = closed_in(note, "command re /");
    REQUIRE_MESSAGE(closed.ends_with('/'), note);
    CHECK_MESSAGE(open_end("s.run(" + closed + ")") == "0 notes", closed);
  }
}

TEST_CASE("a beginning of a URL is noted with a foreign host or a way up, and closed by its host") {
  const std::string host = open_end("s.get(url starts \"https://example.com\")");
  CHECK(says(host, R"(admits "https://example.com.evil.org/")"));
  CHECK(closed_in(host, "url scheme") == "url scheme https host example.com");
  const std::string path = open_end("s.get(url starts \"https://example.com/docs/\")");
  CHECK(says(path, R"("https://example.com/docs/../x")"));
  CHECK(closed_in(path, "url scheme") ==
        R"(url scheme https host example.com starts "https://example.com/docs/")");
  for (const auto& note : {host, path})
    CHECK(open_end("s.get(" + closed_in(note, "url scheme") + ")") == "0 notes");
  CHECK(says(open_end("s.get(url like \"https://*.example.com/*\")"), "evil.org"));
  const std::string resource = "s.\"resources/read\"(uri starts \"file:///srv/notes/\")";
  CHECK(open_end(resource) == "0 notes");
  CHECK(says(open_end("s.\"resources/read\"(uri starts \"https://a.com\")"), "evil.org"));
}

TEST_CASE("a beginning of a path is noted with a way up, and closed by its folder") {
  const std::string note = open_end("s.read(path starts \"/srv/data\")");
  CHECK(says(note, R"(admits "/srv/data/../x")"));
  CHECK(closed_in(note, "path within") == "path within /srv/data");
  CHECK(closed_in(open_end("s.read(path like \"/srv/*.txt\")"), "path within") ==
        "path within /srv like \"/srv/*.txt\"");
  CHECK(closed_in(open_end("s.read(path starts \"./src/\")"), "path within") ==
        "path within ./src");
  CHECK(closed_in(open_end("s.read(path ends \".md\")"), "path within") ==
        "path within ./ ends \".md\"");
  CHECK(open_end("s.read(path within ./docs ends \".md\")") == "0 notes");
}

TEST_CASE("rules that leave nothing open are not noted") {
  for (const char* rule :
       {"s.run(command == \"git log\")", "s.run(command in {\"a\", \"b\"})",
        "s.run(command re /git log( --?[a-z]+)*/)", "s.run(command re /[a-z0-9 _.-]*/)", "s.run",
        "s.run(command any)", "s.put(title len 0..80 one-line)", "s.run(command like \"git log\")",
        "s.get(url scheme https host *.example.com)", "s.get(url host a.com starts \"https://\")",
        "s.read(path matches ./src/*.cpp)", "s.get(n 1..3)"}) {
    CHECK_MESSAGE(open_end(rule) == "0 notes", rule);
  }
  CHECK(open_ends("deny s.run(command starts \"rm\")").empty());
}

TEST_CASE("a host without a scheme is noted, for anybody on the way reads http") {
  CHECK(says(open_end("s.get(url host example.com)"), "add 'scheme https'"));
}

TEST_CASE("what an expression of a deny leaves out is noted with values that pass") {
  const auto notes = [](const std::string& rule) {
    std::string all;
    for (const auto& note : summarize(SourceText{"p", rule}).value().notes) all += note.text + "\n";
    return all;
  };
  const auto word = notes("deny s.run(command re /rm/)\n");
  CHECK(says(word, R"(lets through "x rm x" and "RM"; for these as well: re /(?i).*rm.*/)"));
  CHECK(says(notes("deny s.run(command re /.*secret.*/)\n"), R"(lets through "SECRET")"));
  CHECK(says(notes("ask s.run(command re /rm|dd/)\n"), "re /(?i).*(rm|dd).*/"));
  CHECK(notes("deny s.run(command re /(?i).*secret.*/)\n").empty());
  CHECK(notes("deny s.run(n re /[0-9]*/)\n").find("RM") == std::string::npos);
  CHECK(says(notes("deny s.get(url starts \"https://evil.com\")\n"), "a URL has many"));
  CHECK(notes("deny s.get(url host evil.com starts \"https://evil.com/x\")\n").empty());
}

namespace {

std::vector<Note> notes_of(const std::string& rule, const ToolSchemas* tools = nullptr) {
  const auto file = parse_file({"p", rule});
  REQUIRE_MESSAGE(file, rule);
  std::vector<Note> notes;
  for (const auto& item : file->items) {
    const auto& statement = std::get<ast::Statement>(item);
    for (auto& note : left_open(std::get<ast::Rule>(statement), tools))
      notes.push_back(std::move(note));
  }
  return notes;
}

// The answer of these denies, beside an allow of everything, to a call of s.t with one argument.
bool denies(const std::string& rules, const std::string& argument, const Json& value) {
  World world("2026-06-01T12:00:00Z", {{"s.t", {{"type", "object"}}}});
  auto authority = world.load(
      {{.name = "p", .grants = {"s.t"}, .asks = {}, .denies = {}, .files = {{rules, "p"}}}});
  REQUIRE_MESSAGE(authority, rules);
  return authority->decide(Permission::parse("s.t").value(), {{argument, value}}).effect ==
         Effect::kDeny;
}

}  // namespace

TEST_CASE(
    "a deny or ask that compares how a place is spelled is noted, with what it lets through") {
  struct Case {
    const char* test;
    const char* through;
    const char* closed;
  };
  for (const auto& [test, through, closed] : {
           Case{"path starts \"/etc\"", "\"/x/../etc\"", "path within /etc"},
           Case{"path == \"/etc/passwd\"", "\"/x/../etc/passwd\"", "path within /etc/passwd"},
           Case{"outputPath ends \".key\"", "\"/x/a.key/.\"", "outputPath matches /**/*.key"},
           Case{"path like \"*secret*\"", "a folder that it lies in",
                "path matches /**/*secret*/**"},
           Case{"path like \"/srv/*\"", "\"/x/../srv/\"", "path within /srv"},
           Case{"path re /.*\\.key/", "\"/x/a.key/.\"", "path matches /**/*.key"},
           Case{"where starts \"~/.ssh\"", "\"~/x/../.ssh\"", "where within ~/.ssh"},
           Case{"file == \"a/b\"", "\"./a/b\"", "file within ./a/b"},
           Case{"* like \"*.ssh*\"", "a folder that it lies in", "* matches /**/*.ssh*/**"},
           Case{"* like \"*/.ssh/*\"", "a folder that it lies in", "* matches /**/.ssh/**"},
           Case{"* starts \"/etc\"", "\"/x/../etc\"", "* within /etc"},
       }) {
    CAPTURE(std::string(test));
    for (const char* effect : {"deny", "ask"}) {
      const auto notes = notes_of(fmt::format("{} s.t({}, ..)", effect, test));
      REQUIRE(notes.size() == 1);
      CHECK(notes[0].kind == "spelling");
      INFO(notes[0].text);
      CHECK(says(notes[0].text, through));
      CHECK_FALSE(notes[0].why.empty());
      CHECK(notes[0].fix == fmt::format("{} s.t({}, ..)", effect, closed));
    }
  }
  const auto in = notes_of("deny s.t(path in {\"/a\", \"/b\"})");
  REQUIRE(in.size() == 1);
  CHECK(in[0].fix == "deny s.t(path within /a) deny s.t(path within /b)");
  const auto url = notes_of("deny s.t(url like \"*evil.com*\")");
  REQUIRE(url.size() == 1);
  CHECK(says(url[0].text, "EVIL.COM"));
  CHECK(url[0].fix == "deny s.t(url host evil.com)");
}

TEST_CASE("the rule that a note of a spelling proposes catches the place in every spelling") {
  for (const char* test :
       {"path starts \"/etc\"", "path == \"/etc/passwd\"", "path like \"*passwd*\"",
        "path re /.*passwd/", "path in {\"/etc/shadow\", \"/etc/passwd\"}"}) {
    const std::string rule = fmt::format("deny s.t({}, ..)", test);
    CAPTURE(rule);
    const auto notes = notes_of(rule);
    REQUIRE(notes.size() == 1);
    CHECK(denies(rule, "path", "/etc/passwd"));
    int passed = 0;
    for (const char* value : {"/etc/passwd", "/x/../etc/passwd", "//etc/passwd", "/etc/./passwd/.",
                              "file:///etc/passwd", "/etc//passwd"}) {
      CAPTURE(std::string(value));
      CHECK(denies(notes[0].fix + "\n", "path", value));
      passed += denies(rule, "path", value) ? 0 : 1;
    }
    // A word stands in all of these; a link and a folder above are what pass it.
    CHECK((passed > 0) != rule.contains("like"));
  }
  const auto url = notes_of("deny s.t(url starts \"https://evil.com/secret\")");
  REQUIRE(url.size() == 1);
  for (const char* value : {"https://evil.com/secret", "HTTPS://EVIL.com/secret",
                            "https://evil.com:443/secret", "https://evil.com//secret"})
    CHECK(denies(url[0].fix + "\n", "url", value));
}

TEST_CASE(
    "a deny or ask that reads the place, or is about no place, is not noted for its spelling") {
  for (const char* rule :
       {"deny s.t(path within /etc)", "deny *.*(* within ~/.ssh)",
        "deny s.t(path matches /**/*.key)",
        "deny s.t(url host evil.com starts \"https://evil.com/x\")",
        "deny s.t(command starts \"rm\")", "deny s.t(command starts \"/usr/bin/rm\")",
        "ask s.t(title like \"*urgent*\")", "deny s.t(profile == \"admin\")",
        "deny s.t(state == \"closed\")", "deny s.t(n == 3)", "deny s.t(path != \"/a\")",
        "deny s.t(direction in {\"up\", \"down\"})", "deny s.t(path absent)",
        "deny s.t(* like \"*secret*\")", "deny s.t(path len 0..3)", "ask s.* otherwise"}) {
    CAPTURE(std::string(rule));
    const auto notes = notes_of(rule);
    CHECK(std::ranges::count(notes, "spelling", &Note::kind) == 0);
  }
}

TEST_CASE("what a parameter is for is known by its name, else by the schema") {
  const Json schema = Json::parse(R"({"type": "object", "properties": {
    "where": {"type": "string", "description": "Absolute path of the note"},
    "at": {"type": "string", "format": "file-path"},
    "from": {"type": "string", "format": "uri"},
    "list": {"type": "array", "items": {"type": "string", "description": "A file to read"}},
    "content": {"type": "string", "description": "Content to write to the file"}}})");
  const ToolSchemas tools = {{Permission::parse("s.t").value(), schema}};
  const auto kinds = [&](const std::string& rule) {
    std::string all;
    for (const auto& note : notes_of(rule, &tools)) all += note.kind + " ";
    return all;
  };
  for (const char* name : {"where", "at", "list[*]"}) {
    CAPTURE(std::string(name));
    CHECK(kinds(fmt::format("deny s.t({} like \"*key*\")", name)) == "spelling ");
    const auto allow = notes_of(fmt::format("allow s.t({} ends \".md\")", name), &tools);
    REQUIRE(allow.size() == 1);
    CHECK(says(allow[0].text, fmt::format("{} within ./ ends \".md\"", name)));
    CHECK(notes_of(fmt::format("deny s.t({} like \"*key*\")", name)).empty());
  }
  CHECK(kinds("deny s.t(content like \"*key*\")").empty());
  CHECK(kinds("deny s.t(from like \"*evil.com*\")") == "spelling ");
  const auto foreign = notes_of("allow s.t(from ends \"example.com\")", &tools);
  REQUIRE(foreign.size() == 1);
  CHECK(says(foreign[0].text, "\"https://evil.org/example.com\""));
  CHECK(says(foreign[0].text, "from scheme https host example.com"));
  CHECK(place_named("outputPath") == ParameterKind::kPath);
  CHECK(place_named("file_names") == ParameterKind::kNone);
  CHECK(place_named("profile") == ParameterKind::kNone);
  CHECK(place_named("path_count") == ParameterKind::kNone);
  CHECK(place_named("base_url") == ParameterKind::kUrl);
}

TEST_CASE("a note of a wildcard has the rule with the tools that it covers now") {
  const World world("2026-06-01T12:00:00Z",
                    {{"s.a",
                      {{"type", "object"},
                       {"properties", {{"path", Json::object()}}},
                       {"additionalProperties", false}}},
                     {"s.b", {{"type", "object"}, {"additionalProperties", false}}},
                     {"s.\"prompts/get\"", {{"type", "object"}}}});
  const auto environment = world.environment();
  const auto fix = [&](const std::string& rule) {
    const auto found = find_wildcards({"p", rule}, &environment);
    REQUIRE(found.size() == 1);
    return found[0].fix;
  };
  CHECK(says(fix("allow s.* calls <= 3\n"), "allow s.a, s.b calls <= 3; or"));
  CHECK(says(fix("allow s.*(path within ./x)\n"), "allow s.a(path within ./x); or"));
  const auto beside = find_wildcards({"p", "allow s.*\ndeny s.b\n"}, &environment);
  REQUIRE(beside.size() == 1);
  CHECK(says(beside[0].fix, "allow s.a; or"));
}

}  // namespace mcpac::policy::testing
