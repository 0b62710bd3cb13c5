// The order of things: sort, name, model, lock, text, digests. Everything is decided by the
// definitions alone, so any order of servers and tools gives the same bytes.
#include "codegen/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "codegen/embedded.h"
#include "codegen/emit.h"
#include "codegen/emitted_words.h"
#include "codegen/json_text.h"
#include "codegen/names.h"
#include "codegen/text_escape.h"
#include "codegen/tool_model.h"
#include "core/hash.h"
#include "core/permission.h"

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
                  {.why = "a server name is 1 to 64 letters, digits, '_' or '-'"});
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

LockedServer lock_server(const ServerListing& listing, const std::string& cpp_name,
                         std::vector<Note>& notes) {
  LockedServer server{.name = listing.server,
                      .identity = listing.identity,
                      .implementation = listing.implementation,
                      .protocol_version = listing.protocol_version,
                      .cpp_name = "mcp::" + cpp_name,
                      .tools = {}};
  for (const ToolDefinition& tool : listing.tools) {
    if (const std::string why = why_left_out(listing.server, tool); !why.empty()) {
      notes.push_back({fmt::format("{}.{}", listing.server, safe_line(cut(tool.name, 80))), "",
                       "is left out and cannot be called: " + why});
      continue;
    }
    server.tools.push_back({.name = tool.name,
                            .cpp_name{},
                            .digest = definition_digest(tool.definition),
                            .definition = tool.definition});
  }
  // Of two tools with one name only one can be called; which one must not depend on the listing's
  // order.
  std::ranges::sort(server.tools, [](const LockedTool& a, const LockedTool& b) {
    return std::tie(a.name, a.digest) < std::tie(b.name, b.digest);
  });
  const auto same_name = [&](const LockedTool& a, const LockedTool& b) {
    if (a.name != b.name) return false;
    if (a.digest != b.digest)
      notes.push_back(
          {listing.server + "." + a.name, "", "stands twice in the listing; one is taken"});
    return true;
  };
  const auto doubles = std::ranges::unique(server.tools, same_name);
  server.tools.erase(doubles.begin(), doubles.end());

  std::vector<std::string> originals;
  for (const LockedTool& tool : server.tools) originals.push_back(tool.name);
  const auto names = assign_names(originals, tool_words());
  for (std::size_t i = 0; i < names.size(); ++i)
    server.tools[i].cpp_name = server.cpp_name + "::" + names[i];
  return server;
}

std::string last_part(const std::string& cpp_name) {
  return cpp_name.substr(cpp_name.rfind(':') + 1);
}

ServerModel model_server(const LockedServer& locked, std::vector<Note>& notes) {
  ServerModel server{.name = locked.name,
                     .cpp_name = last_part(locked.cpp_name),
                     .implementation = locked.implementation};
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

Result<Output> generate(const std::vector<ServerListing>& servers) {
  if (auto ok = check_names(servers); !ok) return pass_on(ok);
  std::vector<const ServerListing*> sorted;
  for (const ServerListing& listing : servers) sorted.push_back(&listing);
  std::ranges::sort(sorted, {}, [](const ServerListing* listing) -> const std::string& {
    return listing->server;
  });
  std::vector<std::string> originals;
  for (const ServerListing* listing : sorted) originals.push_back(listing->server);
  const auto names = assign_names(originals, server_words());

  Output output;
  std::vector<std::string> headers;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    output.lock.servers.push_back(lock_server(*sorted[i], names[i], output.notes));
    headers.push_back(names[i] + ".hpp");
    output.files[headers.back()] =
        emit_server(model_server(output.lock.servers.back(), output.notes));
  }
  for (const EmbeddedFile& file : embedded_files())
    output.files[std::string(file.path)] = std::string(file.text);
  output.files["mcpac.hpp"] = emit_umbrella(headers);
  output.files["compile_flags.txt"] = emit_compile_flags(FlagsFor::kHeaders);
  for (const auto& [path, text] : output.files) output.lock.headers[path] = sha256_hex(text);
  return output;
}

}  // namespace mcpac::codegen
