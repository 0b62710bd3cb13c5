// Names of members as decoders read them that do not read exactly.
//
// Go's encoding/json takes "SOURCE" and "ſource" for "source" (Unicode simple folding), and the
// last one wins; .NET's web defaults fold case, pydantic and json/v2 take "max_length" for
// "maxLength" on request. So a name that a schema does not have, and that some decoder takes for
// one that it has, says one thing to rules and another to the server.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/json_schema.h"
#include "core/schema/node.h"

namespace mcpac::schema {

// What all such spellings of one name have in common: folded (full case folding after NFKD),
// without "_", "-", white space, and characters that are not seen (Default_Ignorable_Code_Point,
// controls).
[[nodiscard]] std::string folded_name(std::string_view name);

// The first member, in the order of the value, that `also` and the schema do not name and that
// folds to one that they name at this place.
[[nodiscard]] std::optional<SchemaViolation> find_misnamed(const Program& program,
                                                           const Json& value,
                                                           const AlsoNamed& also);

}  // namespace mcpac::schema
