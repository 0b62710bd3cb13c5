// SPDX-License-Identifier: Apache-2.0

// SecretFiles: values that are moved out of other programs' configuration, each in a file for the
// user alone, that mcpac.json names as ${file:PATH}.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"

namespace mcpac::cli {

class SecretFiles {
 public:
  explicit SecretFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // The reference that stands for the value. The same value under the same name is kept once; no
  // file is ever overwritten.
  [[nodiscard]] Result<std::string> keep(const std::string& server, const std::string& name,
                                         const std::string& value) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace mcpac::cli
