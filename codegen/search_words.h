// Search words: texts and queries as the words that search compares.
//
// Names are written in many ways (create_issue, create-issue, createIssue, lark's v1.appTable), and
// Chinese and Japanese without spaces; here all of them become words between spaces. The same rule
// serves what is searched and what is asked, so the two always meet.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac::codegen {

// Text for the index: words between single spaces; "getHTTPUrl" becomes "get HTTP Url". Signs of
// scripts without spaces (Han, Kana, Hangul) stand alone.
[[nodiscard]] std::string index_text(std::string_view text);

// A name written together, for people who write it so: "mind_map_tool" becomes "mindmap maptool
// mindmaptool".
[[nodiscard]] std::string joined_names(std::string_view name);

// The words of a question, lower case, without those that every question has ("the", "to"), unless
// it has no others; at most 32. A word may hold several signs with spaces between them: a phrase.
[[nodiscard]] std::vector<std::string> query_words(std::string_view question);

// Words that people use for the same when they speak of tools ("buy": purchase, order), the word
// itself among them; empty for most words.
[[nodiscard]] std::span<const std::string_view> other_words(std::string_view word);

}  // namespace mcpac::codegen
