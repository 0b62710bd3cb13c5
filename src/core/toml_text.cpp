#include "core/toml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "core/toml_reader.h"

namespace mcpac {
namespace {

bool has_env(const std::vector<std::string>& path) {
  return std::ranges::find(path, "env") != path.end();
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out.append(1, '\\').append(1, c);
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04X}", byte);
    else
      out += c;
  }
  return out + "\"";
}

std::string key_text(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, is_bare) ? name : in_quotes(name);
}

std::string value_text(const OrderedJson& value) {
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  if (!value.is_structured()) return to_text(value);
  std::string out;
  for (const auto& [name, member] : value.items()) {
    if (!out.empty()) out += ", ";
    if (value.is_object()) out += key_text(name) + " = ";
    out += value_text(member);
  }
  if (value.is_array()) return "[" + out + "]";
  return out.empty() ? "{}" : "{ " + out + " }";
}

}  // namespace

Result<TomlText> TomlText::parse(std::string text, std::string where) {
  TomlText made;
  made.text_ = std::move(text);
  made.where_ = std::move(where);
  // What is no UTF-8 is no TOML, and would be no value of ours either.
  if (auto utf8 = parse_json(to_text(Json(made.text_)), made.where_);
      !utf8 || *utf8 != Json(made.text_))
    return fail(ErrorId::kConfigSyntax, "not TOML: not UTF-8", {.where = made.where_});
  if (auto read = TomlReader(made).read(); !read) return pass_on(read);
  return made;
}

bool TomlText::is_within(std::size_t statement, const std::string& table,
                         const std::string& name) const {
  const std::size_t section = sections_[statement];
  if (section == std::string::npos) return false;
  const auto& path = statements_[section].path;
  return path.size() >= 2 && path[0] == table && path[1] == name;
}

Result<std::string> TomlText::without(const std::string& table, const std::string& name) const {
  std::string text;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const Statement& here = statements_[i];
    const bool is_own = is_within(i, table, name);
    const bool is_written_otherwise =
        !is_own && here.path.size() >= 2 && here.path[0] == table && here.path[1] == name;
    const bool is_inline = !here.is_header && here.path == std::vector<std::string>{table};
    if (is_written_otherwise || is_inline || (is_own && here.is_list)) {
      return fail(ErrorId::kConfigSyntax,
                  fmt::format("{}.{} is not written as a section of its own", table, name),
                  {.where = where_, .fix = fmt::format("write it as [{}.{}]", table, name)});
    }
    if (!is_own) continue;
    text += text_.substr(copied, here.begin - copied);
    copied = here.end;
  }
  return text + text_.substr(copied);
}

Result<void> TomlText::become(std::string text, const OrderedJson& meant) {
  auto changed = parse(std::move(text), where_);
  if (!changed || Json(changed->value_) != Json(meant)) {
    return fail(ErrorId::kInternal, "the file cannot be changed without changing more of it",
                {.where = where_, .fix = "change it by hand"});
  }
  *this = std::move(*changed);
  return {};
}

Result<void> TomlText::set(const std::string& table, const std::string& name,
                           const OrderedJson& value) {
  const bool is_there =
      value_.contains(table) && value_[table].is_object() && value_[table].contains(name);
  auto text = without(table, name);
  if (!text) return pass_on(text);
  std::string section = fmt::format("[{}.{}]\n", key_text(table), key_text(name));
  for (const auto& [key, member] : value.items())
    section += fmt::format("{} = {}\n", key_text(key), value_text(member));
  std::size_t place = text->size();
  for (std::size_t i = 0; is_there && i < statements_.size(); ++i) {
    if (!is_within(i, table, name)) continue;
    place = statements_[i].begin;  // all before it is as it was
    break;
  }
  if (place == text->size()) {
    if (!text->empty() && !text->ends_with('\n')) section.insert(0, "\n");
    if (!text->empty()) section.insert(0, text->ends_with("\n\n") ? "" : "\n");
  }
  text->insert(std::min(place, text->size()), section);
  OrderedJson meant = value_;
  meant[table][name] = value;
  return become(std::move(*text), meant);
}

Result<void> TomlText::remove(const std::string& table, const std::string& name) {
  if (!value_.contains(table) || !value_[table].is_object() || !value_[table].contains(name))
    return {};
  auto text = without(table, name);
  if (!text) return pass_on(text);
  OrderedJson meant = value_;
  meant[table].erase(name);
  // A table that stood there by this one alone goes with it.
  const bool stays = std::ranges::any_of(statements_, [&](const Statement& one) {
    return !one.path.empty() && one.path[0] == table &&
           (one.path.size() == 1 || one.path[1] != name);
  });
  if (!stays) meant.erase(table);
  return become(std::move(*text), meant);
}

std::string TomlText::masked(const std::string& table, const std::string& name) const {
  std::string out;
  std::size_t copied = 0;
  const auto between = [&](std::size_t end) {
    for (; copied < end; ++copied) {
      if (text_[copied] == '\n') out += '\n';
    }
  };
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const Statement& here = statements_[i];
    between(here.begin);
    const auto whole = text_.substr(here.begin, here.end - here.begin);
    const bool is_variable = !here.is_header && is_within(i, table, name) &&
                             (has_env(here.path) || has_env(statements_[sections_[i]].path));
    if (is_within(i, table, name) && !is_variable) {
      out += whole;
    } else if (here.is_header) {
      out += whole.substr(0, whole.find('#')).substr(0, whole.find_first_of("\r\n")) + "\n";
    } else {
      out += key_text(here.path.back()) + " = …\n";
    }
    copied = here.end;
  }
  between(text_.size());
  return out;
}

}  // namespace mcpac
