// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/analysis.h"

#include <clang-c/Index.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/clang/attributes.h"
#include "analyzer/clang/checks.h"
#include "analyzer/clang/confusables.h"
#include "analyzer/clang/constancy.h"
#include "analyzer/clang/cx.h"
#include "analyzer/clang/diagnostics.h"
#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/inclusions.h"
#include "analyzer/clang/kinds.h"
#include "analyzer/clang/parsed.h"
#include "analyzer/clang/part.h"
#include "analyzer/clang/preprocessing.h"
#include "analyzer/clang/sources.h"
#include "analyzer/clang/stage.h"
#include "analyzer/clang/text_checks.h"
#include "analyzer/clang/tokens.h"
#include "analyzer/clang/walker.h"
#include "analyzer/clang/word_checks.h"
#include "analyzer/rules.h"
#include "analyzer/word_list.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/nearest_name.h"
#include "core/trimmed.h"

namespace mcpac::analyzer {
namespace {

// Allowances: `// mcpac-allow: RULE reason`, on the line of a finding or on the line above it.
//
// Only rules that warn can be allowed: what refuses a program must not be switched off by the
// program itself. The finding stays in the report, with the reason; a comment that allows nothing
// is a note, one that cannot allow anything warns (rules allow-form, allow-unused).
struct Allowance {
  std::string file;  // as findings name it
  Place place;
  std::string rule;
  std::string reason;
};

// The allowances of one file of the program; what is wrong with one becomes a finding.
[[nodiscard]] std::vector<Allowance> allowances_of(CXTranslationUnit unit, CXFile file,
                                                   const Sources& sources, Findings& findings);
// Marks the findings that are allowed. Called last, when all of them are there.
void apply(const std::vector<Allowance>& allowances, Findings& findings);

constexpr std::string_view kMark = "mcpac-allow";
constexpr const char* kForm = "// mcpac-allow: RULE reason";
// A sentence, not an essay; the report repeats it.
constexpr std::size_t kMaxReason = 500;

// Beside blanks, what comments are written with.
std::string_view trimmed(std::string_view text) {
  return mcpac::trimmed(text, [](char c) { return std::string_view(" \t\r\n*/").contains(c); });
}

// What is wrong with it; empty where it can allow something.
std::string complaint(const Allowance& allowance) {
  if (allowance.rule.empty())
    return "this mcpac-allow names no rule behind a colon, so it allows nothing";
  const Rule* rule = find_rule(allowance.rule);
  if (rule == nullptr) {
    std::vector<std::string> names;
    for (const Rule& known : rules()) names.emplace_back(known.name);
    const std::string near = did_you_mean(allowance.rule, names);
    return fmt::format("there is no rule `{}`{}{}", allowance.rule, near.empty() ? "" : "; ", near);
  }
  if (rule->severity == Severity::kRefuses)
    return fmt::format("`{}` refuses; a program cannot allow that to itself", allowance.rule);
  if (rule->severity == Severity::kNote)
    return fmt::format("`{}` is only a note; there is nothing to allow", allowance.rule);
  if (allowance.reason.empty()) return "an mcpac-allow needs a reason";
  return allowance.reason.size() > kMaxReason ? "the reason is too long" : "";
}

// Only a comment that begins with the mark: prose may speak of it.
std::optional<Allowance> read_comment(std::string_view comment) {
  std::string_view text = trimmed(comment);
  if (!text.starts_with(kMark)) return std::nullopt;
  text.remove_prefix(kMark.size());
  Allowance allowance;
  if (!text.starts_with(':')) return allowance;
  text = trimmed(text.substr(1));
  const auto end = text.find_first_of(" \t\n");
  allowance.rule = text.substr(0, end);
  if (allowance.rule.ends_with(':')) allowance.rule.pop_back();
  if (end != std::string_view::npos) allowance.reason = trimmed(text.substr(end));
  return allowance;
}

bool covers(const Allowance& allowance, const Finding& finding) {
  return finding.severity == Severity::kWarns && finding.rule == allowance.rule &&
         finding.file == allowance.file &&
         (finding.line == allowance.place.line || finding.line == allowance.place.line + 1);
}

std::vector<Allowance> allowances_of(CXTranslationUnit unit, CXFile file, const Sources& sources,
                                     Findings& findings) {
  std::vector<Allowance> found;
  for (const Token& comment : comments_of(unit, file)) {
    auto allowance = read_comment(comment.text);
    if (!allowance) continue;
    allowance->file = sources.name(file);
    allowance->place = comment.place;
    if (auto wrong = complaint(*allowance); !wrong.empty()) {
      findings.add("allow-form", comment.place, std::move(wrong), kForm);
    } else {
      found.push_back(std::move(*allowance));
    }
  }
  return found;
}

void apply(const std::vector<Allowance>& allowances, Findings& findings) {
  for (const Allowance& allowance : allowances) {
    const bool used =
        findings.allow([&allowance](const Finding& finding) { return covers(allowance, finding); },
                       allowance.reason);
    if (!used) {
      findings.add("allow-unused", allowance.place,
                   fmt::format("nothing here is a finding of the rule `{}`", allowance.rule),
                   "remove the comment");
    }
  }
}

}  // namespace

namespace {

// Own templates: whether a program defines templates of its own.
//
// Clang instantiates what is left of all templates at the end of a source file; most of the time
// that it needs for a short program goes there, into the bodies of the library's functions. What a
// program does with its tools stands in such a body only where the template is the program's own,
// so every other program is read as if it were the beginning of a file
// (CXTranslationUnit_Incomplete), which leaves that work out. The compiler does it all the same,
// and its errors are errors.
//
// Both questions err to one side: a doubt is a template.

// A guess before anything is parsed, which only saves time: reading a program twice costs more than
// reading it whole.
[[nodiscard]] bool looks_templated(std::string_view text);

// Whether the tokens of one file may declare a template: a keyword, an `auto` that may be a
// parameter, the
// `<` of a lambda, tokens pasted together.
[[nodiscard]] bool may_declare_templates(const std::vector<Token>& tokens);

// Whether clang found a template in the program's own files, whatever macro wrote it.
[[nodiscard]] bool has_templates(CXTranslationUnit unit, const Sources& sources);

using namespace std::string_view_literals;
using Words = std::vector<std::string_view>;

constexpr std::array kTemplates{"template"sv,    "concept"sv, "requires"sv,
                                "__auto_type"sv, "##"sv,      "%:%:"sv};
constexpr std::array kSpecifiers{"const"sv,  "constexpr"sv, "constinit"sv,    "static"sv,
                                 "inline"sv, "volatile"sv,  "thread_local"sv, "extern"sv};
// What stands before the `auto` of a variable, or of a function's result.
constexpr std::array kBeforeVariables{";"sv, "{"sv, "}"sv, "->"sv};
// `(` after one of these opens no list of parameters.
constexpr std::array kStatements{"for"sv, "if"sv, "while"sv, "switch"sv, "decltype"sv};

// Whether the `auto` at `at` may be the type of a parameter.
bool may_be_parameter(const Words& words, std::size_t at) {
  while (at > 0 && among(kSpecifiers, words[at - 1])) --at;
  if (at == 0 || among(kBeforeVariables, words[at - 1])) return false;
  return words[at - 1] != "(" || at < 2 || !among(kStatements, words[at - 2]);
}

bool may_declare(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (among(kTemplates, words[i])) return true;
    if (words[i] == "auto" && may_be_parameter(words, i)) return true;
    const bool closes = words[i] == "]" || words[i] == ":>";
    if (closes && i + 1 < words.size() && words[i + 1].starts_with('<')) return true;
  }
  return false;
}

std::size_t end_of(std::string_view text, std::size_t at) {
  const auto after = [text, at](std::string_view end) {
    const auto found = text.find(end, at + end.size());
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (text.substr(at).starts_with("//")) return after("\n");
  if (text.substr(at).starts_with("/*")) return after("*/");
  if (text.substr(at).starts_with("->") || text.substr(at).starts_with("##")) return at + 2;
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return std::max(end, at + 1);
}

// Words and signs, near enough: nothing but time depends on it.
Words words_of(std::string_view text) {
  Words words;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = end_of(text, at);
    const bool skipped = std::isspace(static_cast<unsigned char>(text[at])) != 0 ||
                         (text[at] == '/' && end - at > 1);
    if (!skipped) words.push_back(text.substr(at, end - at));
  }
  return words;
}

bool is_template(CXCursorKind kind) {
  return is_template_with_body(kind) || is_template_parameter(kind) ||
         kind == CXCursor_TypeAliasTemplateDecl || kind == CXCursor_ConceptDecl;
}

CXChildVisitResult look_for_template(CXCursor cursor, CXCursor, CXClientData found) {
  // The type of a generic lambda's parameter is a template parameter that stands nowhere else.
  const bool refers = clang_getCursorKind(cursor) == CXCursor_TypeRef &&
                      is_template(clang_getCursorKind(clang_getCursorReferenced(cursor)));
  if (!refers && !is_template(clang_getCursorKind(cursor))) return CXChildVisit_Recurse;
  *static_cast<bool*>(found) = true;
  return CXChildVisit_Break;
}

bool looks_templated(std::string_view text) {
  return may_declare(words_of(text));
}

bool may_declare_templates(const std::vector<Token>& tokens) {
  Words program;
  Words directives;
  for (const Token& token : tokens)
    (token.in_directive ? directives : program).emplace_back(token.text);
  // A macro may put an `auto` anywhere.
  return may_declare(program) || may_declare(directives) ||
         std::ranges::find(directives, "auto"sv) != directives.end();
}

bool has_templates(CXTranslationUnit unit, const Sources& sources) {
  bool found = false;
  each_child(clang_getTranslationUnitCursor(unit), [&](CXCursor node) {
    const Home home = sources.home(node);
    if (found || home == Home::kHeaders || home == Home::kSystem) return;
    found = is_template(clang_getCursorKind(node));
    if (!found) clang_visitChildren(node, look_for_template, &found);
  });
  return found;
}

}  // namespace

namespace {

// Macro text: the text that a macro of the program would put into a header (rule
// macro-redefinition).
//
// To clang such text stands where the macro is used: in a header, whose declarations are not
// walked. All headers of the library and of the servers are precompiled, which no macro of a
// program reaches; one that is read with the program, or once more (assert.h), is reached by each
// name that stands in it, and by the reserved names that the library's macros are made of.

// `tokens`: of all files of the program.
void check_macro_text(CXTranslationUnit unit, const Sources& sources,
                      const std::vector<Token>& tokens, Findings& findings);

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

}  // namespace

namespace {

// Programs that people and models write are below 1 MiB; libclang counts bytes in 32 bits.
constexpr std::size_t kMaxSource = std::size_t{16} << 20U;

bool has_own_templates(CXTranslationUnit unit, const Request& request, const Sources& sources) {
  return has_templates(unit, sources) ||
         std::ranges::any_of(program_files(unit, sources, request), [unit](CXFile file) {
           return may_declare_templates(tokens_of(unit, file));
         });
}

// As much as the analysis needs.
Result<Parsed> parse_enough(const Request& request, const std::string& source,
                            const Sources& sources) {
  if (!looks_templated(source)) {
    auto beginning = Parsed::of(request, source, CXTranslationUnit_Incomplete);
    if (!beginning || !has_own_templates(beginning->unit(), request, sources)) return beginning;
  }
  return Parsed::of(request, source, CXTranslationUnit_None);
}

void check_characters(CXTranslationUnit unit, CXFile file, Findings& findings) {
  std::size_t size = 0;
  const char* content = clang_getFileContents(unit, file, &size);
  if (content == nullptr) return;
  for (const TextPlace& at : unseen_characters(std::string_view(content, size))) {
    const Place place{file, at.line, at.column, 0};
    if (at.is_bidirectional) {
      findings.add("bidirectional-control", place,
                   "a bidirectional control character makes the text look like another",
                   "remove the character, or write it as \\u escape");
    } else {
      findings.add("invisible-character", place, "a reader does not see this character",
                   "remove the character, or write it as \\u escape");
    }
  }
}

// The checks of the text of every file of the program, as it is spelled; the allowances in it.
std::vector<Allowance> check_spelling(CXTranslationUnit unit, const Request& request,
                                      const Sources& sources, Findings& findings) {
  std::vector<Allowance> allowances;
  std::vector<Token> all;
  for (CXFile file : program_files(unit, sources, request)) {
    const auto tokens = tokens_of(unit, file);
    check_directives(tokens, request, sources, findings);
    check_tokens(tokens, findings);
    check_attributes(tokens, findings);
    check_characters(unit, file, findings);
    all.insert(all.end(), tokens.begin(), tokens.end());
    std::ranges::move(allowances_of(unit, file, sources, findings), std::back_inserter(allowances));
  }
  check_macro_text(unit, sources, all, findings);
  check_words(all, findings);
  check_headers(all, findings);
  check_pasting(all, findings);
  check_confusables(all, request, findings);
  return allowances;
}

// A name that does not compile is no permission either, which its writer need not hear twice.
void forget_consequences(Report& report) {
  std::erase_if(report.findings,
                [](const Finding& finding) { return finding.rule == "unknown-permission"; });
  const bool refused = std::ranges::any_of(report.findings, [](const Finding& finding) {
    return finding.severity == Severity::kRefuses && finding.rule != "compile-error";
  });
  if (!refused) report.verdict = Verdict::kCompileError;
}

}  // namespace

std::shared_ptr<const Parsed> read_ahead(std::vector<std::string> flags) {
  auto parsed = Parsed::when_told(std::move(flags));
  return parsed ? std::make_shared<const Parsed>(std::move(*parsed)) : nullptr;
}

Result<Report> analyze_file(const Request& request, Part* part,
                            std::shared_ptr<const Parsed> ahead) {
  auto source = read_file(on_disk(request.source_path), kMaxSource);
  if (!source) {
    return fail(ErrorId::kSourceUnreadable, fmt::format("cannot read {}", request.file),
                {.why = source.error().what});
  }
  if (auto text = check_text(*source, request.file); !text) return pass_on(text);

  set_stage("parsing it");
  const Sources sources(request);
  if (!ahead || !ahead->is_as_good(request, *source)) {
    auto parsed = parse_enough(request, *source, sources);
    if (!parsed) return pass_on(parsed);
    ahead = std::make_shared<const Parsed>(std::move(*parsed));
  }
  CXTranslationUnit unit = ahead->unit();

  set_stage("checking its words");
  const Identity identity(request, sources);
  Findings findings(sources);
  const auto allowances = check_spelling(unit, request, sources, findings);
  check_inclusions(unit, sources, findings);

  set_stage("walking through its declarations and folding its arguments");
  ConstancyChecker constancy;
  Walker(sources, findings, {&constancy}).walk(unit);
  const bool writes = constancy.writes_through_constness();
  Checks checks(unit, identity, sources, findings, knowledge_of(part, writes));
  checks.walk(unit);

  set_stage("comparing what its files share");
  if (part != nullptr) {
    part->writes_through_constness = writes;
    part->definitions = definitions_of(unit, sources);
  }
  checks.share(part);

  set_stage("putting the report together");
  Report report;
  report.file = request.file;
  report.source_digest = sha256_hex(*source);
  // What clang repairs while it reads on is not the program: a program with errors declares
  // nothing.
  const bool refused = findings.refuses();
  const auto diagnosed = check_diagnostics(unit, identity, sources, checks, findings);
  const bool errors = diagnosed.errors;
  checks.finish(errors ? nullptr : unit, part, report);
  report.verdict = Verdict::kOk;
  if (findings.refuses()) report.verdict = Verdict::kRefused;
  if (errors && !refused) report.verdict = Verdict::kCompileError;
  apply(allowances, findings);
  report.findings = std::move(findings).sorted(request.file);
  if (diagnosed.in_program) forget_consequences(report);
  return report;
}

}  // namespace mcpac::analyzer
