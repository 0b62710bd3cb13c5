// A LockDiff for people and for programs. For people everything a server wrote is escaped and on
// lines that begin with a mark of ours.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "codegen/json_text.h"
#include "codegen/lock_diff.h"
#include "codegen/text_change.h"
#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

using Kind = ToolDiff::Kind;

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
          {"kind", tool.kind == Kind::kAdded       ? "added"
                   : tool.kind == Kind::kWithdrawn ? "withdrawn"
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
    lines += tool.kind == Kind::kAdded       ? added_lines(tool)
             : tool.kind == Kind::kWithdrawn ? withdrawn_line(tool)
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
