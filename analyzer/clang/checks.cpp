// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {
namespace {

std::vector<std::string> unused_of(const std::vector<Declared>& declared,
                                   const std::vector<Use>& uses) {
  std::set<std::string> used;
  for (const Use& use : uses) used.insert(use.permission);
  std::vector<std::string> unused;
  for (const Declared& item : declared) {
    // Files and the network are no tools: no call shows that they are used.
    if (item.permission.starts_with("mcpac.")) continue;
    if (!used.contains(item.permission)) unused.push_back(item.text());
  }
  return unused;
}

void check_undeclared(const Report& report, Findings& findings) {
  for (const Use& use : report.uses) {
    const bool declared = std::ranges::find(report.declared, use.permission,
                                            &Declared::permission) != report.declared.end();
    if (declared) continue;
    Place place;
    place.line = use.line;
    place.column = use.column;
    findings.add_in(use.file, "undeclared-use", place,
                    fmt::format("{} is called, but the entry does not declare it", use.permission),
                    "add it to the Requires of the entry");
  }
}

}  // namespace

Knowledge knowledge_of(const Part* part, bool writes_through_constness) {
  const Variables told = part == nullptr ? Variables::kKnown : Variables::kPlain;
  const bool unknown = writes_through_constness || (part != nullptr && part->variables_unknown);
  return {unknown ? Variables::kUnknown : told,
          unknown ? Constness::kMayBeCast : Constness::kHolds};
}

Checks::Checks(CXTranslationUnit unit, const Identity& identity, const Sources& sources,
               Findings& findings, Knowledge knowledge)
    : sources_(sources),
      findings_(findings),
      entry_(identity, sources, findings),
      uses_(unit, identity, sources, knowledge.variables),
      forgery_(identity, sources, findings),
      replacements_(sources, findings),
      hatches_(identity, sources, findings),
      bytes_(identity, sources, findings, knowledge.constness),
      outside_(sources, findings),
      early_(identity, sources, findings),
      hidden_(identity, findings),
      arguments_(identity),
      undefined_(sources),
      narrows_(identity),
      left_out_(identity, sources, findings),
      dangling_(sources, findings),
      silent_(sources, findings) {}

void Checks::walk(CXTranslationUnit unit) {
  Walker(sources_, findings_,
         {&entry_, &uses_, &forgery_, &replacements_, &hatches_, &bytes_, &outside_, &early_,
          &hidden_, &arguments_, &undefined_, &narrows_, &left_out_, &dangling_, &silent_})
      .walk(unit);
}

void Checks::share(Part* part) {
  if (part != nullptr) {
    part->has_entry = entry_.is_present();
    part->undefined = std::move(undefined_).take();
    return;
  }
  for (const auto& [usr, function] : std::move(undefined_).take())
    findings_.add("undefined-function", function.place, function.message(), Undefined::kFix);
}

void Checks::finish(CXTranslationUnit unit, const Part* part, Report& report) {
  if (unit == nullptr) return outside_.finish({});
  const bool elsewhere = part != nullptr && !part->has_entry;
  auto found = elsewhere ? EntryFinder::Found{Entry::kNone, part->declared} : entry_.finish(unit);
  report.entry = found.entry;
  report.declared = std::move(found.declared);
  report.uses = uses_.finish(report.declared, findings_);
  report.unused = unused_of(report.declared, report.uses);
  narrows_.finish(report.declared, findings_);
  hatches_.finish(part == nullptr ? HatchChecker::Files::kOne : HatchChecker::Files::kSeveral);
  left_out_.finish(part == nullptr ? LeftOutChecker::Files::kOne : LeftOutChecker::Files::kSeveral);
  outside_.finish(report.declared);
  if (!findings_.refuses()) check_undeclared(report, findings_);
}

}  // namespace mcpac::analyzer
