// One line of a file of vectors, put to the real loader, schema validator, file system and
// decisions: the same for the tests here and for the program grant-vectors.
#pragma once

#include <optional>
#include <string>

#include "core/json.h"

namespace mcpac::policy::testing {

struct Difference {
  std::string expected;
  std::string got;
};

// Nothing where the case holds. A line with `child` and `parent` is a question of inclusion, any
// other one or several decisions; `tools` is the standard lock. Throws where the line is none.
[[nodiscard]] std::optional<Difference> run_vector(const Json& line, const Json& tools);

}  // namespace mcpac::policy::testing
