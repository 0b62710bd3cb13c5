// SPDX-License-Identifier: Apache-2.0

// Fields: wire names of the generated structs and enums (templates/EMITTED_FORM.md).
//
// A struct's mcpac_visit names its properties, an enum's mcpac_enumerators its values, both in the
// order of the fields; so the C++ names that had to give way to keywords are led back to the
// originals.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/clang/cx.h"

namespace mcpac::analyzer {

struct Field {
  std::string cpp_name;
  std::string property;
  CXType type{CXType_Invalid, {nullptr, nullptr}};
  bool fills_itself = false;  // has one possible value, sent without being written
  bool has_default = false;   // may be left out, whatever its type
};

class Fields {
 public:
  // The fields that reach the wire, in the order of their declaration.
  [[nodiscard]] const std::vector<Field>& of(CXCursor record);
  [[nodiscard]] static const Field* find(const std::vector<Field>& fields, const std::string& cpp);
  // The text that an enumerator of a generated enum stands for.
  [[nodiscard]] static std::optional<std::string> enumerator_text(CXCursor enumerator);

 private:
  std::map<std::string, std::vector<Field>> known_;  // by USR
};

}  // namespace mcpac::analyzer
