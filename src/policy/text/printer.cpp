// SPDX-License-Identifier: Apache-2.0

#include "policy/text/printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/characters.h"
#include "core/printable.h"

namespace mcpac::policy {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

// Bare where no byte ends a bare path; what is not ASCII stays bare, as people write it, unless a
// reader would not see it.
std::string print_path(const std::string& path) {
  const bool plain = printable_in_place(path) == path && !path.empty() && path[0] != '#' &&
                     std::ranges::none_of(path, [](char c) {
                       return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f ||
                              std::string_view(",(){}\"\\").find(c) != std::string_view::npos;
                     });
  return plain ? path : print_string(path);
}

// Bare where the lexer reads it back as one atom.
std::string print_atom(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_bare(c) || std::string_view(".:*/+").find(c) != std::string_view::npos;
  });
  return plain ? text : print_string(text);
}

template <class Items, class Print>
std::string listed(const Items& items, Print print_item) {
  std::string text = "{";
  for (const auto& item : items) text += (text.size() > 1 ? ", " : "") + print_item(item);
  return text + "}";
}

template <class Items, class Print>
std::string one_or_listed(const Items& items, Print print_item) {
  return items.size() == 1 ? print_item(items.front()) : listed(items, print_item);
}

std::string print_range(const ast::Number& low, const ast::Number& high) {
  return low.spelling + ".." + high.spelling;
}

std::string_view sign(ast::BoundTest::Order order) {
  using Order = ast::BoundTest::Order;
  switch (order) {
    case Order::kLess: return "<";
    case Order::kLessEqual: return "<=";
    case Order::kGreater: return ">";
    case Order::kGreaterEqual: break;
  }
  return ">=";
}

// What is not seen by its number, as RE2 reads it. Behind a backslash there is nothing that RE2
// would take.
std::string print_regex(std::string_view pattern) {
  std::string text;
  bool is_escaped = false;
  while (!pattern.empty()) {
    const auto [code, bytes] = first_character(pattern);
    if (is_invisible(code) && !is_escaped)
      text += fmt::format("\\x{{{:x}}}", static_cast<std::uint32_t>(code));
    else
      text += pattern.substr(0, bytes);
    is_escaped = code == '\\' && !is_escaped;
    pattern.remove_prefix(bytes);
  }
  return text;
}

std::string print_text(const ast::TextTest& test) {
  using Kind = ast::TextTest::Kind;
  switch (test.kind) {
    case Kind::kLike: return "like " + print_string(test.text);
    case Kind::kRegex: return "re /" + print_regex(test.text) + "/";
    case Kind::kStarts: return "starts " + print_string(test.text);
    case Kind::kEnds: break;
  }
  return "ends " + print_string(test.text);
}

std::string print_exception(const ast::Exception& exception) {
  return std::visit(
      Overloaded{[](const ast::Literal& e) { return print(e); },
                 [](const ast::RangeTest& e) { return print_range(e.low, e.high); },
                 [](const ast::PathException& e) { return print_path(e.path); },
                 [](const ast::HostException& e) { return print_atom(e.host); },
                 [](const ast::NetworkException& e) { return print_atom(e.network); }},
      exception.body);
}

std::string print_clauses(const ast::Clauses& c) {
  std::string text;
  if (c.otherwise) text += " otherwise";
  if (c.calls) text += fmt::format(" calls <= {}", *c.calls);
  if (c.rate) text += " rate " + print(*c.rate);
  if (c.bytes_in) text += " bytes in <= " + c.bytes_in->spelling;
  if (c.bytes_out) text += " bytes out <= " + c.bytes_out->spelling;
  if (c.cost) text += " cost <= " + c.cost->spelling;
  if (c.duration) text += " for " + c.duration->spelling;
  if (c.until) text += " until " + c.until->spelling;
  if (c.audit) text += " audit " + *c.audit;
  if (c.because) text += " because " + print_string(*c.because);
  return text;
}

}  // namespace

std::string print(const ast::Rate& rate) {
  const auto unit = rate.unit.count() == 1 ? "s" : rate.unit.count() == 60 ? "min" : "h";
  return fmt::format("{}/{}", rate.calls, unit);
}

std::string print_string(std::string_view text) {
  return printable_in_place(to_text(Json(text)));
}

std::string print_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, is_bare) ? std::string(name)
                                                             : print_string(name);
}

std::string print(const ast::Literal& literal) {
  return std::visit(Overloaded{[](std::nullptr_t) { return std::string("null"); },
                               [](bool value) { return std::string(value ? "true" : "false"); },
                               [](const ast::Number& number) { return number.spelling; },
                               [](const std::string& text) { return print_string(text); }},
                    literal.value);
}

std::string print(const ast::Test& test) {
  const auto literal = [](const ast::Literal& l) { return print(l); };
  const auto number = [](const ast::Number& n) { return n.spelling; };
  return std::visit(
      Overloaded{
          [](const ast::EqualTest& t) {
            return (t.sense == ast::EqualTest::Sense::kEqual ? "== " : "!= ") + print(t.literal);
          },
          [&](const ast::InTest& t) { return "in " + listed(t.literals, literal); },
          [](const ast::RangeTest& t) { return print_range(t.low, t.high); },
          [](const ast::BoundTest& t) {
            return fmt::format("{} {}", sign(t.order), t.bound.spelling);
          },
          [](const ast::PathTest& t) {
            return (t.kind == ast::PathTest::Kind::kWithin ? "within " : "matches ") +
                   print_path(t.path);
          },
          [](const ast::TextTest& t) { return print_text(t); },
          [](const ast::CountTest& t) {
            return (t.kind == ast::CountTest::Kind::kLength ? "len " : "size ") +
                   print_range(t.low, t.high);
          },
          [](const ast::OneLineTest&) { return std::string("one-line"); },
          [](const ast::HostTest& t) { return "host " + one_or_listed(t.hosts, print_atom); },
          [](const ast::SchemeTest& t) { return "scheme " + one_or_listed(t.schemes, print_atom); },
          [&](const ast::PortTest& t) { return "port " + one_or_listed(t.ports, number); },
          [](const ast::IpTest& t) { return "ip in " + listed(t.networks, print_atom); }},
      test.body);
}

std::string print(const ast::ArgPath& path) {
  if (path.any_string()) return "*";
  std::string text;
  for (const auto& step : path.steps) {
    if (const auto* member = std::get_if<ast::Member>(&step)) {
      text += (text.empty() ? "" : ".") + print_name(member->name);
    } else {
      text += "[*]";
    }
  }
  return text;
}

std::string print(const ast::Arg& arg) {
  std::string text = (arg.presence == ast::Arg::Presence::kOptional ? "?" : "") + print(arg.path);
  if (arg.presence == ast::Arg::Presence::kAbsent) return text + " absent";
  if (arg.tests.empty()) return text + " any";
  for (const auto& test : arg.tests) text += " " + print(test);
  if (!arg.exceptions.empty()) text += " except " + listed(arg.exceptions, print_exception);
  return text;
}

std::string print(const ast::Brackets& brackets) {
  std::string text;
  for (const auto& arg : brackets.args) text += (text.empty() ? "" : ", ") + print(arg);
  if (brackets.rest) text += text.empty() ? ".." : ", ..";
  return text;
}

std::string print(const ast::Selector& selector) {
  return (selector.server ? print_name(*selector.server) : "*") + "." +
         (selector.tool ? print_name(*selector.tool) : "*");
}

std::string print(const ast::Target& target) {
  std::string text = print(target.selector);
  if (target.brackets) text += "(" + print(*target.brackets) + ")";
  return text;
}

std::string print_body(const ast::Rule& rule) {
  std::string text;
  for (const auto& target : rule.targets) text += (text.empty() ? "" : ", ") + print(target);
  return text + print_clauses(rule.clauses);
}

std::string print(const ast::Rule& rule) {
  return to_string(rule.effect) + " " + print_body(rule);
}

std::string print(const ast::FilesGrant& files) {
  return fmt::format("files {} {}", print_path(files.path), to_string(files.mode));
}

std::string print_network(const std::string& host, std::uint16_t port) {
  if (host == "*" && port == 0) return "any";
  const std::string number = port == 0 ? "*" : std::to_string(port);
  if (host.find(':') != std::string::npos) return fmt::format("[{}]:{}", host, number);
  return print_atom(fmt::format("{}:{}", host, number));
}

std::string print(const ast::NetworkGrant& network) {
  return "network " + print_network(network.host, network.port);
}

std::string print(const ast::Statement& statement) {
  return std::visit(
      Overloaded{[](const ast::Rule& rule) { return print(rule); },
                 [](const ast::SelfTest& test) {
                   return fmt::format(
                       "{} {} {}",
                       test.expect == ast::SelfTest::Expect::kMatch ? "match" : "not_match",
                       print(test.selector), to_text(test.arguments));
                 },
                 [](const ast::Use& use) { return "use " + print_string(use.profile); },
                 [](const ast::FilesGrant& files) { return print(files); },
                 [](const ast::NetworkGrant& network) { return print(network); },
                 [](const ast::NetworkDeny&) { return std::string("deny network"); }},
      statement);
}

std::string print_opening(const ast::Block& block) {
  return fmt::format("{} {} {{", block.kind == ast::Block::Kind::kPolicy ? "policy" : "profile",
                     print_string(block.name));
}

std::string print(const ast::File& file) {
  std::string text;
  for (const auto& item : file.items) {
    if (const auto* statement = std::get_if<ast::Statement>(&item)) {
      text += print(*statement) + "\n";
      continue;
    }
    const auto& block = std::get<ast::Block>(item);
    text += print_opening(block) + "\n";
    for (const auto& statement : block.statements) text += "  " + print(statement) + "\n";
    text += "}\n";
  }
  return text;
}

}  // namespace mcpac::policy
