#include "policy/explain/lint.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace mcpac::policy {

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

}  // namespace mcpac::policy
