// The fenced examples of docs/grants.md: each loads, and means what stands beside it.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "core/offer.h"
#include "places.h"
#include "policy/explain/lint.h"
#include "policy/support_world.h"
#include "policy/text/format.h"
#include "policy/text/parser.h"

namespace mcpac::policy::testing {
namespace {

// What stands between ``` and ```.
std::vector<std::string> fences() {
  std::istringstream document(read_file(mcpac::testing::in_source("docs/grants.md")).value());
  std::vector<std::string> found;
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) found.emplace_back();
    } else if (inside) {
      found.back() += line + "\n";
    }
  }
  REQUIRE_FALSE(inside);
  return found;
}

// "--grant 'RULE'   words": the option and the rule, as a shell would hand it over.
struct Example {
  std::string option;
  std::string rule;
};
Example example_of(const std::string& line) {
  const auto space = line.find(' ');
  REQUIRE(space != std::string::npos);
  const auto at = line.find_first_not_of(' ', space);
  const bool quoted = line[at] == '\'';
  const auto end = line.find(quoted ? '\'' : ' ', at + 1);
  const auto begin = at + (quoted ? 1 : 0);
  return {line.substr(0, space), line.substr(begin, end == std::string::npos ? end : end - begin)};
}

struct Call {
  const char* tool;
  Json arguments;
  bool allowed;
};

// With ${BASE} and ${HOME} put in. A deny is tried beside a grant of everything.
const std::map<std::string, std::vector<Call>> kMeanings = {
    {"filesystem.read_text_file",
     {{"filesystem.read_text_file", {{"path", "/etc/passwd"}, {"head", 1}}, true},
      {"filesystem.write_file", {{"path", "data/a.txt"}, {"content", ""}}, false}}},
    {"filesystem.read_text_file(path within ./data)",
     {{"filesystem.read_text_file", {{"path", "data/a.txt"}}, true},
      {"filesystem.read_text_file", {{"path", "data/../a.txt"}}, false},
      {"filesystem.read_text_file", {{"path", "data/a.txt"}, {"head", 1}}, false}}},
    {"filesystem.read_text_file(path within ./data, ?head 1..1000)",
     {{"filesystem.read_text_file", {{"path", "data/a.txt"}}, true},
      {"filesystem.read_text_file", {{"path", "data/a.txt"}, {"head", 1000}}, true},
      {"filesystem.read_text_file", {{"path", "data/a.txt"}, {"head", 1001}}, false}}},
    {"github.create_issue(owner == \"acme\", repo in {\"web\", \"api\"}, ..) calls <= 3",
     {{"github.create_issue", {{"owner", "acme"}, {"repo", "web"}, {"title", "t"}}, true},
      {"github.create_issue", {{"owner", "acme"}, {"repo", "db"}, {"title", "t"}}, false},
      {"github.create_issue", {{"owner", "acme"}, {"repo", "api"}, {"title", "t"}}, true},
      {"github.create_issue", {{"owner", "acme"}, {"repo", "api"}, {"title", "t"}}, true},
      {"github.create_issue", {{"owner", "acme"}, {"repo", "api"}, {"title", "t"}}, false}}},
    {"filesystem.read_text_file,filesystem.list_directory",
     {{"filesystem.read_text_file", {{"path", "a"}}, true},
      {"filesystem.list_directory", {{"path", "a"}}, true},
      {"filesystem.write_file", {{"path", "a"}, {"content", ""}}, false}}},
    {"filesystem.*",
     {{"filesystem.write_file", {{"path", "a"}, {"content", ""}}, true},
      {"kv.get", {{"key", "a"}}, false}}},
    {"*.*(* within ~/.ssh)",
     {{"filesystem.read_text_file", {{"path", "${HOME}/.ssh/id"}}, false},
      {"kv.get", {{"key", "${HOME}/.ssh/id"}}, false},
      {"filesystem.read_text_file", {{"path", "${BASE}/data/a.txt"}}, true}}}};

}  // namespace

TEST_CASE("every rule on the first page of docs/grants.md admits what is said beside it") {
  const World world;
  world.put("data/a.txt", "file");
  std::istringstream lines(fences().at(0));
  std::size_t seen = 0;
  for (std::string line; std::getline(lines, line); ++seen) {
    CAPTURE(line);
    const auto [option, rule] = example_of(line);
    const auto meaning = kMeanings.find(rule);
    REQUIRE_MESSAGE(meaning != kMeanings.end(), "say in this test what the new example means");
    const bool denies = option == "--deny";
    REQUIRE((denies || option == "--grant"));
    LayerText layer{
        .name = "the command line", .grants = {}, .asks = {}, .denies = {}, .files = {}};
    (denies ? layer.denies : layer.grants).push_back(rule);
    if (denies) layer.grants.emplace_back("*.*");
    auto authority = world.load({layer});
    REQUIRE_MESSAGE(authority, (authority ? "" : authority.error().to_text()));
    for (const auto& call : meaning->second) {
      CAPTURE(call.arguments);
      const auto decision =
          authority->decide(Permission::parse(call.tool).value(), world.fill(call.arguments));
      CHECK(decision.allowed() == call.allowed);
    }
  }
  CHECK(seen == kMeanings.size());
}

TEST_CASE("rules about resources and prompts in docs/grants.md admit what is said beside them") {
  World world;
  for (const std::string server : {"notes", "web"}) {
    for (const Offer offer : {Offer::kResource, Offer::kPrompt})
      world.tools[Permission::of(server, name_of(offer)).value()] = schema_of(offer);
  }
  const std::map<std::string, std::vector<Call>> meanings = {
      {R"(notes."resources/read"(uri starts "file:///srv/notes/"))",
       {{"notes.resources/read", {{"uri", "file:///srv/notes/a"}}, true},
        {"notes.resources/read", {{"uri", "file:///srv/other"}}, false},
        {"web.resources/read", {{"uri", "file:///srv/notes/a"}}, false}}},
      {R"(web."resources/read"(uri host "docs.example.com"))",
       {{"web.resources/read", {{"uri", "https://docs.example.com/a"}}, true},
        {"web.resources/read", {{"uri", "https://docs.example.com.evil.example/a"}}, false},
        {"web.resources/read", {{"uri", "notes://docs.example.com/a"}}, false}}},
      {R"(notes."prompts/get"(name in {"review", "summary"}, arguments.lang == "en"))",
       {{"notes.prompts/get", {{"name", "review"}, {"arguments", {{"lang", "en"}}}}, true},
        {"notes.prompts/get", {{"name", "review"}, {"arguments", {{"lang", "de"}}}}, false},
        {"notes.prompts/get", {{"name", "other"}, {"arguments", {{"lang", "en"}}}}, false}}},
      {"*.*(* within ~/.ssh)",
       {{"notes.resources/read", {{"uri", "file://${HOME}/.ssh/id"}}, false},
        {"notes.prompts/get", {{"name", "a"}, {"arguments", {{"f", "${HOME}/.ssh/id"}}}}, false},
        {"notes.resources/read", {{"uri", "file:///srv/notes/a"}}, true}}}};
  std::istringstream lines(fences().at(1));
  std::size_t seen = 0;
  for (std::string line; std::getline(lines, line); ++seen) {
    CAPTURE(line);
    const auto [option, rule] = example_of(line);
    const auto meaning = meanings.find(rule);
    REQUIRE_MESSAGE(meaning != meanings.end(), "say in this test what the new example means");
    LayerText layer{
        .name = "the command line", .grants = {}, .asks = {}, .denies = {}, .files = {}};
    (option == "--deny" ? layer.denies : layer.grants).push_back(rule);
    if (option == "--deny") layer.grants.emplace_back("*.*");
    auto authority = world.load({layer});
    REQUIRE_MESSAGE(authority, (authority ? "" : authority.error().to_text()));
    for (const auto& call : meaning->second) {
      CAPTURE(call.arguments);
      const auto permission = Permission::parse(call.tool).value();
      CHECK(authority->decide(permission, world.fill(call.arguments)).allowed() == call.allowed);
    }
  }
  CHECK(seen == meanings.size());
}

TEST_CASE("the policy file in docs/grants.md loads with its tests and profile, as fmt writes it") {
  const World world;
  const std::string text = fences().at(2);
  LayerText layer{.name = "mcpac.policy", .grants = {}, .asks = {}, .denies = {}, .files = {text}};
  auto without = world.load({layer});
  REQUIRE_MESSAGE(without, (without ? "" : without.error().to_text()));
  layer.profiles = {"look"};
  auto with = world.load({layer});
  REQUIRE(with);
  const auto list = Permission::parse("filesystem.list_directory").value();
  CHECK_FALSE(without->decide(list, {{"path", "data"}}).allowed());
  CHECK(with->decide(list, {{"path", "data"}}).allowed());
  const auto tidy = format({"docs/grants.md", text});
  REQUIRE(tidy);
  CHECK(*tidy == text);
}

TEST_CASE("no example of docs/grants.md compares how a place is spelled, or decides nothing") {
  const auto all = fences();
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
    std::istringstream lines(all.at(at));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      const auto [option, rule] = example_of(line);
      const auto notes = open_ends(rule, option == "--deny" ? Effect::kDeny : Effect::kAllow);
      // Of the host alone it is said that http is admitted, too; it stands in the text.
      CHECK(notes.empty() != rule.contains(" host "));
    }
  }
  for (const auto& text : {all.at(2), all.back()}) {
    const auto summary = summarize({"docs/grants.md", text});
    REQUIRE(summary);
    CHECK(std::ranges::count(summary->notes, "spelling", &Note::kind) == 0);
  }
  const World world;
  CHECK(find_overlaps({"docs/grants.md", all.at(2)}, world.environment()).empty());
}

TEST_CASE("the grammar in docs/grants.md has the words that the parser reads") {
  const auto all = fences();
  REQUIRE(all.size() >= 2);
  const std::string& grammar = all.at(all.size() - 2);
  const std::string& examples = all.back();
  REQUIRE(grammar.starts_with("file "));
  const auto parsed = parse_file({"docs/grants.md", examples});
  REQUIRE_MESSAGE(parsed, (parsed ? "" : parsed.error().to_text()));
  // What the grammar has and no example shows may be a word that nobody reads.
  std::set<std::string> words;
  const std::regex quoted("\"([a-z_-]+)\"");
  for (std::sregex_iterator word(grammar.begin(), grammar.end(), quoted), end; word != end; ++word)
    words.insert((*word)[1]);
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(std::regex_search(examples, std::regex("(^|[^a-z_-])" + word + "($|[^a-z_-])")));
  }
  // And what the parser says that it knows is there.
  const auto unknown = parse_rule({"--grant", "a.b(c wrong)"}, Effect::kAllow);
  REQUIRE_FALSE(unknown);
  std::istringstream tests(unknown.error().why);
  std::size_t seen = 0;
  for (std::string word; tests >> word;) {
    if (word.ends_with(',')) word.pop_back();
    if (word == "tests:" || word == "a" || word == "range" || word == "1..10") continue;
    CAPTURE(word);
    CHECK(grammar.contains("\"" + word + "\""));
    ++seen;
  }
  CHECK(seen > 20);
}

}  // namespace mcpac::policy::testing
