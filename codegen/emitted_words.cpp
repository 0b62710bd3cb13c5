// SPDX-License-Identifier: Apache-2.0

#include "codegen/emitted_words.h"

namespace mcpac::codegen {

const std::set<std::string>& server_words() {
  static const std::set<std::string> words{"has", "permissions", "Member", "F", "mcpac"};
  return words;
}

const std::set<std::string>& tool_words() {
  static const std::set<std::string> words{"server_tag", "server", "name",   "permission", "whole",
                                           "where",      "Args",   "Result", "Member",     "P"};
  return words;
}

const std::set<std::string>& field_words(ShapeKind kind) {
  static const std::set<std::string> args{
      "mcpac_visit", "mcpac_enumerators", "mcpac_presence", "mcpac_absent",
      "mcpac_s",     "mcpac_v",           "mcpac_e",        "Args"};
  // The members of ToolResult stay reachable under their own names.
  static const std::set<std::string> result{"mcpac_visit",    "mcpac_enumerators",
                                            "mcpac_presence", "mcpac_absent",

                                            "mcpac_s",        "mcpac_v",
                                            "mcpac_e",        "Result",
                                            "text",           "lines",
                                            "json",           "content",
                                            "structured",     "as"};
  return kind == ShapeKind::kArgs ? args : result;
}

const std::set<std::string>& type_words() {
  static const std::set<std::string> types = [] {
    std::set<std::string> words{"server", "name", "permission", "Args", "Result", "Member"};
    words.insert(field_words(ShapeKind::kArgs).begin(), field_words(ShapeKind::kArgs).end());
    words.insert(field_words(ShapeKind::kResult).begin(), field_words(ShapeKind::kResult).end());
    return words;
  }();
  return types;
}

}  // namespace mcpac::codegen
