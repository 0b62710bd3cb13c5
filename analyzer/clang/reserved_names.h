// Reserved names: of the language and of the runtime. A macro of such a name makes the text mean
// something else.
#pragma once

#include <string_view>

namespace mcpac::analyzer {

[[nodiscard]] bool is_reserved_name(std::string_view name);

}  // namespace mcpac::analyzer
