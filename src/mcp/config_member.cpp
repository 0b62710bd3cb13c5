// SPDX-License-Identifier: Apache-2.0

#include "mcp/config_member.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "core/ascii.h"
#include "core/nearest_name.h"

namespace mcpac::mcp {
namespace {

// A day: longer than any call in practice, and far from overflow.
constexpr std::int64_t kMaxTimeoutMs = 24LL * 60 * 60 * 1000;
// A second: a server is never given less, and "30" of a client that counts in seconds is below it.
constexpr std::int64_t kLeastBareMs = 1'000;

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const std::string best = nearest_name(name, {known.begin(), known.end()});
  if (!best.empty()) return fmt::format("did you mean \"{}\"?", best);
  return fmt::format("known are: {}", fmt::join(known, ", "));
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) return words;
    words.emplace_back(line.substr(0, line.find_first_of(" \t")));
    line.remove_prefix(words.back().size());
  }
}

std::string command_fix(const std::vector<std::string>& words) {
  OrderedJson line = {{"command", words.front()}};
  if (words.size() > 1) line["args"] = std::vector<std::string>(words.begin() + 1, words.end());
  const std::string text = to_text(line);
  return "write " + text.substr(1, text.size() - 2);
}

bool is_header_name(std::string_view name) {
  constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !name.empty() && name.find_first_not_of(kToken) == std::string_view::npos;
}

bool is_reserved_header(std::string_view name) {
  constexpr std::array<std::string_view, 17> kReserved = {"host",
                                                          "content-length",
                                                          "transfer-encoding",
                                                          "connection",
                                                          "content-type",
                                                          "accept",
                                                          "mcp-session-id",
                                                          "mcp-protocol-version",
                                                          "mcp-method",
                                                          "mcp-name",
                                                          "last-event-id",
                                                          "upgrade",
                                                          "te",
                                                          "trailer",
                                                          "expect",
                                                          "keep-alive",
                                                          "proxy-connection"};
  return std::ranges::find(kReserved, lowered(name)) != kReserved.end();
}

bool is_header_value(std::string_view value) {
  return std::ranges::none_of(value, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

std::unexpected<Error> ConfigMember::refuse(std::string what, std::string why,
                                            std::string fix) const {
  return fail(ErrorId::kConfigInvalid, std::move(what),
              {.where = fmt::format("{}.{}", server_place_, name_),
               .why = std::move(why),
               .fix = std::move(fix)});
}

Result<std::string> ConfigMember::string() const {
  if (!value_.is_string()) return refuse(fmt::format("\"{}\" must be a string", name_));
  auto text = value_.get<std::string>();
  if (text.empty()) return refuse(fmt::format("\"{}\" must not be empty", name_));
  if (text.find('\0') != std::string::npos) {
    return refuse(fmt::format("\"{}\" must not contain a NUL byte", name_));
  }
  return text;
}

Result<bool> ConfigMember::boolean() const {
  if (!value_.is_boolean()) return refuse(fmt::format("\"{}\" must be true or false", name_));
  return value_.get<bool>();
}

Result<std::vector<std::string>> ConfigMember::strings() const {
  std::vector<std::string> out;
  if (!value_.is_array()) return refuse(fmt::format("\"{}\" must be an array of strings", name_));
  for (const auto& element : value_) {
    if (!element.is_string()) {
      return refuse(fmt::format("\"{}\" must hold strings alone", name_), "",
                    fmt::format("write \"{}\"", to_text(element).substr(0, 40)));
    }
    out.push_back(element.get<std::string>());
    if (out.back().find('\0') != std::string::npos) {
      return refuse(fmt::format("\"{}\" must not contain a NUL byte", name_));
    }
  }
  return out;
}

Result<std::map<std::string, std::string>> ConfigMember::string_map() const {
  std::map<std::string, std::string> out;
  if (!value_.is_object()) {
    return refuse(fmt::format("\"{}\" must be an object of strings", name_));
  }
  for (const auto& [key, element] : value_.items()) {
    if (!element.is_string()) {
      return refuse(fmt::format("the value of \"{}\" must be a string", key), "",
                    element.is_structured()
                        ? std::string()
                        : fmt::format("\"{}\": \"{}\"", key, to_text(element).substr(0, 40)));
    }
    out.emplace(key, element.get<std::string>());
  }
  return out;
}

Result<std::map<std::string, std::string>> ConfigMember::environment() const {
  auto out = string_map();
  if (!out) return out;
  for (const auto& [key, value] : *out) {
    if (key.empty() || key.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
      return refuse(fmt::format("\"{}\" is no name for a variable", key));
    }
    if (value.find('\0') != std::string::npos) {
      return refuse(fmt::format("the value of \"{}\" must not contain a NUL byte", key));
    }
  }
  return out;
}

Result<std::map<std::string, std::string>> ConfigMember::headers() const {
  auto out = string_map();
  if (!out) return out;
  for (const auto& [key, value] : *out) {
    if (!is_header_name(key)) return refuse(fmt::format("\"{}\" is no name for a header", key));
    if (is_reserved_header(key)) {
      return refuse(fmt::format("the header \"{}\" is set by the transport", key));
    }
    if (!is_header_value(value)) {
      return refuse(fmt::format("the header \"{}\" must not contain control characters", key),
                    "a line break would start a header of its own");
    }
  }
  return out;
}

Result<std::chrono::milliseconds> ConfigMember::duration() const {
  const auto wrong = [this] {
    return refuse(fmt::format("\"{}\" must be 1 ms to a day", name_), "",
                  R"(write it with its unit: "30s", "500ms", "2m" or "1h")");
  };
  std::int64_t count = 0;
  if (value_.is_string()) {
    constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kUnits = {
        {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"min", 60'000}, {"h", 3'600'000}}};
    const auto& text = value_.get_ref<const std::string&>();
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, count);
    std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
    if (unit.starts_with(' ')) unit.remove_prefix(1);
    const auto known = std::ranges::find(kUnits, unit, &decltype(kUnits)::value_type::first);
    if (parsed.ec != std::errc() || known == kUnits.end() || count < 1 ||
        count > kMaxTimeoutMs / known->second)
      return wrong();
    return std::chrono::milliseconds(count * known->second);
  }
  if (!value_.is_number_integer() || value_.get<double>() < 1 ||
      value_.get<double>() > static_cast<double>(kMaxTimeoutMs))
    return wrong();
  count = value_.get<std::int64_t>();
  if (count < kLeastBareMs)
    return refuse(fmt::format("\"{}\": {} may be seconds or milliseconds", name_, count),
                  "a bare number is milliseconds here, and seconds in some clients",
                  fmt::format("write \"{0}s\" or \"{0}ms\"", count));
  return std::chrono::milliseconds(count);
}

OrderedJson duration_json(std::chrono::milliseconds time) {
  if (time.count() >= kLeastBareMs) return time.count();
  return fmt::format("{}ms", time.count());
}

}  // namespace mcpac::mcp
