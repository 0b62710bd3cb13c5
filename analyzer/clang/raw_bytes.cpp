// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/raw_bytes.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "analyzer/clang/literals.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

// They take memory back, or only look at where it is.
constexpr std::string_view kReleasers =
    " free deallocate do_deallocate deallocate_bytes print println format format_to "
    "formatted_size ";
constexpr std::string_view kOperators = " operator delete operator delete[] operator<< ";
// They make a value of bytes, or bytes of a value.
constexpr std::array<std::string_view, 11> kReinterpreters{"std::bit_cast",
                                                           "std::start_lifetime_as",
                                                           "std::start_lifetime_as_array",
                                                           "std::as_bytes",
                                                           "std::as_writable_bytes",
                                                           "std::reinterpret_pointer_cast",
                                                           "std::out_ptr",
                                                           "std::inout_ptr",
                                                           "std::static_pointer_cast",
                                                           "std::make_exception_ptr",
                                                           "std::const_pointer_cast"};
// They only look at where something is.
constexpr std::string_view kLookers =
    " print println format format_to format_to_n formatted_size operator<< operator== operator!= "
    "operator<=> ";

// The room that a member of a union shares with others: nothing where it is the only one, or stands
// beside a byte that says that there is no value.
bool shares_room(CXCursor field) {
  std::vector<CXCursor> fields;
  clang_Type_visitFields(
      clang_getCursorType(clang_getCursorSemanticParent(field)),
      [](CXCursor other, CXClientData data) {
        static_cast<std::vector<CXCursor>*>(data)->push_back(other);
        return CXVisit_Continue;
      },
      &fields);
  return std::ranges::any_of(fields, [field](CXCursor other) {
    return !same(other, field) && clang_Type_getSizeOf(clang_getCursorType(other)) != 1;
  });
}

// Whether the name stands there in the text; clang makes such calls itself for every coroutine.
// The lexer's token, not the text: a line may be spliced in the middle of a name.
bool is_spelled(CXCursor reference, std::string_view name) {
  const CXTranslationUnit unit = clang_Cursor_getTranslationUnit(reference);
  CXFile file = nullptr;
  unsigned offset = 0;
  clang_getSpellingLocation(clang_getCursorLocation(reference), &file, nullptr, nullptr, &offset);
  if (file == nullptr) return true;  // made of pieces
  CXToken* token = clang_getToken(unit, clang_getLocationForOffset(unit, file, offset));
  if (token == nullptr) return true;
  const std::string spelled = take(clang_getTokenSpelling(unit, *token));
  clang_disposeTokens(unit, token, 1);
  return spelled == name;
}

// Whether a format of printf has a %n, behind whatever flags and lengths.
bool writes_through_argument(std::string_view format) {
  for (std::size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at)) {
    at = format.find_first_not_of("#0- +'.123456789*$hlLqjzt", at + 1);
    if (at == std::string_view::npos) return false;
    if (format[at] == 'n') return true;
    ++at;
  }
  return false;
}

bool is_in_union(CXCursor field) {
  return clang_getCursorKind(field) == CXCursor_FieldDecl &&
         clang_getCursorKind(clang_getCursorSemanticParent(field)) == CXCursor_UnionDecl;
}

}  // namespace

bool is_raw_cast(CXCursorKind kind) {
  return kind == CXCursor_CXXReinterpretCastExpr || kind == CXCursor_CStyleCastExpr ||
         kind == CXCursor_CXXStaticCastExpr || kind == CXCursor_CXXFunctionalCastExpr;
}

bool is_call_of(CXCursor node, std::string_view names, std::string_view operators) {
  if (clang_getCursorKind(node) != CXCursor_CallExpr) return false;
  const std::string name = spelling(node);
  return has_word(names, name) || operators.contains(" " + name + " ");
}

void RawBytesChecker::refuse(Guarded what, CXCursor node) {
  if (what == Guarded::kStream) {
    findings_.add("raw-descriptor", node, "the inside of a FILE leads to any descriptor",
                  "print with std::print or std::fputs; call tools through Requires");
  } else if (what == Guarded::kCode) {
    findings_.add("code-pointer", node,
                  "the bytes here decide which function is called, and are used as something else",
                  "keep the type of the object: a reference, a template or std::function");
  } else if (what == Guarded::kCapability) {
    findings_.add("capability-cast", node, "a capability is handed on as raw memory",
                  "pass the capability on as it is");
  }
}

Guarded RawBytesChecker::guarded(CXType type) const {
  return identity_.holds_capability(type) ? Guarded::kCapability : types_.of(type);
}

Guarded RawBytesChecker::guarded_behind(CXType pointer) const {
  if (is_pointer_like(pointer) && identity_.holds_capability(bare_type(pointer)))
    return Guarded::kCapability;
  return types_.behind(pointer);
}

// printf("%p", object): the pointer is shown, or read as text. Only %n writes through one.
void RawBytesChecker::on_printed(CXCursor call) {
  const std::string name = spelling(call);
  if (name != "printf" && name != "fprintf") return;
  const int count = clang_Cursor_getNumArguments(call);
  const int format_at = name == "printf" ? 0 : 1;
  if (count <= format_at) return;
  const auto format =
      literal_text(strip(clang_Cursor_getArgument(call, static_cast<unsigned>(format_at))));
  if (!format || writes_through_argument(*format)) return;
  for (int i = format_at + 1; i < count; ++i) {
    const CXCursor argument = clang_Cursor_getArgument(call, static_cast<unsigned>(i));
    CXCursor given = strip(argument);
    while (is_raw_cast(clang_getCursorKind(given)) && exists(operand_of(given)))
      given = strip(operand_of(given));
    const Guarded what = guarded_behind(clang_getCursorType(given));
    if (what == Guarded::kCode || what == Guarded::kCapability) excuse(argument);
    excuse_frame(argument);
  }
}

// Arguments of a variable list have no type: the taker says what they are.
void RawBytesChecker::on_call(CXCursor call) {
  const CXCursor function = clang_getCursorReferenced(call);
  if (!exists(function)) return;
  const bool system = sources_.home(function) != Home::kProgram;
  const auto count = static_cast<unsigned>(std::max(0, clang_Cursor_getNumArguments(call)));
  if (system && is_call_of(call, kReleasers, kOperators)) {
    for (unsigned i = 0; i < count; ++i) excuse(clang_Cursor_getArgument(call, i));
  }
  if (clang_isFunctionTypeVariadic(clang_getCursorType(function)) == 0) return;
  if (system) on_printed(call);
  const auto named = static_cast<unsigned>(std::max(0, clang_Cursor_getNumArguments(function)));
  for (unsigned i = named; i < count; ++i) {
    const CXCursor argument = strip(clang_Cursor_getArgument(call, i));
    if (is_pointer(clang_getCursorType(argument)) && !is_excused(argument))
      refuse(guarded_behind(clang_getCursorType(argument)), argument);
  }
}

void RawBytesChecker::on_named(CXCursor reference) {
  const CXCursor named = clang_getCursorReferenced(reference);
  if (!exists(named)) return;
  const CXCursorKind kind = clang_getCursorKind(named);
  if (kind != CXCursor_FunctionDecl && kind != CXCursor_CXXMethod) return;
  const std::string name = qualified_name(named);
  if (name == "std::coroutine_handle::from_address") {
    if (is_spelled(reference, "from_address")) refuse(Guarded::kCode, reference);
    return;
  }
  if (name == "std::coroutine_handle::from_promise") {
    if (!is_excused(reference)) refuse(Guarded::kCode, reference);
    return;
  }
  if (name == "std::coroutine_handle::address") {
    if (is_spelled(reference, "address") && !is_excused(reference))
      findings_.add("code-pointer", reference,
                    "the frame of a coroutine decides which function is called, and its address "
                    "leads to its bytes",
                    "keep the std::coroutine_handle; to print or compare where it is, take a "
                    "const void* of it");
    return;
  }
  if (std::ranges::find(kReinterpreters, name) == kReinterpreters.end()) return;
  const int count = clang_Cursor_getNumArguments(named);
  if (count < 1) return;
  // A handler for void* catches it.
  if (name == "std::make_exception_ptr")
    return refuse(
        guarded_behind(without_reference(clang_getCursorType(clang_Cursor_getArgument(named, 0)))),
        reference);
  const CXType from = without_reference(clang_getCursorType(clang_Cursor_getArgument(named, 0)));
  const CXType to = clang_getCursorResultType(named);
  if (name == "std::static_pointer_cast" && type_argument(from, 0).kind != CXType_Void &&
      type_argument(to, 0).kind != CXType_Void)
    return;
  // The constness of code needs no protection; a capability's is kept (escape_hatches.h).
  if (name == "std::const_pointer_cast" && !identity_.holds_capability(to)) return;
  const Guarded made = guarded(to);
  const Guarded looked_at = guarded(from);
  if (made == Guarded::kCapability || looked_at == Guarded::kCapability)
    return refuse(Guarded::kCapability, reference);
  refuse(made, reference);
  const bool looks = name != "std::bit_cast" || looked_at == Guarded::kStream;
  if (looks) refuse(looked_at, reference);
}

// std::coroutine_handle<>::address() as an operand of what only looks at where it is.
void RawBytesChecker::excuse_frame(CXCursor operand) {
  const CXCursor call = strip(operand);
  if (clang_getCursorKind(call) != CXCursor_CallExpr || spelling(call) != "address") return;
  for (const CXCursor callee : expressions_of(call)) excuse(callee);
}

void RawBytesChecker::excuse_frames(CXCursor node) {
  const CXCursorKind kind = clang_getCursorKind(node);
  const CXType type = clang_getCanonicalType(clang_getCursorType(node));
  bool looks = type.kind == CXType_Bool;
  if (kind == CXCursor_CallExpr) {
    const CXCursor function = clang_getCursorReferenced(node);
    looks = exists(function) && sources_.home(function) != Home::kProgram &&
            (has_word(kLookers, spelling(function)) ||
             qualified_name(clang_getCursorSemanticParent(function)) == "std::hash");
  } else if (kind == CXCursor_BinaryOperator) {
    const CXBinaryOperatorKind what = clang_getCursorBinaryOperatorKind(node);
    looks = what >= CXBinaryOperator_Cmp && what <= CXBinaryOperator_NE;
  } else if (is_pointer(type)) {
    looks = pointee(type).kind == CXType_Void && constness_ == Constness::kHolds &&
            clang_isConstQualifiedType(pointee(type)) != 0;
  }
  if (!looks) return;
  for (const CXCursor part : expressions_of(node)) excuse_frame(part);
}

void RawBytesChecker::on_field(CXCursor field) {
  if (is_in_union(field) && shares_room(field))
    refuse(types_.of(clang_getCursorType(field)), field);
}

// Of a union that a template made libclang shows the members only where they are named.
void RawBytesChecker::on_member(CXCursor member) {
  const CXCursor named = clang_getCursorReferenced(member);
  if (exists(named) && is_in_union(named) && sources_.home(named) == Home::kProgram &&
      shares_room(named))
    refuse(guarded(clang_getCursorType(named)), member);
}

// A handler for void* catches any pointer.
void RawBytesChecker::on_throw(CXCursor node) {
  for (const CXCursor thrown : children(node))
    refuse(types_.behind(clang_getCursorType(thrown)), node);
}

void RawBytesChecker::on_value(CXCursor expression) {
  const CXType type = clang_getCanonicalType(clang_getCursorType(expression));
  if (is_stream(type)) refuse(Guarded::kStream, expression);
}

void RawBytesChecker::on_node(CXCursor node, CXCursor, const Scope& scope) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (clang_isExpression(kind) != 0) {
    on_value(node);
    excuse_frames(node);
  }
  if (is_raw_cast(kind)) return on_cast(node);
  switch (kind) {
    case CXCursor_UnexposedExpr: return on_conversion(node);
    case CXCursor_CallExpr:
      if (!scope.in_template) on_library_call(node);
      return on_call(node);
    case CXCursor_CXXNewExpr: return on_new(node);
    case CXCursor_DeclRefExpr: return on_named(node);
    case CXCursor_MemberRefExpr: on_member(node); return on_named(node);
    case CXCursor_CXXDynamicCastExpr:
      return pointee(clang_getCursorType(node)).kind == CXType_Void ? refuse(Guarded::kCode, node)
                                                                    : void();
    case CXCursor_FieldDecl: return on_field(node);
    case CXCursor_CXXThrowExpr: return on_throw(node);
    default: return;
  }
}

}  // namespace mcpac::analyzer
