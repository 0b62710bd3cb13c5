// SPDX-License-Identifier: Apache-2.0

// Tests of a deny or an ask that compare how a place is spelled: "/etc/passwd" is not
// "/x/../etc/passwd" to them, and it is to the server. Told with a value that is let through, which
// was asked about, and with the rule that reads the place.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libpsl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/clock.h"
#include "core/offer.h"
#include "policy/decide/decide.h"
#include "policy/explain/lint.h"
#include "policy/match/parameter_names.h"
#include "policy/match/url.h"
#include "policy/rules/compiled.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

using Kind = ast::TextTest::Kind;

// A text that a test names, with what may stand before and behind it.
struct Named {
  std::string text;
  bool open_front = false;
  bool open_back = false;
};

// Of an expression as far as it is a text with `.*` around it.
std::optional<Named> named_by_expression(std::string_view text) {
  Named named;
  if (text.starts_with("(?i)")) return std::nullopt;
  if (text.starts_with('^')) text.remove_prefix(1);
  if ((named.open_front = text.starts_with(".*"))) text.remove_prefix(2);
  if (text.ends_with('$') && !text.ends_with("\\$")) text.remove_suffix(1);
  if ((named.open_back = text.ends_with(".*") && !text.ends_with("\\.*"))) text.remove_suffix(2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size() && !is_alphanumeric(text[i + 1]);
    if (is_escape) {
      named.text += text[++i];
    } else if (std::string_view("\\.+*?()|[]{}^$").contains(text[i])) {
      return std::nullopt;
    } else {
      named.text += text[i];
    }
  }
  return named;
}

// A star within it stands for itself: what has one is said in words alone.
std::optional<Named> named_by(const ast::TextTest& test) {
  std::string_view text = test.text;
  switch (test.kind) {
    case Kind::kStarts: return Named{std::string(text), false, true};
    case Kind::kEnds: return Named{std::string(text), true, false};
    case Kind::kRegex: return named_by_expression(text);
    case Kind::kLike: break;
  }
  Named named;
  if ((named.open_front = text.starts_with('*'))) text.remove_prefix(1);
  if ((named.open_back = text.ends_with('*'))) text.remove_suffix(1);
  named.text = text;
  return named;
}

// Each text that a deny or ask names by itself: `in {…}` names several. None: no text.
std::vector<std::optional<Named>> named_by(const ast::Test& test) {
  std::vector<std::optional<Named>> all;
  const auto add = [&all](const ast::Literal& literal) {
    if (const auto* text = std::get_if<std::string>(&literal.value)) all.push_back(Named{*text});
  };
  if (const auto* text = std::get_if<ast::TextTest>(&test.body)) all.push_back(named_by(*text));
  if (const auto* in = std::get_if<ast::InTest>(&test.body))
    std::ranges::for_each(in->literals, add);
  const auto* equal = std::get_if<ast::EqualTest>(&test.body);
  if (equal != nullptr && equal->sense == ast::EqualTest::Sense::kEqual) add(equal->literal);
  return all;
}

bool is_anchored(std::string_view text) {
  constexpr std::array<std::string_view, 4> kAnchors = {"/", "./", "../", "~/"};
  return std::ranges::any_of(kAnchors, [&](auto anchor) { return text.starts_with(anchor); });
}

bool climbs(std::string_view path) {
  return path == ".." || path.starts_with("../") || path.contains("/../") || path.ends_with("/..");
}

// "com"; not "txt".
bool is_top_domain(const std::string& label) {
  return psl_is_public_suffix2(psl_builtin(), label.c_str(),
                               PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) != 0;
}

// The rule by itself, with its one tool or a made one, whose schema says nothing: what it catches
// of a value does not hang on where it stands.
class Alone {
 public:
  explicit Alone(const ast::Selector& selector)
      : tool_(Permission::of(selector.server.value_or("any"), selector.tool.value_or("tool"))) {
    if (!tool_) return;
    tools_.emplace(*tool_, Json::object());
    environment_.tools = &tools_;
    environment_.clock = &clock_;
    environment_.bases.current_directory = "/here";
    environment_.bases.home = "/home/user";
    environment_.bases.roots.emplace(tool_->server(), "/server");
  }

  // Nothing where it does not load.
  [[nodiscard]] std::optional<bool> catches(const ast::Arg& arg, const std::string& value) const {
    if (!tool_) return std::nullopt;
    ast::Rule rule;
    rule.effect = Effect::kDeny;
    rule.targets.push_back(
        {.selector = {.at = 0, .tool_at = 0, .server = tool_->server(), .tool = tool_->tool()},
         .brackets = ast::Brackets{.args = {arg}, .rest = true}});
    ast::Rule rest = rule;
    rest.effect = Effect::kAllow;
    rest.targets.front().brackets.reset();
    CompiledLayer layer;
    const SourceText source{"a rule", ""};
    if (!Loader{environment_, layer}.add(rule, source)) return std::nullopt;
    if (!Loader{environment_, layer}.add(rest, source)) return std::nullopt;
    Json call = Json::object();
    Json* place = &call;
    for (const auto& step : arg.path.steps) {
      if (const auto* member = std::get_if<ast::Member>(&step)) {
        place = &(*place)[member->name];
      } else {
        *place = Json::array({nullptr});
        place = &place->front();
      }
    }
    if (arg.path.any_string()) place = &call["any"];
    *place = value;
    const auto verdict = decide_layer(layer,
                                      {.permission = *tool_,
                                       .arguments = call,
                                       .schema = &tools_.begin()->second,
                                       .lexical = true},
                                      Times{});
    return verdict.effect == Effect::kDeny;
  }

 private:
  Result<Permission> tool_;
  ToolSchemas tools_;
  SystemClock clock_;
  Environment environment_;
};

// One argument of one target of a deny or an ask.
class Spelled {
 public:
  Spelled(const ast::Rule& rule, const ast::Target& target, const ast::Arg& arg,
          const ToolSchemas* tools)
      : rule_(rule), target_(target), arg_(arg), alone_(target.selector) {
    is_resource_ = target.selector.tool == std::string(kReadResource);
    kind_ = kind_of_argument(target.selector, arg.path, tools);
  }

  [[nodiscard]] std::optional<Note> note() const {
    if (arg_.presence == ast::Arg::Presence::kAbsent) return std::nullopt;
    for (const auto& test : arg_.tests) {
      // These read a URL in one spelling, and a path of it in every one (docs/grants.md).
      if (std::holds_alternative<ast::HostTest>(test.body) ||
          std::holds_alternative<ast::IpTest>(test.body))
        return std::nullopt;
    }
    for (const auto& test : arg_.tests) {
      const auto named = named_by(test);
      if (named.empty()) continue;
      const bool is_url =
          std::ranges::any_of(named, [&](const auto& one) { return is_url_in(one); });
      const bool is_path =
          std::ranges::any_of(named, [&](const auto& one) { return is_path_in(one); });
      if (!is_url && !is_path) continue;
      if (auto found = is_url ? of_urls(test, named) : of_paths(test, named)) return found;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool is_url_in(const std::optional<Named>& named) const {
    if (named && named->text.contains("://")) return !named->text.starts_with("file://");
    // "/docs" and "secret.txt" name no host; what they are below is not known.
    if (kind_ != ParameterKind::kUrl || !named || is_anchored(named->text)) return false;
    const auto host = host_of(*named);
    return host && host->contains('.') && is_top_domain(host->substr(host->rfind('.') + 1));
  }
  [[nodiscard]] bool is_path_in(const std::optional<Named>& named) const {
    if (named && named->text.starts_with("file://")) return true;
    if (kind_ == ParameterKind::kUrl) return false;
    if (kind_ == ParameterKind::kPath) return true;
    if (!named || named->text.find_first_of(" \t\r\n") != std::string::npos) return false;
    // Of any string what is written as places are: "/etc", "*.ssh*", "*/secret/*".
    const bool is_written_so = is_anchored(named->text) || named->text.contains('/') ||
                               (named->text.starts_with('.') && named->text.size() > 1 &&
                                !named->text.contains("..") && named->open_back);
    if (arg_.path.any_string()) return is_written_so && !named->text.contains("://");
    return is_anchored(named->text) && !named->open_front && !is_command();
  }
  // A word that is run, or a text around a path, is no place.
  [[nodiscard]] bool is_command() const {
    const auto* last = arg_.path.steps.empty() ? nullptr : &arg_.path.steps.back();
    const auto* member = last == nullptr ? nullptr : std::get_if<ast::Member>(last);
    constexpr std::array<std::string_view, 9> kTexts = {
        "command", "cmd", "query", "script", "code", "text", "body", "route", "content"};
    return member != nullptr && std::ranges::find(kTexts, lowered(member->name)) != kTexts.end();
  }

  // The first value that the test lets through, though it means what it names.
  [[nodiscard]] std::optional<std::string> let_through(
      const std::vector<std::pair<std::string, std::string>>& values) const {
    for (const auto& [caught, other] : values) {
      // No resource is read by such a URI (core/offer.h).
      if (is_resource_ && (climbs(other) || other.contains("/./") || other.ends_with("/.")))
        continue;
      if (alone_.catches(arg_, caught) == true && alone_.catches(arg_, other) == false)
        return other;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string print_line(const std::vector<std::vector<ast::Test>>& all) const {
    std::string line;
    for (const auto& tests : all) {
      ast::Rule rule;
      rule.effect = rule_.effect;
      rule.clauses = rule_.clauses;
      rule.targets.push_back(target_);
      for (auto& arg : rule.targets.front().brackets->args) {
        if (print(arg.path) != print(arg_.path)) continue;
        arg.tests = tests;
      }
      line += (line.empty() ? "" : " ") + print(rule);
    }
    return line;
  }

  // As the rule that names the place: each must load, and catch what was let through.
  [[nodiscard]] std::string line_of(const std::vector<std::optional<ast::Test>>& closed,
                                    const std::optional<std::string>& witness) const {
    constexpr std::size_t kMostLines = 8;
    std::vector<std::vector<ast::Test>> all;
    bool is_caught = !witness;
    for (const auto& test : closed) {
      if (!test) return "";
      all.push_back(path_tests());
      all.back().push_back(*test);
      ast::Arg arg = arg_;
      arg.tests = all.back();
      const auto caught = alone_.catches(arg, witness.value_or("/"));
      if (!caught) return "";
      is_caught = is_caught || *caught;
    }
    return is_caught && all.size() <= kMostLines ? print_line(all) : "";
  }

  [[nodiscard]] std::vector<ast::Test> path_tests() const {
    std::vector<ast::Test> tests;
    for (const auto& test : arg_.tests) {
      if (std::holds_alternative<ast::PathTest>(test.body)) tests.push_back(test);
    }
    return tests;
  }

  [[nodiscard]] std::string begin() const {
    return fmt::format("'{}' compares a text", print(arg_));
  }
  [[nodiscard]] std::string through() const {
    return rule_.effect == Effect::kDeny ? "the deny lets through" : "the ask does not ask about";
  }

  [[nodiscard]] std::optional<Note> of_paths(const ast::Test& /*test*/,
                                             const std::vector<std::optional<Named>>& named) const {
    std::vector<std::pair<std::string, std::string>> values;
    std::vector<std::optional<ast::Test>> closed;
    for (const auto& one : named) {
      closed.push_back(one ? reading_of(*one) : std::nullopt);
      if (!one) continue;
      for (auto& pair : other_spellings(*one)) values.push_back(std::move(pair));
    }
    const auto witness = let_through(values);
    // A name within a text stands in every spelling of it, but for a link's and one from within.
    if (!witness && kind_ != ParameterKind::kPath && !arg_.path.any_string()) return std::nullopt;
    const std::string how =
        witness ? fmt::format("{} {}, and links to it", through(), print_string(*witness))
                : fmt::format(
                      "{} a link to it, a folder that it lies in, and what counts from "
                      "within it",
                      through());
    const std::string line = line_of(closed, witness);
    return Note{.place = "",
                .text = fmt::format("{}, and a place has many spellings: {}", begin(), how),
                .kind = "spelling",
                .why =
                    "`within` and `matches` read the place, whatever it is called: put such a rule "
                    "beside this one",
                .fix = line.empty() ? fmt::format("{} within FOLDER, or {} matches GLOB, beside it",
                                                  print(arg_.path), print(arg_.path))
                                    : line};
  }

  static std::vector<std::pair<std::string, std::string>> other_spellings(const Named& named) {
    std::string text = named.text;
    std::string scheme;
    if (text.starts_with("file://")) {
      scheme = "file://";
      text.erase(0, scheme.size());
    }
    std::vector<std::pair<std::string, std::string>> all;
    const auto add = [&](std::string caught, std::string other) {
      all.emplace_back(scheme + std::move(caught), scheme + std::move(other));
    };
    if (named.open_front) {
      const std::string whole = (text.starts_with('/') ? "/x" : "/x/a") + text;
      add(whole, whole + "/.");
      return all;
    }
    if (text.starts_with('/')) {
      add(text, "/x/.." + text);
      add(text, "/" + text);
      add(text, "/." + text);
    } else if (text.starts_with("~/")) {
      add(text, "~/x/../" + text.substr(2));
    } else if (!text.empty()) {
      add(text, text.starts_with("./") ? text.substr(2) : "./" + text);
      add(text, "x/../" + text);
    }
    return all;
  }

  // `within` where a whole place is named, else `matches`.
  static std::optional<ast::Test> reading_of(const Named& named) {
    std::string text = named.text;
    if (text.starts_with("file://")) text.erase(0, std::string_view("file://").size());
    const bool has_star = text.contains('*');
    if (climbs(text) || (text.empty() && !has_star)) return std::nullopt;
    if (text.starts_with("./") && named.open_front) return std::nullopt;
    ast::PathTest path;
    if (!named.open_front && !has_star) {
      path.path = is_anchored(text) ? text : "./" + text;
      while (path.path.size() > 2 && path.path.ends_with('/')) path.path.pop_back();
      return ast::Test{0, path};
    }
    path.kind = ast::PathTest::Kind::kMatches;
    if (named.open_front) {
      path.path = (text.starts_with('/') ? "/**" : "/**/*") + text;
    } else {
      path.path = is_anchored(text) ? text : "./" + text;
    }
    if (named.open_back) path.path += path.path.ends_with('/') ? "**" : "*/**";
    return ast::Test{0, path};
  }

  [[nodiscard]] std::optional<Note> of_urls(const ast::Test& test,
                                            const std::vector<std::optional<Named>>& named) const {
    std::vector<std::pair<std::string, std::string>> values;
    std::vector<std::vector<ast::Test>> closed;
    for (const auto& one : named) {
      if (!one) continue;
      for (auto& pair : other_urls(*one)) values.push_back(std::move(pair));
      if (auto host = host_of(*one)) {
        closed.push_back({ast::Test{0, ast::HostTest{{*host}}}});
        const auto scheme = one->text.find("://");
        const auto path = scheme == std::string::npos ? scheme : one->text.find('/', scheme + 3);
        // The test beside a host sees every way to write the path.
        if (path != std::string::npos && path + 1 < one->text.size() && named.size() == 1)
          closed.back().push_back(test);
      }
    }
    const auto witness = let_through(values);
    if (!witness) return std::nullopt;
    const bool is_whole = closed.size() == named.size() && loads_all(closed, *witness);
    const std::string name = print(arg_.path);
    return Note{.place = "",
                .text = fmt::format("{}, and a URL has many spellings ('HTTPS://', ':443', '%61', "
                                    "'//'): {} {}",
                                    begin(), through(), print_string(*witness)),
                .kind = "spelling",
                .why =
                    "`host` reads the URL, and a test beside it every way to write its path: put "
                    "such a rule beside this one",
                .fix = is_whole
                           ? print_line(closed)
                           : fmt::format("{0} host HOST, or {0} host HOST and this test", name)};
  }

  [[nodiscard]] bool loads_all(const std::vector<std::vector<ast::Test>>& closed,
                               const std::string& witness) const {
    constexpr std::size_t kMostLines = 8;
    bool is_caught = false;
    for (const auto& tests : closed) {
      ast::Arg arg = arg_;
      arg.tests = tests;
      const auto caught = alone_.catches(arg, witness);
      if (!caught) return false;
      is_caught = is_caught || *caught;
    }
    return is_caught && !closed.empty() && closed.size() <= kMostLines;
  }

  // Where the authority of the URL begins in the text.
  static std::size_t authority_at(const std::string& text) {
    const auto scheme = text.find("://");
    return scheme == std::string::npos ? 0 : scheme + 3;
  }

  static std::vector<std::pair<std::string, std::string>> other_urls(const Named& named) {
    const auto at = authority_at(named.text);
    const auto end = std::min(named.text.find('/', at), named.text.size());
    std::string url = named.text;
    std::size_t host = at;
    if (at == 0) {
      const std::string front =
          named.open_front && named.text.starts_with('.') ? "https://a" : "https://";
      url = front + url;
      host = front.size() - (named.text.starts_with('.') ? 1 : 0);
    }
    const std::size_t host_end = at == 0 ? end + (url.size() - named.text.size()) : end;
    std::vector<std::pair<std::string, std::string>> all;
    std::string other = url;
    for (std::size_t i = host; i < host_end; ++i) {
      if (is_lower(other[i])) other[i] = static_cast<char>(other[i] - 'a' + 'A');
    }
    all.emplace_back(url, other);
    if (host < host_end && is_lower(url[host_end - 1])) {
      other = url;
      other.replace(host_end - 1, 1,
                    fmt::format("%{:02X}", static_cast<unsigned char>(url[host_end - 1])));
      all.emplace_back(url, other);
    }
    return all;
  }

  static std::optional<std::string> host_of(const Named& named) {
    const auto at = authority_at(named.text);
    std::string host = named.text.substr(at, named.text.find('/', at) - at);
    if (host.starts_with("*.")) host.erase(0, 1);
    const bool is_below = host.starts_with('.');
    if (is_below) host.erase(0, 1);
    if (host.contains('*') || !read_host(host)) return std::nullopt;
    return is_below ? "*." + host : host;
  }

  const ast::Rule& rule_;
  const ast::Target& target_;
  const ast::Arg& arg_;
  Alone alone_;
  bool is_resource_ = false;
  ParameterKind kind_ = ParameterKind::kNone;
};

// The schema at the place of an argument; null where there is none.
const Json* schema_at(const Json& tool, const ast::ArgPath& path) {
  const Json* at = &tool;
  for (const auto& step : path.steps) {
    if (const auto* member = std::get_if<ast::Member>(&step)) {
      const Json* properties = find_member(*at, "properties");
      at = properties == nullptr ? nullptr : find_member(*properties, member->name);
    } else {
      at = find_member(*at, "items");
    }
    if (at == nullptr || !at->is_object()) return nullptr;
  }
  return at;
}

}  // namespace

ParameterKind kind_of_argument(const ast::Selector& selector, const ast::ArgPath& path,
                               const ToolSchemas* tools) {
  if (path.any_string()) return ParameterKind::kNone;
  const ast::Member* last = nullptr;
  for (const auto& step : path.steps) {
    if (const auto* member = std::get_if<ast::Member>(&step)) last = member;
  }
  if (last == nullptr) return ParameterKind::kNone;
  if (const auto kind = place_named(last->name); kind != ParameterKind::kNone) return kind;
  // The file or folder that a tool is about by its name.
  const bool may_be = may_name_place(last->name) && selector.tool &&
                      (selector.tool->contains("file") || selector.tool->contains("dir") ||
                       selector.tool->contains("folder") || selector.tool->contains("path"));
  if (may_be) return ParameterKind::kPath;
  if (tools == nullptr) return ParameterKind::kNone;
  for (const auto& [tool, schema] : *tools) {
    if ((selector.server && tool.server() != *selector.server) ||
        (selector.tool && tool.tool() != *selector.tool))
      continue;
    const Json* at = schema_at(schema, path);
    const auto kind = at == nullptr ? ParameterKind::kNone : place_described(*at);
    if (kind != ParameterKind::kNone) return kind;
  }
  return ParameterKind::kNone;
}

std::optional<Note> spelled_place(const ast::Rule& rule, const ast::Target& target,
                                  const ast::Arg& arg, const ToolSchemas* tools) {
  if (rule.effect == Effect::kAllow) return std::nullopt;
  return Spelled(rule, target, arg, tools).note();
}

}  // namespace mcpac::policy
