#include "analyzer/clang/diagnostics.h"

#include <fmt/format.h>

#include <vector>

#include "analyzer/clang/error_words.h"

namespace mcpac::analyzer {
namespace {

// Whether a note below the diagnostic ("previous definition is here") points into the headers.
bool concerns_headers(CXDiagnostic diagnostic, const Sources& sources) {
  CXDiagnosticSet notes = clang_getChildDiagnostics(diagnostic);
  bool found = false;
  for (unsigned i = 0; i < clang_getNumDiagnosticsInSet(notes); ++i) {
    CXDiagnostic note = clang_getDiagnosticInSet(notes, i);
    found =
        found || sources.home(place_of(clang_getDiagnosticLocation(note)).file) == Home::kHeaders;
    clang_disposeDiagnostic(note);
  }
  return found;
}

struct Diagnosed {
  Place place;
  std::string message;
};

// An error inside a header was asked for by a line of the program, which a note names; that line is
// where its writer can do something.
Diagnosed diagnosed(CXDiagnostic diagnostic, const Sources& sources) {
  Diagnosed error{place_of(clang_getDiagnosticLocation(diagnostic)),
                  take(clang_getDiagnosticSpelling(diagnostic))};
  if (sources.home(error.place.file) == Home::kProgram) return error;
  CXDiagnosticSet notes = clang_getChildDiagnostics(diagnostic);
  for (unsigned i = 0; i < clang_getNumDiagnosticsInSet(notes); ++i) {
    CXDiagnostic note = clang_getDiagnosticInSet(notes, i);
    const Place asked = place_of(clang_getDiagnosticLocation(note));
    const bool asks = take(clang_getDiagnosticSpelling(note)).ends_with("requested here");
    clang_disposeDiagnostic(note);
    if (!asks || sources.home(asked.file) != Home::kProgram) continue;
    error.message += fmt::format(", in {}:{}", sources.name(error.place.file), error.place.line);
    error.place = asked;
    break;
  }
  return error;
}

}  // namespace

bool check_diagnostics(CXTranslationUnit unit, const Identity& identity, const Sources& sources,
                       ArgumentErrors& arguments, Findings& findings) {
  bool errors = false;
  const unsigned count = clang_getNumDiagnostics(unit);
  for (unsigned i = 0; i < count; ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      errors = true;
      auto [place, message] = diagnosed(diagnostic, sources);
      const bool redefines = message.starts_with("redefinition of");
      if (redefines && concerns_headers(diagnostic, sources)) {
        findings.add("forged-type", place,
                     "this is declared by the generated headers, and by the program again",
                     "remove the declaration and include <mcpac.hpp>");
      }
      const bool call = message.starts_with("no matching");
      const auto wrong = call ? arguments.at(unit, place) : std::vector<ArgumentError>();
      for (const ArgumentError& error : wrong)
        findings.add("compile-error", error.place, error.message, error.fix);
      if (!wrong.empty()) {
        // Clang's own words would say less at another place.
      } else if (auto known = translate(message, identity.request())) {
        findings.add("compile-error", place, fmt::format("{} ({})", known->message, message),
                     known->fix);
      } else {
        findings.add("compile-error", place, std::move(message));
      }
    }
    clang_disposeDiagnostic(diagnostic);
  }
  return errors;
}

}  // namespace mcpac::analyzer
