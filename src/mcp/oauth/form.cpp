// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/ascii.h"

namespace mcpac::mcp::oauth {
namespace {

constexpr std::size_t kMaxParameters = 64;

std::string encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_bare(c) || c == '.' || c == '~') {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

Result<std::string> decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    unsigned byte = 0;
    const auto digits = text.substr(i + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) {
      return fail(ErrorId::kServerHttp, "a parameter is not encoded as it must be");
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

}  // namespace

std::string form_encode(const Parameters& parameters) {
  std::string out;
  for (const auto& [name, value] : parameters) {
    if (!out.empty()) out += '&';
    out += encode(name) + '=' + encode(value);
  }
  return out;
}

Result<Parameters> form_decode(std::string_view text) {
  Parameters out;
  while (!text.empty()) {
    const auto end = std::min(text.find('&'), text.size());
    const auto pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const auto equals = std::min(pair.find('='), pair.size());
    auto name = decode(pair.substr(0, equals));
    if (!name) return pass_on(name);
    auto value = decode(pair.substr(std::min(equals + 1, pair.size())));
    if (!value) return pass_on(value);
    const bool twice =
        std::ranges::any_of(out, [&](const auto& one) { return one.first == *name; });
    if (twice || out.size() >= kMaxParameters) {
      return fail(ErrorId::kServerHttp, "a parameter comes twice, or there are too many");
    }
    out.emplace_back(std::move(*name), std::move(*value));
  }
  return out;
}

std::string value_of(const Parameters& parameters, std::string_view name) {
  const auto found =
      std::ranges::find_if(parameters, [name](const auto& one) { return one.first == name; });
  return found == parameters.end() ? std::string() : found->second;
}

std::string with_query(std::string_view url, const Parameters& parameters) {
  const char joint = url.find('?') == std::string_view::npos ? '?' : '&';
  return fmt::format("{}{}{}", url, joint, form_encode(parameters));
}

}  // namespace mcpac::mcp::oauth
