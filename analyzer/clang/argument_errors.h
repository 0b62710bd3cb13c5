// SPDX-License-Identifier: Apache-2.0

// Argument errors: diagnostics for the arguments of a call that does not compile.
//
// Clang only says that no overload fits. Here the call as spelled (given_arguments) is held against
// the fields of the tool's Args (argument_fit).
// Nothing is decided by it: the program is refused already, this finds the words.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/clang/argument_fit.h"
#include "analyzer/clang/error_words.h"
#include "analyzer/clang/fields.h"
#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/tokens.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

// Learns on the walk which tools the capabilities of the program have.
class ArgumentErrors : public Checker {
 public:
  explicit ArgumentErrors(const Identity& identity) : identity_(identity) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;
  // The error of the call at the place; empty where that cannot be told. `noted` is what clang
  // names, for calls whose spelling does not say it: of the tool, or of something that takes a
  // struct of its Args (`edits.push_back({…})`).
  [[nodiscard]] std::vector<ArgumentError> at(CXTranslationUnit unit, const Place& place,
                                              const NamedArgs& noted);
  // The same of the call around the place.
  [[nodiscard]] std::vector<ArgumentError> around(CXTranslationUnit unit, const Place& place);
  // The fields, structs and enumerators of a generated struct or enum, by its C++ name
  // ("mcp::memory::read_graph::Result"); empty where it is none of a tool that the program has.
  [[nodiscard]] std::vector<std::string> names_in(std::string_view cpp) const;
  // The C++ name of the tool whose result is an element of the braces at the place.
  [[nodiscard]] static std::string result_in_braces(CXTranslationUnit unit, const Place& place);

 private:
  [[nodiscard]] const std::vector<Token>& tokens_in(CXTranslationUnit unit, CXFile file);
  [[nodiscard]] std::vector<ArgumentError> of_call(CXTranslationUnit unit,
                                                   const std::vector<Token>& tokens,
                                                   std::size_t paren, const NamedArgs& noted);

  const Identity& identity_;
  std::map<std::string, CXType> args_;    // by "filesystem::read_text_file"
  std::map<std::string, CXCursor> tags_;  // the same
  std::map<CXFile, std::vector<Token>> tokens_;
  Fields fields_;
};

}  // namespace mcpac::analyzer
