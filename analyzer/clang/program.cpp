// SPDX-License-Identifier: Apache-2.0

// A program of several files: each is analysed by itself, then they are one.
//
// The file with the entry comes first, because what it declares is what the others may use. Which
// one that is shows only after parsing, so files that spell a main are tried before the others; a
// file that was read too early is read again.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/clang/analysis.h"
#include "analyzer/clang/part.h"
#include "analyzer/clang/sources.h"
#include "analyzer/rules.h"
#include "core/file.h"

namespace mcpac::analyzer {
namespace {

// As many as one file may have (findings.cpp).
constexpr std::size_t kMaxFindings = 500;
// A name is looked for at the front of a file of this size; more is only slower (see above).
constexpr std::size_t kMaxSource = std::size_t{16} << 20U;

struct Analysed {
  Request request;
  Part part;
  Report report;
};

// A guess: it only decides which file is read first.
bool may_hold_entry(const Request& request) {
  const auto text = read_file(on_disk(request.source_path), kMaxSource);
  return text && (text->contains("agent_main(") || text->contains(" main("));
}

// A request for every file, the one with the entry first.
std::vector<Request> one_each(const Request& request) {
  Request alone = request;
  alone.further.clear();
  std::vector<Request> with_entry;
  std::vector<Request> others;
  const auto add = [&](const Request& file) {
    (may_hold_entry(file) ? with_entry : others).push_back(file);
  };
  add(alone);
  for (const SourceFile& source : request.further) {
    alone.file = source.file;
    alone.source_path = source.source_path;
    add(alone);
  }
  std::ranges::move(others, std::back_inserter(with_entry));
  return with_entry;
}

Finding finding(std::string_view rule, std::string file, const Place& place, std::string message,
                std::string fix) {
  const Rule* known = find_rule(rule);
  return {std::string(rule), known == nullptr ? Severity::kRefuses : known->severity,
          std::move(file),   place.line,
          place.column,      std::move(message),
          std::move(fix)};
}

Result<void> read(Analysed& file, const std::vector<Declared>& declared,
                  bool variables_unknown = false) {
  file.part = Part{};
  file.part.declared = declared;
  file.part.variables_unknown = variables_unknown;
  auto report = analyze_file(file.request, &file.part);
  if (!report) return pass_on(report);
  file.report = std::move(*report);
  return {};
}

// One file that writes through constness changes the constants of all.
Result<void> agree_on_variables(std::vector<Analysed>& files) {
  const auto writes = [](const Analysed& file) { return file.part.writes_through_constness; };
  if (std::ranges::none_of(files, writes)) return {};
  for (Analysed& file : files) {
    if (writes(file)) continue;
    const std::vector<Declared> declared = file.part.declared;
    if (auto again = read(file, declared, true); !again) return again;
  }
  return {};
}

// All files, the one with the entry in front.
Result<std::vector<Analysed>> read_all(const Request& request) {
  std::vector<Analysed> files;
  bool found = false;
  for (Request& one : one_each(request)) {
    files.push_back({std::move(one), {}, {}});
    if (auto done =
            read(files.back(), found ? files.front().report.declared : std::vector<Declared>());
        !done)
      return pass_on(done);
    if (found || !files.back().part.has_entry) continue;
    found = true;
    std::swap(files.front(), files.back());
    for (std::size_t i = 1; i < files.size(); ++i) {
      if (auto again = read(files[i], files.front().report.declared); !again) return pass_on(again);
    }
  }
  if (auto agreed = agree_on_variables(files); !agreed) return pass_on(agreed);
  // Without any entry the first file is the one to say so.
  if (!found) {
    auto whole = analyze_file(files.front().request, nullptr);
    if (!whole) return pass_on(whole);
    files.front().report = std::move(*whole);
  }
  return files;
}

void check_entries(const std::vector<Analysed>& files, std::vector<Finding>& findings) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (!files[i].part.has_entry) continue;
    Place place;
    place.line = 1;
    place.column = 1;
    findings.push_back(
        finding("two-entries", files[i].request.file, place,
                fmt::format("the program has an entry in {} already", files.front().request.file),
                "keep one of them"));
  }
}

void check_definitions(const std::vector<Analysed>& files, std::vector<Finding>& findings) {
  Definitions first;
  for (const Analysed& file : files) {
    for (const auto& [name, definition] : file.part.definitions) {
      const auto [known, is_new] = first.emplace(name, definition);
      if (is_new || known->second.shape == definition.shape) continue;
      findings.push_back(
          finding("two-definitions", definition.file, definition.place,
                  fmt::format("`{}` is another thing in {}:{}, or reads differently there",
                              definition.name, known->second.file, known->second.place.line),
                  "give one of them another name, or put what they share into one header"));
    }
  }
}

void check_undefined(const std::vector<Analysed>& files, std::vector<Finding>& findings) {
  for (const Analysed& user : files) {
    for (const auto& [usr, function] : user.part.undefined) {
      const bool defined = std::ranges::any_of(files, [&usr](const Analysed& file) {
        return file.part.definitions.contains(defined_key(usr));
      });
      if (defined) continue;
      findings.push_back(finding("undefined-function", function.file, function.place,
                                 function.message(), Undefined::kFix));
    }
  }
}

void merge_uses(const std::vector<Analysed>& files, Report& whole) {
  std::set<std::string> seen;
  whole.uses.clear();
  for (const Analysed& file : files) {
    Report one;
    for (const Use& use : file.report.uses) {
      one.uses = {use};
      if (seen.insert(to_text(to_json(one)["uses"])).second) whole.uses.push_back(use);
    }
  }
  std::erase_if(whole.unused, [&whole](const std::string& unused) {
    return std::ranges::any_of(whole.uses, [&](const Use& use) {
      return unused == use.permission || unused.starts_with(use.permission + " where ");
    });
  });
}

void merge_findings(const std::vector<Analysed>& files, std::vector<Finding> found, Report& whole) {
  const auto key = [](const Finding& one) {
    return std::tuple(one.rule, one.file, one.line, one.column, one.message);
  };
  std::set<std::tuple<std::string, std::string, unsigned, unsigned, std::string>> seen;
  whole.findings.clear();
  const auto keep = [&](const Finding& one) {
    if (whole.findings.size() <= kMaxFindings && seen.insert(key(one)).second)
      whole.findings.push_back(one);
  };
  for (const Finding& one : found) keep(one);
  for (const Analysed& file : files) std::ranges::for_each(file.report.findings, keep);
  if (whole.findings.size() > kMaxFindings) {
    whole.findings.back() =
        finding("too-many-findings", whole.file, {}, "there are more findings than are kept", "");
  }
}

// Where the entry does not compile it declares nothing that is known, and every use elsewhere would
// seem undeclared.
void forgive_consequences(std::vector<Analysed>& files) {
  const bool broken = std::ranges::any_of(
      files, [](const Analysed& file) { return file.report.verdict == Verdict::kCompileError; });
  if (!broken) return;
  for (Analysed& file : files) {
    auto& findings = file.report.findings;
    const bool refused = file.report.verdict == Verdict::kRefused;
    const auto erased =
        std::erase_if(findings, [](const Finding& one) { return one.rule == "undeclared-use"; });
    const bool still = std::ranges::any_of(
        findings, [](const Finding& one) { return one.severity == Severity::kRefuses; });
    if (refused && erased > 0 && !still) file.report.verdict = Verdict::kOk;
  }
}

Verdict worst_of(const std::vector<Analysed>& files, const std::vector<Finding>& found) {
  const auto is = [](Verdict verdict) {
    return [verdict](const Analysed& file) { return file.report.verdict == verdict; };
  };
  const bool refused = std::ranges::any_of(
      found, [](const Finding& one) { return one.severity == Severity::kRefuses; });
  if (refused || std::ranges::any_of(files, is(Verdict::kRefused))) return Verdict::kRefused;
  return std::ranges::any_of(files, is(Verdict::kCompileError)) ? Verdict::kCompileError
                                                                : Verdict::kOk;
}

}  // namespace

Result<Report> analyze(const Request& request, std::shared_ptr<const Parsed> ahead) {
  if (request.further.empty()) return analyze_file(request, nullptr, std::move(ahead));
  auto files = read_all(request);
  if (!files) return pass_on(files);
  Report whole = files->front().report;
  std::vector<Finding> found;
  check_entries(*files, found);
  check_definitions(*files, found);
  check_undefined(*files, found);
  forgive_consequences(*files);
  merge_uses(*files, whole);
  whole.verdict = worst_of(*files, found);
  merge_findings(*files, std::move(found), whole);
  const bool broken = std::ranges::any_of(*files, [](const Analysed& file) {
    return std::ranges::find(file.report.findings, "compile-error", &Finding::rule) !=
           file.report.findings.end();
  });
  // What clang repairs while it reads on is not the program (analysis.cpp), in any of the files.
  if (broken) {
    whole.entry = Entry::kNone;
    whole.declared.clear();
    whole.uses.clear();
    whole.unused.clear();
  }
  return whole;
}

}  // namespace mcpac::analyzer
