// SPDX-License-Identifier: Apache-2.0

#include "analyzer/object_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <unordered_set>

#include "analyzer/object_symbols.h"
#include "analyzer/os_calls.h"
#include "analyzer/rules.h"
#include "core/printable.h"

namespace mcpac::analyzer {
namespace {

// As many as a source may have; more is a flood.
constexpr std::size_t kMaxFindings = 100;
// Names are the program's: a longer one is cut where it is shown.
constexpr std::size_t kMaxShown = 200;

// The sections that clang makes of C++ (data driven: every program of tests/analyzer/cases), each
// alone or with a name of its own behind a dot.
constexpr std::array<std::string_view, 22> kSections{
    ".text",           ".rela",           ".group",        ".gcc_except_table",
    ".rodata",         ".data",           ".bss",          ".tdata",
    ".tbss",           ".eh_frame",       ".lrodata",      ".ldata",
    ".lbss",           ".symtab",         ".strtab",       ".shstrtab",
    ".comment",        ".linker-options", ".symtab_shndx", ".llvm_addrsig",
    ".note.GNU-stack", ".note.mcpac"};

class Checker {
 public:
  Checker(const IsDefinedElsewhere& is_defined_elsewhere, const Report& source)
      : is_defined_elsewhere_(is_defined_elsewhere), source_(source) {}

  void learn(const ObjectFile& object);
  void check(const ObjectFile& object);
  [[nodiscard]] std::vector<Finding> take() && { return std::move(findings_); }

 private:
  void check_section(const ObjectSection& section);
  void check_early(const ObjectFile& object);
  void check_needed(const ObjectSymbol& symbol);
  void check_defined(const ObjectFile& object, const ObjectSymbol& symbol);
  [[nodiscard]] bool is_said(std::string_view name, const char* reached) const;
  void add(std::string_view rule, std::string message, std::string fix);

  const IsDefinedElsewhere& is_defined_elsewhere_;
  const Report& source_;
  std::unordered_set<std::string_view> own_;  // what some object of the program defines
  std::set<std::string> seen_;
  std::vector<Finding> findings_;
};

bool is_global(const ObjectSymbol& symbol) {
  return symbol.binding != STB_LOCAL && !symbol.name.empty();
}

std::string shown(std::string_view symbol) {
  return printable(readable_symbol(symbol), kMaxShown);
}

void Checker::add(std::string_view rule, std::string message, std::string fix) {
  if (findings_.size() >= kMaxFindings || !seen_.insert(message).second) return;
  const Rule* known = find_rule(rule);
  findings_.push_back({std::string(rule), known == nullptr ? Severity::kRefuses : known->severity,
                       source_.file, 0, 0, std::move(message), std::move(fix)});
  if (findings_.size() < kMaxFindings) return;
  findings_.push_back({"too-many-findings", Severity::kRefuses, source_.file, 0, 0,
                       "there are more findings than are kept", ""});
}

void Checker::learn(const ObjectFile& object) {
  for (const ObjectSymbol& symbol : object.symbols) {
    if (is_global(symbol) && symbol.section != 0) own_.insert(symbol.name);
  }
}

void Checker::check_section(const ObjectSection& section) {
  if ((section.flags & SHF_WRITE) != 0 && (section.flags & SHF_EXECINSTR) != 0) {
    add("object-section",
        fmt::format("the section `{}` can be written and executed", shown(section.name)),
        "write the program in plain C++");
  }
  const bool early = runs_early(section) || section.name.starts_with(".init") ||
                     section.name.starts_with(".fini") || section.name.starts_with(".preinit") ||
                     section.name.starts_with(".ctors") || section.name.starts_with(".dtors");
  // The initialisers of global variables; one with a priority runs before those of the runtime.
  if (section.name == ".init_array" && section.type == SHT_INIT_ARRAY) return;
  if (early) {
    return add("object-section",
               fmt::format("the section `{}` runs code outside of the entry", shown(section.name)),
               "do the work in the entry");
  }
  const bool usual = std::ranges::any_of(kSections, [&section](std::string_view name) {
    return section.name.starts_with(name) &&
           (section.name.size() == name.size() || section.name[name.size()] == '.');
  });
  if (usual || section.name.empty()) return;
  add("object-section",
      fmt::format("the section `{}` is none that a C++ program has", shown(section.name)),
      "leave out section attributes");
}

// Initialisers of globals are functions that clang writes into .text.startup; a function of the
// program in .init_array got there by an attribute.
void Checker::check_early(const ObjectFile& object) {
  for (const std::uint32_t index : object.early) {
    const ObjectSymbol& target = object.symbols[index];
    const bool local = target.binding == STB_LOCAL;
    const bool known = target.section != 0 && target.section < object.sections.size();
    if (local && known && object.sections[target.section].name.starts_with(".text.startup"))
      continue;
    add("object-section",
        fmt::format("`{}` runs before the entry",
                    target.name.empty() ? "a function of the program" : shown(target.name)),
        "do the work in the entry");
  }
}

// Whether a finding of the source names it, or, of C++ classes, what it reaches.
bool Checker::is_said(std::string_view name, const char* reached) const {
  return std::ranges::any_of(source_.findings, [&](const Finding& finding) {
    const bool kind = finding.rule == "os-call" || finding.rule == "redeclared-function" ||
                      finding.rule == "raw-descriptor" || finding.rule == "replaced-function";
    if (!kind) return false;
    const bool named = finding.message.contains(fmt::format("`{}`", name)) ||
                       finding.message.contains(fmt::format("::{}`", name));
    const bool same_place = reached != nullptr && name.starts_with("std::") &&
                            finding.message.contains(fmt::format("reaches {}", reached));
    return named || same_place;
  });
}

void Checker::check_needed(const ObjectSymbol& symbol) {
  if (own_.contains(symbol.name)) return;
  const std::string name = readable_symbol(symbol.name);
  const char* reached = moves_raw_bytes(name) ? "open descriptors" : reached_by_function(name);
  if (reached == nullptr) reached = reached_by_type(name);
  if (reached == nullptr && (is_mangled(symbol.name) || purpose_of(symbol.name) != nullptr)) return;
  if (is_said(name, reached)) return;
  const bool is_of_files = reached != nullptr && reached == std::string_view(kReachedFiles);
  if (is_of_files && declares_files(source_.declared)) return;
  if (moves_raw_bytes(name)) {
    return add("raw-descriptor",
               fmt::format("the compiled program needs `{}`, which reaches the connection to the "
                           "gate past every type",
                           shown(symbol.name)),
               "call tools through Requires");
  }
  if (reached != nullptr) {
    return add("object-symbol",
               fmt::format("the compiled program needs `{}`, which reaches {}; in the sandbox this "
                           "fails at run time",
                           shown(symbol.name), reached),
               "use a tool for it");
  }
  // The list of what is dangerous is never complete, so what is not known to be harmless is
  // refused.
  add("object-unknown",
      fmt::format("the compiled program needs `{}`, which no program here is known to need",
                  shown(symbol.name)),
      "use the C++ standard library or a tool");
}

// Descriptions of types and inline constants, which every object that uses them holds, and two
// that clang adds.
bool is_repeated_by_clang(const ObjectSymbol& symbol, const ObjectSection& section) {
  const std::string_view name = symbol.name;
  const bool constant = symbol.type == STT_OBJECT && (section.flags & SHF_WRITE) == 0;
  return constant || name.starts_with("_ZTI") || name.starts_with("_ZTS") ||
         name.starts_with("_ZTV") || name == "DW.ref.__gxx_personality_v0" ||
         name == "__clang_call_terminate";
}

void Checker::check_defined(const ObjectFile& object, const ObjectSymbol& symbol) {
  if (!is_defined_elsewhere_(symbol.name)) return;
  const bool known = symbol.section < object.sections.size();
  const ObjectSection section = known ? object.sections[symbol.section] : ObjectSection{};
  const bool merged = symbol.binding == STB_WEAK && (section.flags & SHF_GROUP) != 0;
  // An instantiation of a template of the standard library: the linker keeps any one of them.
  const std::string name = readable_symbol(symbol.name);
  const bool of_std = is_mangled(symbol.name) && (name == "std" || name.starts_with("std::"));
  if (merged && (of_std || is_repeated_by_clang(symbol, section))) return;
  add("object-override",
      fmt::format("the program defines `{}`, and so does what it is linked with",
                  shown(symbol.name)),
      "rename it, make it static or put it into a namespace of your own");
}

void Checker::check(const ObjectFile& object) {
  for (const ObjectSection& section : object.sections) check_section(section);
  check_early(object);
  for (const ObjectSymbol& symbol : object.symbols) {
    if (symbol.type == STT_GNU_IFUNC) {
      add("object-section",
          fmt::format("`{}` is chosen by code before the entry (IFUNC)", shown(symbol.name)),
          "call the function itself");
    }
    if (!is_global(symbol)) continue;
    if (symbol.section == 0) {
      check_needed(symbol);
    } else {
      check_defined(object, symbol);
    }
  }
}

// The runtime's object warms itself with a tool that no server has (templates/mcpac/warm.hpp), and
// leaves a note for it in every program. That a program of a server of this name could hide it is
// no gain: a note never gives anything.
constexpr std::string_view kWarm = "warm.tool";

std::set<std::string> texts_of(const std::vector<Declared>& declared) {
  std::set<std::string> texts;
  for (const Declared& item : declared) {
    if (item.permission != kWarm) texts.insert(item.text());
  }
  return texts;
}

}  // namespace

std::vector<Finding> check_objects(const std::vector<ObjectFile>& objects,
                                   const IsDefinedElsewhere& is_defined_elsewhere,
                                   const Report& source) {
  Checker checker(is_defined_elsewhere, source);
  for (const ObjectFile& object : objects) checker.learn(object);
  for (const ObjectFile& object : objects) checker.check(object);
  return std::move(checker).take();
}

std::vector<Finding> check_note(const std::optional<std::vector<Declared>>& noted,
                                const Report& source) {
  const std::set<std::string> in_program = noted ? texts_of(*noted) : std::set<std::string>();
  const std::set<std::string> in_source = texts_of(source.declared);
  std::string differing;
  std::vector<std::string> only;
  std::ranges::set_symmetric_difference(in_program, in_source, std::back_inserter(only));
  if (only.empty()) return {};
  for (const std::string& text : only) differing += (differing.empty() ? "" : ", ") + text;
  return {{"object-note", Severity::kRefuses, source.file, 0, 0,
           fmt::format("the compiled program declares other permissions than its source: {}",
                       printable(differing, 1'000)),
           "name the permissions plainly in the Requires of the entry"}};
}

}  // namespace mcpac::analyzer
