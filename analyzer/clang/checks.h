// SPDX-License-Identifier: Apache-2.0

// Checks: the checks of a file's declarations. One walk feeds them all; then each says what it
// found.
#pragma once

#include "analyzer/clang/argument_errors.h"
#include "analyzer/clang/dangling.h"
#include "analyzer/clang/early.h"
#include "analyzer/clang/entry.h"
#include "analyzer/clang/escape_hatches.h"
#include "analyzer/clang/findings.h"
#include "analyzer/clang/forgery.h"
#include "analyzer/clang/hidden.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/left_out.h"
#include "analyzer/clang/narrows.h"
#include "analyzer/clang/outside.h"
#include "analyzer/clang/part.h"
#include "analyzer/clang/raw_bytes.h"
#include "analyzer/clang/replacements.h"
#include "analyzer/clang/silent.h"
#include "analyzer/clang/sources.h"
#include "analyzer/clang/undefined.h"
#include "analyzer/clang/uses.h"
#include "analyzer/report.h"

namespace mcpac::analyzer {

// Facts about the program beside the file that is read.
struct Knowledge {
  Variables variables;
  Constness constness;
};

// `part` is null for a program of one file.
[[nodiscard]] Knowledge knowledge_of(const Part* part, bool writes_through_constness);

class Checks {
 public:
  // All but `knowledge` borrowed.
  Checks(CXTranslationUnit unit, const Identity& identity, const Sources& sources,
         Findings& findings, Knowledge knowledge);

  void walk(CXTranslationUnit unit);

  // Of a program of one file `part` is null: nothing else defines what this file does not.
  void share(Part* part);

  // Fills what the report says of the entry and the calls. `unit` is null when the file does not
  // compile.
  void finish(CXTranslationUnit unit, const Part* part, Report& report);

  [[nodiscard]] ArgumentErrors& arguments() { return arguments_; }
  [[nodiscard]] const UseChecker& uses() const { return uses_; }
  [[nodiscard]] DanglingChecker& dangling() { return dangling_; }

 private:
  const Sources& sources_;
  Findings& findings_;
  EntryFinder entry_;
  UseChecker uses_;
  ForgeryChecker forgery_;
  ReplacementChecker replacements_;
  HatchChecker hatches_;
  RawBytesChecker bytes_;
  OutsideChecker outside_;
  EarlyChecker early_;
  HiddenChecker hidden_;
  ArgumentErrors arguments_;
  UndefinedChecker undefined_;
  NarrowChecker narrows_;
  LeftOutChecker left_out_;
  DanglingChecker dangling_;
  SilentChecker silent_;
};

}  // namespace mcpac::analyzer
