// SPDX-License-Identifier: Apache-2.0

// Adopting: an entry of another client's configuration, as mcpac.json would have it.
//
// Pure. What mcpac cannot do in the client's place (variables of an editor, a file of variables,
// HTTP+SSE) is an Error that says why, and the entry stays where it is.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "project/clients/client_kind.h"

namespace mcpac::project {

struct Adopted {
  OrderedJson entry;
  // Values that look like secrets: better in a file of their own than in mcpac.json.
  struct Secret {
    std::string group;  // "env" or "headers"
    std::string name;
  };
  std::vector<Secret> secrets{};
  std::set<std::string> variables{};  // of the client's environment, that the entry names
  std::set<std::string> optional{};   // those of them that it names with a default alone
  // Differences of `entry`, and omissions, for the person: "env.K: ${X} is written as ${env:X}". No
  // value is in it.
  std::vector<std::string> notes{};
};

// References, folders and times in the words of mcpac.json; `secrets` is left empty.
[[nodiscard]] Result<Adopted> convert(const ClientKind& kind, const std::string& name,
                                      const OrderedJson& entry);
// Whether mcpac.json can have it so. Errors stand at "its entry: mcpServers.NAME…".
[[nodiscard]] Result<void> check_entry(const std::string& name, const OrderedJson& entry);

// convert() of what can stand behind mcpac, and check_entry().
[[nodiscard]] Result<Adopted> adopt(const ClientKind& kind, const std::string& name,
                                    const OrderedJson& entry);

// What of an entry is read from the folder that its client starts it in, and would be another file
// in another one: "./server", "dist/index.js"; empty: nothing is.
[[nodiscard]] std::string relative_part(const OrderedJson& entry);
// The folder that relative paths of entries in this file are counted from; empty where only the
// client knows.
[[nodiscard]] std::filesystem::path folder_of_entries(const std::filesystem::path& file);

// The same server: an entry of mcpac.json, and one as adopt() makes it. What mcpac alone reads
// (root, prices, …) makes no difference, nor does a secret that ours keeps in a file.
[[nodiscard]] bool is_same_server(const OrderedJson& ours, const OrderedJson& theirs);

// Names as mcpac.json can have them, by those of another client: "my server" → "my-server". Those
// that are legal stay; two that would be one get "-2", "-3", …. `is_of_another`: mcpac.json has
// this name for another server than the one that is called so originally.
using IsOfAnother = std::function<bool(const std::string& name, const std::string& original)>;
[[nodiscard]] std::map<std::string, std::string> legal_names(
    const std::vector<std::string>& originals, const IsOfAnother& is_of_another);

// By its name ("GITHUB_TOKEN", "Authorization") or by its looks.
[[nodiscard]] bool looks_secret(const std::string& name, const std::string& value);

// What an entry of the client says to be given these variables; of those of `optional` it says that
// they need not be set.
void give_variables(const ClientKind& kind, const std::set<std::string>& variables,
                    OrderedJson& entry, const std::set<std::string>& optional = {});

}  // namespace mcpac::project
