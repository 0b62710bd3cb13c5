// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/clang/cx.h"
#include "analyzer/clang/error_words.h"
#include "core/ascii.h"

namespace mcpac::analyzer {
namespace {

using namespace std::string_view_literals;

struct Note {
  Place place;
  std::string message;
};

std::vector<Note> notes_of(CXDiagnostic diagnostic) {
  std::vector<Note> notes;
  CXDiagnosticSet set = clang_getChildDiagnostics(diagnostic);
  for (unsigned i = 0; i < clang_getNumDiagnosticsInSet(set); ++i) {
    CXDiagnostic note = clang_getDiagnosticInSet(set, i);
    notes.push_back(
        {place_of(clang_getDiagnosticLocation(note)), take(clang_getDiagnosticSpelling(note))});
    clang_disposeDiagnostic(note);
  }
  return notes;
}

std::vector<std::string> texts_of(const std::vector<Note>& notes) {
  std::vector<std::string> texts;
  for (const Note& note : notes) texts.push_back(note.message);
  return texts;
}

// Whether what was there before ("previous definition is here") stands in the headers. Other notes
// may, too: the first error of a program brings along what it is included from.
bool concerns_headers(const std::vector<Note>& notes, const Sources& sources) {
  return std::ranges::any_of(notes, [&](const Note& note) {
    return note.message.starts_with("previous ") && sources.home(note.place.file) == Home::kHeaders;
  });
}

// The text of the file from the place on.
std::string_view text_from(CXTranslationUnit unit, const Place& place) {
  std::size_t size = 0;
  const char* begin =
      place.file == nullptr ? nullptr : clang_getFileContents(unit, place.file, &size);
  if (begin == nullptr || place.offset >= size) return {};
  return {begin + place.offset, size - place.offset};
}

std::string_view word_at(CXTranslationUnit unit, const Place& place) {
  const std::string_view text = text_from(unit, place);
  return text.substr(
      0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_word) - text.begin()));
}

// Whether `::` follows the name at the place.
bool is_before_colons(CXTranslationUnit unit, const Place& place) {
  std::string_view text = text_from(unit, place);
  text.remove_prefix(word_at(unit, place).size());
  return text.starts_with("::");
}

bool same_line(const Place& one, const Place& other) {
  return one.line == other.line && clang_File_isEqual(one.file, other.file) != 0;
}

// A mistake that was told in words of ours, and the advice.
struct Told {
  Place place;
  std::string advised;
};
bool is_told(const std::vector<Told>& told, const Place& place) {
  return std::ranges::any_of(told,
                             [&place](const Told& one) { return same_line(one.place, place); });
}

// What clang says of the format string once more, where a type cannot be formatted.
bool is_of_format(std::string_view message) {
  return message.starts_with("call to consteval function 'std::basic_format_string<");
}

// An error inside a header was asked for by a line of the program, which a note names; that line is
// where its writer can do something.
Note diagnosed(CXDiagnostic diagnostic, const std::vector<Note>& notes, const Sources& sources) {
  Note error{place_of(clang_getDiagnosticLocation(diagnostic)),
             take(clang_getDiagnosticSpelling(diagnostic))};
  if (sources.home(error.place.file) == Home::kProgram) return error;
  for (const Note& note : notes) {
    const bool asks = note.message.ends_with("requested here");
    if (!asks || sources.home(note.place.file) != Home::kProgram) continue;
    error.message += fmt::format(", in {}:{}", sources.name(error.place.file), error.place.line);
    error.place = note.place;
    break;
  }
  return error;
}

void find_narrowed(CXCursor scope, const Identity& identity, const Sources& sources,
                   NarrowedTools& found) {
  each_child(scope, [&](CXCursor child) {
    const CXCursorKind kind = clang_getCursorKind(child);
    if (sources.home(child) != Home::kProgram) return;
    if (kind == CXCursor_Namespace) find_narrowed(child, identity, sources, found);
    if (kind != CXCursor_StructDecl && kind != CXCursor_ClassDecl) return;
    const auto authority = identity.authority_of(clang_getCursorType(child));
    const auto* held = std::get_if<Authority>(&authority);
    if (held != nullptr && !held->where.empty())
      found.emplace(qualified_name(child), held->permission);
  });
}

NarrowedTools narrowed_tools(CXTranslationUnit unit, const Identity& identity,
                             const Sources& sources) {
  NarrowedTools found;
  find_narrowed(clang_getTranslationUnitCursor(unit), identity, sources, found);
  return found;
}

// The last of the names in a type: of "std::vector<ns::Item>" it is "ns::Item".
std::string_view innermost(std::string_view type) {
  type = type.substr(0, type.find('>'));
  const auto begin = type.find_last_of("<, ");
  return begin == std::string_view::npos ? type : type.substr(begin + 1);
}

// A struct of the program by its qualified name, or where that is not written whole by its own.
CXCursor struct_named(CXCursor scope, std::string_view name, const Sources& sources) {
  CXCursor found = clang_getNullCursor();
  each_child(scope, [&](CXCursor child) {
    const CXCursorKind kind = clang_getCursorKind(child);
    if (exists(found) || sources.home(child) != Home::kProgram) return;
    if (kind == CXCursor_Namespace) found = struct_named(child, name, sources);
    const bool is_struct = kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl;
    if (is_struct && (qualified_name(child) == name || spelling(child) == name))
      found = clang_getCursorDefinition(child);
  });
  return found;
}

bool is_no_json(std::string_view type) {
  constexpr std::array kTypes{"variant<"sv, "function<"sv, "string_view"sv,      "span<"sv,
                              "std::any"sv, "chrono::"sv,  "filesystem::path"sv, "expected<"sv,
                              "*"sv,        "&"sv};
  return std::ranges::any_of(kTypes, [type](std::string_view one) {
    const auto at = type.find(one);
    return at != std::string_view::npos && (at == 0 || !is_word(type[at - 1]));
  });
}

std::string unreadable_in(CXTranslationUnit unit, std::string_view type, const Sources& sources,
                          int depth = 0) {
  constexpr int kDeepest = 4;
  const CXCursor record =
      struct_named(clang_getTranslationUnitCursor(unit), innermost(type), sources);
  if (!exists(record) || depth > kDeepest) return {};
  std::string found;
  each_child(record, [&](CXCursor child) {
    if (!found.empty() || clang_getCursorKind(child) != CXCursor_FieldDecl) return;
    const std::string of = take(clang_getTypeSpelling(clang_getCursorType(child)));
    if (is_no_json(of)) {
      found = fmt::format("its member `{}` is a `{}`", spelling(child), of);
    } else if (innermost(of) != innermost(type)) {
      found = unreadable_in(unit, of, sources, depth + 1);
      if (!found.empty() && !found.starts_with("of "))
        found = fmt::format("of `{}` {}", spelling(child), found);
    }
  });
  return found;
}

std::optional<Translation> words_for(CXTranslationUnit unit, const Place& place,
                                     std::string_view message,
                                     const std::vector<std::string>& notes, const Request& request,
                                     const NarrowedTools& narrowed, const Sources& sources,
                                     Checks& checks) {
  const Known known{
      .narrowed = narrowed,
      .word = std::string(word_at(unit, place)),
      .names_in = [&checks](std::string_view cpp) { return checks.arguments().names_in(cpp); },
      .calls = [&checks](std::string_view function,
                         std::string_view tool) { return checks.uses().calls(function, tool); },
      .unreadable_in = [&](std::string_view type) { return unreadable_in(unit, type, sources); },
      .result_in_braces = [&] { return ArgumentErrors::result_in_braces(unit, place); }};
  auto words = translate(message, notes, request, known);
  if (!words && is_before_colons(unit, place)) words = translate_server(message, request);
  return words;
}

}  // namespace

Diagnosed check_diagnostics(CXTranslationUnit unit, const Identity& identity,
                            const Sources& sources, Checks& checks, Findings& findings) {
  ArgumentErrors& arguments = checks.arguments();
  Diagnosed found;
  std::vector<Told> told;  // mistakes in words of ours
  std::optional<NarrowedTools> narrowed;
  const unsigned count = clang_getNumDiagnostics(unit);
  for (unsigned i = 0; i < count; ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    if (clang_getDiagnosticSeverity(diagnostic) == CXDiagnostic_Warning) {
      checks.dangling().on_warning(take(clang_getDiagnosticOption(diagnostic, nullptr)),
                                   place_of(clang_getDiagnosticLocation(diagnostic)),
                                   take(clang_getDiagnosticSpelling(diagnostic)));
    }
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      found.errors = true;
      // What the runtime's headers make of a mistake that was told says nothing more.
      const CXFile stands_in = place_of(clang_getDiagnosticLocation(diagnostic)).file;
      const Home home = sources.home(stands_in);
      if (home == Home::kHeaders && found.in_program) {
        clang_disposeDiagnostic(diagnostic);
        continue;
      }
      found.in_program = found.in_program || home == Home::kProgram;
      const auto notes = notes_of(diagnostic);
      auto [place, message] = diagnosed(diagnostic, notes, sources);
      // Nor does what a library's template makes of it, line by line.
      if (home != Home::kProgram && !told.empty() &&
          (sources.home(place.file) != Home::kProgram || is_told(told, place))) {
        clang_disposeDiagnostic(diagnostic);
        continue;
      }
      // Nor what clang says of a server in a list of tools once more.
      if (message == "template argument for template type parameter must be a type" &&
          is_told(told, place)) {
        clang_disposeDiagnostic(diagnostic);
        continue;
      }
      const bool redefines = message.starts_with("redefinition of");
      if (redefines && concerns_headers(notes, sources)) {
        findings.add("forged-type", place,
                     "this is declared by the generated headers, and by the program again",
                     "remove the declaration and include <mcpac.hpp>");
      }
      const bool call = message.starts_with("no matching");
      const auto wrong = call ? arguments.at(unit, place, args_in(texts_of(notes)))
                         : is_unknown_enumerator(message) ? arguments.around(unit, place)
                                                          : std::vector<ArgumentError>();
      for (const ArgumentError& error : wrong)
        findings.add("compile-error", error.place, error.message, error.fix);
      const bool follows = is_told(told, place) && is_of_format(message);
      if (!wrong.empty() || follows) {
        // Clang's own words would say less at another place.
      } else if (auto known =
                     words_for(unit, place, message, texts_of(notes), identity.request(),
                               narrowed ? *narrowed
                                        : narrowed.emplace(narrowed_tools(unit, identity, sources)),
                               sources, checks)) {
        const bool again = std::ranges::any_of(told, [&](const Told& one) {
          return same_line(one.place, place) && one.advised == known->fix;
        });
        if (!again)
          findings.add("compile-error", place, fmt::format("{} ({})", known->message, message),
                       known->fix);
        told.push_back({place, known->fix});
      } else {
        findings.add("compile-error", place, std::move(message));
      }
    }
    clang_disposeDiagnostic(diagnostic);
  }
  return found;
}

}  // namespace mcpac::analyzer
