// SPDX-License-Identifier: Apache-2.0

// mcpac.lock as text: one line a member of a definition, so that a reviewer's diff shows what
// changed.
#include "codegen/lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/json_text.h"
#include "codegen/lock_entry.h"
#include "codegen/names.h"
#include "codegen/text_escape.h"
#include "core/permission.h"

namespace mcpac::codegen {
namespace {

constexpr int kVersion = 1;

// Six levels more than a definition may have (generate.cpp).
constexpr JsonLimits kLockLimits{
    .max_bytes = kMaxLockBytes, .max_depth = 1040, .max_values = 20'000'000};

constexpr std::string_view kRestore =
    "restore mcpac.lock from version control, or remove it, run `mcpac generate` and review "
    "every tool again";

std::size_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

// The line of the first mark that a merge leaves, or 0.
std::size_t conflict_line(std::string_view text) {
  std::size_t first = std::string_view::npos;
  for (const std::string_view mark : {"<<<<<<< ", ">>>>>>> ", "||||||| ", "=======\n"}) {
    if (text.starts_with(mark)) return 1;
    const auto at = text.find(fmt::format("\n{}", mark));
    if (at != std::string_view::npos) first = std::min(first, at + 1);
  }
  return first == std::string_view::npos ? 0 : line_of(text, first);
}

// One reader for one lock: it knows the file's name and the entry it stands in, for the error.
class Reader {
 public:
  Reader(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  // Definitions are most of a lock: they move from `root` into the result.
  Result<Lock> read(OrderedJson root) {
    if (!root.is_object()) return broken("the lock", "it is not a JSON object");
    const OrderedJson* version = member(root, "version");
    if (version == nullptr || *version != kVersion) return wrong_version(version);
    if (auto ok = only(root, "the lock", {"version", "servers", "headers"}); !ok)
      return pass_on(ok);
    OrderedJson* servers = member(root, "servers");
    const OrderedJson* headers = member(root, "headers");
    if (servers == nullptr || !servers->is_object() || headers == nullptr ||
        !headers->is_object()) {
      return broken("the lock", "it lacks \"servers\" or \"headers\"");
    }
    Lock lock;
    for (auto& [name, value] : servers->items()) {
      auto server = read_server(name, value);
      if (!server) return pass_on(server);
      lock.servers.push_back(std::move(*server));
    }
    std::ranges::sort(lock.servers, {}, &LockedServer::name);
    server_.clear();
    if (auto ok = read_headers(*headers, lock); !ok) return pass_on(ok);
    return lock;
  }

 private:
  // Object is OrderedJson, constant or not.
  template <class Object>
  static Object* member(Object& object, std::string_view name) {
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
  }

  [[nodiscard]] std::unexpected<Error> broken(std::string_view entry, std::string_view why) const {
    return fail(ErrorId::kLockInvalid,
                fmt::format("mcpac.lock does not fit itself: {}: {}", safe_line(entry), why),
                {.where = place(),
                 .why = "what the lock holds was approved by a person; an edited entry was not",
                 .fix = std::string(kRestore)});
  }

  [[nodiscard]] std::unexpected<Error> wrong_version(const OrderedJson* version) const {
    const bool newer = version != nullptr && version->is_number() && *version > kVersion;
    if (!newer) return broken("the lock", fmt::format("its version is not {}", kVersion));
    return fail(ErrorId::kLockInvalid,
                fmt::format("mcpac.lock has version {}; this mcpac reads version {}",
                            cut(compact_json(*version), 40), kVersion),
                {.where = where_,
                 .why = "a newer mcpac wrote it",
                 .fix = "use that mcpac; `mcpac --version` says which one this is"});
  }

  // The line of the entry, in a file as to_text() writes it.
  [[nodiscard]] std::string place() const {
    if (server_.empty()) return where_;
    auto at = text_.find(fmt::format("\n    {}:", json_string(server_)));
    if (at != std::string_view::npos && !tool_.empty())
      at = text_.find(fmt::format("\n        {}:", json_string(tool_)), at);
    return at == std::string_view::npos ? where_
                                        : fmt::format("{}:{}", where_, line_of(text_, at + 1));
  }

  // A member we do not know could mean something to a newer mcpac: not understood is not approved.
  [[nodiscard]] Result<void> only(const OrderedJson& object, std::string_view entry,
                                  const std::set<std::string_view>& known) const {
    for (const auto& [name, value] : object.items()) {
      if (!known.contains(name))
        return broken(entry, fmt::format("unknown member {}", json_string(cut(name, 64))));
    }
    return {};
  }

  Result<std::string> text(const OrderedJson& object, std::string_view entry,
                           std::string_view name) const {
    const OrderedJson* value = member(object, name);
    if (value == nullptr || !value->is_string())
      return broken(entry, fmt::format("\"{}\" is no string", name));
    return value->get<std::string>();
  }

  Result<LockedServer> read_server(const std::string& name, OrderedJson& value) {
    const std::string entry = fmt::format("server '{}'", name);
    server_ = name;
    tool_.clear();
    if (!is_server_name(name) || !value.is_object()) return broken(entry, "it is no server entry");
    const std::set<std::string_view> known{
        "identity", "implementation", "protocolVersion", "cppName", "entry", "claims", "tools"};
    if (auto ok = only(value, entry, known); !ok) return pass_on(ok);
    LockedServer server{
        .name = name, .identity{}, .implementation{}, .protocol_version{}, .cpp_name{}, .tools{}};
    if (OrderedJson* said = member(value, "entry")) {
      if (!is_lock_entry(*said)) return broken(entry, "its \"entry\" is none");
      server.entry = std::move(*said);
    }
    if (const OrderedJson* said = member(value, "claims")) {
      server.claims = read_claims(*said).list;
      if (server.claims.empty() || to_json(server.claims) != *said)
        return broken(entry, "its \"claims\" are none that generate wrote");
    }
    const std::pair<std::string_view, std::string*> texts[] = {
        {"identity", &server.identity},
        {"implementation", &server.implementation},
        {"protocolVersion", &server.protocol_version},
        {"cppName", &server.cpp_name}};
    for (const auto& [key, target] : texts) {
      auto read = text(value, entry, key);
      if (!read) return pass_on(read);
      *target = std::move(*read);
    }
    if (!is_new_cpp_name(server.cpp_name, "mcp", name))
      return broken(entry, "its cppName is no name of it, or another one's");
    OrderedJson* tools = member(value, "tools");
    if (tools == nullptr || !tools->is_object()) return broken(entry, "it lacks \"tools\"");
    for (auto& [tool_name, tool_value] : tools->items()) {
      auto tool = read_tool(server, tool_name, tool_value);
      if (!tool) return pass_on(tool);
      server.tools.push_back(std::move(*tool));
    }
    std::ranges::sort(server.tools, {}, &LockedTool::name);
    return server;
  }

  Result<LockedTool> read_tool(const LockedServer& server, const std::string& name,
                               OrderedJson& value) {
    const std::string entry = fmt::format("tool '{}.{}'", server.name, cut(name, 256));
    tool_ = name;
    if (!Permission::of(server.name, name) || !value.is_object())
      return broken(entry, "it is no tool entry");
    if (auto ok = only(value, entry, {"cppName", "sha256", "definition"}); !ok) return pass_on(ok);
    auto cpp_name = text(value, entry, "cppName");
    if (!cpp_name) return pass_on(cpp_name);
    auto digest = text(value, entry, "sha256");
    if (!digest) return pass_on(digest);
    if (!is_new_cpp_name(*cpp_name, server.cpp_name, name))
      return broken(entry, "its cppName is no name of it, or another one's");
    OrderedJson* definition = member(value, "definition");
    if (definition == nullptr || !definition->is_object())
      return broken(entry, "it lacks \"definition\"");
    const OrderedJson* own_name = member(*definition, "name");
    if (own_name == nullptr || *own_name != name)
      return broken(entry, "its definition has another name");
    if (definition_digest(*definition) != *digest) {
      if (digest_without_claims(*definition) != *digest)
        return broken(entry, "its sha256 is not the digest of its definition");
      write_claims(*definition, {});  // none was approved
    }
    return LockedTool{.name = name,
                      .cpp_name = std::move(*cpp_name),
                      .digest = std::move(*digest),
                      .definition = std::move(*definition)};
  }

  // "mcp::filesystem" below "mcp", "mcp::filesystem::read_file" below "mcp::filesystem"; no two the
  // same, or one C++ type would stand for two permissions. And a name of this tool: an edited lock
  // cannot call write_file read_file. (A word that is reserved by now is given up by generate.)
  bool is_new_cpp_name(std::string_view name, std::string_view below, std::string_view original) {
    if (!name.starts_with(below) || !name.substr(below.size()).starts_with("::")) return false;
    return is_name_of(name.substr(below.size() + 2), original) &&
           cpp_names_.insert(std::string(name)).second;
  }

  [[nodiscard]] Result<void> read_headers(const OrderedJson& headers, Lock& lock) const {
    for (const auto& [path, digest] : headers.items()) {
      const bool path_ok =
          !path.empty() && !path.starts_with('/') && path.find("..") == std::string::npos;
      const bool digest_ok =
          digest.is_string() && digest.get_ref<const std::string&>().size() == 64;
      if (!path_ok || !digest_ok) {
        return broken(fmt::format("header '{}'", cut(path, 128)),
                      "it is no path below servers/ with a digest");
      }
      lock.headers.emplace(path, digest.get<std::string>());
    }
    return {};
  }

  std::string_view text_;
  std::string where_;
  std::string server_;  // what is being read
  std::string tool_;
  std::set<std::string> cpp_names_;
};

std::string tool_text(const LockedTool& tool) {
  return fmt::format(R"(        {}: {{
          "cppName": {},
          "sha256": {},
          "definition": {}
        }})",
                     json_string(tool.name), json_string(tool.cpp_name), json_string(tool.digest),
                     one_member_a_line(tool.definition, 12));
}

// "{" + the pieces, one below the other, + the closing brace at `indent`.
std::string object_text(const std::vector<std::string>& members, std::size_t indent) {
  return members.empty()
             ? "{}"
             : fmt::format("{{\n{}\n{}}}", fmt::join(members, ",\n"), std::string(indent, ' '));
}

std::string server_text(const LockedServer& server) {
  std::vector<std::string> tools;
  for (const LockedTool& tool : server.tools) tools.push_back(tool_text(tool));
  std::string more;
  if (!server.entry.is_null())
    more += fmt::format("      \"entry\": {},\n", one_member_a_line(server.entry, 8));
  if (!server.claims.empty()) {
    std::vector<std::string> claims;
    for (const auto& claim : to_json(server.claims)) claims.push_back(compact_json(claim));
    more += fmt::format("      \"claims\": [\n        {}\n      ],\n",
                        fmt::join(claims, ",\n        "));
  }
  return fmt::format(R"(    {}: {{
      "identity": {},
      "implementation": {},
      "protocolVersion": {},
      "cppName": {},
{}      "tools": {}
    }})",
                     json_string(server.name), json_string(server.identity),
                     json_string(server.implementation), json_string(server.protocol_version),
                     json_string(server.cpp_name), more, object_text(tools, 6));
}

}  // namespace

Result<Lock> parse_lock(std::string_view text, std::string_view where) {
  auto root = parse_ordered_json(text, where, kLockLimits);
  if (root) return Reader(text, where).read(std::move(*root));
  if (const std::size_t line = conflict_line(text); line > 0) {
    return fail(
        ErrorId::kLockInvalid, "mcpac.lock holds the marks of a merge conflict",
        {.where = fmt::format("{}:{}", where, line),
         .why = "two changes of the approved tools met, and nobody has decided yet",
         .fix = "take one side whole (git checkout --ours mcpac.lock, or --theirs), run "
                "`mcpac generate`, then look at `mcpac lock diff` and accept what is good"});
  }
  return fail(ErrorId::kLockInvalid, "mcpac.lock cannot be read: " + root.error().what,
              {.where = root.error().where, .why = root.error().why, .fix = std::string(kRestore)});
}

std::string to_text(const Lock& lock) {
  std::vector<std::string> servers;
  for (const LockedServer& server : lock.servers) servers.push_back(server_text(server));
  std::vector<std::string> headers;
  for (const auto& [path, digest] : lock.headers) {
    headers.push_back(fmt::format("    {}: {}", json_string(path), json_string(digest)));
  }
  return fmt::format("{{\n  \"version\": {},\n  \"servers\": {},\n  \"headers\": {}\n}}\n",
                     kVersion, object_text(servers, 2), object_text(headers, 2));
}

}  // namespace mcpac::codegen
