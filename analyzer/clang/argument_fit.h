// SPDX-License-Identifier: Apache-2.0

// Argument fit: the fields of a tool's Args, and of the structs in it, that do not fit the given
// values.
//
// What the spelling shows is compared (names, what is missing, literals of another type), and the
// types that clang knows of the expressions, as far as their kind tells that they do not fit.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/clang/fields.h"
#include "analyzer/clang/given_arguments.h"

namespace mcpac::analyzer {

struct ArgumentError {
  Place place;
  std::string message;
  std::string fix;
};

// A struct that has no default is required where something in it is.
[[nodiscard]] bool is_required(Fields& fields, const Field& field);

class ArgumentFit {
 public:
  // `tool` as messages name it: "filesystem.edit_file".
  // `type_of` gives the type of an expression that was given; kind CXType_Invalid where it has
  // none.
  ArgumentFit(Fields& fields, std::string tool, std::function<CXType(const Given&)> type_of)
      : fields_(fields), tool_(std::move(tool)), type_of_(std::move(type_of)) {}

  // Compares, and makes of `given` what would fit, with … for what only its writer knows.
  void compare(CXType args, Given& given);
  // The same for a struct in the arguments that is given by itself; null: nothing to compare.
  void compare_inside(CXCursor record, const std::string& name, Given& given);
  // Where nothing is wrong for certain, one that says what was given where something else is
  // wanted.
  [[nodiscard]] std::vector<ArgumentError> errors() const;

 private:
  void compare_value(CXType type, Given& given, const std::string& path);
  void compare_struct(CXCursor record, Given& given, const std::string& path);
  void compare_list(CXType list, Given& given, const std::string& path);
  void compare_scalar(CXType type, Given& given, const std::string& path);
  void compare_text_of_enum(CXType type, Given& given, const std::string& path);
  bool name_by_position(const std::vector<Field>& fields, Given& given, const std::string& path);
  void find_unknown(CXCursor record, const std::vector<Field>& fields, Given& given,
                    const std::string& path);
  void put_in_order(CXCursor record, const std::vector<Field>& fields, Given& given,
                    const std::string& path);
  void misfit(Given& given, std::string message);
  [[nodiscard]] std::string fix_of_structs(CXType wanted, CXType given);
  bool compare_typed(CXType wanted, Given& given, const std::string& path);
  // "`filesystem.edit_file`", or "`edits` of `filesystem.edit_file`".
  [[nodiscard]] std::string whose(const std::string& path) const;

  Fields& fields_;
  std::string tool_;
  std::function<CXType(const Given&)> type_of_;
  std::vector<ArgumentError> errors_;
  std::vector<ArgumentError> doubts_;
};

}  // namespace mcpac::analyzer
