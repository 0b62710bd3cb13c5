// Argument fit: which fields of a tool's Args, and of the structs in it, the given ones do not fit.
//
// Only what the spelling alone shows is compared: names, what is missing, literals of another type.
// A variable may be anything, so it fits.
#pragma once

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
  ArgumentFit(Fields& fields, std::string tool) : fields_(fields), tool_(std::move(tool)) {}

  // Compares, and makes of `given` what would fit, with … for what only its writer knows.
  void compare(CXType args, Given& given);
  // The same for a struct in the arguments that is given by itself; null: nothing to compare.
  void compare_inside(CXCursor record, const std::string& name, Given& given);
  [[nodiscard]] const std::vector<ArgumentError>& errors() const { return errors_; }

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
  // "`filesystem.edit_file`", or "`edits` of `filesystem.edit_file`".
  [[nodiscard]] std::string whose(const std::string& path) const;

  Fields& fields_;
  std::string tool_;
  std::vector<ArgumentError> errors_;
};

}  // namespace mcpac::analyzer
