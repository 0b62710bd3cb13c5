// SPDX-License-Identifier: Apache-2.0

// ShapeBuilder: a JSON Schema becomes the fields and types of an Args or a Result.
//
// No schema is refused. What C++ cannot say better becomes Json, with a Note that names the place
// and the reason. Work is bounded: references are visited once, depth and the number of schemas are
// limited, so a small text cannot unfold into a large header.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/emitted_words.h"
#include "codegen/generate.h"
#include "codegen/model.h"
#include "codegen/resolve.h"
#include "core/json.h"

namespace mcpac::codegen {

class ShapeBuilder {
 public:
  // `permission` and `place` ("/inputSchema") stand in the notes.
  ShapeBuilder(const OrderedJson& schema, ShapeKind kind, std::string permission, std::string place,
               std::vector<Note>& notes)
      : root_(schema),
        kind_(kind),
        resolver_(schema),
        permission_(std::move(permission)),
        place_(std::move(place)),
        notes_(notes) {}

  [[nodiscard]] Shape build();

 private:
  // One schema on the way down: where it stands and what to call a type made from it.
  struct Spot {
    std::string place;  // JSON pointer
    std::string hint;   // PascalCase
    int depth = 0;
    [[nodiscard]] Spot below(std::string_view step, std::string hint_below) const;
  };

  // `identity` is the schema as it stands in the definition, where `schema` may be a merged copy of
  // it.
  Type type_of(const OrderedJson& schema, const Spot& spot);
  Type type_of_target(const OrderedJson& target, const Spot& spot);
  Type type_by_keywords(const OrderedJson& schema, const OrderedJson& identity, const Spot& spot);
  Type type_by_type(const OrderedJson& schema, const OrderedJson& identity, const Spot& spot);
  Type type_by_name(std::string_view name, const OrderedJson& schema, const OrderedJson& identity,
                    const Spot& spot);
  static Type scalar_type(const OrderedJson& value);
  Type enum_type(const OrderedJson& values, const OrderedJson& schema, const Spot& spot);
  Type array_type(const OrderedJson& schema, const Spot& spot);
  Type tuple_type(const OrderedJson& items, const OrderedJson* rest, const Spot& spot);
  Type object_type(const OrderedJson& schema, const OrderedJson& identity, const Spot& spot);
  Type struct_type(const OrderedJson& schema, const OrderedJson& identity, const Spot& spot);
  Type union_type(const OrderedJson& schema, const OrderedJson& branches,
                  const OrderedJson& identity, const Spot& spot);
  Type alternatives_type(const OrderedJson& schema, const OrderedJson& branches,
                         const std::vector<const OrderedJson*>& alternatives,
                         const OrderedJson& identity, const Spot& spot);
  Resolved marked(const OrderedJson& schema, const OrderedJson& branch);
  Type strings_type(const OrderedJson& schema, const std::vector<const OrderedJson*>& alternatives,
                    const Spot& spot);
  Type variant_of(std::vector<Type> alternatives, const Spot& spot);
  [[nodiscard]] bool told_apart(const Type& a, const Type& b) const;
  [[nodiscard]] bool structs_told_apart(const NamedType& a, const NamedType& b) const;
  [[nodiscard]] bool all_told_apart(const std::vector<Type>& types) const;
  std::optional<Type> unnamed_values(const OrderedJson& schema, const Spot& spot);
  std::optional<ExtraFields> extra_of(const OrderedJson& schema, const std::vector<Field>& fields,
                                      const Spot& spot);
  Type named_type(std::size_t index);

  const OrderedJson* constant_of(const OrderedJson& property);
  Field field_of(const std::string& name, const OrderedJson& property, bool required,
                 const Spot& below);
  std::vector<Field> fields_of(const OrderedJson& schema, const Spot& spot);
  std::size_t finish_type(std::size_t index);
  void forget_unused();
  void name_types();

  Type fall_back(const Spot& spot, std::string reason);
  void note(const std::string& place, std::string message);

  const OrderedJson& root_;
  ShapeKind kind_;
  Resolver resolver_;
  std::string permission_;
  std::string place_;
  std::vector<Note>& notes_;
  Shape shape_{};
  std::map<const OrderedJson*, std::size_t> structs_{};  // by the schema they were made from
  std::set<std::size_t> unfinished_{};
  std::set<const OrderedJson*>
      being_visited_{};  // targets of references, for circles without a struct
  std::set<const OrderedJson*>
      being_refined_{};  // the same, where more stands beside the reference
  std::map<std::string, std::vector<std::size_t>> by_hint_{};
  const OrderedJson* structs_top_ = nullptr;  // the schema of the whole shape
  std::size_t visited_ = 0;
  std::size_t noted_ = 0;
  bool exhausted_ = false;
};

}  // namespace mcpac::codegen
