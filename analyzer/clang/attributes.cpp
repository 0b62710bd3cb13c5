// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

// They run code that no call shows, swap one function for another, choose one when the program is
// loaded, or decide where in memory something stands.
constexpr std::array<std::string_view, 21> kRefusedAttributes{"constructor",
                                                              "destructor",
                                                              "alias",
                                                              "ifunc",
                                                              "section",
                                                              "weak",
                                                              "weak_import",
                                                              "weakref",
                                                              "init_priority",
                                                              "naked",
                                                              "interrupt",
                                                              "retain",
                                                              "patchable_function_entry",
                                                              "cleanup",
                                                              "cpu_dispatch",
                                                              "cpu_specific",
                                                              "target_clones",
                                                              "target_version",
                                                              "symver",
                                                              "code_seg",
                                                              "address_space"};

std::string_view bare_name(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

bool is_refused(std::string_view name) {
  return among(kRefusedAttributes, bare_name(name));
}

void refuse(std::string_view name, const Place& place, Findings& findings) {
  findings.add("attribute", place, fmt::format("the attribute `{}` is not for agents", name),
               "do the work in the entry");
}

// The tokens of an attribute list that starts at `from`, [[…]] or __attribute__((…)); their number.
std::size_t attribute_length(const std::vector<Token>& tokens, std::size_t from) {
  const auto text = [&tokens](std::size_t i) {
    return i < tokens.size() ? std::string_view(tokens[i].text) : std::string_view();
  };
  const auto opens = [&text](std::size_t i) { return text(i) == "[" || text(i) == "<:"; };
  const bool gnu = text(from) == "__attribute__" || text(from) == "__attribute";
  const bool standard = opens(from) && opens(from + 1);
  if (!gnu && !standard) return 0;
  std::size_t depth = 0;
  for (std::size_t at = gnu ? from + 1 : from; at < tokens.size(); ++at) {
    const std::string_view word = text(at);
    if (word == "(" || opens(at)) ++depth;
    if ((word == ")" || word == "]" || word == ":>") && --depth == 0) return at - from + 1;
    if (depth == 0) return 0;
  }
  return tokens.size() - from;
}

// The words from the place on where the text of the attribute really stands, in a macro's body for
// instance; none where the preprocessor made it of pieces.
std::vector<std::string_view> spelled_words(CXCursor attribute, CXFile& file) {
  unsigned offset = 0;
  clang_getSpellingLocation(clang_getCursorLocation(attribute), &file, nullptr, nullptr, &offset);
  std::size_t size = 0;
  const char* bytes =
      file == nullptr
          ? nullptr
          : clang_getFileContents(clang_Cursor_getTranslationUnit(attribute), file, &size);
  if (bytes == nullptr || offset >= size) return {};
  std::string_view text(bytes + offset, std::min<std::size_t>(size - offset, 200));
  std::vector<std::string_view> words;
  while (words.size() < 2) {
    const auto end = std::ranges::find_if_not(text, is_word) - text.begin();
    if (end == 0) break;
    words.push_back(text.substr(0, static_cast<std::size_t>(end)));
    text.remove_prefix(static_cast<std::size_t>(end));
    if (!text.starts_with("::")) break;  // only the vendor of [[gnu::weak]] is followed by more
    text.remove_prefix(2);
  }
  return words;
}

// The standard attributes that only speak to people and optimisers.
constexpr std::array<std::string_view, 9> kHarmlessMembers{
    "nodiscard", "maybe_unused", "deprecated", "noreturn",         "fallthrough",
    "likely",    "unlikely",     "assume",     "no_unique_address"};

// In a macro, what an attribute is may stand where the macro is used.
void check_in_macro(const std::vector<Token>& tokens, std::size_t at, Findings& findings) {
  const std::string_view word = tokens[at].text;
  const bool gnu = word == "__attribute__" || word == "__attribute" || word == "__declspec";
  const bool standard = (word == "[" || word == "<:") && at + 2 < tokens.size() &&
                        (tokens[at + 1].text == "[" || tokens[at + 1].text == "<:") &&
                        !among(kHarmlessMembers, tokens[at + 2].text);
  if (!gnu && !standard) return;
  findings.add("attribute", tokens[at].place, "an attribute that a macro writes cannot be read",
               "write the attribute where it belongs");
}

}  // namespace

void check_attributes(const std::vector<Token>& tokens, Findings& findings) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].in_directive) check_in_macro(tokens, i, findings);
    const std::size_t length = attribute_length(tokens, i);
    for (const Token& token : std::span(tokens).subspan(i, length)) {
      if (is_refused(token.text)) refuse(token.text, token.place, findings);
    }
  }
}

void check_attribute(CXCursor attribute, const Sources& sources, Findings& findings) {
  CXFile file = nullptr;
  const auto words = spelled_words(attribute, file);
  // What the program spells itself was seen there.
  if (file != nullptr && sources.home(file) == Home::kProgram) return;
  if (words.empty()) {
    findings.add("attribute", attribute, "this attribute is made of pieces and cannot be read",
                 "write the attribute out");
  }
  for (const std::string_view word : words) {
    if (is_refused(word)) refuse(word, place_of(attribute), findings);
  }
}

}  // namespace mcpac::analyzer
