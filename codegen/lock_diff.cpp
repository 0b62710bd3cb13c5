// SPDX-License-Identifier: Apache-2.0

#include "codegen/lock_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "codegen/json_text.h"
#include "codegen/resolve.h"
#include "codegen/text_change.h"
#include "codegen/text_escape.h"
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

namespace {

using DiffKind = ToolDiff::Kind;

std::string indented(std::string_view indent, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("{}{}\n", indent, line);
  return text;
}

// A text that may hold words of a server, in as many lines as it takes.
std::string wrapped(std::string_view indent, const std::string& text) {
  static constexpr std::string_view kMore = "… ";
  std::vector<std::string> lines = marked_lines(kMore, text);
  if (!lines.empty()) lines.front().erase(0, kMore.size());
  return indented(indent, lines);
}

std::string text_lines(std::string_view heading, const std::optional<TextChange>& change,
                       std::string_view indent) {
  if (!change) return "";
  return fmt::format("{}{}\n", indent, heading) +
         indented(fmt::format("{}  ", indent), text_change(change->before, change->after));
}

std::string_view meaning(SchemaEffect effect, SchemaSide side) {
  const bool input = side == SchemaSide::kInput;
  switch (effect) {
    case SchemaEffect::kNarrowed:
      return input ? "narrowed: calls that were accepted may be refused"
                   : "narrowed: results promise more than before";
    case SchemaEffect::kWidened:
      return input ? "widened: calls that were accepted still are"
                   : "widened: results may be what a program does not expect";
    case SchemaEffect::kChanged: return "changed: read it, programs may have to change";
    case SchemaEffect::kWords: break;
  }
  return "only words";
}

std::string schema_lines(std::string_view heading, const SchemaChanges& changes, SchemaSide side) {
  if (changes.list.empty()) return "";
  std::string lines = fmt::format("      {} {}\n", heading, meaning(changes.effect(), side));
  for (const SchemaChange& change : changes.list) {
    const std::string pointer = change.pointer.empty() ? "(whole)" : change.pointer;
    const std::string effect =
        change.effect == SchemaEffect::kWords ? "" : fmt::format(" ({})", to_string(change.effect));
    lines += wrapped("        ", pointer + ": " + change.what + effect);
    lines += indented("          ", value_change(change.before, change.after));
  }
  return lines;
}

std::string hint_lines(const std::vector<HintChange>& hints) {
  if (hints.empty()) return "";
  std::string lines = "      hints (the server's own claims)\n";
  const auto value = [](const std::string& text) { return text.empty() ? "not said" : text; };
  for (const HintChange& hint : hints) {
    const std::string said = hint.name + ": " + value(hint.before) + " → " + value(hint.after);
    lines += wrapped("        ", said);
  }
  return lines;
}

std::string claim_lines(std::string_view indent, const ClaimChanges& claims) {
  if (claims.empty()) return "";
  std::string lines =
      fmt::format("{}says it needs (its own claims, which grant nothing)\n", indent);
  const std::string deeper = fmt::format("{}  ", indent);
  for (const std::string& one : claims.gone) lines += wrapped(deeper, "- " + one);
  for (const std::string& one : claims.fresh) lines += wrapped(deeper, "+ " + one);
  return lines;
}

std::string entry_lines(const ServerDiff& diff) {
  if (diff.entry.empty()) return "";
  std::string lines;
  bool is_told = false;
  for (const EntryChange& one : diff.entry) {
    const bool is_another = one.effect == EntryChange::Effect::kAnother;
    if (is_another || diff.kind == ServerDiff::Kind::kNew) {
      lines +=
          wrapped("  ", diff.kind == ServerDiff::Kind::kNew ? one.member
                                                            : "in mcpac.json: " + in_words(one));
    } else if (one.effect == EntryChange::Effect::kFirst) {
      if (!is_told) lines += "  kept in mcpac.lock from now on, and compared\n";
      is_told = true;
      lines += wrapped("  ", one.member);
    } else {
      lines += wrapped("  ", "in mcpac.json, which only takes away: " + in_words(one));
    }
    lines += indented("    ", value_change(one.before, one.after));
  }
  return lines;
}

std::string changed_lines(const ToolDiff& tool, bool keeps_texts) {
  std::string lines = fmt::format("  ~ {}{}\n", safe_line(tool.permission),
                                  !tool.texts_only ? ""
                                  : keeps_texts    ? "  (texts only; the locked ones hold)"
                                                   : "  (texts only)");
  lines += text_lines("title", tool.title, "      ");
  lines += text_lines("description", tool.description, "      ");
  lines += schema_lines("arguments", tool.input, SchemaSide::kInput);
  lines += schema_lines("result", tool.output, SchemaSide::kOutput);
  lines += hint_lines(tool.hints);
  lines += claim_lines("      ", tool.claims);
  for (const FieldRename& field : tool.fields) {
    lines += wrapped("      ", fmt::format("in C++ the argument {} is .{} now, it was .{}",
                                           field.original, field.after, field.before));
  }
  // An empty title became none, or the like: the digest is another one.
  if (lines.find('\n') + 1 == lines.size()) lines += "      written in another way\n";
  return lines;
}

// A schema that nothing is compared with: its properties one by one, then whatever else it says.
// Names are in quotes, so that none can look like words of ours.
std::vector<std::string> schema_text(const OrderedJson& schema) {
  std::vector<std::string> lines;
  const auto add = [&lines](const std::string& text) {
    std::ranges::move(marked_lines("+ ", text), std::back_inserter(lines));
  };
  if (!schema.is_object()) {
    add(compact_json(schema));
    return lines;
  }
  std::set<OrderedJson> needed;
  if (const auto list = schema.find("required"); list != schema.end() && list->is_array())
    needed.insert(list->begin(), list->end());
  for (auto entry = schema.begin(); entry != schema.end(); ++entry) {
    if (entry.key() != "properties" || !entry->is_object()) continue;
    for (auto one = entry->begin(); one != entry->end(); ++one) {
      const bool required = needed.contains(OrderedJson(one.key()));
      add(json_string(one.key()) + (required ? " (required): " : ": ") + compact_json(*one));
    }
  }
  for (auto entry = schema.begin(); entry != schema.end(); ++entry) {
    if (entry.key() != "properties" || !entry->is_object())
      add(json_string(entry.key()) + " of the whole: " + compact_json(*entry));
  }
  return lines;
}

std::string definition_lines(std::string_view heading, const OrderedJson& definition,
                             const char* part) {
  if (!definition.is_object() || !definition.contains(part)) return "";
  return fmt::format("      {}\n", heading) +
         indented("        ", schema_text(definition.at(part)));
}

std::string added_lines(const ToolDiff& tool) {
  std::string lines = fmt::format("  + {}", safe_line(tool.permission));
  if (!tool.like.empty()) lines += fmt::format("  (probably {} renamed)", safe_line(tool.like));
  lines += "\n";
  lines += text_lines("title", tool.title, "      ");
  lines += text_lines("description", tool.description, "      ");
  lines += definition_lines("arguments", tool.definition, "inputSchema");
  lines += definition_lines("result", tool.definition, "outputSchema");
  lines += hint_lines(tool.hints);
  lines += claim_lines("      ", tool.claims);
  return lines;
}

std::string withdrawn_line(const ToolDiff& tool) {
  return fmt::format(
      "  - {}  (its server does not offer it{})\n", safe_line(tool.permission),
      tool.like.empty() ? "" : fmt::format("; probably renamed to {}", safe_line(tool.like)));
}

Json to_json(const std::optional<TextChange>& change) {
  return change ? Json{{"before", change->before}, {"after", change->after}} : Json();
}

Json to_json(const ClaimChanges& claims) {
  return claims.empty() ? Json() : Json{{"removed", claims.gone}, {"added", claims.fresh}};
}

Json to_json(const std::vector<EntryChange>& changes) {
  Json list = Json::array();
  for (const EntryChange& one : changes) {
    list.push_back({{"member", one.member},
                    {"before", one.before},
                    {"after", one.after},
                    {"drift", one.effect == EntryChange::Effect::kAnother}});
  }
  return list;
}

Json to_json(const SchemaChanges& changes, SchemaSide side) {
  Json list = Json::array();
  for (const SchemaChange& change : changes.list) {
    list.push_back({{"effect", to_string(change.effect)},
                    {"for_caller", to_string(for_caller(change.effect, side))},
                    {"pointer", change.pointer},
                    {"what", change.what},
                    {"before", change.before},
                    {"after", change.after}});
  }
  if (changes.list.empty()) return {};
  return {{"effect", to_string(changes.effect())},
          {"for_caller", to_string(for_caller(changes.effect(), side))},
          {"changes", list}};
}

Json to_json(const ToolDiff& tool) {
  Json hints = Json::array();
  for (const HintChange& hint : tool.hints)
    hints.push_back({{"name", hint.name}, {"before", hint.before}, {"after", hint.after}});
  Json fields = Json::array();
  for (const FieldRename& field : tool.fields)
    fields.push_back({{"name", field.original}, {"before", field.before}, {"after", field.after}});
  return {{"permission", tool.permission},
          {"kind", tool.kind == DiffKind::kAdded       ? "added"
                   : tool.kind == DiffKind::kWithdrawn ? "withdrawn"
                                                       : "changed"},
          {"digest_before", tool.digest_before},
          {"digest_after", tool.digest_after},
          {"texts_only", tool.texts_only},
          {"title", to_json(tool.title)},
          {"description", to_json(tool.description)},
          {"hints", hints},
          {"claims", to_json(tool.claims)},
          {"input", to_json(tool.input, SchemaSide::kInput)},
          {"output", to_json(tool.output, SchemaSide::kOutput)},
          {"cpp_fields", fields},
          {"definition", Json(tool.definition)},
          {"probably_renamed", tool.like}};
}

}  // namespace

std::string to_lines(const ServerDiff& diff) {
  std::string lines = diff.server;
  if (diff.kind == ServerDiff::Kind::kNew) lines += "  (new)";
  if (diff.kind == ServerDiff::Kind::kGone) lines += "  (no longer in mcpac.json)";
  lines += "\n";
  lines += text_lines(diff.kind == ServerDiff::Kind::kNew ? "started or called as"
                                                          : "ANOTHER SERVER is started or called",
                      diff.identity, "  ");
  lines += entry_lines(diff);
  lines += claim_lines("  ", diff.claims);
  lines += text_lines("version", diff.version, "  ");
  for (const ToolDiff& tool : diff.tools) {
    lines += tool.kind == DiffKind::kAdded       ? added_lines(tool)
             : tool.kind == DiffKind::kWithdrawn ? withdrawn_line(tool)
                                                 : changed_lines(tool, diff.keeps_texts);
  }
  return lines;
}

Json to_json(const ServerDiff& diff) {
  Json tools = Json::array();
  for (const ToolDiff& tool : diff.tools) tools.push_back(to_json(tool));
  return {{"server", diff.server},
          {"kind", diff.kind == ServerDiff::Kind::kNew    ? "new"
                   : diff.kind == ServerDiff::Kind::kGone ? "gone"
                                                          : "kept"},
          {"locked", diff.locked},
          {"drifted", diff.drifted()},
          {"keeps_texts", diff.keeps_texts},
          {"identity", to_json(diff.identity)},
          {"entry", to_json(diff.entry)},
          {"claims", to_json(diff.claims)},
          {"version", to_json(diff.version)},
          {"tools", tools}};
}

}  // namespace mcpac::codegen
