// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/reach.h"

#include <algorithm>
#include <set>

namespace mcpac::analyzer {
namespace {

// Types of programs reach some hundred others, those of the library's streams a thousand.
constexpr std::size_t kMaxTypes = 20'000;

using Key = std::pair<const void*, const void*>;

Key key_of(CXType type) {
  return {type.data[0], type.data[1]};
}

CXCursor record_of(CXType type) {
  return clang_getTypeDeclaration(canonical(type));
}

// A class and what it was made from: libclang shows the bases and functions of an implicit
// instantiation in its template alone.
std::vector<CXCursor> texts_of(CXCursor record) {
  std::vector<CXCursor> texts;
  const auto add = [&texts](CXCursor at) {
    if (!exists(at)) return;
    const CXCursor definition = clang_getCursorDefinition(at);
    texts.push_back(exists(definition) ? definition : at);
  };
  add(record);
  if (!texts.empty()) add(clang_getSpecializedCursorTemplate(texts.front()));
  return texts;
}

void each_base(CXCursor record, auto&& visit) {
  for (const CXCursor text : texts_of(record)) {
    each_child(text, [&visit](CXCursor child) {
      if (clang_getCursorKind(child) == CXCursor_CXXBaseSpecifier) visit(child);
    });
  }
}

// All classes that a class is made from, itself among them.
std::vector<CXCursor> lineage(CXCursor record) {
  std::vector<CXCursor> all{record};
  for (std::size_t at = 0; at < all.size() && all.size() < kMaxTypes; ++at) {
    each_base(all[at], [&all](CXCursor base) {
      const CXCursor declared = record_of(clang_getCursorType(base));
      if (exists(declared) &&
          std::ranges::none_of(all, [declared](CXCursor known) { return same(known, declared); }))
        all.push_back(declared);
    });
  }
  return all;
}

bool has_table(CXCursor record) {
  bool found = false;
  for (const CXCursor text : texts_of(record)) {
    each_child(text, [&found](CXCursor child) {
      const CXCursorKind kind = clang_getCursorKind(child);
      const bool function = kind == CXCursor_CXXMethod || kind == CXCursor_Destructor ||
                            kind == CXCursor_ConversionFunction;
      if (function) found = found || clang_CXXMethod_isVirtual(child) != 0;
      if (kind == CXCursor_CXXBaseSpecifier) found = found || clang_isVirtualBase(child) != 0;
    });
  }
  return found;
}

CXVisitorResult keep_field(CXCursor field, CXClientData data) {
  static_cast<std::vector<CXType>*>(data)->push_back(clang_getCursorType(field));
  return CXVisit_Continue;
}

}  // namespace

std::vector<CXType> Reach::inside(CXType record) const {
  std::vector<CXType> types;
  for (int i = 0; i < clang_Type_getNumTemplateArguments(record); ++i) {
    const CXType argument = type_argument(record, static_cast<unsigned>(i));
    if (argument.kind != CXType_Invalid) types.push_back(argument);
  }
  const CXCursor declaration = record_of(record);
  if (!exists(declaration) || !opens_(declaration)) return types;
  clang_Type_visitFields(record, keep_field, &types);
  each_base(declaration, [&types](CXCursor base) { types.push_back(clang_getCursorType(base)); });
  return types;
}

// Every type once, the near ones first.
bool Reach::search(CXType from) const {
  std::vector<CXType> open{from};
  std::set<Key> seen;
  for (std::size_t at = 0; at < open.size(); ++at) {
    if (at > kMaxTypes) return true;
    const CXType type = canonical(open[at]);
    if (type.kind == CXType_Invalid || !seen.insert(key_of(type)).second) continue;
    if (is_(type)) return true;
    if (is_pointer_like(type)) {
      open.push_back(clang_getPointeeType(type));
    } else if (type.kind == CXType_MemberPointer) {
      open.push_back(clang_getPointeeType(type));
      open.push_back(clang_Type_getClassType(type));
    } else if (type.kind == CXType_FunctionProto) {
      open.push_back(clang_getResultType(type));
      for (int i = 0; i < clang_getNumArgTypes(type); ++i)
        open.push_back(clang_getArgType(type, static_cast<unsigned>(i)));
    } else if (clang_getArrayElementType(type).kind != CXType_Invalid) {
      open.push_back(clang_getArrayElementType(type));
    } else if (type.kind == CXType_Record) {
      for (const CXType next : inside(type)) open.push_back(next);
    }
  }
  return false;
}

bool Reach::reaches(CXType type) const {
  type = canonical(type);
  if (type.kind == CXType_Invalid) return false;
  const auto [known, is_new] = known_.try_emplace(key_of(type), false);
  if (is_new) known->second = search(type);
  return known->second;
}

bool is_polymorphic(CXType type) {
  const CXCursor record = record_of(type);
  return canonical(type).kind == CXType_Record && exists(record) &&
         std::ranges::any_of(lineage(record), has_table);
}

std::vector<CXType> lineage_of(CXType derived) {
  std::vector<CXType> types;
  const CXCursor record = record_of(derived);
  if (!exists(record)) return types;
  for (const CXCursor at : lineage(record)) types.push_back(canonical(clang_getCursorType(at)));
  return types;
}

bool has_bases(CXType type) {
  bool found = false;
  const CXCursor record = record_of(type);
  if (exists(record)) each_base(record, [&found](CXCursor) { found = true; });
  return found;
}

bool derives_from(CXType derived, CXType base) {
  const CXCursor one = record_of(derived);
  const CXCursor other = record_of(base);
  if (!exists(one) || !exists(other)) return false;
  return std::ranges::any_of(lineage(one), [other](CXCursor at) { return same(at, other); });
}

bool are_related(CXType left, CXType right) {
  return derives_from(left, right) || derives_from(right, left);
}

}  // namespace mcpac::analyzer
