// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/escape_hatches.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/clang/attributes.h"
#include "analyzer/clang/guarded_types.h"
#include "analyzer/clang/reach.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

constexpr const char* kCastFix = "pass the capability on as it is";
constexpr const char* kDownFix =
    "keep the type that it has; in a base, a member function whose first parameter is "
    "`this const auto& self` has it without a cast";
// Of the standard library: what only points to an object of its first argument.
constexpr std::string_view kPointing =
    " std::unique_ptr std::shared_ptr std::weak_ptr std::reference_wrapper std::span "
    "std::default_delete std::observer_ptr ";
// Functions that make an object of the type that they are told.
constexpr std::string_view kMaking =
    " make_unique make_unique_for_overwrite make_shared make_shared_for_overwrite allocate_shared "
    "allocate_shared_for_overwrite make_any construct_at make_obj_using_allocator ";
// Functions that hand on what they are given, and keep nothing of it.
constexpr std::string_view kPassing =
    " ref cref addressof __addressof as_const move forward forward_like invoke swap ";
// Programs have some hundreds.
constexpr std::size_t kMaxInner = 50'000;

// `this`, and `*this`.
bool is_own(CXCursor operand) {
  CXCursor at = strip(operand);
  if (clang_getCursorKind(at) == CXCursor_UnaryOperator &&
      clang_getCursorUnaryOperatorKind(at) == CXUnaryOperator_Deref && exists(operand_of(at)))
    at = strip(operand_of(at));
  return clang_getCursorKind(at) == CXCursor_CXXThisExpr;
}

std::pair<const void*, const void*> key_of_type(CXType type) {
  type = canonical(type);
  return {type.data[0], type.data[1]};
}

bool has_argument(CXType type, CXType argument) {
  for (int i = 0; i < clang_Type_getNumTemplateArguments(type); ++i) {
    const CXType one = type_argument(type, static_cast<unsigned>(i));
    if (one.kind != CXType_Invalid && is_same(one, argument)) return true;
  }
  return false;
}

bool is_class_template(CXCursor declaration) {
  const CXCursorKind kind = clang_getCursorKind(declaration);
  return kind == CXCursor_ClassTemplate || kind == CXCursor_ClassTemplatePartialSpecialization;
}

// A value is made by a constructor or a conversion; what has none is looked at as it lies there.
bool is_converted(CXCursor operand) {
  const CXCursor at = strip(operand);
  if (clang_getCursorKind(at) != CXCursor_CallExpr) return false;
  const CXCursorKind kind = clang_getCursorKind(clang_getCursorReferenced(at));
  return kind == CXCursor_Constructor || kind == CXCursor_ConversionFunction;
}

// `(Files&)files` of a const one.
bool takes_constness(CXType to, CXType from, bool refers) {
  const bool pointers = is_pointer_like(to) && is_pointer_like(from);
  if (!refers && !pointers) return false;
  const auto is_const = [pointers](CXType type) {
    type = clang_getCanonicalType(type);
    return clang_isConstQualifiedType(pointers ? clang_getPointeeType(type) : type) != 0;
  };
  return is_const(from) && !is_const(to);
}

// The variable of `auto copy = *this;`.
bool is_copy_of_own(CXCursor variable) {
  if (clang_getCursorKind(variable) != CXCursor_VarDecl ||
      is_pointer_like(clang_getCursorType(variable)))
    return false;
  const CXCursor value = clang_Cursor_getVarDeclInitializer(variable);
  if (!exists(value)) return false;
  const CXCursor made = strip(value);
  if (is_own(made)) return true;
  return clang_getCursorKind(made) == CXCursor_CallExpr &&
         clang_getCursorKind(clang_getCursorReferenced(made)) == CXCursor_Constructor &&
         clang_Cursor_getNumArguments(made) == 1 && is_own(clang_Cursor_getArgument(made, 0));
}

bool is_data_of(CXCursor reference) {
  return clang_getCursorKind(reference) == CXCursor_MemberRefExpr &&
         clang_getCursorKind(clang_getCursorReferenced(reference)) == CXCursor_FieldDecl;
}

CXVisitorResult collect_capture(CXCursor field, CXClientData data) {
  static_cast<std::vector<CXType>*>(data)->push_back(clang_getCursorType(field));
  return CXVisit_Continue;
}

}  // namespace

// Casts to a value or to the same class are conversions; those that look at it as something else,
// or take its constness, are not. To what it is made from it is converted without a cast, too.
void HatchChecker::on_cast(CXCursor cast) {
  const CXType to = clang_getCursorType(cast);
  const CXCursor operand = operand_of(cast);
  if (!exists(operand)) return;
  const CXType from = clang_getCursorType(strip(operand));
  const CXCursorKind kind = clang_getCursorKind(cast);
  const bool capability = identity_.holds_capability(to) || identity_.holds_capability(from);
  // (void)rt says that it is not used.
  if (!capability || clang_getCanonicalType(to).kind == CXType_Void) return;
  const bool refers = from.kind != CXType_Invalid && canonical(from).kind == CXType_Record &&
                      !is_converted(operand);
  const bool looks_inside = is_pointer_like(to) || is_pointer_like(from) || refers;
  const bool changes_meaning = clang_equalTypes(bare_type(to), bare_type(from)) == 0;
  const bool always = kind == CXCursor_CXXReinterpretCastExpr ||
                      kind == CXCursor_CXXConstCastExpr || takes_constness(to, from, refers);
  if (!always && !(changes_meaning && looks_inside)) return;
  if (!always && kind == CXCursor_CXXStaticCastExpr) {
    if (derives_from(bare_type(from), bare_type(to))) return;
    if (is_of_itself(operand, to, from))
      return own_casts_.push_back({cast, bare_type(from), bare_type(to)});
  }
  const bool down =
      !always && kind == CXCursor_CXXStaticCastExpr && derives_from(bare_type(to), bare_type(from));
  findings_.add("capability-cast", cast,
                down ? "a base is cast to a class that holds a capability, and may be of another"
                     : "a capability is cast to something else",
                down ? kDownFix : kCastFix);
}

bool HatchChecker::is_of_itself(CXCursor operand, CXType to, CXType from) const {
  const CXType derived = bare_type(to);
  return is_own(operand) && has_argument(bare_type(from), derived) &&
         sources_.home(declaration_of(derived)) == Home::kProgram;
}

void HatchChecker::on_object(CXCursor node, CXCursor parent, CXCursorKind kind) {
  if (kind == CXCursor_LambdaExpr) {
    // What is captured by value is a field of the closure.
    clang_Type_visitFields(clang_getCursorType(node), collect_capture, &objects_);
    return;
  }
  if (kind == CXCursor_CXXBaseSpecifier) return on_base(node, parent);
  if (kind == CXCursor_CallExpr) on_library_call(node);
  const CXCursorKind around = clang_getCursorKind(parent);
  // A base is made in the constructor, or among the elements, of what derives from it.
  const bool makes = kind == CXCursor_CallExpr || kind == CXCursor_InitListExpr;
  if (makes && (around == CXCursor_Constructor || around == CXCursor_InitListExpr)) return;
  // A copy of the base is no object alone as long as its data alone is read.
  if (is_copy_of_own(node)) return copies_.push_back(clang_getCanonicalCursor(node));
  if (makes && is_copy_of_own(parent)) return;
  if (kind == CXCursor_DeclRefExpr) {
    const CXCursor named = clang_getCanonicalCursor(clang_getCursorReferenced(node));
    const bool is_copy =
        std::ranges::any_of(copies_, [&named](CXCursor copy) { return same(copy, named); });
    if (is_copy && !is_data_of(parent)) objects_.push_back(clang_getCursorType(named));
    return;
  }
  const bool declares =
      kind == CXCursor_VarDecl || kind == CXCursor_FieldDecl || kind == CXCursor_ParmDecl;
  if (!makes && !declares && kind != CXCursor_CXXNewExpr) return;
  CXType type = clang_getCursorType(node);
  if (kind == CXCursor_CXXNewExpr) type = pointee(type);
  if (kind == CXCursor_CallExpr) {
    // What a function leads to was made elsewhere.
    const CXCursor called = clang_getCursorReferenced(node);
    if (exists(called) && is_pointer_like(clang_getCursorResultType(called))) return;
  }
  objects_.push_back(type);
}

// What the library makes, and what it copies into something whose type does not say so (std::any).
void HatchChecker::on_library_call(CXCursor call) {
  const CXCursor function = clang_getCursorReferenced(call);
  if (!exists(function) || sources_.home(function) != Home::kSystem) return;
  const std::string name = spelling(function);
  if (has_word(kMaking, name) && clang_Cursor_getNumTemplateArguments(function) > 0)
    objects_.push_back(clang_Cursor_getTemplateArgumentType(function, 0));
  if (name.starts_with("emplace"))
    objects_.push_back(without_reference(clang_getCursorResultType(function)));
  const CXCursor owner = clang_getCursorSemanticParent(function);
  if (has_word(kPassing, name) || has_word(kPointing, qualified_name(owner))) return;
  for (int i = 0; i < clang_Cursor_getNumArguments(call); ++i)
    objects_.push_back(
        clang_getCursorType(strip(clang_Cursor_getArgument(call, static_cast<unsigned>(i)))));
}

void HatchChecker::on_base(CXCursor specifier, CXCursor owner) {
  Base base{owner, canonical(clang_getCursorType(specifier)), clang_getNullCursor(), false};
  each_child(specifier, [&base](CXCursor part) {
    const CXCursorKind kind = clang_getCursorKind(part);
    if (kind == CXCursor_TemplateRef && !exists(base.made_from))
      base.made_from = clang_getCursorReferenced(part);
    base.is_parameter = base.is_parameter || kind == CXCursor_TypeRef;
  });
  if (base.type.kind == CXType_Record) {
    bases_.emplace(key_of_type(base.type), base);
  } else {
    // `: Base` of `template <class Base>`: an object of that is seen by its argument.
    const bool is_unknown = take(clang_getTypeSpelling(base.type)).starts_with("typename ");
    if (is_unknown) base.made_from = clang_getNullCursor();
    if (is_unknown || exists(base.made_from) || !base.is_parameter) late_bases_.push_back(base);
  }
}

// A base whose class only an instantiation knows counts, unless it is made from another template.
bool HatchChecker::is_derived_by_another(const OwnCast& own,
                                         const std::vector<CXType>& parts) const {
  const auto is_part = [&parts](CXType type) {
    return std::ranges::any_of(parts, [&type](CXType part) { return is_same(part, type); });
  };
  const auto makes_part = [&parts](CXCursor made_from) {
    return std::ranges::any_of(parts, [&](CXType part) {
      const CXCursor known = clang_getSpecializedCursorTemplate(declaration_of(part));
      return exists(known) &&
             same(clang_getCanonicalCursor(known), clang_getCanonicalCursor(made_from));
    });
  };
  const auto is_within = [&](const Base& base) {
    return is_class_template(base.owner) && makes_part(base.owner);
  };
  for (const CXType part : parts) {
    const auto [from, to] = bases_.equal_range(key_of_type(part));
    const bool another = std::any_of(from, to, [&](const auto& known) {
      const CXType owner = canonical(clang_getCursorType(known.second.owner));
      return !is_part(owner) && !is_same(owner, own.derived) && !is_within(known.second);
    });
    if (another) return true;
  }
  return std::ranges::any_of(late_bases_, [&](const Base& base) {
    return !exists(base.made_from) || !is_class_template(base.made_from) ||
           (makes_part(base.made_from) && !is_within(base));
  });
}

// The types of all objects: themselves, their elements, and what a template keeps of its arguments.
HatchChecker::Inner HatchChecker::inside_objects() const {
  Inner inner;
  std::vector<CXType> open = objects_;
  while (!open.empty()) {
    const CXType type = canonical(open.back());
    open.pop_back();
    if (type.kind == CXType_Invalid || is_pointer_like(type)) continue;
    if (!inner.types.insert(key_of_type(type)).second) continue;
    if (inner.types.size() > kMaxInner) inner.is_too_large = true;
    if (inner.is_too_large) return inner;
    if (const CXType element = clang_getArrayElementType(type); element.kind != CXType_Invalid)
      open.push_back(element);
    const int count = clang_Type_getNumTemplateArguments(type);
    if (count <= 0 || has_word(kPointing, qualified_name(declaration_of(type)))) continue;
    for (int i = 0; i < count; ++i) {
      const CXType argument = type_argument(type, static_cast<unsigned>(i));
      if (argument.kind == CXType_Invalid) continue;
      open.push_back(argument);
      inner.by_argument.emplace(key_of_type(argument), type);
    }
  }
  return inner;
}

bool HatchChecker::is_an_object_alone(const OwnCast& own, const std::vector<CXType>& parts,
                                      const Inner& inner) {
  if (inner.is_too_large) return true;
  const auto [from, to] = inner.by_argument.equal_range(key_of_type(own.derived));
  return std::ranges::any_of(parts, [&, from, to](CXType part) {
    if (inner.types.contains(key_of_type(part))) return true;
    const CXCursor wanted = clang_getSpecializedCursorTemplate(declaration_of(part));
    return std::any_of(from, to, [&wanted](const auto& known) {
      const CXCursor made_from = clang_getSpecializedCursorTemplate(declaration_of(known.second));
      return exists(made_from) && same(made_from, wanted);
    });
  });
}

void HatchChecker::finish(Files files) {
  if (own_casts_.empty()) return;
  const Inner inner = inside_objects();
  for (const OwnCast& own : own_casts_) {
    std::vector<CXType> parts = lineage_of(own.derived);
    std::erase_if(parts, [&own](CXType part) { return is_same(part, own.derived); });
    parts.push_back(own.base);
    const bool another = is_derived_by_another(own, parts);
    const bool elsewhere = files == Files::kSeveral && !sources_.is_main(place_of(own.cast).file);
    if (!another && !elsewhere && !is_an_object_alone(own, parts, inner)) continue;
    findings_.add("capability-cast", own.cast,
                  another ? "another class derives from this base, and would be cast to this one"
                  : elsewhere
                      ? "another file of the program may derive from this base, and would be "
                        "cast to this one"
                      : "there is an object of this base alone, which is no part of the "
                        "class that it is cast to",
                  "derive one class from the base, and make objects of that class only; or take "
                  "`this const auto& self` as the first parameter, which needs no cast");
  }
}

// memcpy(&rt, …), write(fd, &rt, …), placement: a pointer to a capability becomes a void pointer.
void HatchChecker::on_implicit_conversion(CXCursor conversion) {
  if (!is_void_pointer(clang_getCursorType(conversion))) return;
  const auto inner = children(conversion);
  if (inner.size() != 1) return;
  const CXType from = clang_getCanonicalType(clang_getCursorType(inner.front()));
  if (from.kind != CXType_Pointer) return;
  if (!identity_.holds_capability(from)) return;
  findings_.add("capability-cast", conversion, "a capability is handed on as raw memory", kCastFix);
}

// A handler for void* catches any pointer.
void HatchChecker::on_throw(CXCursor node) {
  for (const CXCursor thrown : children(node)) {
    const CXType type = clang_getCursorType(thrown);
    if (is_pointer_like(type) && identity_.holds_capability(bare_type(type)))
      findings_.add("capability-cast", node, "a capability is handed on as raw memory", kCastFix);
  }
}

void HatchChecker::on_field(CXCursor field) {
  const CXCursor owner = clang_getCursorSemanticParent(field);
  if (clang_getCursorKind(owner) != CXCursor_UnionDecl) return;
  const CXType type = clang_getCursorType(field);
  if (identity_.holds_capability(type))
    findings_.add("capability-cast", field, "a union reads a capability as something else",
                  "use a std::variant");
}

// Beside a capability stands none that the program was given.
void HatchChecker::on_arithmetic(CXCursor node) {
  const CXType type = clang_getCanonicalType(clang_getCursorType(node));
  if (type.kind != CXType_Pointer || !identity_.is_capability(type)) return;
  findings_.add("capability-cast", node, "a pointer to a capability is counted on",
                "keep several capabilities in a std::vector or std::array");
}

void HatchChecker::on_operator(CXCursor node) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind == CXCursor_UnaryOperator) {
    const CXUnaryOperatorKind what = clang_getCursorUnaryOperatorKind(node);
    if (what == CXUnaryOperator_PostInc || what == CXUnaryOperator_PreInc ||
        what == CXUnaryOperator_PostDec || what == CXUnaryOperator_PreDec)
      on_arithmetic(node);
  } else if (kind == CXCursor_ArraySubscriptExpr) {
    const auto operands = children(node);
    // The elements of an array are counted by its type.
    if (!operands.empty()) on_arithmetic(strip(operands.front()));
  } else {
    const CXBinaryOperatorKind what = clang_getCursorBinaryOperatorKind(node);
    if (what == CXBinaryOperator_Add || what == CXBinaryOperator_Sub ||
        what == CXBinaryOperator_AddAssign || what == CXBinaryOperator_SubAssign)
      on_arithmetic(node);
  }
}

void HatchChecker::on_attribute(CXCursor attribute) {
  if (clang_getCursorKind(attribute) == CXCursor_AsmLabelAttr) {
    findings_.add("inline-assembly", attribute, "an assembler name makes one function another",
                  "remove the label");
    return;
  }
  check_attribute(attribute, sources_, findings_);
}

// libclang does not say that a declaration is assembly: what it shows as nothing at all, and what a
// macro made, is taken for it.
void HatchChecker::on_unexposed_declaration(CXCursor declaration) {
  const bool empty = clang_getCursorType(declaration).kind == CXType_Invalid &&
                     children(declaration).empty() && spelling(declaration).empty();
  if (empty && is_from_macro(declaration)) {
    findings_.add("inline-assembly", declaration, "this declaration cannot be read",
                  "write it out instead of using a macro");
  }
}

void HatchChecker::on_node(CXCursor node, CXCursor parent, const Scope&) {
  const CXCursorKind kind = clang_getCursorKind(node);
  on_object(node, parent, kind);
  if (clang_isAttribute(kind) != 0) return on_attribute(node);
  switch (kind) {
    case CXCursor_GCCAsmStmt:
    case CXCursor_MSAsmStmt:
      findings_.add("inline-assembly", node, "assembly cannot be analysed", "write it in C++");
      break;
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXFunctionalCastExpr: on_cast(node); break;
    case CXCursor_UnexposedExpr: on_implicit_conversion(node); break;
    case CXCursor_UnexposedDecl: on_unexposed_declaration(node); break;
    case CXCursor_FieldDecl: on_field(node); break;
    case CXCursor_CXXThrowExpr: on_throw(node); break;
    case CXCursor_UnaryOperator:
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator: on_operator(node); break;
    default: break;
  }
}

}  // namespace mcpac::analyzer
