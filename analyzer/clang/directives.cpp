// SPDX-License-Identifier: Apache-2.0

// The directives of the program's own files, one by one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/preprocessing.h"
#include "analyzer/clang/tokens.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

// Reserved names: of the language and of the runtime. A macro of such a name makes the text mean
// something else.
[[nodiscard]] bool is_reserved_name(std::string_view name);

constexpr std::string_view kOfTheRuntime =
    "Method detail run_agent_main runtime_object Narrow Requires agent_main async main "
    "mcp mcpac runtime std try_call where";
constexpr std::string_view kOfTheLanguage =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char "
    "char16_t char32_t char8_t class co_await co_return co_yield compl concept const "
    "const_cast consteval constexpr constinit continue decltype default delete do double "
    "dynamic_cast else enum explicit export extern false final float for friend goto if "
    "import inline int long module mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq override private protected public register reinterpret_cast "
    "requires return short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true try typedef typeid typename union unsigned "
    "using virtual void volatile wchar_t while xor xor_eq __asm __asm__ __attribute "
    "__attribute__ _Pragma defined __has_include __has_embed";

bool is_reserved_name(std::string_view name) {
  return has_word(kOfTheRuntime, name) || has_word(kOfTheLanguage, name);
}

}  // namespace

namespace {

// Pragmas: the few that are harmless, the ones that hide or link something, and the unknown rest.

// `words` is what stands behind #pragma.
void check_pragma(std::span<const Token> words, const Place& place, Findings& findings);

constexpr std::array<std::string_view, 8> kHarmlessPragmas{
    "once", "diagnostic", "unroll", "STDC", "region", "endregion", "message", "mark"};
// system_header silences, push_macro swaps macros, the rest changes what is linked or marked.
constexpr std::array<std::string_view, 14> kRefusedPragmas{
    "system_header",   "push_macro", "pop_macro", "redefine_extname", "weak",
    "comment",         "section",    "attribute", "init_seg",         "include_alias",
    "include_instead", "poison",     "module",    "options"};

bool is_vendor(std::string_view word) {
  return word == "GCC" || word == "clang";
}

void check_pragma(std::span<const Token> words, const Place& place, Findings& findings) {
  while (!words.empty() && is_vendor(words.front().text)) words = words.subspan(1);
  const std::string_view word = words.empty() ? std::string_view() : words.front().text;
  const auto is_word = [word](std::string_view known) { return word == known; };
  if (std::ranges::any_of(kRefusedPragmas, is_word)) {
    findings.add("pragma", place, fmt::format("#pragma {} is not for agents", word),
                 "remove the pragma");
  } else if (!word.empty() && std::ranges::none_of(kHarmlessPragmas, is_word)) {
    findings.add("unknown-pragma", place, fmt::format("#pragma {} is not known to mcpac", word),
                 "remove the pragma");
  }
}

}  // namespace

namespace {

namespace fs = std::filesystem;
using Line = std::span<const Token>;

// The C++ names of servers and tools: "mcp::filesystem::read_text_file" gives both.
std::set<std::string, std::less<>> generated_names(const Request& request) {
  std::set<std::string, std::less<>> names;
  for (const auto& [cpp, permission] : request.permissions) {
    std::string_view rest = cpp;
    for (auto at = rest.find("::"); at != std::string_view::npos; at = rest.find("::")) {
      names.emplace(rest.substr(0, at));
      rest.remove_prefix(at + 2);
    }
    names.emplace(rest);
  }
  return names;
}

class DirectiveChecker {
 public:
  DirectiveChecker(const Request& request, const Sources& sources, Findings& findings)
      : request_(request),
        sources_(sources),
        findings_(findings),
        names_(generated_names(request)) {}

  void check(Line line) {
    if (line.size() < 2) return;
    const std::string_view word = line[1].text;
    if (word == "define") check_probes_in_macro(line);
    if (word == "define" || word == "undef") return check_macro(line);
    if (word == "if" || word == "elif") return check_condition(line);
    if (word == "include" || word == "include_next" || word == "import") return check_include(line);
    if (word == "pragma") return check_pragma(line.subspan(2), line[0].place, findings_);
    if (word == "embed") {
      findings_.add("embed", line[0].place, "#embed reads a file of the machine that compiles",
                    "read the file with a tool");
    } else if (word == "line" || line[1].kind == CXToken_Literal) {
      findings_.add("line-directive", line[0].place, "#line moves the places of what follows",
                    "remove the directive");
    }
  }

 private:
  // The sandboxes of analysis and compilation hold different files beside the program and its
  // headers, so a condition may only ask for headers by their name.
  void check_condition(Line line) {
    for (std::size_t at = 2; at < line.size(); ++at) {
      const std::string& word = line[at].text;
      if (word == "__has_embed") probe(line[at]);
      if (is_include_question(word) && !asks_by_name(line.subspan(at + 1))) probe(line[at]);
    }
  }
  void check_probes_in_macro(Line line) {
    for (const Token& token : line.subspan(2)) {
      if (is_include_question(token.text) || token.text == "__has_embed") probe(token);
    }
  }
  void probe(const Token& token) {
    findings_.add(
        "path-probe", token.place,
        fmt::format("`{}` may ask for a file that only one of analysis and compilation has",
                    token.text),
        "ask for a header by its name: __has_include(<optional>)");
  }
  static bool is_include_question(std::string_view word) {
    return word == "__has_include" || word == "__has_include_next" || word == "__glibc_has_include";
  }
  // (<name>) or ("name") without a way out of the folders that are searched.
  static bool asks_by_name(Line line) {
    if (line.size() < 2 || line[0].text != "(") return false;
    // asked() reads a directive, whose operand is its third token.
    std::vector<Token> directive{line[0], line[0]};
    directive.insert(directive.end(), line.begin() + 1, line.end());
    const fs::path name = asked(directive);
    return !name.empty() && !name.is_absolute() && std::ranges::find(name, "..") == name.end();
  }

  void check_macro(Line line) {
    if (line.size() < 3) return;
    const std::string& name = line[2].text;
    if (!is_reserved_name(name) && !names_.contains(name)) return;
    findings_.add("macro-redefinition", line[2].place,
                  fmt::format("the macro `{}` has the name of a keyword or of the runtime", name),
                  "choose another name");
  }

  // The name between the quotes or angle brackets; "" where a macro gives it.
  static std::string asked(Line line) {
    if (line.size() < 3) return {};
    const std::string& first = line[2].text;
    if (first.size() > 2 && first.front() == '"') return first.substr(1, first.size() - 2);
    if (first == "<" || first == "<:" || first == "<%") {
      std::string name = first.substr(1);
      for (const Token& token : line.subspan(3)) {
        if (token.text.starts_with(">")) break;
        name += token.text;
      }
      return name;
    }
    return {};
  }

  [[nodiscard]] bool is_reserved_header(const fs::path& name) const {
    const std::string first = name.begin() == name.end() ? "" : name.begin()->string();
    if (first == "mcpac" || first == "mcpac.hpp") return true;
    std::error_code error;
    return name.extension() == ".hpp" && fs::exists(on_disk(request_.headers_dir) / name, error);
  }

  // "a/../b.hpp": whether `a` must be there depends on the compiler's file system (docs/adr/0055).
  static bool leaves_a_name(const fs::path& name) {
    bool named = false;
    for (const fs::path& part : name) {
      if (part == ".." && named) return true;
      named = named || (part != ".." && part != ".");
    }
    return false;
  }

  // Files that are entered are judged by where they are (check_inclusions). Here stands what that
  // does not see: a name that a folder of the program would take over from the generated headers.
  void check_include(Line line) {
    const fs::path name = asked(line);
    if (name.empty()) return;
    const Place& place = line[std::min<std::size_t>(2, line.size() - 1)].place;
    if (name.is_absolute()) {
      findings_.add("foreign-header", place, fmt::format("`{}` is an absolute path", name.string()),
                    "include generated, standard and your own headers by name");
      return;
    }
    if (leaves_a_name(name)) {
      findings_.add(
          "path-probe", place,
          fmt::format("`{}` leads into a folder and out of it again", name.string()),
          fmt::format("write it without the way back: {}", name.lexically_normal().string()));
      return;
    }
    std::error_code error;
    const fs::path includer = take(clang_getFileName(line[0].place.file));
    const fs::path local = includer.parent_path() / name;
    const bool taken = is_reserved_header(name) && line[2].text.front() == '"' &&
                       fs::exists(on_disk(local), error) &&
                       sources_.home_of_path(local) != Home::kHeaders;
    if (taken) {
      findings_.add(
          "foreign-header", place,
          fmt::format("`{}` is not the generated header of that name", name.string()),
          fmt::format("#include <{}>, and rename the file of the program", name.string()));
    }
  }

  const Request& request_;
  const Sources& sources_;
  Findings& findings_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace

void check_directives(const std::vector<Token>& tokens, const Request& request,
                      const Sources& sources, Findings& findings) {
  DirectiveChecker checker(request, sources, findings);
  for (std::size_t from = 0; from < tokens.size();) {
    std::size_t to = from + 1;
    while (to < tokens.size() && !tokens[to].first_on_line) ++to;
    if (tokens[from].in_directive) checker.check(Line(tokens).subspan(from, to - from));
    from = to;
  }
}

}  // namespace mcpac::analyzer
