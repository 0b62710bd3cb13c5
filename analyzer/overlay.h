// SPDX-License-Identifier: Apache-2.0

// Overlay: clang's file system where no root can be made for it (docs/adr/0055).
//
// A file in the form of clang's -ivfsoverlay. Clang sees what it maps, under the names of tier A,
// and no other file. Clang's precompiled headers hold paths, so one header serves all tiers.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace mcpac::analyzer {

class Overlay {
 public:
  // The flag before the name of such a file: of clang -cc1, and the analyzer's first argument.
  static constexpr char kFlag[] = "-ivfsoverlay";

  // Both absolute and without dots; folders as well as files.
  void map(std::filesystem::path inside, std::filesystem::path host);
  // `inside` on the host; the path itself where nothing maps it.
  [[nodiscard]] std::filesystem::path on_host(const std::filesystem::path& inside) const;

  [[nodiscard]] std::string to_text() const;
  // Reads the output of to_text().
  [[nodiscard]] static Result<Overlay> read(const std::filesystem::path& file);

 private:
  // The longest of what maps a path counts.
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> places_;
};

}  // namespace mcpac::analyzer
