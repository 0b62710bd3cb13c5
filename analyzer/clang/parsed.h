// SPDX-License-Identifier: Apache-2.0

// Parsed: a program as clang read it behind its lead (analyzer/lead.h).
#pragma once

#include <clang-c/Index.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "analyzer/report.h"
#include "core/error.h"

namespace mcpac::analyzer {

class Parsed {
 public:
  // From these bytes of the source; further files from the disk.
  [[nodiscard]] static Result<Parsed> of(const Request& request, const std::string& source,
                                         CXTranslationUnit_Flags extent);
  // From the lead on the disk, whose pipe says which program it is: returns when that was said and
  // the program is read. With these flags, which must be those of the request that follows.
  [[nodiscard]] static Result<Parsed> when_told(std::vector<std::string> arguments);

  [[nodiscard]] CXTranslationUnit unit() const { return unit_.get(); }
  // Whether a report of it says what one of of() would. It is the whole program, while of() may be
  // given a beginning (analysis.cpp), where the mistakes in bodies of the library are not met:
  // so one with mistakes is not good enough.
  [[nodiscard]] bool is_as_good(const Request& request, const std::string& source) const;

 private:
  struct DisposeIndex {
    void operator()(CXIndex index) const { clang_disposeIndex(index); }
  };
  struct DisposeUnit {
    void operator()(CXTranslationUnit unit) const { clang_disposeTranslationUnit(unit); }
  };
  Parsed();
  CXErrorCode read(const std::vector<std::string>& arguments, std::vector<CXUnsavedFile> files,
                   CXTranslationUnit_Flags extent);

  std::unique_ptr<std::remove_pointer_t<CXIndex>, DisposeIndex> index_;
  std::unique_ptr<std::remove_pointer_t<CXTranslationUnit>, DisposeUnit> unit_;  // ends before it
  std::vector<std::string> arguments_;                                           // of when_told()
};

}  // namespace mcpac::analyzer
