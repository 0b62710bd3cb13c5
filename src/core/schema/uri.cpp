// SPDX-License-Identifier: Apache-2.0

#include "core/schema/uri.h"

#include <algorithm>

#include "core/percent_code.h"

namespace mcpac::schema {
namespace {

struct Parts {
  std::optional<std::string_view> scheme;
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
  std::string_view fragment;
};

std::optional<std::string_view> take_scheme(std::string_view& text) {
  const auto colon = text.find_first_of(":/?#");
  if (colon == std::string_view::npos || colon == 0 || text[colon] != ':') return std::nullopt;
  const auto scheme = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  return scheme;
}

Parts split(std::string_view text) {
  Parts parts;
  if (const auto at = text.find('#'); at != std::string_view::npos) {
    parts.fragment = text.substr(at + 1);
    text = text.substr(0, at);
  }
  parts.scheme = take_scheme(text);
  if (const auto at = text.find('?'); at != std::string_view::npos) {
    parts.query = text.substr(at + 1);
    text = text.substr(0, at);
  }
  if (text.starts_with("//")) {
    const auto end = std::min(text.find('/', 2), text.size());
    parts.authority = text.substr(2, end - 2);
    text.remove_prefix(end);
  }
  parts.path = text;
  return parts;
}

std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  const bool absolute = path.starts_with('/');
  bool ends_in_folder = false;
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const auto segment = path.substr(at, end - at);
    ends_in_folder = segment == "." || segment == "..";
    if (segment == "..") {
      if (kept.size() > (absolute ? 1U : 0U)) kept.pop_back();
    } else if (segment != ".") {
      kept.push_back(segment);
    }
    at = end + 1;
  }
  if (ends_in_folder) kept.emplace_back();
  std::string text;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i > 0) text += '/';
    text += kept[i];
  }
  return text;
}

std::string merged_path(const Parts& base, std::string_view path) {
  if (base.authority && base.path.empty()) return "/" + std::string(path);
  const auto slash = base.path.rfind('/');
  return slash == std::string_view::npos
             ? std::string(path)
             : std::string(base.path.substr(0, slash + 1)) + std::string(path);
}

std::string composed(const Parts& parts, std::string_view path) {
  std::string text;
  if (parts.scheme) text += std::string(*parts.scheme) + ":";
  if (parts.authority) text += "//" + std::string(*parts.authority);
  text += path;
  if (parts.query) text += "?" + std::string(*parts.query);
  return text;
}

}  // namespace

Reference resolve(std::string_view base_text, std::string_view reference) {
  const Parts base = split(base_text);
  Parts target = split(reference);
  std::string path;
  if (target.scheme) {
    path = without_dots(target.path);
  } else if (target.authority) {
    target.scheme = base.scheme;
    path = without_dots(target.path);
  } else {
    target.scheme = base.scheme;
    target.authority = base.authority;
    if (target.path.empty()) {
      path = base.path;
      if (!target.query) target.query = base.query;
    } else {
      path = without_dots(target.path.starts_with('/') ? std::string(target.path)
                                                       : merged_path(base, target.path));
    }
  }
  return {composed(target, path), percent_decoded(target.fragment)};
}

std::optional<std::vector<std::string>> pointer_tokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  if (pointer.empty()) return tokens;
  if (pointer.front() != '/') return std::nullopt;
  for (std::size_t at = 1; at <= pointer.size();) {
    const auto end = std::min(pointer.find('/', at), pointer.size());
    std::string token;
    for (std::size_t i = at; i < end; ++i) {
      if (pointer[i] != '~') {
        token += pointer[i];
        continue;
      }
      ++i;
      if (i >= end || (pointer[i] != '0' && pointer[i] != '1')) return std::nullopt;
      token += pointer[i] == '0' ? '~' : '/';
    }
    tokens.push_back(std::move(token));
    at = end + 1;
  }
  return tokens;
}

std::string pointer_token(std::string_view name) {
  std::string token;
  for (const char c : name) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

}  // namespace mcpac::schema
