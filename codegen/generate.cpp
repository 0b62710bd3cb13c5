// SPDX-License-Identifier: Apache-2.0

// The order of things: sort, name, model, lock, text, digests. Everything is decided by the
// definitions alone, so any order of servers and tools gives the same bytes.
#include "codegen/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "codegen/client_form.h"
#include "codegen/embedded.h"
#include "codegen/emit.h"
#include "codegen/emitted_words.h"
#include "codegen/json_text.h"
#include "codegen/names.h"
#include "codegen/resolve.h"
#include "codegen/text_escape.h"
#include "codegen/tool_model.h"
#include "core/hash.h"
#include "core/json_schema.h"
#include "core/permission.h"
#include "core/shell_quote.h"

namespace mcpac::codegen {
namespace {

// What mcpac.lock can hold and read again (lock.cpp). The wire lets far less in.
constexpr std::size_t kMaxDefinitionDepth = 1024;

Result<void> check_names(const std::vector<ServerListing>& servers) {
  std::set<std::string> seen;
  for (const ServerListing& listing : servers) {
    if (!is_server_name(listing.server)) {
      return fail(ErrorId::kConfigInvalid,
                  fmt::format("'{}' is not a server name", safe_line(cut(listing.server, 80))),
                  {.why = "a server name is 1 to 64 letters, digits, '_' or '-', and not mcpac",
                   .fix = "rename it in mcpac.json"});
    }
    if (!seen.insert(listing.server).second) {
      return fail(ErrorId::kConfigInvalid,
                  fmt::format("the server '{}' is listed twice", listing.server));
    }
  }
  return {};
}

// Why a tool cannot stand in the lock, and so cannot be called; "" if it can.
std::string why_left_out(const std::string& server, const ToolDefinition& tool) {
  if (!Permission::of(server, tool.name)) return "its name is empty, too long or has control bytes";
  if (!tool.definition.is_object()) return "its definition is no object";
  const auto name = tool.definition.find("name");
  if (name == tool.definition.end() || *name != tool.name) return "its definition has another name";
  return why_not_json(tool.definition, kMaxDefinitionDepth);
}

std::string last_part(const std::string& cpp_name) {
  return cpp_name.substr(cpp_name.rfind(':') + 1);
}

std::map<std::string, std::string> pins_of(const auto& locked) {
  std::map<std::string, std::string> pins;
  for (const auto& entry : locked) pins.emplace(entry.name, last_part(entry.cpp_name));
  return pins;
}

// A name that people do not expect is worth a word, once: when it enters the lock.
void note_name(const std::string& permission, const std::string& plain, const std::string& name,
               const std::map<std::string, std::string>& pins, const std::string& original,
               std::vector<Note>& notes) {
  const auto pin = pins.find(original);
  if (pin != pins.end() && pin->second != name) {
    notes.push_back({permission, "",
                     fmt::format("is {} in C++ now; the lock had {}, which became a reserved word",
                                 name, pin->second)});
  } else if (pin == pins.end() && name != plain && name != plain + "_") {
    notes.push_back(
        {permission, "", fmt::format("is {} in C++; {} is another one's name", name, plain)});
  }
}

LockedServer lock_server(const ServerListing& listing, const std::string& cpp_name,
                         const LockedServer* known, std::vector<Note>& notes) {
  LockedServer server{.name = listing.server,
                      .identity = listing.identity,
                      .implementation = listing.implementation,
                      .protocol_version = listing.protocol_version,
                      .cpp_name = "mcp::" + cpp_name,
                      .tools = {},
                      .claims = listing.claims.list,
                      .entry = listing.entry};
  ServerListing fit = lockable(listing, notes);
  std::vector<std::string> originals;
  for (const ToolDefinition& tool : fit.tools) originals.push_back(tool.name);
  Scope scope{.own_words = tool_words(), .pinned = {}, .letters = Letters::kDiffer};
  if (known != nullptr) scope.pinned = pins_of(known->tools);
  const auto names = assign_names_in(scope, originals);
  for (std::size_t i = 0; i < names.size(); ++i) {
    ToolDefinition& tool = fit.tools[i];
    note_name(listing.server + "." + tool.name, to_identifier(tool.name), names[i], scope.pinned,
              tool.name, notes);
    std::string digest = definition_digest(tool.definition);
    server.tools.push_back({.name = std::move(tool.name),
                            .cpp_name = server.cpp_name + "::" + names[i],
                            .digest = std::move(digest),
                            .definition = std::move(tool.definition)});
  }
  return server;
}

ServerModel model_server(const LockedServer& locked, std::vector<Note>& notes) {
  ServerModel server{.name = locked.name,
                     .cpp_name = last_part(locked.cpp_name),
                     .implementation = locked.implementation,
                     .claims = text_of(locked.claims)};
  std::string digests = locked.name + "\n";
  for (const LockedTool& tool : locked.tools) {
    digests += tool.digest + " " + tool.cpp_name + "\n";
    server.tools.push_back(
        model_of(tool.definition, locked.name + "." + tool.name, last_part(tool.cpp_name), notes));
  }
  server.digest = sha256_hex(digests);
  return server;
}

}  // namespace

ServerListing lockable(ServerListing listing, std::vector<Note>& notes) {
  struct Entry {
    std::string digest;
    ToolDefinition tool;
  };
  std::vector<Entry> entries;
  for (ToolDefinition& tool : listing.tools) {
    if (const std::string why = why_left_out(listing.server, tool); !why.empty()) {
      notes.push_back({fmt::format("{}.{}", listing.server, safe_line(cut(tool.name, 80))), "",
                       "is left out and cannot be called: " + why});
      continue;
    }
    const Claims claims = claims_of_tool(tool.definition);
    for (const std::string& why : claims.dropped)
      notes.push_back({fmt::format("{}.{}", listing.server, safe_line(cut(tool.name, 80))),
                       std::string("/_meta/") + kEffectsMember, why});
    write_claims(tool.definition, claims.list);
    std::string digest = definition_digest(tool.definition);
    entries.push_back({std::move(digest), std::move(tool)});
  }
  for (const std::string& why : listing.claims.dropped) notes.push_back({listing.server, "", why});
  listing.claims.dropped.clear();
  // Of two tools with one name only one can be called; which one must not depend on the listing's
  // order.
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::tie(a.tool.name, a.digest) < std::tie(b.tool.name, b.digest);
  });
  listing.tools.clear();
  std::string digest;
  for (Entry& entry : entries) {
    if (listing.tools.empty() || listing.tools.back().name != entry.tool.name) {
      listing.tools.push_back(std::move(entry.tool));
      digest = std::move(entry.digest);
    } else if (entry.digest != digest) {
      notes.push_back({listing.server + "." + entry.tool.name, "",
                       "stands twice in the listing; one is taken"});
    }
  }
  return listing;
}

namespace {

// `place`: of the schema in the definition.
void note_checks(const std::string& server, const LockedTool& tool, const OrderedJson& input,
                 bool is_left, std::vector<Note>& notes) {
  const std::string permission = server + "." + tool.name;
  const std::string place = "/inputSchema";
  const Json text(input);
  const auto schema = JsonSchema::compile(text, UncheckablePatterns::kLeave);
  if (!schema) {
    notes.push_back({permission, place, "cannot be called: " + schema.error().what});
    return;
  }
  const auto& unchecked = (*schema)->unchecked_patterns();
  for (const SchemaRemark& pattern : unchecked) {
    if (!is_left && &pattern != &unchecked.front()) break;  // one is enough to lose it
    notes.push_back(
        {permission, is_left ? place + pattern.pointer : place,
         is_left
             ? "is checked by its server alone: " + pattern.message
             : fmt::format("cannot be called: {}; mcpac server set {} --server-checks {} lets its "
                           "server alone check it",
                           pattern.message, shell_quoted(server), shell_quoted(tool.name))});
  }
  for (const SchemaRemark& standard : (*schema)->refused_defaults())
    notes.push_back({permission, place + standard.pointer + "/default",
                     "has a default that its own schema refuses, which is not filled in: it " +
                         standard.message});
}

}  // namespace

std::vector<Note> notes_on_use(const Lock& lock, const ServerChecks& server_checks) {
  std::vector<Note> notes;
  for (const LockedServer& server : lock.servers) {
    for (const LockedTool& tool : server.tools) {
      const std::string permission = server.name + "." + tool.name;
      const OrderedJson* input = keyword(tool.definition, "inputSchema");
      if (input != nullptr)
        note_checks(server.name, tool, *input, server_checks(server.name, tool.name), notes);
      for (std::string& note : client_form(tool.definition).notes)
        notes.push_back({permission, "", std::move(note)});
    }
  }
  return notes;
}

ServerListing listing_of(const LockedServer& locked) {
  ServerListing listing{.server = locked.name,
                        .identity = locked.identity,
                        .implementation = locked.implementation,
                        .protocol_version = locked.protocol_version,
                        .tools = {},
                        .claims = {.list = locked.claims},
                        .entry = locked.entry};
  for (const LockedTool& tool : locked.tools) listing.tools.push_back({tool.name, tool.definition});
  return listing;
}

Result<Output> generate(const std::vector<ServerListing>& servers, const Lock& known) {
  if (auto ok = check_names(servers); !ok) return pass_on(ok);
  std::vector<const ServerListing*> sorted;
  for (const ServerListing& listing : servers) sorted.push_back(&listing);
  std::ranges::sort(sorted, {}, [](const ServerListing* listing) -> const std::string& {
    return listing->server;
  });
  std::vector<std::string> originals;
  for (const ServerListing* listing : sorted) originals.push_back(listing->server);
  const Scope scope{.own_words = server_words(),
                    .pinned = pins_of(known.servers),
                    .letters = Letters::kIgnoreCase};
  const auto names = assign_names_in(scope, originals);

  Output output;
  std::vector<std::string> headers;
  std::vector<ServerModel> models;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::string& original = sorted[i]->server;
    note_name(original, to_identifier(original), names[i], scope.pinned, original, output.notes);
    output.lock.servers.push_back(
        lock_server(*sorted[i], names[i], known.find_server(original), output.notes));
    headers.push_back(names[i] + ".hpp");
    ServerModel model = model_server(output.lock.servers.back(), output.notes);
    output.files[headers.back()] = emit_server(model);
    model.tools.clear();  // the header is written; the models of thousands of tools are not small
    models.push_back(std::move(model));
  }
  for (const EmbeddedFile& file : embedded_files())
    output.files[std::string(file.path)] = std::string(file.text);
  output.files["mcpac/lock.hpp"] = emit_lock_header(models);
  output.files["mcpac.hpp"] = emit_umbrella(headers);
  output.files["compile_flags.txt"] = emit_compile_flags(FlagsFor::kHeaders);
  for (const auto& [path, text] : output.files) output.lock.headers[path] = sha256_hex(text);
  return output;
}

Result<Output> regenerate(const Lock& lock) {
  std::vector<ServerListing> listings;
  for (const LockedServer& server : lock.servers) listings.push_back(listing_of(server));
  return generate(listings, lock);
}

}  // namespace mcpac::codegen
