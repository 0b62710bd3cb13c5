// KeywordReader: the keywords of one schema, each read as the type it must have.
//
// The first keyword that is not what its specification says is remembered as the error of the whole
// compilation: a misspelt limit must not become no limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace mcpac::schema {

class KeywordReader {
 public:
  // `location` is a JSON pointer into the schema; `error` is shared by all readers of a
  // compilation.
  KeywordReader(const Json& schema, std::string location, std::optional<Error>& error)
      : schema_(schema), location_(std::move(location)), error_(error) {}

  [[nodiscard]] const Json* any(std::string_view keyword) const {
    return find_member(schema_, keyword);
  }
  [[nodiscard]] const Json* number(std::string_view keyword);
  [[nodiscard]] const Json* text(std::string_view keyword);
  [[nodiscard]] const Json* array(std::string_view keyword);
  [[nodiscard]] const Json* object(std::string_view keyword);
  [[nodiscard]] bool flag(std::string_view keyword);
  [[nodiscard]] std::optional<std::uint64_t> count(std::string_view keyword);
  [[nodiscard]] std::vector<std::string> names(std::string_view keyword);
  // The same for the value of a member below a keyword.
  [[nodiscard]] std::vector<std::string> names_in(const Json& value, std::string_view keyword);
  [[nodiscard]] std::uint8_t types();

  void refuse(std::string_view keyword, std::string_view what);
  void pass_on(Error error, std::string_view keyword);
  [[nodiscard]] const std::string& location() const { return location_; }

 private:
  [[nodiscard]] const Json* of_type(std::string_view keyword, bool (*is)(const Json&),
                                    std::string_view type);

  const Json& schema_;
  std::string location_;
  std::optional<Error>& error_;
};

}  // namespace mcpac::schema
