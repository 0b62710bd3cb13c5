// SPDX-License-Identifier: Apache-2.0

#include "policy/sets/string_tests.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "policy/match/ip_network.h"
#include "policy/match/url.h"
#include "policy/sets/path_automata.h"
#include "policy/sets/text_automata.h"

namespace mcpac::policy {
namespace {

constexpr const char* kSchemes[] = {"https", "http", "wss", "ws", "ftp"};

// The next address, or the one before; around the end at the ends.
IpAddress neighbour(IpAddress address, bool up) {
  for (std::size_t i = address.v4 ? 4 : 16; i > 0; --i) {
    std::uint8_t& byte = address.bytes[i - 1];
    byte = static_cast<std::uint8_t>(up ? byte + 1 : byte - 1);
    if (byte != (up ? 0x00 : 0xFF)) break;
  }
  return address;
}

// 6to4, which carries an IPv4 address.
IpAddress carrying(const IpAddress& v4) {
  IpAddress address;
  address.bytes[0] = 0x20;
  address.bytes[1] = 0x02;
  std::copy_n(v4.bytes.begin(), 4, address.bytes.begin() + 2);
  return address;
}

void add_ends(const IpNetwork& network, std::set<std::string>& hosts) {
  for (const auto& end : {network.first(), network.last()}) {
    for (const auto& address : {end, neighbour(end, true), neighbour(end, false)})
      hosts.insert(to_text(address));
  }
}

// A name below `name` that is not in use.
std::string fresh_below(const std::string& name, const std::set<std::string>& known) {
  std::string made = "a." + name;
  while (known.contains(made)) made = "a" + made;
  return made;
}

// A name that lies below none of those.
std::string unrelated(const std::set<std::string>& known) {
  std::string top = "test";
  const auto is_taken = [&](const std::string& name) {
    return name == top || name.ends_with("." + top);
  };
  while (std::ranges::any_of(known, is_taken)) top += "t";
  return "a." + top;
}

}  // namespace

void UrlWords::add(const ast::Test& test) {
  if (const auto* host = std::get_if<ast::HostTest>(&test.body))
    hosts.insert(hosts.end(), host->hosts.begin(), host->hosts.end());
  if (const auto* ip = std::get_if<ast::IpTest>(&test.body))
    networks.insert(networks.end(), ip->networks.begin(), ip->networks.end());
  if (const auto* port = std::get_if<ast::PortTest>(&test.body)) {
    for (const auto& number : port->ports) ports.push_back(number.spelling);
  }
}

void UrlWords::add(const ast::Exception& exception) {
  if (const auto* host = std::get_if<ast::HostException>(&exception.body))
    hosts.push_back(host->host);
  if (const auto* ip = std::get_if<ast::NetworkException>(&exception.body))
    networks.push_back(ip->network);
}

namespace {

std::set<std::string> example_hosts(const UrlWords& words) {
  std::set<std::string> names;
  for (const auto& text : words.hosts) {
    if (text == "*") continue;
    const auto host = read_host(text.starts_with("*.") ? text.substr(2) : text);
    if (!host) continue;
    if (const auto* name = std::get_if<std::string>(&*host)) names.insert(*name);
  }
  std::set<std::string> hosts = names;
  for (const auto& name : names) hosts.insert(fresh_below(name, names));
  hosts.insert({unrelated(names), "localhost", "93.184.216.34", "127.0.0.1", "[::1]", "0.0.0.0",
                "[::]", "metadata.google.internal"});
  for (const auto& range : special_ranges()) {
    if (!words.networks.empty()) add_ends(range, hosts);
  }
  for (const auto& text : words.networks) {
    const auto network = IpNetwork::parse(text);
    if (!network) continue;
    add_ends(*network, hosts);
    if (network->first().v4) hosts.insert(to_text(carrying(network->first())));
  }
  return hosts;
}

// ":443", as rules name them, one that no rule names, and none.
std::set<std::string> example_ports(const UrlWords& words) {
  std::set<std::string> ports = {""};
  for (const auto& port : words.ports) ports.insert(":" + port);
  // Of more ports than there are names of ports.
  unsigned free = 1024;
  while (ports.contains(fmt::format(":{}", free))) ++free;
  ports.insert(fmt::format(":{}", free));
  return ports;
}

}  // namespace

std::vector<std::string> url_examples(const UrlWords& words) {
  const auto hosts = example_hosts(words);
  const auto ports = example_ports(words);
  std::vector<std::string> urls;
  for (const char* scheme : kSchemes) {
    for (const auto& host : hosts) {
      for (const auto& port : ports) urls.push_back(fmt::format("{}://{}{}/p", scheme, host, port));
    }
  }
  return urls;
}

std::vector<std::string> loose_url_examples(const UrlWords& words) {
  std::vector<std::string> urls;
  const auto ports = example_ports(words);
  for (const auto& host : example_hosts(words)) {
    for (const auto& port : ports) {
      urls.push_back(fmt::format("//{}{}/p", host, port));
      urls.push_back(fmt::format("x://{}{}/p", host, port));
    }
  }
  return urls;
}

namespace {

bool is_like(const ast::Test& test) {
  const auto* text = std::get_if<ast::TextTest>(&test.body);
  return text != nullptr && text->kind == ast::TextTest::Kind::kLike;
}

// An expression is another one in a deny or ask (match/matcher.h).
std::string key_of(const ast::TextTest& text, Reading reading) {
  const bool caught = text.kind == ast::TextTest::Kind::kRegex && reading == Reading::kCatch;
  return fmt::format("{}{} {}", static_cast<int>(text.kind), caught ? "-" : "", text.text);
}

// A hundred long expressions; one state takes some 200 bytes.
constexpr std::size_t kMostStates = 100'000;

}  // namespace

ProbeKind StringTests::kind_of(const ast::Test& test, Reading reading) const {
  if (std::holds_alternative<ast::PathTest>(test.body)) return ProbeKind::kPath;
  const auto* text = std::get_if<ast::TextTest>(&test.body);
  const bool regex = text != nullptr && text->kind == ast::TextTest::Kind::kRegex;
  return regex && !texts.contains(key_of(*text, reading)) ? ProbeKind::kOpaque : ProbeKind::kText;
}

// In the order in which compile_brackets.cpp makes them.
std::vector<ProbeKind> StringTests::kinds_of(const CompiledArg& arg, Reading reading) const {
  std::vector<ProbeKind> kinds;
  bool has_url = false;
  for (const auto& test : arg.tests) {
    if (is_url_test(test)) {
      has_url = true;
    } else {
      kinds.push_back(kind_of(test, reading));
    }
  }
  if (has_url) kinds.push_back(ProbeKind::kUrl);
  kinds.resize(arg.matchers.size(), ProbeKind::kText);
  return kinds;
}

void StringTests::add(const CompiledArg& arg, const CallView& view,
                      const Environment& environment) {
  for (const auto& test : arg.tests) {
    add_test(test, view, environment);
    if (view.reading == Reading::kCatch && is_text_in_url(test, arg.tests))
      add_routed(test, view.reading);
  }
  const bool globs = std::ranges::any_of(arg.tests, is_like);
  for (const auto& exception : arg.exceptions) {
    urls.add(exception);
    if (const auto* literal = std::get_if<ast::Literal>(&exception.body))
      add_literal(*literal, globs);
    if (const auto* path = std::get_if<ast::PathException>(&exception.body))
      add_path(path->path, exception.at, PathPattern::Kind::kException, view, Above::kCounts,
               environment);
  }
}

void StringTests::add_test(const ast::Test& test, const CallView& view,
                           const Environment& environment) {
  if (is_url_test(test)) {
    urls.add(test);
  } else if (const auto* equal = std::get_if<ast::EqualTest>(&test.body)) {
    add_literal(equal->literal, false);
  } else if (const auto* in = std::get_if<ast::InTest>(&test.body)) {
    for (const auto& literal : in->literals) add_literal(literal, false);
  } else if (const auto* text = std::get_if<ast::TextTest>(&test.body)) {
    add_text(*text, view.reading);
  } else if (const auto* count = std::get_if<ast::CountTest>(&test.body)) {
    if (count->kind != ast::CountTest::Kind::kLength) return;
    add_length(count->low, false);
    add_length(count->high, true);
  } else if (std::holds_alternative<ast::OneLineTest>(test.body)) {
    const bool sure = view.reading == Reading::kCatch;
    texts.try_emplace(sure ? "one-line -" : "one-line",
                      one_line_automaton(sure ? kSureLineBreaks : kLineBreaks));
  } else if (const auto* path = std::get_if<ast::PathTest>(&test.body)) {
    const auto kind = path->kind == ast::PathTest::Kind::kWithin ? PathPattern::Kind::kWithin
                                                                 : PathPattern::Kind::kMatches;
    add_path(path->path, test.at, kind, view,
             view.reading == Reading::kCatch ? Above::kCounts : Above::kPasses, environment);
  }
}

// Beside URL tests a deny or ask asks about all ways in which servers route a URL (in_url() of
// match/matcher.h). What passes in one of them, as far as examples need it: a path that is read
// apart, and the text of the test with empty segments, parameters and encoded slashes in it.
void StringTests::add_routed(const ast::Test& test, Reading reading) {
  static constexpr std::string_view kApart =
      "[^:/?#]+://[^/?#]*(?:/[^?#]*)?/\\.\\.;[^?#]*(?:[?#](?s:.*))?";
  texts.try_emplace(kReadApart, regex_automaton(kApart).value());
  std::vector<std::pair<std::string, Nfa>> plain;
  const auto add = [&](const std::string& key) {
    if (const auto known = texts.find(key); known != texts.end())
      plain.emplace_back("routed " + key, known->second);
  };
  const auto add_exactly = [&](const ast::Literal& literal) {
    const auto* text = std::get_if<std::string>(&literal.value);
    if (text != nullptr && is_utf8(*text)) plain.emplace_back("routed = " + *text, exactly(*text));
  };
  if (const auto* text = std::get_if<ast::TextTest>(&test.body)) add(key_of(*text, reading));
  if (const auto* equal = std::get_if<ast::EqualTest>(&test.body)) add_exactly(equal->literal);
  if (const auto* in = std::get_if<ast::InTest>(&test.body))
    std::ranges::for_each(in->literals, add_exactly);
  for (auto& [key, nfa] : plain) texts.try_emplace(key, routed(std::move(nfa)));
}

void StringTests::add_text(const ast::TextTest& text, Reading reading) {
  using Kind = ast::TextTest::Kind;
  if (!is_utf8(text.text)) {
    gap = "a test whose text is not UTF-8";
    return;
  }
  const std::string key = key_of(text, reading);
  if (texts.contains(key)) return;
  switch (text.kind) {
    case Kind::kLike: texts.emplace(key, glob_automaton(text.text)); return;
    case Kind::kStarts: texts.emplace(key, starting_with(text.text)); return;
    case Kind::kEnds: texts.emplace(key, ending_with(text.text)); return;
    case Kind::kRegex: break;
  }
  add_regex(key, text.text, reading);
}

void StringTests::add_regex(const std::string& key, const std::string& pattern, Reading reading) {
  if (opaque_.contains(key)) return;
  if (states_ > kMostStates) {
    gap = "expressions that are too long together";
    return;
  }
  const bool caught = reading == Reading::kCatch;
  auto nfa = regex_automaton(pattern, caught ? DotMatches::kAll : DotMatches::kAllButLineFeed);
  if (nfa) {
    states_ += nfa->states().size();
    regex_size += nfa->states().size();
    texts.emplace(key, std::move(*nfa));
    return;
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxRegexMemory);
  const RE2 expression(pattern, options);
  regex_size += static_cast<std::size_t>(std::max(expression.ProgramSize(), 1));
  states_ += static_cast<std::size_t>(std::max(expression.ProgramSize(), 1));
  opaque_.insert(key);
}

// From `number` code points on, or from one more.
void StringTests::add_length(const ast::Number& number, bool above) {
  const double value = std::strtod(number.spelling.c_str(), nullptr);
  const double least = above ? std::floor(value) + 1 : std::ceil(value);
  if (least <= 0) return;
  if (least > static_cast<double>(kMaxCounted)) {
    gap = fmt::format("a length of {}", number.spelling);
    return;
  }
  add_at_least(static_cast<std::size_t>(least));
}

void StringTests::add_at_least(std::size_t count) {
  if (count > 0 && count <= kMaxCounted)
    texts.try_emplace(fmt::format("len {}", count), at_least(count));
}

void StringTests::add_literal(const ast::Literal& literal, bool glob) {
  const auto* text = std::get_if<std::string>(&literal.value);
  if (text == nullptr) return;
  if (!is_utf8(*text)) {
    gap = "a test whose text is not UTF-8";
  } else if (glob && text->find('*') != std::string::npos) {
    texts.try_emplace(fmt::format("0 {}", *text), glob_automaton(*text));
  } else {
    literals.insert(*text);
  }
}

void StringTests::add_path(const std::string& path, ast::Offset at, PathPattern::Kind kind,
                           const CallView& view, Above above, const Environment& environment) {
  const std::string key = fmt::format("{} {}", static_cast<int>(kind), path);
  const std::string key_above = "above " + key;
  const bool counts = above == Above::kCounts && environment.bases.by_identity;
  const bool is_known = paths.contains(key + " 0");
  if (is_known && (!counts || paths.contains(key_above + " 0"))) return;
  const World world{environment, {view.server}, Effect::kAllow};
  const auto pattern = PathPattern::compile(path, at, kind, world);
  if (!pattern) {
    gap = "a path whose base can no longer be resolved";
    return;
  }
  const auto starts = path_starts(environment.bases, view.server);
  const auto put = [&](const std::string& name, std::vector<Nfa> automata) {
    std::size_t count = 0;
    for (auto& nfa : automata) paths.emplace(fmt::format("{} {}", name, count++), std::move(nfa));
  };
  if (!is_known) put(key, path_automata(*pattern, view.server, starts));
  if (counts) put(key_above, folders_above(*pattern, view.server, starts));
}

}  // namespace mcpac::policy
