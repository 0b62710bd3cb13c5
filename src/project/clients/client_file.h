// SPDX-License-Identifier: Apache-2.0

// ClientFile: the configuration of another program, in which entries of MCP servers are put and
// removed while every other byte stays (core/json_text.h, core/toml_text.h).
//
// A file that cannot be read as what it should be is never written. It is written atomically, under
// the name that links lead to, with the mode that it had; one that changed since it was read is
// left alone.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json_text.h"
#include "core/toml_text.h"
#include "project/clients/client_kind.h"

namespace mcpac::project {

// An entry that starts `mcpac serve`, by its words: the program may be another one of that name.
[[nodiscard]] bool is_ours(const OrderedJson& entry);

class ClientFile {
 public:
  // An absent file is an empty one. `kind` is borrowed.
  [[nodiscard]] static Result<ClientFile> open(const ClientKind& kind,
                                               const std::filesystem::path& file);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // links resolved
  [[nodiscard]] bool exists() const { return exists_; }
  [[nodiscard]] const std::string& before() const { return before_; }
  [[nodiscard]] const std::string& after() const;
  [[nodiscard]] bool is_changed() const { return before_ != after() && !servers_untouched_; }

  // The entries as they are now; {} where there are none.
  [[nodiscard]] OrderedJson servers() const;
  // Those of another table, by the members that lead to it.
  [[nodiscard]] OrderedJson servers(const std::vector<std::string_view>& table) const;
  // Names of servers that it has for single projects ("projects" of Claude Code), by the project.
  [[nodiscard]] std::vector<std::string> servers_of_projects() const;
  [[nodiscard]] Result<void> put(const std::string& name, const OrderedJson& entry);
  [[nodiscard]] Result<void> remove(const std::string& name);

  // Diff, as lines that begin with '-', '+' or ' '; of all values only those of `name`.
  [[nodiscard]] std::vector<std::string> diff(const std::string& name) const;
  [[nodiscard]] Result<void> save() const;
  // What `bytes` were before goes back, or the file goes where there was none.
  [[nodiscard]] Result<void> restore(const std::string& bytes, bool existed) const;

 private:
  ClientFile(const ClientKind& kind, std::filesystem::path path)
      : kind_(&kind), path_(std::move(path)) {}
  [[nodiscard]] Result<void> write(const std::string& bytes) const;
  [[nodiscard]] Result<void> check_unchanged() const;

  const ClientKind* kind_;
  std::filesystem::path path_;
  bool exists_ = false;
  bool servers_untouched_ = true;
  unsigned mode_ = 0600;
  std::string before_;
  std::variant<std::monostate, JsonText, TomlText> text_;
};

}  // namespace mcpac::project
