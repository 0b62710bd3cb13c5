// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/fields.h"

#include <algorithm>
#include <utility>

#include "analyzer/clang/literals.h"

namespace mcpac::analyzer {
namespace {

// The first string literal of every call below the cursor, in order: a second one is the constant
// that the property always has.
void collect_texts(CXCursor cursor, std::vector<std::string>& texts) {
  bool first = true;
  each_child(cursor, [&](CXCursor child) {
    if (clang_getCursorKind(child) != CXCursor_StringLiteral) return collect_texts(child, texts);
    if (std::exchange(first, false)) texts.push_back(literal_text(child).value_or(""));
  });
}

Field field_of(CXCursor field) {
  Field made{spelling(field), spelling(field), clang_getCursorType(field)};
  each_child(field, [&made](CXCursor child) {
    made.has_default = made.has_default || clang_isExpression(clang_getCursorKind(child)) != 0;
  });
  // A required field with a default is a constant, which is sent without being written.
  made.fills_itself = made.has_default && is_named(clang_getCursorType(field), "mcpac::Required");
  return made;
}

struct EnumeratorTexts {
  CXCursor wanted;
  bool next_is_it = false;
  std::optional<std::string> text;
};

// The list is {{Enum::a, "a"}, …}: the literal after the enumerator is its text.
void search_enumerator(CXCursor cursor, EnumeratorTexts& search) {
  each_child(cursor, [&search](CXCursor child) {
    if (search.text) return;
    if (clang_getCursorKind(child) == CXCursor_StringLiteral && search.next_is_it) {
      search.text = literal_text(child);
    } else if (clang_getCursorKind(child) == CXCursor_DeclRefExpr) {
      search.next_is_it = same(clang_getCursorReferenced(child), search.wanted);
    } else {
      search_enumerator(child, search);
    }
  });
}

bool takes(CXCursor function, CXType type) {
  return clang_Cursor_getNumArguments(function) == 1 &&
         clang_equalTypes(
             clang_getCanonicalType(clang_getCursorType(clang_Cursor_getArgument(function, 0))),
             clang_getCanonicalType(type)) != 0;
}

}  // namespace

const std::vector<Field>& Fields::of(CXCursor record) {
  const std::string usr = take(clang_getCursorUSR(record));
  const auto found = known_.find(usr);
  if (found != known_.end()) return found->second;
  std::vector<Field> fields;
  std::vector<std::string> properties;
  each_child(record, [&](CXCursor child) {
    const std::string name = spelling(child);
    if (clang_getCursorKind(child) == CXCursor_FieldDecl && name != "mcpac_presence") {
      if (is_named(clang_getCursorType(child), "mcpac::Extra"))
        return;  // holds many properties, is none
      fields.push_back(field_of(child));
    } else if (name == "mcpac_visit") {
      collect_texts(child, properties);
    }
  });
  if (properties.size() == fields.size()) {
    for (std::size_t i = 0; i < fields.size(); ++i) fields[i].property = properties[i];
  }
  return known_.emplace(usr, std::move(fields)).first->second;
}

const Field* Fields::find(const std::vector<Field>& fields, const std::string& cpp) {
  const auto found = std::ranges::find(fields, cpp, &Field::cpp_name);
  return found == fields.end() ? nullptr : &*found;
}

std::optional<std::string> Fields::enumerator_text(CXCursor enumerator) {
  const CXCursor owner = clang_getCursorSemanticParent(clang_getCursorSemanticParent(enumerator));
  const CXType type = clang_getCursorType(enumerator);
  EnumeratorTexts search{enumerator, false, std::nullopt};
  each_child(owner, [&](CXCursor child) {
    if (clang_getCursorKind(child) != CXCursor_FriendDecl) return;
    each_child(child, [&](CXCursor function) {
      if (spelling(function) == "mcpac_enumerators" && takes(function, type))
        search_enumerator(function, search);
    });
  });
  return search.text;
}

}  // namespace mcpac::analyzer
