// SPDX-License-Identifier: Apache-2.0

// The grant language as values: output of the parser, input of the printer and the loader.
//
// It says exactly what stands in a text and nothing about what it means; docs/grants.md has
// the grammar. Numbers, times and sizes keep the spelling of their author, so that printing changes
// no text's sense; their values are worked out once, by the parser, beside the spelling.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/json.h"
#include "core/quantity.h"
#include "policy/effect.h"
#include "policy/places.h"
#include "policy/text/decimal.h"

namespace mcpac::policy::ast {

// Start of something in its text, as a byte offset: lines are only counted when an error needs
// them.
using Offset = std::size_t;

struct Number {
  std::string spelling;
  Decimal value;
};

// A scalar of JSON: null, a truth value, a number or a string.
struct Literal {
  std::variant<std::nullptr_t, bool, Number, std::string> value;
};

// Tests ------------------------------------------------------------------------------------------
struct EqualTest {
  enum class Sense : std::uint8_t { kEqual, kNotEqual };
  Sense sense = Sense::kEqual;
  Literal literal;
};
struct InTest {
  std::vector<Literal> literals;
};
struct RangeTest {
  Number low;
  Number high;
};
struct BoundTest {
  enum class Order : std::uint8_t { kLess, kLessEqual, kGreater, kGreaterEqual };
  Order order = Order::kLess;
  Number bound;
};
struct PathTest {
  enum class Kind : std::uint8_t { kWithin, kMatches };
  Kind kind = Kind::kWithin;
  std::string path;
};
struct TextTest {
  enum class Kind : std::uint8_t { kLike, kRegex, kStarts, kEnds };
  Kind kind = Kind::kLike;
  std::string text;
};
struct CountTest {
  enum class Kind : std::uint8_t { kLength, kSize };
  Kind kind = Kind::kLength;
  Number low;
  Number high;
};
struct OneLineTest {};
struct HostTest {
  std::vector<std::string> hosts;
};
struct SchemeTest {
  std::vector<std::string> schemes;
};
struct PortTest {
  std::vector<Number> ports;
};
struct IpTest {
  std::vector<std::string> networks;
};

struct Test {
  Offset at = 0;
  std::variant<EqualTest, InTest, RangeTest, BoundTest, PathTest, TextTest, CountTest, OneLineTest,
               HostTest, SchemeTest, PortTest, IpTest>
      body;
};

// What an exception names is of the kind of the tests it belongs to: a path, a host, a network …
struct PathException {
  std::string path;
};
struct HostException {
  std::string host;
};
struct NetworkException {
  std::string network;
};
struct Exception {
  Offset at = 0;
  std::variant<Literal, RangeTest, PathException, HostException, NetworkException> body;
};

// Arguments --------------------------------------------------------------------------------------
struct Member {
  std::string name;
};
struct Elements {};  // "[*]"
using Step = std::variant<Member, Elements>;

struct ArgPath {
  std::vector<Step> steps;  // none: "*", any string anywhere in the call
  [[nodiscard]] bool any_string() const { return steps.empty(); }
};

struct Arg {
  enum class Presence : std::uint8_t { kRequired, kOptional, kAbsent };
  Offset at = 0;
  ArgPath path;
  Presence presence = Presence::kRequired;
  std::vector<Test> tests;  // none, and not absent: "any"
  std::vector<Exception> exceptions;
};

// Targets and rules ------------------------------------------------------------------------------
struct Selector {
  Offset at = 0;
  Offset tool_at = 0;
  std::optional<std::string> server;  // nothing: "*"
  std::optional<std::string> tool;    // nothing: "*"
};

struct Brackets {
  std::vector<Arg> args;
  bool rest = false;  // ".."
};

struct Target {
  Selector selector;
  std::optional<Brackets> brackets;  // nothing: the whole tool
};

struct Rate {
  std::uint64_t calls = 0;
  std::chrono::seconds unit{};
};
struct Span {
  std::string spelling;
  std::chrono::milliseconds value{};
};
struct Moment {
  std::string spelling;
  std::chrono::system_clock::time_point value;
};

struct Size {
  std::string spelling;  // "64KB"
  std::uint64_t bytes = 0;
};
struct Price {
  std::string spelling;  // "1.00 USD"
  Money value;
};

struct Clauses {
  std::optional<std::uint64_t> calls;
  std::optional<Rate> rate;
  std::optional<Size> bytes_in;   // of results, to the program
  std::optional<Size> bytes_out;  // of arguments, to the server
  std::optional<Price> cost;
  std::optional<Span> duration;
  std::optional<Moment> until;
  std::optional<std::string> audit;  // "meta", "hash", "args"
  std::optional<std::string> because;
  bool otherwise = false;  // of an ask: about what no allow of its layer admits
};

struct Rule {
  Offset at = 0;
  Effect effect = Effect::kAllow;
  std::vector<Target> targets;
  Clauses clauses;
};

struct SelfTest {
  enum class Expect : std::uint8_t { kMatch, kNotMatch };
  Offset at = 0;
  Expect expect = Expect::kMatch;
  Selector selector;
  Json arguments;
};

struct Use {
  Offset at = 0;
  std::string profile;
};

// Places -----------------------------------------------------------------------------------------
struct FilesGrant {
  Offset at = 0;
  Offset path_at = 0;
  std::string path;
  FileMode mode = FileMode::kReadOnly;
};
// "network any", or a host (a name, an address, a network; without square brackets) and a port, 0
// for any.
struct NetworkGrant {
  Offset at = 0;
  Offset place_at = 0;
  std::string host = "*";
  std::uint16_t port = 0;
  [[nodiscard]] bool is_any() const { return host == "*" && port == 0; }
};
struct NetworkDeny {
  Offset at = 0;
};

using Statement = std::variant<Rule, SelfTest, Use, FilesGrant, NetworkGrant, NetworkDeny>;

struct Block {
  enum class Kind : std::uint8_t { kPolicy, kProfile };
  Offset at = 0;
  Kind kind = Kind::kPolicy;
  std::string name;
  std::vector<Statement> statements;
};

struct File {
  std::vector<std::variant<Statement, Block>> items;
};

}  // namespace mcpac::policy::ast
