// Parts of a value: a list is no way out of an allow or past an exception, and a deny of one
// argument finds in it what a deny over any string finds.
#include "policy/match/value_parts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "policy/match/readings.h"
#include "policy/support_inclusion.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

// A server t with one tool, `run`, with two folders: ./notes, which rules grant, and ./private.
struct NotesWorld : World {
  NotesWorld() {
    Json properties = Json::object();
    for (const char* name : {"path", "source", "command", "url"})
      properties[name] = {{"type", "string"}};
    properties["paths"] = {{"type", "array"}, {"items", {{"type", "string"}}}};
    add_tools({{"t.run", {{"type", "object"}, {"properties", properties}}}});
    put("notes/a.txt", "file");
    put("notes/hidden/key", "file");
    put("private/x", "file");
    put("home/.ssh/id", "file");
  }
};

Decision decided(const World& world, const std::string& rules, Json arguments) {
  auto authority = policy_of(world, world.fill(rules));
  return authority.decide(Permission::parse("t.run").value(), world.fill(std::move(arguments)));
}
bool admits(const World& world, const std::string& test, const std::string& value) {
  return decided(world, fmt::format("allow t.run(path {})", test), {{"path", value}}).allowed();
}
bool denies(const World& world, const std::string& deny, const std::string& name,
            const std::string& value) {
  return decided(world, "allow t.run\ndeny " + deny, {{name, value}}).effect == Effect::kDeny;
}

// What may stand between two items.
constexpr const char* kMarks[] = {
    ",",       ", ",      ";",       "; ",      "|",      " | ",    ":",      " ",      "&",
    ",\"",     ", '",     ",(",      ";[",      "，",     "；",     "、",     "｜",     ",\u00a0",
    ",\ufeff", ",\u3000", ",\u200b", ";\u2060", "\u00a0", "\u3000", "\ufeff", "\u2028", "\u0085"};
// Places of their own, outside.
constexpr const char* kLeaving[] = {"/etc/hostname",
                                    "//etc/hostname",
                                    "~",
                                    "~/.ssh/id",
                                    "~root/x",
                                    "../private/x",
                                    "a/../../x",
                                    "$HOME/x",
                                    "${DOLLAR}{HOME}/x",
                                    "$(pwd)/x",
                                    "%HOME%/x",
                                    "file:///etc/hostname",
                                    "file:etc/x",
                                    "https://a.com/x",
                                    "C:/x",
                                    "-f/etc/hostname",
                                    "--file=/etc/hostname",
                                    "key=/etc/hostname",
                                    "@/etc/hostname",
                                    "a:/etc/hostname",
                                    "--paths=a:/etc/hostname",
                                    "\"/etc/hostname\"",
                                    "${BASE}/private/x"};

}  // namespace

TEST_CASE("an allow of a path admits no list with an item that names a place outside") {
  const NotesWorld world;
  for (const char* test : {"within ./", "within ./notes", "matches ./notes/**"}) {
    for (const char* mark : kMarks) {
      for (const char* part : kLeaving) {
        CAPTURE(std::string(test));
        CAPTURE(std::string(mark));
        CAPTURE(std::string(part));
        const std::string_view view = part;
        if (std::string_view(test) == "within ./" && view.starts_with("${BASE}")) continue;
        if (std::string_view(mark) == ":" && view == "file:etc/x") continue;  // three items
        CHECK_FALSE(admits(world, test, fmt::format("notes/a.txt{}{}", mark, part)));
        CHECK_FALSE(admits(world, test, fmt::format("notes/a.txt{}{}{}b", mark, part, mark)));
        CHECK_FALSE(admits(world, test, fmt::format("[\"notes/a.txt{}{}\"]", mark, part)));
        CHECK_FALSE(admits(world, test, fmt::format("${{BASE}}/notes/a.txt{}{}", mark, part)));
      }
    }
  }
  // However many there are, and behind what a shell writes elsewhere.
  for (const char* part : {"a:", "a,", "k=", "@", "a b "}) {
    std::string text = "notes/a.txt,";
    for (int i = 0; i < 300; ++i) text += part;
    CHECK_FALSE(admits(world, "within ./", text + "/etc/x"));
    CHECK_FALSE(admits(world, "within ./", text + "../x"));
  }
  for (const char* text : {"notes/a>/etc/x", "notes/a</etc/x", "notes/a(/etc/x)", "notes/a[/etc/x]",
                           "notes/a`/etc/x`", "notes/a (~/x)", "--paths=a:@/etc/x"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(admits(world, "within ./", text));
  }
  // Without anything between them.
  for (const char* text :
       {"@/etc/x", "-f/etc/x", "--file=/etc/x", "key=/etc/x", "key=~/x", "[/etc/x]", "(/etc/x)",
        "[/etc/x, b]", "x=a:/etc/x", "notes/a{,/etc/x}"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(admits(world, "within ./", text));
  }
}

TEST_CASE("an allow of a folder admits no list that names what is beside it") {
  const NotesWorld world;
  for (const char* mark : {",", ", ", ";", "|", ":", "，"}) {
    CAPTURE(std::string(mark));
    CHECK_FALSE(admits(world, "within ./notes", fmt::format("notes/a.txt{}private/x", mark)));
    CHECK_FALSE(admits(world, "within ./notes", fmt::format("notes/a.txt{}private", mark)));
    CHECK_FALSE(admits(world, "within ./notes", fmt::format("notes/a.txt{}private/new", mark)));
    CHECK_FALSE(admits(world, "within ./notes", fmt::format("notes/a.txt{}.", mark)));
    CHECK_FALSE(admits(world, "within ./notes", fmt::format("notes/..{}b", mark)));
    CHECK(admits(world, "within ./notes", fmt::format("notes/a.txt{}notes/b.txt", mark)));
    CHECK(admits(world, "within ./", fmt::format("notes/a.txt{}private/x", mark)));
  }
  CHECK(admits(world, "within ${BASE}/notes", "${BASE}/notes/a.txt,${BASE}/notes/b.txt"));
}

TEST_CASE("names with marks of lists in them are names") {
  NotesWorld world;
  world.put("My Documents, old/x: y/a.txt", "file");
  for (const char* name : {"notes/report, final.txt",
                           "notes/My Documents/x",
                           "notes/a:b.txt",
                           "notes/a; b.txt",
                           "notes/a|b",
                           "notes/R&D/x",
                           "notes/12:30.txt",
                           "notes/Smith,John/letter.txt",
                           "notes/year=2024/month=1/x",
                           "notes/q (1), draft [2].txt",
                           "notes/it's, \"quoted\".txt",
                           "notes/报告，最终.txt",
                           "notes/a -- b - c.txt",
                           "notes/user@host, x.txt",
                           "notes/50%, 20%.txt",
                           "notes/a, b/c, d/e.txt",
                           "notes/c++/x.txt",
                           "notes/C#/x",
                           "notes/what?/x",
                           "notes/wow!/x",
                           "notes/(group)/page.tsx",
                           "notes/[id]/page.tsx",
                           "notes/@scope/pkg, 1",
                           "notes/a = b/c",
                           "notes/\u2764\ufe0f/x",
                           "notes/\u2764\ufe0f x/y",
                           "notes/$id, x.tsx",
                           "notes/1..2, 3...4",
                           "notes/abc==/x",
                           "notes/@/components/x.ts",
                           "notes/a.b@c, d=e"}) {
    CAPTURE(std::string(name));
    CHECK(admits(world, "within ./notes", name));
    CHECK(admits(world, "within ./", name));
    CHECK(admits(world, "within ${BASE}/notes", fmt::format("${{BASE}}/{}", name)));
  }
  // The granted folder itself may have them.
  for (const char* folder : {"./My Documents, old", "./My Documents, old/x: y"}) {
    CAPTURE(std::string(folder));
    const std::string within = fmt::format("within \"{}\"", folder);
    CHECK(admits(world, within, "My Documents, old/x: y/a.txt"));
    CHECK(admits(world, within, "${BASE}/My Documents, old/x: y/a.txt"));
    CHECK_FALSE(admits(world, within, "${BASE}/My Documents, old/x: y/a.txt,/etc/x"));
  }
}

TEST_CASE("a denial names the item that is not inside") {
  const NotesWorld world;
  const auto denied =
      decided(world, "allow t.run(path within ./notes)", {{"path", "notes/a.txt, ~/.ssh/id"}});
  CHECK(denied.reason.contains("which a server may take for \"~/.ssh/id\""));
  CHECK(denied.would_grant.empty());
  const auto url =
      decided(world, "allow t.run(url host a.com)", {{"url", "https://a.com/,https://evil.com/"}});
  CHECK(url.reason.contains("which a server may take for \"https://evil.com/\""));
}

TEST_CASE("an exception and a deny of one argument catch each item of a list") {
  const NotesWorld world;
  for (const char* part : {"notes/hidden/key", "./notes/hidden", "${BASE}/notes/hidden/key",
                           "notes/x/../hidden/key", "notes/h*n/key"}) {
    for (const char* mark : kMarks) {
      CAPTURE(std::string(part));
      CAPTURE(std::string(mark));
      const std::string text = fmt::format("notes/a.txt{}{}", mark, part);
      CHECK_FALSE(admits(world, "within ./ except {./notes/hidden}", text));
      CHECK(denies(world, "t.run(path within ./notes/hidden)", "path", text));
      CHECK(denies(world, "t.run(source matches ./notes/hidden/**)", "source", text));
    }
  }
  // Without a slash, between marks of lists.
  for (const char* mark : {",", ", ", ";", "|", ":", "，", ",\u00a0", ",\ufeff", ",\""}) {
    CAPTURE(std::string(mark));
    const std::string text = fmt::format("notes{}private", mark);
    CHECK_FALSE(admits(world, "within ./ except {./private}", text));
    CHECK(denies(world, "t.run(path within ./private)", "path", text));
    CHECK(denies(world, "t.run(path within ./private/x)", "path", text));  // a folder above
  }
  for (const char* text : {"@notes/hidden/key", "path=notes/hidden/key", "--opt=notes/hidden/key",
                           "cat 'notes/hidden/key'", "cat notes/hid\\den/key", "-fnotes/hidden/key",
                           "--opt='notes/hid'den/key", "file:notes/hidden/key"}) {
    CAPTURE(std::string(text));
    CHECK(denies(world, "t.run(path within ./notes/hidden)", "path", text));
    CHECK_FALSE(admits(world, "within ./ except {./notes/hidden}", text));
  }
  CHECK(denies(world, "t.run(command within ./private)", "command", "rm -rf private"));
  CHECK_FALSE(denies(world, "t.run(path within ./private)", "path", "my private notes"));
  CHECK(admits(world, "within ./ except {./private}", "my private notes"));
  CHECK(admits(world, "within ./ except {./private}", "notes/report, final.txt"));
}

TEST_CASE("a deny of one argument catches what a deny over any string catches of it") {
  const NotesWorld world;
  const char* places[] = {"~/.ssh/id",     "${HOME}/.ssh/id", "home/.ssh",
                          "$HOME/.ssh/x",  "~/.s*h/id",       "~/.@(ssh|x)/id",
                          "~/.{ssh,x}/id", "~/.s\\sh/id",     "home/.ssh/../.ssh/id"};
  const char* ways[] = {"{}",
                        " {}",
                        "a,{}",
                        "{};a",
                        "a\n{}",
                        "@{}",
                        "path={}",
                        "--opt={}",
                        "--opt='{}'",
                        "-f{}",
                        "cat {}",
                        "cat '{}'",
                        "(cat {})",
                        "file:{}",
                        "x://{}",
                        "a?b={}&c",
                        "[\"{}\"]",
                        "{{\"a\":\"{}\"}}",
                        "a，{}",
                        "a\u3000{}",
                        "a,\u200b{}",
                        "\"a\",\"{}\"",
                        "see {} there",
                        "{}:ro",
                        "a!{}",
                        "jar:file:{}!/x",
                        "a#{}",
                        "cat <{}",
                        "a;cat {}|sort",
                        "echo \\\n {}"};
  int caught = 0;
  for (const char* place : places) {
    for (const char* way : ways) {
      const std::string text = fmt::format(fmt::runtime(way), world.fill(std::string(place)));
      CAPTURE(text);
      for (const char* name : {"path", "source", "command"}) {
        CAPTURE(std::string(name));
        if (!denies(world, "*.*(* within ~/.ssh)", name, text)) continue;
        ++caught;
        CHECK(denies(world, fmt::format("t.run({} within ~/.ssh)", name), name, text));
        CHECK(decided(world, fmt::format("allow t.run\nask t.run({} within ~/.ssh)", name),
                      {{name, text}})
                  .effect == Effect::kAsk);
        CHECK_FALSE(decided(world,
                            fmt::format("allow t.run({} within ./ except {{./home/.ssh}})", name),
                            {{name, text}})
                        .allowed());
      }
      if (denies(world, "*.*(* within ~/.ssh)", "path", text))
        CHECK(decided(world, "allow t.run\ndeny t.run(paths[*] within ~/.ssh)",
                      {{"paths", {"x", text}}})
                  .effect == Effect::kDeny);
    }
  }
  CHECK(caught > 700);
}

TEST_CASE("a deny over any string takes off of each part what it takes off of a whole value") {
  const NotesWorld world;
  const std::string deny = "*.*(* within ~/.ssh)";
  for (const char* text :
       {"a,\u00a0~/.ssh/id", "a,\ufeff~/.ssh/id", "a,\u3000~/.ssh/id", "a,\u200b~/.ssh/id",
        "a；~/.ssh/id", "a，~/.ssh/id", "a、~/.ssh/id", "--opt=\u201c~/.ssh/id\u201d",
        "--opt=~/.s\\sh/id", "--opt='~/.s'sh/id", "--opt=~/.{ssh,x}/id", "cat\u00a0~/.ssh/id",
        "a,\u00ab~/.ssh/id\u00bb", "x=\"a\",b='~/.ssh/id'"}) {
    CAPTURE(std::string(text));
    for (const char* name : {"path", "source", "command"}) CHECK(denies(world, deny, name, text));
  }
}

TEST_CASE("what a shell may make of a pattern is caught, and admitted where it is bounded") {
  const NotesWorld world;
  for (const char* name : {".[[:alpha:]]sh", ".[![:digit:]]sh", ".s[!]]h", ".s[]s]h",
                           ".@(ssh|gnupg)", ".?(s)sh", ".+(s)h", ".!(gnupg)", "*(.)ssh",
                           ".s{r..t}h", ".(ssh|x)", "[[.full-stop.]]ssh", ".[[=s=]]sh"}) {
    CAPTURE(std::string(name));
    for (const char* way :
         {"~/{}/id", "${{HOME}}/{}", "cat ~/{}/id", "--opt=~/{}/id", "a,~/{}/id"}) {
      const std::string text = fmt::format(fmt::runtime(way), name);
      CAPTURE(text);
      CHECK(denies(world, "*.*(* within ~/.ssh)", "command", world.fill(text)));
      CHECK(denies(world, "t.run(path within ~/.ssh)", "path", world.fill(text)));
    }
    CHECK_FALSE(admits(world, "within ./ except {./home/.ssh}", fmt::format("home/{}/id", name)));
  }
  for (const char* climbing : {"[[:punct:]][[:punct:]]", "@(..)", "?(.)?(.)", "+(.)", "!(a)",
                               ".[!]]", "{-..0}.", "(..|a)", "*(.)"}) {
    CAPTURE(std::string(climbing));
    CHECK_FALSE(admits(world, "within ./notes", fmt::format("notes/{}/x", climbing)));
  }
  for (const char* name :
       {"(group)", "[id]", "[...slug]", "[[...slug]]", "[[lang]]", "@modal", "Wow!(1).txt",
        "a+(2).txt", "why?(3).txt", "{a..b", "x{1..3}.txt", "a (b|c"}) {
    CAPTURE(std::string(name));
    CHECK(admits(world, "within ./notes", fmt::format("notes/{}/x", name)));
    CHECK_FALSE(denies(world, "*.*(* within ~/.ssh)", "path", fmt::format("~/{}/x", name)));
  }
}

TEST_CASE("marks of a shell spell no place that a rule does not see") {
  const NotesWorld world;
  for (const char* climbing :
       {"notes/'..'/private/key", "notes/.''./private/key", "notes/\".\".//private/key",
        "notes/\\.\\./private/key", "notes/$'..'/private/key", "notes/.$x./private/key",
        "notes/.${x}./private", "notes/.$(x)./private", "notes/.`x`./p", "\\/etc/passwd",
        "$X/etc/passwd", "''/etc/passwd"}) {
    CAPTURE(std::string(climbing));
    CHECK_FALSE(admits(world, "within ./notes", climbing));
  }
  for (const char* spelled : {"pri$()vate/key", "pri${x}vate/key", "private$x/key", "pri''vate/key",
                              "'pri'vate/key", "pri\\vate/key", "notes/$x/../private/key"}) {
    CAPTURE(std::string(spelled));
    CHECK(denies(world, "t.run(path within ./private)", "path", spelled));
    CHECK_FALSE(admits(world, "within ./ except {./private}", spelled));
  }
  for (const char* name : {"notes/100%.md", "notes/50%20off.md", "notes/it's.md",
                           "notes/\"quoted\".md", "notes/routes/$id.tsx", "notes/a`b.md",
                           "notes/%ZZ.md", "notes/$5.md", "notes/a b's c's.md"}) {
    CAPTURE(std::string(name));
    CHECK(admits(world, "within ./notes", name));
  }
}

// ./secret and ./notes, with ./notes/private in it.
struct SecretWorld : NotesWorld {
  SecretWorld() {
    put("secret/key", "file");
    put("notes/private/k", "file");
    put("my secret/key", "file");
    put("cert.pem", "file");
    put("s\u00e9cret/x", "file");
    put("\u65e5\u8a18/x", "file");
  }
};

TEST_CASE("stars alone may mean what a rule that names the argument denies or excepts") {
  const SecretWorld world;
  const std::string deny = "t.run(path within ./secret)";
  for (const char* path :
       {"*/key", "*", "**", "**/key", "***/key", "{notes,*}/key", "${BASE}/*/key", "${BASE}/s*",
        "/tmp/*/s*", "/**/secret", "/*/*/secret/key", "[\"*/key\"]", "a,*/key", "a;*",
        "**/secret/key", "./*/key", "notes/../*/key", "*/[k]ey"}) {
    CAPTURE(std::string(path));
    CHECK(denies(world, deny, "path", path));
    CHECK_FALSE(admits(world, "within ./ except {./secret}", path));
  }
  CHECK(decided(world, "allow t.run\ndeny t.run(paths[*] within ./secret)",
                {{"paths", {"a", "*/key"}}})
            .effect == Effect::kDeny);
  for (const char* path : {"notes/*/k", "notes/**", "notes/*", "notes/**/k", "notes/*/*"}) {
    CAPTURE(std::string(path));
    CHECK_FALSE(admits(world, "within ./notes except {./notes/private}", path));
    CHECK(admits(world, "within ./notes", path));
    CHECK_FALSE(denies(world, deny, "path", path));
  }
  for (const char* path : {"*", "**/*.pem", "*.pem", "**"}) {
    CAPTURE(std::string(path));
    CHECK(denies(world, "t.run(path matches ./*.pem)", "path", path));
  }
  // A folder above.
  CHECK(denies(world, "t.run(path within ./notes/private)", "path", "n*"));
  CHECK(denies(world, "t.run(path within ./notes/private)", "path", "*"));
  for (const char* path : {"notes/*.md", "notes/p?b/*", "src/**/*.cpp", "notes/a*/k"}) {
    CAPTURE(std::string(path));
    CHECK(admits(world, "within ./ except {./notes/private}", path));
    CHECK_FALSE(denies(world, deny, "path", path));
  }
}

TEST_CASE("under a rule over any string stars pass where the denied name is not written out") {
  const SecretWorld world;
  const std::string deny = "*.*(* within ./secret)";
  for (const char* path : {"**/secret/key", "**/secret", "${BASE}/**/s?cret/key", "*/../secret/key",
                           "/**/secret/key", "**/{secret,x}/key"}) {
    CAPTURE(std::string(path));
    CHECK(denies(world, deny, "path", path));
  }
  for (const char* path :
       {"*/key", "*", "**", "**/*.ts", "src/*", "src/**/*", "**/key", "*.md", "/*"}) {
    CAPTURE(std::string(path));
    CHECK_FALSE(denies(world, deny, "path", path));
    CHECK_FALSE(denies(world, "*.*(* within ~/.ssh)", "path", path));
  }
  CHECK(denies(world, "*.*(* within ~/.ssh)", "path", "/**/.ssh/id"));
  CHECK(denies(world, "*.*(* matches ./**/.env)", "path", "**/.env"));
  CHECK_FALSE(denies(world, "*.*(* matches ./**/.env)", "path", "**/*.ts"));
}

TEST_CASE("a wildcard of a shell stands for a character, or for a byte") {
  const SecretWorld world;
  const auto holds = [&](const char* place, const char* path) {
    CAPTURE(std::string(path));
    CHECK(denies(world, fmt::format("t.run(path within ./{})", place), "path", path));
    CHECK(denies(world, fmt::format("*.*(* within ./{})", place), "path", path));
    CHECK_FALSE(admits(world, fmt::format("within ./ except {{./{}}}", place), path));
  };
  for (const char* path : {"s?cret/x", "s[\u00e9]cret/x", "s[!a]cret/x", "s[\u00e0-\u00fc]cret",
                           "s?\?cret/x", "s\u00e9cre?/x", "se?cret/x", "?\u00e9cret"})
    holds("s\u00e9cret", path);
  for (const char* path :
       {"?\u8a18/x", "[\u65e5]\u8a18", "\u65e5?", "\u65e5[!x]", "?\?/x", "?\?\?\?\?\?/x"})
    holds("\u65e5\u8a18", path);
  // A unit of UTF-16, and an accent of its own.
  for (const char* path : {"?x", "?\?x", "?\?\?\?x", "[a]?x"}) holds("\U0001F600x", path);
  for (const char* path : {"?/x", "?\?/x", "\u304b?/x"}) holds("\u304c", path);
  for (const char* path : {"s?x\u00e9cret/x", "s[a][b][c][d]cret/x", "?cret/x", "s[e]cret\u00e9"}) {
    CAPTURE(std::string(path));
    CHECK_FALSE(denies(world, "*.*(* within ./s\u00e9cret)", "path", path));
  }
}

TEST_CASE("an item of a list has blanks and quotes at both ends, before the mark as well") {
  const SecretWorld world;
  const std::string except = "within ./ except {./secret}";
  for (const char* text : {"secret ,a", "secret ;a", "secret , y", "'secret' ,a", "\"secret \",a",
                           "a;\" secret\"", "secret\u3000,a", "secret \t ,a", "\" secret \" ; a",
                           "a,' secret ',b", "\" 'secret' \" ,a", "a , \"secret", "[secret ,a]"}) {
    CAPTURE(std::string(text));
    CHECK(denies(world, "t.run(path within ./secret)", "path", text));
    CHECK_FALSE(admits(world, except, text));
  }
  for (const char* text :
       {".env ,docs/a", "docs/a,\" .env\"", "docs/a ,.{env,x}", "a,.en?", "a,[.]env"}) {
    CAPTURE(std::string(text));
    CHECK(denies(world, "t.run(path matches ./**/.env)", "path", text));
  }
  // A blank of a name.
  for (const char* text : {"a,my secret/key", "my secret ; a", "a, my secret"}) {
    CAPTURE(std::string(text));
    CHECK(denies(world, "t.run(path within \"./my secret\")", "path", text));
    CHECK_FALSE(admits(world, "within ./ except {\"./my secret\"}", text));
    CHECK_FALSE(denies(world, "t.run(path within ./private)", "path", text));
  }
  CHECK_FALSE(admits(world, "within ./notes", "private ,notes/a"));
  CHECK(admits(world, except, "my secret notes"));
  CHECK(admits(world, "within ./notes", "notes/report , final.txt"));
}

TEST_CASE("braces make a name that has no slash") {
  const SecretWorld world;
  for (const char* text : {".{env,x}", "{.env,a}", "{a,.env}", ".e{n,x}{v,w}", "{a,{b,.env}}"}) {
    CAPTURE(std::string(text));
    for (const char* name : {"path", "source", "command"})
      CHECK(denies(world, "*.*(* matches ./**/.env)", name, text));
    CHECK(denies(world, "t.run(path matches ./**/.env)", "path", text));
  }
  for (const char* text : {"{a,b}", ".{a,b}", "{env,x}", "import {.env, a}", "${DOLLAR}{a,b}"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(denies(world, "*.*(* matches ./**/.env)", "path", text));
  }
}

TEST_CASE("a pathspec of Git is admitted by no rule of paths, and caught by each that names it") {
  const SecretWorld world;
  for (const char* text :
       {":/secret/key", ":(top)secret", ":(glob)**/key", ":!notes", ":^notes", ":(exclude)x"}) {
    CAPTURE(std::string(text));
    CHECK(denies(world, "t.run(path within ./secret)", "path", text));
    CHECK_FALSE(admits(world, "within ./", text));
    CHECK_FALSE(admits(world, "within ./ except {./secret}", text));
    for (const char* list : {"a,{}", "{};a", "a, \"{}\"", "{} ,a"}) {
      const std::string item = fmt::format(fmt::runtime(list), text);
      CHECK(denies(world, "t.run(path within ./secret)", "path", item));
      CHECK_FALSE(admits(world, "within ./ except {./secret}", item));
    }
  }
}

TEST_CASE("a name with a colon in it is no pathspec") {
  const SecretWorld world;
  for (const char* text : {"./notes/a:b", "notes/a:/b", "12:30", "notes/:(x)"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(denies(world, "t.run(path within ./secret)", "path", text));
  }
  CHECK(admits(world, "within ./", "./notes/a:b"));
}

TEST_CASE("an allow of a host admits no list with a URL elsewhere") {
  const NotesWorld world;
  const auto admits_url = [&](const std::string& url) {
    return decided(world, "allow t.run(url host a.com)", {{"url", url}}).allowed();
  };
  for (const char* other :
       {"https://evil.com", "http://evil.com/x", "//evil.com", "ssh://evil.com", "https:evil.com",
        "HTTPS://EVIL.com", "https://u@a.com/", "file:///etc/hostname", "\"https://evil.com\""}) {
    for (const char* mark : {",", ";", "|", "，", ",\u200b", "&"}) {
      const std::string text = fmt::format("https://a.com/{}{}", mark, other);
      CAPTURE(text);
      CHECK_FALSE(admits_url(text));
    }
  }
  for (const char* url :
       {"https://a.com/,https://a.com/b", "https://a.com/a,b;c|d", "https://a.com/?q=a,b&c=d:e",
        "https://a.com/@48.1,11.5,15z", "https://a.com/w/https://b.com/",
        "https://a.com/?u=https://b.com/", "https://a.com/a;v=1,/b"}) {
    CAPTURE(std::string(url));
    CHECK(admits_url(url));
  }
}

}  // namespace mcpac::policy::testing
