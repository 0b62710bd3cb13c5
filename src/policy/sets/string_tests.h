// SPDX-License-Identifier: Apache-2.0

// String tests: the tests of one argument, sorted by how all strings can be asked about them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/match/path_pattern.h"
#include "policy/rules/compiled.h"
#include "policy/sets/automaton.h"
#include "policy/text/ast.h"

namespace mcpac::policy {

// URL examples: for tests of host, scheme, port and ip, URLs that stand for all others.
//
// Such a test sees of a URL its scheme, its host and its port. Hosts differ by the patterns that
// cover them, addresses by the networks that they lie in: so the patterns' own names, one name
// below each, one that no pattern names, and the ends of every network are all there is to tell
// apart.
struct UrlWords {
  std::vector<std::string> hosts;  // as rules write them: "example.com", "*.example.com", "*"
  std::vector<std::string> networks;
  std::vector<std::string> ports;

  void add(const ast::Test& test);
  void add(const ast::Exception& exception);
};

[[nodiscard]] std::vector<std::string> url_examples(const UrlWords& words);
// For tests over any string: texts that are read as the same hosts and ports, without a scheme that
// any test names (match/url.h).
[[nodiscard]] std::vector<std::string> loose_url_examples(const UrlWords& words);

// kOpaque: a regular expression that no automaton stands for; it is known string by string only.
enum class ProbeKind : std::uint8_t { kText, kPath, kUrl, kOpaque };

// In StringTests::texts: URLs whose path servers read in several ways (core/uri_spelling.h).
inline constexpr const char* kReadApart = "read apart";

// Subjects of several arguments' tests, together and without duplicates.
struct StringTests {
  std::set<std::string> literals;
  std::map<std::string, Nfa> texts;  // by what they are made of
  std::map<std::string, Nfa> paths;
  UrlWords urls;
  std::string gap;  // a test that cannot be asked about exactly
  // Cost of one character when all expressions are matched, in instructions.
  std::size_t regex_size = 0;

  // `view`: how the rule whose argument it is reads.
  void add(const CompiledArg& arg, const CallView& view, const Environment& environment);
  // By matcher of an argument that was added.
  [[nodiscard]] std::vector<ProbeKind> kinds_of(const CompiledArg& arg, Reading reading) const;
  void add_length(const ast::Number& number, bool above);
  void add_at_least(std::size_t count);

 private:
  void add_test(const ast::Test& test, const CallView& view, const Environment& environment);
  void add_literal(const ast::Literal& literal, bool glob);
  // Folders that it lies in count where they are caught or excepted with it.
  enum class Above : std::uint8_t { kPasses, kCounts };
  void add_path(const std::string& path, ast::Offset at, PathPattern::Kind kind,
                const CallView& view, Above above, const Environment& environment);
  void add_text(const ast::TextTest& text, Reading reading);
  void add_routed(const ast::Test& test, Reading reading);
  void add_regex(const std::string& key, const std::string& pattern, Reading reading);
  [[nodiscard]] ProbeKind kind_of(const ast::Test& test, Reading reading) const;

  std::set<std::string> opaque_;  // expressions without an automaton
  std::size_t states_ = 0;        // of all automata
};

}  // namespace mcpac::policy
