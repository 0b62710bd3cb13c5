// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/parsed.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "analyzer/clang/sources.h"
#include "analyzer/lead.h"

namespace mcpac::analyzer {
namespace {

std::string_view reason_of(CXErrorCode code) {
  switch (code) {
    case CXError_Crashed: return "clang crashed";
    case CXError_InvalidArguments: return "clang did not understand its arguments";
    case CXError_ASTReadError: return "clang cannot read the precompiled header";
    default: return "clang could not parse the program at all";
  }
}

std::unexpected<Error> not_analysed(const std::string& file, CXErrorCode code) {
  return fail(ErrorId::kAnalyzerFailed, fmt::format("{} could not be analysed", file),
              {.why = std::string(reason_of(code))});
}

bool has_errors(CXTranslationUnit unit) {
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit); ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    const auto severity = clang_getDiagnosticSeverity(diagnostic);
    clang_disposeDiagnostic(diagnostic);
    if (severity >= CXDiagnostic_Error) return true;
  }
  return false;
}

CXUnsavedFile unsaved(const char* path, std::string_view text) {
  return {path, text.data(), text.size()};
}

}  // namespace

Parsed::Parsed()
    : index_(clang_createIndex(/*excludeDeclarationsFromPCH=*/1, /*displayDiagnostics=*/0)) {}

CXErrorCode Parsed::read(const std::vector<std::string>& arguments,
                         std::vector<CXUnsavedFile> files, CXTranslationUnit_Flags extent) {
  std::vector<const char*> words;
  for (const std::string& flag : overlay_flags()) words.push_back(flag.c_str());
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  CXTranslationUnit unit = nullptr;
  const CXErrorCode code = clang_parseTranslationUnit2(
      index_.get(), lead::kMain, words.data(), static_cast<int>(words.size()), files.data(),
      static_cast<unsigned>(files.size()), extent, &unit);
  unit_.reset(unit);
  return code == CXError_Success && !unit_ ? CXError_Failure : code;
}

Result<Parsed> Parsed::of(const Request& request, const std::string& source,
                          CXTranslationUnit_Flags extent) {
  auto naming = lead::naming(request.source_path);
  if (!naming) return pass_on(naming);
  Parsed parsed;
  const CXErrorCode code =
      parsed.read(request.arguments,
                  {unsaved(lead::kMain, lead::kMainText), unsaved(lead::kBefore, ""),
                   unsaved(lead::kSource, *naming), unsaved(request.source_path.c_str(), source)},
                  extent);
  if (code != CXError_Success) return not_analysed(request.file, code);
  return parsed;
}

Result<Parsed> Parsed::when_told(std::vector<std::string> arguments) {
  Parsed parsed;
  parsed.arguments_ = std::move(arguments);
  const CXErrorCode code = parsed.read(parsed.arguments_, {}, CXTranslationUnit_None);
  if (code != CXError_Success) return not_analysed("the program", code);
  return parsed;
}

bool Parsed::is_as_good(const Request& request, const std::string& source) const {
  if (has_errors(unit())) return false;
  const CXFile file = clang_getFile(unit(), request.source_path.c_str());
  std::size_t size = 0;
  const char* content = file == nullptr ? nullptr : clang_getFileContents(unit(), file, &size);
  return arguments_ == request.arguments && content != nullptr &&
         std::string_view(content, size) == source;
}

}  // namespace mcpac::analyzer
