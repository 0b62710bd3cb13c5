// SPDX-License-Identifier: Apache-2.0

// Gaps in the tests of a text, told with a value that passes and with the test that is
// closed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/ascii.h"
#include "core/offer.h"
#include "policy/explain/lint.h"
#include "policy/match/url.h"
#include "policy/rules/compiled.h"
#include "policy/sets/string_product.h"
#include "policy/sets/text_automata.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

using Kind = ast::TextTest::Kind;

// Some thousand states: what takes more is said nothing of.
constexpr std::size_t kSteps = 300'000;

// What may stand in a word: nothing that a shell, a query or a path gives a meaning to.
constexpr const char* kWordClass = "[A-Za-z0-9_.-]";

std::optional<Nfa> automaton_of(const ast::Test& test) {
  if (std::holds_alternative<ast::OneLineTest>(test.body)) return one_line_automaton(kLineBreaks);
  const auto* text = std::get_if<ast::TextTest>(&test.body);
  if (text == nullptr || !is_utf8(text->text)) return std::nullopt;
  switch (text->kind) {
    case Kind::kLike: return glob_automaton(text->text);
    case Kind::kRegex: return regex_automaton(text->text);
    case Kind::kStarts: return starting_with(text->text);
    case Kind::kEnds: break;
  }
  return ending_with(text->text);
}

// The shortest text that passes all text tests of the argument and the glob; nothing where there is
// none, or it cannot be told.
std::optional<std::string> passing(const ast::Arg& arg, std::string_view glob) {
  std::vector<Nfa> automata = {glob_automaton(glob)};
  for (const auto& test : arg.tests) {
    if (auto nfa = automaton_of(test)) {
      automata.push_back(std::move(*nfa));
    } else if (std::holds_alternative<ast::TextTest>(test.body)) {
      return std::nullopt;
    }
  }
  StepBudget budget(kSteps);
  const auto kinds = string_kinds(automata, budget);
  if (!kinds) return std::nullopt;
  for (const auto& kind : *kinds) {
    if (std::ranges::all_of(kind.accepted, [](bool accepts) { return accepts; }))
      return kind.example;
  }
  return std::nullopt;
}

std::optional<std::string> passing_any(const ast::Arg& arg, const auto& globs) {
  for (const std::string_view glob : globs) {
    if (auto text = passing(arg, glob)) return text;
  }
  return std::nullopt;
}

// Tests that look at the whole value in another way: what text tests beside them leave open they
// close.
bool is_closing(const ast::Test& test) {
  const auto* equal = std::get_if<ast::EqualTest>(&test.body);
  return std::holds_alternative<ast::PathTest>(test.body) ||
         std::holds_alternative<ast::InTest>(test.body) ||
         std::holds_alternative<ast::HostTest>(test.body) ||
         std::holds_alternative<ast::IpTest>(test.body) ||
         (equal != nullptr && equal->sense == ast::EqualTest::Sense::kEqual);
}

// In an expression of the grant language, between slashes.
std::string in_expression(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$/").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string closed_expression(const ast::TextTest& test) {
  const std::string word = std::string(kWordClass) + "*";
  switch (test.kind) {
    case Kind::kStarts: {
      const bool ends_word = !test.text.empty() && is_alphanumeric(test.text.back());
      if (ends_word && test.text.contains(' '))
        return fmt::format("{}( {}+)*", in_expression(test.text), kWordClass);
      return in_expression(test.text) + word;
    }
    case Kind::kEnds: return word + in_expression(test.text);
    case Kind::kLike: {
      std::string out;
      std::string_view rest = test.text;
      for (auto star = rest.find('*'); star != std::string_view::npos; star = rest.find('*')) {
        out += in_expression(rest.substr(0, star)) + word;
        rest.remove_prefix(star + 1);
      }
      return out + in_expression(rest);
    }
    case Kind::kRegex: break;
  }
  std::string out = test.text;
  for (std::size_t at = 0; (at = out.find('.', at)) != std::string::npos;) {
    const bool is_any = at + 1 < out.size() && (out[at + 1] == '*' || out[at + 1] == '+') &&
                        (at == 0 || out[at - 1] != '\\');
    if (is_any) out.replace(at, 1, kWordClass);
    at += is_any ? std::string_view(kWordClass).size() : 1;
  }
  return out;
}

// One argument of one rule.
class OpenArgument {
 public:
  OpenArgument(const ast::Arg& arg, Effect effect, bool is_resource, ParameterKind kind)
      : arg_(arg),
        name_(print(arg.path)),
        asks_(effect == Effect::kAsk),
        is_resource_(is_resource),
        kind_(kind) {}

  [[nodiscard]] std::optional<std::string> note() const {
    if (arg_.path.any_string() || arg_.presence == ast::Arg::Presence::kAbsent) return std::nullopt;
    if (auto about_scheme = missing_scheme()) return about_scheme;
    const ast::TextTest* first = nullptr;
    for (const auto& test : arg_.tests) {
      if (is_closing(test)) return std::nullopt;
      const auto* text = std::get_if<ast::TextTest>(&test.body);
      if (first == nullptr && text != nullptr) first = text;
    }
    if (first == nullptr) return std::nullopt;
    const std::string_view prefix = beginning_of(*first);
    if (prefix.contains("://")) return of_url(prefix);
    if (kind_ == ParameterKind::kUrl) {
      if (auto note = of_any_url(*first)) return note;
    }
    if (is_path(*first, prefix)) {
      if (auto note = of_path(*first, prefix)) return note;
    }
    return of_text(*first);
  }

 private:
  // What every text that passes begins with.
  static std::string_view beginning_of(const ast::TextTest& test) {
    if (test.kind == Kind::kStarts) return test.text;
    if (test.kind == Kind::kLike) return std::string_view(test.text).substr(0, test.text.find('*'));
    return {};
  }

  [[nodiscard]] std::string says(const std::string& witness) const {
    return fmt::format("{} says nothing of the rest: it {} {}, too", quoted_test(),
                       asks_ ? "asks about" : "admits", print_string(witness));
  }
  [[nodiscard]] std::string quoted_test() const { return fmt::format("'{}'", print(arg_)); }

  template <class T>
  [[nodiscard]] bool has() const {
    return std::ranges::any_of(arg_.tests,
                               [](const auto& t) { return std::holds_alternative<T>(t.body); });
  }

  [[nodiscard]] std::optional<std::string> missing_scheme() const {
    if (asks_ || !has<ast::HostTest>() || has<ast::SchemeTest>()) return std::nullopt;
    if (!passing(arg_, "http://*")) return std::nullopt;
    return fmt::format(
        "{} admits http, ws and ftp, too, which others on the way can read and "
        "change; for TLS alone add 'scheme https'",
        quoted_test());
  }

  [[nodiscard]] std::optional<std::string> of_url(std::string_view prefix) const {
    const auto authority = prefix.substr(prefix.find("://") + 3);
    const bool has_path = authority.find('/') != std::string_view::npos;
    if (authority.empty() && is_resource_) return std::nullopt;  // all of a scheme, and says so
    std::optional<std::string> witness;
    if (!has_path) witness = passing(arg_, fmt::format("{}{}*", prefix, foreign_end(authority)));
    // Resource URIs have no dot segments (core/offer.h).
    if (!witness && !is_resource_) witness = way_up(prefix);
    if (!witness) return std::nullopt;
    const auto url = read_url(std::string(prefix) + (has_path ? "" : "/"));
    const auto* host = url ? std::get_if<std::string>(&url->host) : nullptr;
    if (host == nullptr) return says(*witness);
    return fmt::format("{}; a test that reads the URL is closed: {} scheme {} host {}{}",
                       says(*witness), name_, url->scheme, *host,
                       has_path ? " starts " + print_string(prefix) : "");
  }
  static std::string foreign_end(std::string_view authority) {
    return authority.empty() || authority.ends_with('.') ? "evil.org/" : ".evil.org/";
  }

  [[nodiscard]] std::optional<std::string> way_up(std::string_view prefix) const {
    const bool is_folder = prefix.ends_with('/');
    return passing_any(arg_, std::array{fmt::format("{}{}../x*", prefix, is_folder ? "" : "/"),
                                        fmt::format("{}*/../*", prefix)});
  }

  // A test that names no authority: any will do.
  [[nodiscard]] std::optional<std::string> of_any_url(const ast::TextTest& test) const {
    const auto witness = passing(arg_, "https://evil.org/*");
    if (!witness) return std::nullopt;
    std::string_view name = test.text;
    while (name.starts_with('*')) name.remove_prefix(1);
    name = name.substr(0, name.find_first_of("/*"));
    const bool is_below = name.starts_with('.');
    if (is_below) name.remove_prefix(1);
    const bool is_host = test.kind != Kind::kRegex && name.contains('.') && read_host(name);
    return fmt::format("{}; a test that reads the URL is closed: {} scheme https host {}",
                       says(*witness), name_,
                       is_host ? (is_below ? "*." : "") + std::string(name) : "HOST");
  }

  // By what the argument is, else by how the text begins.
  [[nodiscard]] bool is_path(const ast::TextTest& test, std::string_view prefix) const {
    if (test.kind == Kind::kRegex) return false;
    constexpr std::array<std::string_view, 4> kAnchors = {"/", "./", "../", "~/"};
    return kind_ == ParameterKind::kPath ||
           std::ranges::any_of(kAnchors, [&](auto anchor) { return prefix.starts_with(anchor); });
  }

  [[nodiscard]] std::optional<std::string> of_path(const ast::TextTest& test,
                                                   std::string_view prefix) const {
    const auto witness = way_up(prefix);
    if (!witness) return std::nullopt;
    const bool anchored =
        prefix.starts_with('/') || prefix.starts_with("./") || prefix.starts_with("~/");
    std::string folder = (anchored ? "" : "./") + std::string(prefix);
    // Never more than the rule as it stands.
    const bool is_folder = test.kind == Kind::kStarts;
    if (!is_folder) folder.resize(folder.rfind('/') + 1);
    while (folder.size() > 2 && folder.ends_with('/')) folder.pop_back();
    // No rule names a place by "..".
    if (folder.contains("../") || folder.ends_with("/.."))
      return says(*witness) + fmt::format("; closed is {} within FOLDER", name_);
    return fmt::format("{}; a test that reads the path is closed: {} {}{}", says(*witness), name_,
                       print_test(ast::PathTest{ast::PathTest::Kind::kWithin, folder}),
                       is_folder ? "" : " " + print_test(test));
  }
  static std::string print_test(const auto& test) { return print(ast::Test{0, test}); }

  [[nodiscard]] std::optional<std::string> of_text(const ast::TextTest& test) const {
    static constexpr std::array<std::string_view, 4> kPieces = {"*; id*", "*|id*", "*$(id)*",
                                                                "*\nid*"};
    const auto witness = passing_any(arg_, kPieces);
    if (!witness) return std::nullopt;
    const std::string closed = closed_expression(test);
    const bool differs = test.kind != Kind::kRegex || closed != test.text;
    std::string text =
        fmt::format("{}; closed are {} == \"…\", {} in {{…}}{}", says(*witness), name_, name_,
                    differs ? fmt::format(", {} re /{}/", name_, closed) : "");
    const bool has_dot = test.kind == Kind::kRegex && !passing(arg_, "*\n*");
    if (has_dot && test.text.contains('.'))
      text += "; its dot matches no line feed, unless (?s) stands in front";
    return text;
  }

  const ast::Arg& arg_;
  std::string name_;
  bool asks_;
  bool is_resource_;
  ParameterKind kind_;
};

}  // namespace

std::vector<Note> left_open(const ast::Rule& rule, const ToolSchemas* tools) {
  std::vector<Note> notes;
  const auto add = [&notes](std::optional<Note> note) {
    const bool is_new = note && std::ranges::find(notes, note->text, &Note::text) == notes.end();
    if (is_new) notes.push_back(std::move(*note));
    return note.has_value();
  };
  for (const auto& target : rule.targets) {
    if (!target.brackets) continue;
    for (const auto& arg : target.brackets->args) {
      if (add(spelled_place(rule, target, arg, tools)) || rule.effect == Effect::kDeny) continue;
      const bool is_resource = target.selector.tool == std::string(kReadResource);
      const auto kind = kind_of_argument(target.selector, arg.path, tools);
      if (auto text = OpenArgument(arg, rule.effect, is_resource, kind).note())
        add(Note{.place = "", .text = std::move(*text), .kind = "open"});
    }
  }
  return notes;
}

namespace {

std::vector<std::string> sentences(const ast::Rule& rule, const ToolSchemas* tools) {
  std::vector<std::string> all;
  for (auto& note : left_open(rule, tools))
    all.push_back(note.fix.empty() ? std::move(note.text)
                                   : fmt::format("{}; beside it: {}", note.text, note.fix));
  return all;
}

}  // namespace

std::vector<std::string> open_ends(std::string_view rule, Effect effect, const ToolSchemas* tools) {
  auto parsed = parse_rule(SourceText{"", rule}, effect);
  return parsed ? sentences(*parsed, tools) : std::vector<std::string>();
}

std::vector<std::string> open_ends(std::string_view printed_rule) {
  auto file = parse_file(SourceText{"", printed_rule});
  std::vector<std::string> notes;
  if (!file) return notes;
  for (const auto& item : file->items) {
    const auto* statement = std::get_if<ast::Statement>(&item);
    const auto* rule = statement == nullptr ? nullptr : std::get_if<ast::Rule>(statement);
    if (rule == nullptr) continue;
    for (auto& note : sentences(*rule, nullptr)) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace mcpac::policy
