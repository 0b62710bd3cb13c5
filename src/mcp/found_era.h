// FoundEra: that a server is spoken to with `initialize`, where finding that out cost something.
//
// One small file an entry of mcpac.json, in the cache. Its name is a digest of the whole entry and
// of the file that it stands in, so a changed entry is asked anew; after 30 days any is, since a
// server may have learned more. Only the order of questions follows from it: a server that refuses
// `initialize` is asked as if nothing were known. What cannot be read or written counts as unknown.
#pragma once

#include <filesystem>

#include "mcp/server_config.h"

namespace mcpac::mcp {

class FoundEra {
 public:
  // Nothing is known or kept where the entry names its era, or `config.found` is empty.
  explicit FoundEra(const ServerConfig& config);
  [[nodiscard]] bool is_initialize() const;
  void keep_initialize() const;
  void forget() const;

 private:
  std::filesystem::path file_;
};

}  // namespace mcpac::mcp
