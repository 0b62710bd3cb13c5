// SPDX-License-Identifier: Apache-2.0

// URLs: host, scheme, port and ip tests of one argument, read together.
#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/uri_spelling.h"
#include "policy/match/host_pattern.h"
#include "policy/match/matcher.h"
#include "policy/match/readings.h"
#include "policy/match/url.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {
namespace {

Checked<IpNetwork> network(const std::string& text, ast::Offset at) {
  const auto parsed = IpNetwork::parse(text);
  if (parsed) return *parsed;
  return complain(ErrorId::kRuleSyntax, at, fmt::format("'{}' is not a network", printable(text)),
                  "a network is an address, '/' and a prefix, with no bits set behind the prefix",
                  "e.g. 10.1.0.0/16 or ::1/128");
}

struct UrlTests {
  // Nothing: not tested. Each inner list stands for one test in the text; all must hold.
  std::vector<std::vector<HostPattern>> hosts;
  std::vector<std::vector<std::string>> schemes;
  std::vector<std::vector<Decimal>> ports;
  std::vector<std::vector<IpNetwork>> networks;
  std::vector<HostPattern> excepted_hosts;
  std::vector<IpNetwork> excepted_networks;
};

template <class Lists, class Holds>
bool each_has_one(const Lists& lists, Holds holds) {
  return std::ranges::all_of(lists,
                             [&](const auto& list) { return std::ranges::any_of(list, holds); });
}

class UrlMatcher final : public Matcher {
 public:
  explicit UrlMatcher(UrlTests tests) : tests_(std::move(tests)) {}
  Outcome match(const Json& value, const CallView& call) const override {
    if (!value.is_string()) return Outcome::kWrongType;
    const auto& text = value.get_ref<const std::string&>();
    if (call.reading == Reading::kAdmit) return admission(listed_urls(text)).outcome;
    // An empty text names no host, whatever the argument is called.
    if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) <= 0x20; }))
      return Outcome::kFail;
    UrlReadings own;
    if (any_holds(url_readings(value, call, own))) return Outcome::kPass;
    const bool is_readable = call.any_string || read_url(text, PathMust::kBeAnything).has_value() ||
                             read_url_of_user(text).has_value();
    return is_readable ? Outcome::kFail : Outcome::kUnreadable;
  }
  // Of a list the entry that fails.
  std::optional<Json> taken_for(const Json& value, const CallView& call) const override {
    if (call.reading != Reading::kAdmit || !value.is_string()) return std::nullopt;
    const auto urls = listed_urls(value.get_ref<const std::string&>());
    const auto [outcome, failing] = admission(urls);
    if (outcome == Outcome::kPass || failing == 0) return std::nullopt;
    return Json(urls[failing]);
  }
  Types types() const override { return kStringType; }

 private:
  struct Admission {
    Outcome outcome = Outcome::kPass;
    std::size_t entry = 0;
  };
  // To an allow: each entry of a list, also of the one that the text that is sent would be.
  [[nodiscard]] Admission admission(const std::vector<std::string_view>& urls) const {
    for (std::size_t i = 0; i < urls.size(); ++i) {
      const auto url = read_url(urls[i]);
      const bool is_coded = urls[i].contains('%');
      if (!url || (is_coded && listed_urls(url->sent_text()).size() > 1))
        return {Outcome::kUnreadable, i};
      if (!holds(*url, Reading::kAdmit)) return {Outcome::kFail, i};
    }
    return {};
  }

  // To a deny or an ask: any reading is enough.
  [[nodiscard]] bool any_holds(const UrlReadings& readings) const {
    constexpr auto kCatch = Reading::kCatch;
    return readings.unclear ||
           std::ranges::any_of(readings.urls, [&](const Url& url) { return holds(url, kCatch); }) ||
           (names_hosts() && std::ranges::any_of(readings.hosts, [&](const NamedHost& host) {
              return may_hold(host, kCatch);
            }));
  }

  // A name with a dot may be a file's or a version's: it is a host to rules that say which.
  [[nodiscard]] bool names_hosts() const { return !tests_.networks.empty() || says_which(); }
  [[nodiscard]] bool says_which() const {
    return std::ranges::any_of(tests_.hosts, [](const auto& patterns) {
      return std::ranges::none_of(patterns, [](const HostPattern& p) { return p.name.empty(); });
    });
  }

  // What the text leaves open, its scheme and its port, is as the test wants it.
  [[nodiscard]] bool may_hold(const NamedHost& named, Reading reading) const {
    const auto is_scheme = [&](const std::string& scheme) {
      return named.scheme == scheme || named.scheme.starts_with(scheme + "+") ||
             named.scheme.ends_with("+" + scheme);
    };
    if (!named.scheme.empty() && !each_has_one(tests_.schemes, is_scheme)) return false;
    const auto is_port = [&](const Decimal& port) {
      return !named.port || port == Decimal::of(Json(*named.port));
    };
    return each_has_one(tests_.ports, is_port) && host_holds(named.host, reading);
  }

  [[nodiscard]] bool holds(const Url& url, Reading reading) const {
    if (!each_has_one(tests_.schemes, [&](const auto& scheme) { return scheme == url.scheme; }))
      return false;
    if (tests_.ports.empty()) {
      if (reading == Reading::kAdmit && url.port != url.default_port) return false;
    } else if (!each_has_one(tests_.ports, [port = Decimal::of(Json(url.port))](const auto& p) {
                 return p == port;
               })) {
      return false;
    }
    return host_holds(url.host, reading);
  }

  [[nodiscard]] bool host_holds(const Host& host, Reading reading) const {
    const auto* name = std::get_if<std::string>(&host);
    if (name != nullptr && !is_localhost(*name)) return name_holds(*name, reading);
    // An address without an 'ip' test is never admitted, and caught by a test on scheme or port
    // alone.
    if (!tests_.hosts.empty()) return false;
    if (tests_.networks.empty()) return reading == Reading::kCatch;
    const auto reached =
        name == nullptr ? addresses_reached(std::get<IpAddress>(host)) : addresses_reached(*name);
    const auto is_held = [&](const IpAddress& one) { return address_holds(one, reading); };
    return reading == Reading::kAdmit ? std::ranges::all_of(reached, is_held)
                                      : std::ranges::any_of(reached, is_held);
  }

  [[nodiscard]] bool name_holds(const std::string& name, Reading reading) const {
    const auto covers = [&](const HostPattern& p) { return p.covers(name); };
    const bool is_named =
        each_has_one(tests_.hosts, covers) && std::ranges::none_of(tests_.excepted_hosts, covers);
    if (reading == Reading::kCatch && tests_.networks.empty()) return is_named;
    if (!is_named || (reading == Reading::kAdmit && !tests_.networks.empty())) return false;
    const auto reached = addresses_reached(name);
    if (reading == Reading::kCatch) {
      return std::ranges::any_of(reached,
                                 [&](const IpAddress& one) { return address_holds(one, reading); });
    }
    // A name that leads inside is none of "all names": an allow says it.
    return reached.empty() || (!tests_.hosts.empty() && says_which());
  }

  [[nodiscard]] bool address_holds(const IpAddress& address, Reading reading) const {
    const auto covers = [&](const IpNetwork& n) {
      return reading == Reading::kAdmit ? n.admits(address) : n.contains(address);
    };
    return each_has_one(tests_.networks, covers) &&
           std::ranges::none_of(tests_.excepted_networks,
                                [&](const auto& n) { return n.contains(address); });
  }

  UrlTests tests_;
};

Checked<void> add(UrlTests& tests, const ast::Test& test) {
  if (const auto* hosts = std::get_if<ast::HostTest>(&test.body)) {
    std::vector<HostPattern> patterns;
    for (const auto& text : hosts->hosts) {
      auto pattern = host_pattern(text, test.at);
      if (!pattern) return std::unexpected(pattern.error());
      patterns.push_back(std::move(*pattern));
    }
    tests.hosts.push_back(std::move(patterns));
  } else if (const auto* ip = std::get_if<ast::IpTest>(&test.body)) {
    std::vector<IpNetwork> networks;
    for (const auto& text : ip->networks) {
      auto parsed = network(text, test.at);
      if (!parsed) return std::unexpected(parsed.error());
      networks.push_back(*parsed);
    }
    tests.networks.push_back(std::move(networks));
  } else if (const auto* schemes = std::get_if<ast::SchemeTest>(&test.body)) {
    auto& allowed = tests.schemes.emplace_back();
    for (const auto& scheme : schemes->schemes) {
      allowed.push_back(lowered(scheme));
      if (default_port(allowed.back()) != 0) continue;
      return complain(test.at,
                      fmt::format("URLs of the scheme '{}' are always refused", printable(scheme)),
                      "schemes: http, https, ws, wss, ftp");
    }
  } else if (const auto* ports = std::get_if<ast::PortTest>(&test.body)) {
    std::vector<Decimal> values;
    for (const auto& port : ports->ports) {
      const bool whole = port.spelling.find_first_not_of("0123456789") == std::string::npos;
      if (!whole || port.value > Decimal::of(Json(65535))) {
        return complain(test.at, fmt::format("'{}' is not a port", port.spelling),
                        "a port is a whole number up to 65535");
      }
      values.push_back(port.value);
    }
    tests.ports.push_back(std::move(values));
  }
  return {};
}

}  // namespace

bool is_url_test(const ast::Test& test) {
  return std::holds_alternative<ast::HostTest>(test.body) ||
         std::holds_alternative<ast::SchemeTest>(test.body) ||
         std::holds_alternative<ast::PortTest>(test.body) ||
         std::holds_alternative<ast::IpTest>(test.body);
}

bool is_text_in_url(const ast::Test& test, const std::vector<ast::Test>& all) {
  const auto* equal = std::get_if<ast::EqualTest>(&test.body);
  const bool compares_text = std::holds_alternative<ast::TextTest>(test.body) ||
                             std::holds_alternative<ast::InTest>(test.body) ||
                             (equal != nullptr && equal->sense == ast::EqualTest::Sense::kEqual);
  return compares_text && std::ranges::any_of(all, is_url_test);
}

Checked<MatcherPtr> compile_url(const std::vector<ast::Test>& tests,
                                const std::vector<ast::Exception>& exceptions) {
  UrlTests compiled;
  for (const auto& test : tests) {
    if (auto added = add(compiled, test); !added) return std::unexpected(added.error());
  }
  if (!compiled.hosts.empty() && !compiled.networks.empty()) {
    return complain(tests.front().at, "'host' and 'ip' on one argument can never both hold",
                    "a host is a name or an address", "write two rules");
  }
  for (const auto& exception : exceptions) {
    if (const auto* host = std::get_if<ast::HostException>(&exception.body)) {
      auto pattern = host_pattern(host->host, exception.at);
      if (!pattern) return std::unexpected(pattern.error());
      compiled.excepted_hosts.push_back(std::move(*pattern));
    } else if (const auto* ip = std::get_if<ast::NetworkException>(&exception.body)) {
      auto parsed = network(ip->network, exception.at);
      if (!parsed) return std::unexpected(parsed.error());
      compiled.excepted_networks.push_back(*parsed);
    } else {
      return complain(exception.at, "an exception of a URL test names hosts or networks", "",
                      "e.g. host *.example.com except {www.example.com}");
    }
  }
  return std::make_unique<UrlMatcher>(std::move(compiled));
}

}  // namespace mcpac::policy
