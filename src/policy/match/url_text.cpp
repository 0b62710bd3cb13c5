// SPDX-License-Identifier: Apache-2.0

// URL serializing (url.spec.whatwg.org, sections 4.4 "path state" and 4.5), for the special
// schemes.
//
// The path loses its dot segments, and what one parser would encode and another would not is
// encoded: so the text that is sent leaves nothing to interpret.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "core/uri_spelling.h"
#include "policy/match/url.h"

namespace mcpac::policy {
namespace {

// Section 1.3, "percent-encoded bytes"; control bytes and all beyond ASCII are in every set.
constexpr std::string_view kFragmentSet = " \"<>`";
constexpr std::string_view kSpecialQuerySet = " \"#<>'";
constexpr std::string_view kPathSet = " \"#<>?^`{}";

std::string encoded(std::string_view text, std::string_view set) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e || set.find(c) != std::string_view::npos) {
      out += fmt::format("%{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

// "." and "..", each dot also as %2e.
std::size_t dots_of(std::string_view segment) {
  std::size_t dots = 0;
  while (!segment.empty()) {
    if (segment.front() == '.') {
      segment.remove_prefix(1);
    } else if (segment.starts_with("%2e") || segment.starts_with("%2E")) {
      segment.remove_prefix(3);
    } else {
      return 0;
    }
    if (++dots > 2) return 0;
  }
  return dots;
}

std::string path_text(std::string_view path) {
  std::vector<std::string> segments;
  if (!path.empty()) path.remove_prefix(1);  // the slash at its beginning
  while (true) {
    const auto slash = path.find('/');
    const bool last = slash == std::string_view::npos;
    const auto segment = path.substr(0, slash);
    const auto dots = dots_of(segment);
    if (dots == 2 && !segments.empty()) segments.pop_back();
    if (dots == 0) segments.push_back(encoded(segment, kPathSet));
    if (dots > 0 && last) segments.emplace_back();
    if (last) break;
    path.remove_prefix(slash + 1);
  }
  std::string text;
  for (const auto& segment : segments) text += "/" + segment;
  return text;
}

// The longest run of two or more zero pieces: where "::" stands.
struct ZeroRun {
  std::size_t begin = 8;
  std::size_t length = 1;
};

ZeroRun longest_zero_run(const std::array<unsigned, 8>& pieces) {
  ZeroRun longest;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && pieces[end] == 0) ++end;
    if (end - i > longest.length) longest = {i, end - i};
    i = end > i ? end : i;
  }
  return longest;
}

}  // namespace

// Section 3.5, "IPv4 serializer" and "IPv6 serializer".
std::string to_text(const IpAddress& address) {
  const auto& b = address.bytes;
  if (address.v4) return fmt::format("{}.{}.{}.{}", b[0], b[1], b[2], b[3]);
  std::array<unsigned, 8> pieces{};
  for (std::size_t i = 0; i < 8; ++i) pieces[i] = b[2 * i] * 256U + b[2 * i + 1];
  const ZeroRun zeros = longest_zero_run(pieces);
  std::string text = "[";
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == zeros.begin) {
      text += i == 0 ? "::" : ":";
      i += zeros.length - 1;
      continue;
    }
    text += fmt::format("{:x}{}", pieces[i], i < 7 ? ":" : "");
  }
  return text + "]";
}

std::string Url::text() const {
  const std::string_view whole = rest;
  const auto hash = whole.find('#');
  const std::string_view before = whole.substr(0, hash);
  const auto mark = before.find('?');
  std::string out = scheme + "://" + host_text;
  if (port != default_port) out += fmt::format(":{}", port);
  out += path_text(before.substr(0, mark));
  if (mark != std::string_view::npos)
    out += "?" + encoded(before.substr(mark + 1), kSpecialQuerySet);
  if (hash != std::string_view::npos) out += "#" + encoded(whole.substr(hash + 1), kFragmentSet);
  return out;
}

std::string Url::sent_text() const {
  if (rest.find('%') == std::string::npos) return text();
  Url plain = *this;
  plain.rest = without_needless_codes(rest);
  return plain.text();
}

}  // namespace mcpac::policy
