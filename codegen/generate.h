// generate: tool definitions in, the text of servers/ and of mcpac.lock out. Pure and
// deterministic.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/lock.h"
#include "core/error.h"
#include "core/tool_definition.h"

namespace mcpac::codegen {

// Something the user should know once: a schema that became Json, a name that changed.
struct Note {
  std::string permission;  // "github.create_issue"
  std::string place;       // JSON pointer into the definition
  std::string message;
};

struct Output {
  std::map<std::string, std::string> files;  // path below servers/ -> text
  Lock lock;                                 // with the digests of `files`
  std::vector<Note> notes;
};

// Generates every file from the listings. Hostile definitions are bounded, escaped or refused by
// name.
[[nodiscard]] Result<Output> generate(const std::vector<ServerListing>& servers);

}  // namespace mcpac::codegen
