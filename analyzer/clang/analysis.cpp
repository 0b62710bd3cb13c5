#include "analyzer/clang/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "analyzer/clang/allowances.h"
#include "analyzer/clang/attributes.h"
#include "analyzer/clang/checks.h"
#include "analyzer/clang/confusables.h"
#include "analyzer/clang/constancy.h"
#include "analyzer/clang/diagnostics.h"
#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/macro_text.h"
#include "analyzer/clang/own_templates.h"
#include "analyzer/clang/parsed.h"
#include "analyzer/clang/part.h"
#include "analyzer/clang/preprocessing.h"
#include "analyzer/clang/sources.h"
#include "analyzer/clang/stage.h"
#include "analyzer/clang/text_checks.h"
#include "analyzer/clang/walker.h"
#include "analyzer/clang/word_checks.h"
#include "core/file.h"
#include "core/hash.h"

namespace mcpac::analyzer {
namespace {

// Programs that people and models write are below 1 MiB; libclang counts bytes in 32 bits.
constexpr std::size_t kMaxSource = std::size_t{16} << 20U;

bool has_own_templates(CXTranslationUnit unit, const Request& request, const Sources& sources) {
  return has_templates(unit, sources) ||
         std::ranges::any_of(program_files(unit, sources, request), [unit](CXFile file) {
           return may_declare_templates(tokens_of(unit, file));
         });
}

// As much as the analysis needs (own_templates.h).
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
