#include "codegen/lock_diff.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/json_text.h"
#include "codegen/resolve.h"
#include "codegen/tool_model.h"
#include "core/canonical_json.h"
#include "core/hash.h"

namespace mcpac::codegen {
namespace {

const OrderedJson& part(const OrderedJson& definition, std::string_view name) {
  static const OrderedJson kNothing;
  const OrderedJson* value = keyword(definition, name);
  return value == nullptr ? kNothing : *value;
}

std::string text_of_part(const OrderedJson& definition, std::string_view name) {
  const OrderedJson& value = part(definition, name);
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : compact_json(value);
}

std::optional<TextChange> compare_texts(std::string before, std::string after) {
  if (before == after) return std::nullopt;
  return TextChange{std::move(before), std::move(after)};
}

ClaimChanges compare_claims(const std::vector<Claim>& before, const std::vector<Claim>& after) {
  ClaimChanges changes;
  for (const Claim& claim : before) {
    if (std::ranges::find(after, claim) == after.end()) changes.gone.push_back(text_of(claim));
  }
  for (const Claim& claim : after) {
    if (std::ranges::find(before, claim) == before.end()) changes.fresh.push_back(text_of(claim));
  }
  return changes;
}

std::vector<HintChange> compare_hints(const OrderedJson& before, const OrderedJson& after) {
  std::map<std::string, HintChange> hints;
  if (before.is_object()) {
    for (const auto& entry : before.items())
      hints[entry.key()] = {entry.key(), compact_json(entry.value()), ""};
  }
  if (after.is_object()) {
    for (const auto& entry : after.items()) {
      HintChange& hint = hints[entry.key()];
      hint.name = entry.key();
      hint.after = compact_json(entry.value());
    }
  }
  const auto plain = [](const OrderedJson& value) { return value.is_null() || value.is_object(); };
  std::vector<HintChange> changes;
  if (!plain(before) || !plain(after)) {
    if (before != after)
      changes.push_back({"annotations", compact_json(before), compact_json(after)});
    return changes;
  }
  for (auto& [name, hint] : hints) {
    if (canonical_json(part(before, name)) != canonical_json(part(after, name)))
      changes.push_back(std::move(hint));
  }
  return changes;
}

// A schema that is not there allows everything; null is what a member that is missing becomes.
SchemaChanges compare_parts(const OrderedJson& before, const OrderedJson& after, SchemaSide side) {
  static const OrderedJson kAny = OrderedJson::object();
  if (before.is_null() == after.is_null()) {
    return before.is_null() ? SchemaChanges{} : compare_schemas(before, after, side);
  }
  SchemaChanges changes;
  const bool added = before.is_null();
  changes.list.push_back({added ? SchemaEffect::kNarrowed : SchemaEffect::kWidened, "",
                          added ? "schema added" : "schema removed",
                          added ? "" : compact_json(before), added ? compact_json(after) : ""});
  return changes;
}

// The names that a program writes between the braces of a call. A property that keeps its original
// name can get another one in C++, where a property with that very name comes or goes.
std::vector<FieldRename> compare_fields(const OrderedJson& before, const OrderedJson& after) {
  std::vector<Note> unused;
  const auto names = [&unused](const OrderedJson& definition) {
    std::map<std::string, std::string> by_original;
    for (const Field& field : model_of(definition, "", "", unused).args.fields)
      by_original[field.name] = field.cpp_name;
    return by_original;
  };
  const auto old_names = names(before);
  const auto new_names = names(after);
  std::vector<FieldRename> renamed;
  for (const auto& [original, name] : new_names) {
    const auto found = old_names.find(original);
    if (found != old_names.end() && found->second != name)
      renamed.push_back({original, found->second, name});
  }
  return renamed;
}

void compare_definitions(const OrderedJson& before, const OrderedJson& after, ToolDiff& diff) {
  diff.title = compare_texts(text_of_part(before, "title"), text_of_part(after, "title"));
  diff.description =
      compare_texts(text_of_part(before, "description"), text_of_part(after, "description"));
  diff.hints = compare_hints(part(before, "annotations"), part(after, "annotations"));
  diff.input =
      compare_parts(part(before, "inputSchema"), part(after, "inputSchema"), SchemaSide::kInput);
  diff.output =
      compare_parts(part(before, "outputSchema"), part(after, "outputSchema"), SchemaSide::kOutput);
  diff.claims = compare_claims(claims_of_tool(before).list, claims_of_tool(after).list);
  diff.fields = compare_fields(before, after);
  // A difference that no comparison above sees (an order inside an enum) is said all the same.
  for (const auto& [name, changes] :
       {std::pair{"inputSchema", &diff.input}, {"outputSchema", &diff.output}}) {
    const bool differs = canonical_json(part(before, name)) != canonical_json(part(after, name));
    if (differs && changes->list.empty())
      changes->list.push_back({SchemaEffect::kWords, "", "written in another way", "", ""});
  }
}

// Same arguments and same words: what a person would call the same tool. Without arguments, or
// without words, the other half must carry it.
bool looks_alike(const OrderedJson& a, const OrderedJson& b) {
  const std::string words = text_of_part(a, "description");
  const bool same_words = !words.empty() && words == text_of_part(b, "description");
  const bool same_schema =
      canonical_json(part(a, "inputSchema")) == canonical_json(part(b, "inputSchema"));
  const OrderedJson& properties = part(part(a, "inputSchema"), "properties");
  return same_words || (same_schema && properties.is_object() && properties.size() >= 2);
}

// Each tool is paired once, so a server of a thousand equal tools stays readable.
void find_renamed(const LockedServer& locked, const ServerListing& live, ServerDiff& diff) {
  constexpr std::size_t kMaxPairs = 40'000;
  if (diff.count(ToolDiff::Kind::kAdded) * diff.count(ToolDiff::Kind::kWithdrawn) > kMaxPairs)
    return;
  for (ToolDiff& gone : diff.tools) {
    if (gone.kind != ToolDiff::Kind::kWithdrawn) continue;
    const auto old_tool = std::ranges::find(locked.tools, gone.tool, &LockedTool::name);
    for (ToolDiff& added : diff.tools) {
      if (added.kind != ToolDiff::Kind::kAdded || !added.like.empty()) continue;
      const auto new_tool = std::ranges::find(live.tools, added.tool, &ToolDefinition::name);
      if (!looks_alike(old_tool->definition, new_tool->definition)) continue;
      gone.like = added.permission;
      added.like = gone.permission;
      break;
    }
  }
}

ToolDiff tool_diff(ToolDiff::Kind kind, const std::string& server, const std::string& tool) {
  ToolDiff diff;
  diff.kind = kind;
  diff.permission = server + "." + tool;
  diff.tool = tool;
  return diff;
}

void compare_tools(const LockedServer* locked, const ServerListing* live, ServerDiff& diff) {
  std::map<std::string, std::pair<const LockedTool*, const ToolDefinition*>> tools;
  if (locked != nullptr) {
    for (const LockedTool& tool : locked->tools) tools[tool.name].first = &tool;
  }
  if (live != nullptr) {
    for (const ToolDefinition& tool : live->tools) tools[tool.name].second = &tool;
  }
  for (const auto& [name, pair] : tools) {
    const auto& [before, after] = pair;
    const std::string digest = after == nullptr ? "" : definition_digest(after->definition);
    if (before != nullptr && before->digest == digest) continue;
    const auto kind = before == nullptr  ? ToolDiff::Kind::kAdded
                      : after == nullptr ? ToolDiff::Kind::kWithdrawn
                                         : ToolDiff::Kind::kChanged;
    ToolDiff found = tool_diff(kind, diff.server, name);
    found.digest_before = before == nullptr ? "" : before->digest;
    found.digest_after = digest;
    static const OrderedJson kNothing = OrderedJson::object();
    if (kind == ToolDiff::Kind::kChanged) {
      compare_definitions(before->definition, after->definition, found);
      found.texts_only = differ_in_texts_alone(before->definition, after->definition);
    } else if (kind == ToolDiff::Kind::kAdded) {
      found.definition = after->definition;
      found.title = compare_texts("", text_of_part(after->definition, "title"));
      found.description = compare_texts("", text_of_part(after->definition, "description"));
      found.hints = compare_hints(kNothing, part(after->definition, "annotations"));
      found.claims = compare_claims({}, claims_of_tool(after->definition).list);
    }
    diff.tools.push_back(std::move(found));
  }
}

}  // namespace

std::size_t ServerDiff::count(ToolDiff::Kind wanted) const {
  return static_cast<std::size_t>(std::ranges::count(tools, wanted, &ToolDiff::kind));
}

std::size_t ServerDiff::count_texts_only() const {
  return static_cast<std::size_t>(std::ranges::count(tools, true, &ToolDiff::texts_only));
}

bool ServerDiff::drifted() const {
  const std::size_t tolerated = keeps_texts ? count_texts_only() : 0;
  return is_another() || (kind == Kind::kKept && !claims.empty()) ||
         count(ToolDiff::Kind::kWithdrawn) > 0 || count(ToolDiff::Kind::kChanged) > tolerated;
}

bool ServerDiff::drifted_in_texts_alone() const {
  return drifted() && !is_another() && claims.empty() && count(ToolDiff::Kind::kWithdrawn) == 0 &&
         count(ToolDiff::Kind::kChanged) == count_texts_only();
}

ServerDiff compare_server(const LockedServer* locked, const ServerListing* live) {
  ServerDiff diff;
  diff.server = locked != nullptr ? locked->name : live->server;
  diff.locked = locked == nullptr ? 0 : locked->tools.size();
  if (locked == nullptr) diff.kind = ServerDiff::Kind::kNew;
  if (live == nullptr) diff.kind = ServerDiff::Kind::kGone;
  if (live == nullptr) return diff;
  const auto version = [](const std::string& implementation, const std::string& protocol) {
    return implementation + ", MCP " + protocol;
  };
  if (locked != nullptr) {
    diff.identity = compare_texts(locked->identity, live->identity);
    diff.entry = compare_entries(locked->entry, live->entry);
    // An older mcpac kept none.
    if (!locked->entry.is_null() || !locked->claims.empty())
      diff.claims = compare_claims(locked->claims, live->claims.list);
    diff.version = compare_texts(version(locked->implementation, locked->protocol_version),
                                 version(live->implementation, live->protocol_version));
  } else {
    diff.identity = compare_texts("", live->identity);
    diff.entry = compare_entries(nullptr, live->entry);
    diff.claims = compare_claims({}, live->claims.list);
    diff.version = compare_texts("", version(live->implementation, live->protocol_version));
  }
  compare_tools(locked, live, diff);
  if (locked != nullptr) find_renamed(*locked, *live, diff);
  return diff;
}

bool needs_others(const LockedServer& locked, const LockedTool& tool, const ServerListing& live,
                  const OrderedJson& definition) {
  const bool is_kept = !locked.entry.is_null() || !locked.claims.empty();
  if (is_kept &&
      claims_about(locked.claims, tool.name) != claims_about(live.claims.list, tool.name))
    return true;
  return claims_of_tool(tool.definition).list != claims_of_tool(definition).list &&
         digest_without_claims(tool.definition) == digest_without_claims(definition);
}

std::string digest_of(const LockDiff& diff) {
  constexpr std::size_t kDigits = 32;
  OrderedJson all = OrderedJson::array();
  const auto change = [](const std::optional<TextChange>& text) {
    return text ? OrderedJson{text->before, text->after} : OrderedJson();
  };
  const auto entry = [](const ServerDiff& server) {
    OrderedJson list = OrderedJson::array();
    for (const EntryChange& one : server.entry) list.push_back({one.member, one.before, one.after});
    return list;
  };
  for (const ServerDiff& server : diff) {
    OrderedJson tools = OrderedJson::array();
    for (const ToolDiff& tool : server.tools)
      tools.push_back(
          {tool.tool, static_cast<int>(tool.kind), tool.digest_before, tool.digest_after});
    all.push_back({server.server, static_cast<int>(server.kind), change(server.identity),
                   change(server.version), std::move(tools), entry(server), server.claims.gone,
                   server.claims.fresh});
  }
  return sha256_hex(canonical_json(all)).substr(0, kDigits);
}

}  // namespace mcpac::codegen
