// SPDX-License-Identifier: Apache-2.0

// Printer: values back to rule text, in one canonical spelling. parse(print(x)) prints as print(x),
// so a rule in a message, a prompt or the audit log can be pasted back and means the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/text/ast.h"

namespace mcpac::policy {

[[nodiscard]] std::string print(const ast::Rule& rule);       // with its effect
[[nodiscard]] std::string print_body(const ast::Rule& rule);  // as after --grant
[[nodiscard]] std::string print(const ast::Target& target);
[[nodiscard]] std::string print(const ast::Brackets& brackets);  // without the brackets themselves
[[nodiscard]] std::string print(const ast::Arg& arg);
[[nodiscard]] std::string print(const ast::ArgPath& path);
[[nodiscard]] std::string print(const ast::Test& test);
[[nodiscard]] std::string print(const ast::Literal& literal);
[[nodiscard]] std::string print(const ast::Selector& selector);
[[nodiscard]] std::string print(const ast::Rate& rate);  // "10/min"
[[nodiscard]] std::string print(const ast::FilesGrant& files);
[[nodiscard]] std::string print(const ast::NetworkGrant& network);
[[nodiscard]] std::string print(const ast::Statement& statement);
[[nodiscard]] std::string print_opening(const ast::Block& block);  // "policy \"x\" {"
[[nodiscard]] std::string print(const ast::File& file);            // one statement a line

// A name as a rule writes it: bare where the grammar lets it, else a JSON string. In such strings
// what is not seen is escaped ("\\u200c"), so that a printed rule can be read and copied.
[[nodiscard]] std::string print_name(std::string_view name);
[[nodiscard]] std::string print_string(std::string_view text);
// "api.example.com:443", "[fd00::/8]:*", "any".
[[nodiscard]] std::string print_network(const std::string& host, std::uint16_t port);

}  // namespace mcpac::policy
