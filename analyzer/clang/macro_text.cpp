#include "analyzer/clang/macro_text.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "analyzer/clang/inclusions.h"

namespace mcpac::analyzer {
namespace {

// The macros that write more than a number or a text, where they are defined.
using Writers = std::map<std::string_view, const Token*>;

Writers writers_in(const std::vector<Token>& tokens) {
  Writers writers;
  for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
    if (!tokens[at].in_directive || tokens[at].text != "define") continue;
    const Token& name = tokens[++at];
    const std::size_t body = at + 1;
    std::size_t end = body;
    while (end < tokens.size() && !tokens[end].first_on_line) ++end;
    const bool is_value = end == body || (end == body + 1 && tokens[body].kind == CXToken_Literal);
    if (!is_value) writers.emplace(name.text, &name);
  }
  return writers;
}

// [lex.name]: the implementation's, for any use.
bool is_of_implementation(std::string_view name) {
  return name.size() > 1 && name[0] == '_' &&
         (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

void refuse(const Token& macro, std::string why, Findings& findings) {
  findings.add("macro-redefinition", macro.place, std::move(why), "choose another name");
}

bool is_header(Home home) {
  return home == Home::kHeaders || home == Home::kSystem;
}

}  // namespace

void check_macro_text(CXTranslationUnit unit, const Sources& sources,
                      const std::vector<Token>& tokens, Findings& findings) {
  Writers writers = writers_in(tokens);
  std::erase_if(writers, [&findings](const auto& writer) {
    if (!is_of_implementation(writer.first)) return false;
    refuse(*writer.second,
           fmt::format("the macro `{}` has a name of the implementation's", writer.first),
           findings);
    return true;
  });
  std::set<CXFile> read;
  for (const Inclusion& inclusion : inclusions_of(unit)) {
    if (writers.empty()) return;
    const bool is_read_with_program =
        is_header(sources.home(inclusion.file)) && !sources.is_lead(place_of(inclusion.from).file);
    if (!is_read_with_program || !read.insert(inclusion.file).second) continue;
    for (const Token& token : tokens_of(unit, inclusion.file)) {
      const auto writer = writers.find(token.text);
      if (writer == writers.end()) continue;
      refuse(*writer->second,
             fmt::format("the macro `{}` has a name that stands in {}, and would write there",
                         writer->first, sources.name(inclusion.file)),
             findings);
      writers.erase(writer);
    }
  }
}

}  // namespace mcpac::analyzer
