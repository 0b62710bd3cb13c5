// SPDX-License-Identifier: Apache-2.0

// The model: one tool as C++ will say it, before any text is written.
//
// A Shape is an Args or a Result: its fields, and the structs and enums they need in an order in
// which each is complete before it is used; the one exception, a type that contains itself, is
// `boxed`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace mcpac::codegen {

struct Type {
  enum class Kind {
    kJson,
    kString,
    kInteger,
    kUnsigned,
    kNumber,
    kBoolean,
    kArray,
    kMap,
    kTuple,
    kVariant,
    kNamed
  };
  Kind kind = Kind::kJson;
  bool nullable = false;
  bool boxed = false;      // kNamed: not complete where it is used
  std::size_t named = 0;   // kNamed: index into Shape::types
  std::vector<Type> of{};  // kArray, kMap: one; kTuple, kVariant: several
  friend bool operator==(const Type&, const Type&) = default;
};

// A server's words about a value, still unescaped; `facts` are lines of ours ("default: 5").
struct Words {
  std::string title{};
  std::string description{};
  std::vector<std::string> facts{};
  friend bool operator==(const Words&, const Words&) = default;
};

struct Field {
  std::string name;  // the original property name
  std::string cpp_name{};
  Type type{};
  bool required = false;
  Words words{};
  std::optional<OrderedJson> constant{};  // the only value that the schema lets in
  // A caller need not write it: there is nothing to choose.
  [[nodiscard]] bool fills_itself() const { return required && constant.has_value(); }
  friend bool operator==(const Field&, const Field&) = default;
};

// Further members that a schema lets in by name, beside those that it lists.
struct ExtraFields {
  std::string cpp_name;
  Type type{};
  friend bool operator==(const ExtraFields&, const ExtraFields&) = default;
};

struct Enumerator {
  OrderedJson value;  // the original: a string, an integer, a number, true or false
  std::string cpp_name{};
  std::string description{};  // of this value, where the schema has one; unescaped
  friend bool operator==(const Enumerator&, const Enumerator&) = default;
};

struct NamedType {
  std::string cpp_name;  // "Address"; unique within its Shape, and never the name of a field in it
  Words words{};
  std::vector<Field> fields{};  // of a struct: required first, then optional
  std::optional<ExtraFields> extra{};
  std::vector<Enumerator> values{};  // of an enum; an enum has no fields
  bool recursive = false;            // some type uses it before it is complete
  [[nodiscard]] bool is_enum() const { return !values.empty(); }
};

struct Shape {
  std::vector<Field> fields{};
  std::optional<ExtraFields> extra{};
  std::vector<NamedType> types{};    // indexed by Type::named
  std::vector<std::size_t> order{};  // of definition
  bool free_form = false;            // one Json object instead of fields
  std::size_t properties = 0;        // counted in the schema, nested ones too
  std::size_t became_json = 0;       // of those, how many say something that Json does not
};

struct ToolModel {
  std::string name;
  std::string cpp_name{};
  Words words{};
  Shape args{};
  std::optional<Shape> result{};
};

struct ServerModel {
  std::string name;
  std::string
      cpp_name{};  // "filesystem", the last part of the namespace and the name of the header
  std::string implementation{};
  std::string claims{};  // what its manifest says that it needs, in words; or empty
  std::string digest{};  // over the digests of its tools: changes when the header must
  std::vector<ToolModel> tools{};
};

}  // namespace mcpac::codegen
