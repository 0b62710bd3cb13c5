// SPDX-License-Identifier: Apache-2.0

#include "core/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mcpac {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

bool is_blank(char c) {
  return kBlank.find(c) != std::string_view::npos;
}

std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// The end of a comment that begins here; `at` where none does.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
  const auto start = text.substr(at, 2);
  if (start == "//") return std::min(text.find('\n', at), text.size());
  if (start != "/*") return at;
  const auto end = text.find("*/", at + 2);
  return end == std::string_view::npos ? at : end + 2;
}

std::size_t next_value(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const auto past = end_of_comment(text, at);
    if (past == at && !is_blank(text[at])) break;
    at = std::max(past, at + (past == at ? 1 : 0));
  }
  return at;
}

std::string blanked(std::string_view text) {
  std::string plain(text);
  const auto blank = [&plain](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) {
      if (plain[begin] != '\n') plain[begin] = ' ';
    }
  };
  std::size_t at = 0;
  if (text.starts_with("\xEF\xBB\xBF")) blank(0, at = 3);
  while (at < text.size()) {
    if (text[at] == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (const auto end = end_of_comment(text, at); end != at) {
      blank(at, end);
      at = end;
      continue;
    }
    if (text[at] == ',') {
      const auto next = next_value(text, at + 1);
      if (next < text.size() && (text[next] == '}' || text[next] == ']')) blank(at, at + 1);
    }
    ++at;
  }
  return plain;
}

// In text that was read before: past the value that begins here.
std::size_t end_of_value(std::string_view plain, std::size_t at) {
  if (plain[at] == '"') return end_of_string(plain, at);
  if (plain[at] != '{' && plain[at] != '[') {
    while (at < plain.size() && !is_blank(plain[at]) &&
           std::string_view(",}]").find(plain[at]) == std::string_view::npos)
      ++at;
    return at;
  }
  for (int depth = 0; at < plain.size(); ++at) {
    if (plain[at] == '"')
      at = end_of_string(plain, at) - 1;
    else if (plain[at] == '{' || plain[at] == '[')
      ++depth;
    else if ((plain[at] == '}' || plain[at] == ']') && --depth == 0)
      return at + 1;
  }
  return at;
}

std::size_t skip_blank(std::string_view plain, std::size_t at) {
  while (at < plain.size() && is_blank(plain[at])) ++at;
  return at;
}

// The blanks between the beginning of its line and here; nothing where something else stands there.
std::string indent_at(std::string_view text, std::size_t at) {
  const auto line = text.rfind('\n', at);
  if (at == 0 || line == std::string_view::npos) return "";
  const auto indent = text.substr(line + 1, at - line - 1);
  return indent.find_first_not_of(" \t") == std::string_view::npos ? std::string(indent) : "";
}

std::string dumped(const OrderedJson& value, const std::string& indent, const std::string& unit,
                   std::string_view newline) {
  const bool tabs = unit.starts_with('\t');
  const std::string text =
      value.dump(tabs ? 1 : static_cast<int>(std::max<std::size_t>(unit.size(), 1)),
                 tabs ? '\t' : ' ', false, OrderedJson::error_handler_t::replace);
  std::string out;
  for (const char c : text) {
    if (c == '\n')
      out.append(newline).append(indent);
    else
      out += c;
  }
  return out;
}

}  // namespace

Result<JsonText> JsonText::parse(std::string text, std::string where) {
  JsonText made;
  made.text_ = std::move(text);
  made.where_ = std::move(where);
  if (next_value(made.text_, made.text_.starts_with("\xEF\xBB\xBF") ? 3 : 0) == made.text_.size())
    made.text_ += made.text_.empty() || made.text_.ends_with('\n') ? "{}\n" : "\n{}\n";
  if (auto read = made.read(); !read) return pass_on(read);
  return made;
}

Result<void> JsonText::read() {
  plain_ = blanked(text_);
  auto value = parse_ordered_json(plain_, where_);
  if (!value) return pass_on(value);
  if (!value->is_object())
    return fail(ErrorId::kJsonSyntax, "the whole is no object", {.where = where_});
  value_ = std::move(*value);
  return {};
}

JsonText::Span JsonText::whole() const {
  const auto begin = skip_blank(plain_, 0);
  return {begin, end_of_value(plain_, begin)};
}

std::vector<JsonText::Member> JsonText::members_of(Span object) const {
  std::vector<Member> members;
  for (auto at = skip_blank(plain_, object.begin + 1); plain_[at] == '"';) {
    Member member;
    member.key = {at, end_of_string(plain_, at)};
    member.name = parse_json(std::string_view(plain_).substr(at, member.key.end - at))
                      .value()
                      .get<std::string>();
    const auto begin = skip_blank(plain_, plain_.find(':', member.key.end) + 1);
    member.value = {begin, end_of_value(plain_, begin)};
    members.push_back(member);
    at = skip_blank(plain_, member.value.end);
    if (plain_[at] == ',') at = skip_blank(plain_, at + 1);
  }
  return members;
}

const JsonText::Member* JsonText::find(const std::vector<Member>& members,
                                       const std::string& name) const {
  const auto found = std::ranges::find(members, name, &Member::name);
  return found == members.end() ? nullptr : &*found;
}

// As the last member, in the manner of those that are there.
std::string JsonText::with_member(Span object, const std::string& name,
                                  const OrderedJson& value) const {
  const auto members = members_of(object);
  const std::string_view newline = text_.find("\r\n") == std::string::npos ? "\n" : "\r\n";
  const auto top = members_of(whole());
  std::string unit = top.empty() ? "" : indent_at(text_, top.front().key.begin);
  if (unit.empty()) unit = "  ";
  const auto line = text_.rfind('\n', object.begin);
  const auto line_begin = line == std::string::npos ? 0 : line + 1;
  const std::string base =
      text_.substr(line_begin, text_.find_first_not_of(" \t", line_begin) - line_begin);
  const std::string key = to_text(OrderedJson(name)) + ": ";
  std::string text = text_;
  if (members.empty()) {
    const std::string indent = base + unit;
    const std::string member =
        fmt::format("{}{}{}{}", newline, indent, key, dumped(value, indent, unit, newline));
    const auto inner = text_.substr(object.begin + 1, object.end - object.begin - 2);
    const bool is_bare = inner.find_first_not_of(kBlank) == std::string::npos;
    if (is_bare)
      text.replace(object.begin + 1, inner.size(), fmt::format("{}{}{}", member, newline, base));
    else
      text.insert(object.begin + 1, member);
    return text;
  }
  const Member& last = members.back();
  const bool in_lines =
      text_.substr(object.begin, last.key.begin - object.begin).find('\n') != std::string::npos;
  if (!in_lines) {
    text.insert(last.value.end, ", " + key + to_text(value));
    return text;
  }
  std::string indent = indent_at(text_, members.front().key.begin);
  if (indent.empty()) indent = base + unit;
  // Behind what is said of the last member on its line; a comma that stands there already is kept.
  auto behind = last.value.end;
  bool has_comma = false;
  while (behind < object.end - 1 && text_[behind] != '\n' && text_[behind] != '\r') {
    const auto past = end_of_comment(text_, behind);
    if (past == behind && text_[behind] == ',') has_comma = true;
    if (past == behind && text_[behind] != ',' && !is_blank(text_[behind])) break;
    behind = past == behind ? behind + 1 : past;
  }
  text.insert(behind,
              fmt::format("{}{}{}{}", newline, indent, key, dumped(value, indent, unit, newline)));
  if (!has_comma) text.insert(last.value.end, ",");
  return text;
}

std::string JsonText::without(const std::vector<Member>& members, const Member& gone) const {
  Span cut{gone.key.begin, gone.value.end};
  const auto next = next_value(text_, cut.end);
  const bool has_comma = text_[next] == ',';
  if (has_comma) cut.end = next + 1;
  const auto line_end = text_.find_first_not_of(" \t\r", cut.end);
  const auto line = text_.rfind('\n', cut.begin);
  const bool has_line = cut.begin > 0 && line != std::string::npos &&
                        text_.find_first_not_of(" \t", line + 1) == cut.begin;
  if (has_line && line_end != std::string::npos && text_[line_end] == '\n')
    cut = {line + 1, line_end + 1};
  std::string text = text_;
  text.erase(cut.begin, cut.end - cut.begin);
  if (has_comma || members.size() == 1) return text;
  // It was the last: the comma before it goes.
  const auto comma = plain_.rfind(',', gone.key.begin);
  return text.erase(comma, 1);
}

Result<void> JsonText::become(std::string text, const OrderedJson& meant) {
  auto changed = parse(std::move(text), where_);
  if (!changed || changed->value_ != meant) {
    return fail(ErrorId::kInternal, "the file cannot be changed without changing more of it",
                {.where = where_, .fix = "change it by hand"});
  }
  *this = std::move(*changed);
  return {};
}

Result<void> JsonText::set(const std::string& object, const std::string& name,
                           const OrderedJson& value) {
  OrderedJson meant = value_;
  const auto members = members_of(whole());
  const Member* outer = find(members, object);
  if (outer == nullptr) {
    meant[object] = OrderedJson{{name, value}};
    return become(with_member(whole(), object, meant[object]), meant);
  }
  if (!meant[object].is_object())
    return fail(ErrorId::kJsonSyntax, fmt::format("\"{}\" is no object", object),
                {.where = where_});
  meant[object][name] = value;
  const auto inner = members_of(outer->value);
  const Member* old = find(inner, name);
  if (old == nullptr) return become(with_member(outer->value, name, value), meant);
  const std::string indent = indent_at(text_, old->key.begin);
  std::string text = text_;
  text.replace(old->value.begin, old->value.end - old->value.begin,
               dumped(value, indent, indent.starts_with('\t') ? "\t" : "  ", "\n"));
  return become(std::move(text), meant);
}

Result<void> JsonText::remove(const std::string& object, const std::string& name) {
  const auto members = members_of(whole());
  const Member* outer = find(members, object);
  if (outer == nullptr || !value_[object].is_object()) return {};
  const auto inner = members_of(outer->value);
  const Member* gone = find(inner, name);
  if (gone == nullptr) return {};
  OrderedJson meant = value_;
  meant[object].erase(name);
  return become(without(inner, *gone), meant);
}

std::string JsonText::masked(const std::string& object, const std::string& name) const {
  Span shown{text_.size(), text_.size()};
  Span variables = shown;
  const auto top = members_of(whole());
  if (const Member* outer = find(top, object); outer != nullptr && value_[object].is_object()) {
    const auto inner = members_of(outer->value);
    if (const Member* own = find(inner, name)) {
      shown = {own->key.begin, own->value.end};
      const auto members = members_of(own->value);
      if (const Member* env = find(members, "env")) variables = env->value;
    }
  }
  std::string out;
  for (std::size_t at = 0; at < text_.size();) {
    const bool is_hidden = at >= variables.begin && at < variables.end;
    if (at >= shown.begin && at < shown.end && !is_hidden) {
      out += text_[at++];
    } else if (const auto comment = end_of_comment(text_, at); comment != at) {
      out += "/* … */";
      at = comment;
    } else if (text_[at] == '"') {
      const auto end = end_of_string(text_, at);
      const bool is_key = text_[next_value(text_, end)] == ':';
      out += is_key ? text_.substr(at, end - at) : "\"…\"";
      at = end;
    } else if (std::string_view("-0123456789").find(text_[at]) != std::string_view::npos) {
      out += "…";
      at = end_of_value(plain_, at);
    } else {
      out += text_[at++];
    }
  }
  return out;
}

}  // namespace mcpac
