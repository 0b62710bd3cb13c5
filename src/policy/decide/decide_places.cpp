// SPDX-License-Identifier: Apache-2.0

#include "policy/decide/decide_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/shell_quote.h"
#include "policy/match/url.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {
namespace {

using Layers = std::vector<CompiledLayer>;

bool is_special(const IpAddress& address) {
  return std::ranges::any_of(special_ranges(),
                             [&](const IpNetwork& range) { return range.contains(address); });
}

// Does `inner` name nothing but addresses of one special range?
bool is_within_special(const IpNetwork& inner) {
  return std::ranges::any_of(special_ranges(), [&](const IpNetwork& range) {
    return range.contains(inner.first()) && range.contains(inner.last());
  });
}

bool covers_hosts(const CompiledNetwork& outer, const CompiledNetwork& inner) {
  const auto* inner_net = std::get_if<IpNetwork>(&inner.hosts);
  if (std::holds_alternative<AnyHost>(outer.hosts))
    return inner_net == nullptr || !is_within_special(*inner_net);
  if (const auto* outer_net = std::get_if<IpNetwork>(&outer.hosts)) {
    if (inner_net == nullptr) return false;
    const bool contains =
        outer_net->contains(inner_net->first()) && outer_net->contains(inner_net->last());
    return contains && (!is_within_special(*inner_net) || outer_net->admits(inner_net->first()));
  }
  const auto* inner_name = std::get_if<HostPattern>(&inner.hosts);
  return inner_name != nullptr && std::get<HostPattern>(outer.hosts).covers(*inner_name);
}

bool covers_port(const CompiledNetwork& place, std::uint16_t port) {
  return place.port == 0 || place.port == port;
}

// What both admit, or nothing. The hosts of one are always within those of the other, or the two
// have none in common; ports likewise.
std::optional<CompiledNetwork> intersect(const CompiledNetwork& a, const CompiledNetwork& b) {
  if (a.port != 0 && b.port != 0 && a.port != b.port) return std::nullopt;
  const bool a_is_inner = covers_hosts(b, a);
  if (!a_is_inner && !covers_hosts(a, b)) return std::nullopt;
  CompiledNetwork both = a_is_inner ? a : b;
  both.port = a.port != 0 ? a.port : b.port;
  return both;
}

std::optional<CompiledFiles> intersect(const CompiledFiles& a, const CompiledFiles& b) {
  const bool a_is_inner = a.lies_within(b);
  if (!a_is_inner && !b.lies_within(a)) return std::nullopt;
  CompiledFiles both = a_is_inner ? a : b;
  both.mode = std::min(a.mode, b.mode);
  return both;
}

// Of all pairs; what another covers is left out, the first of equals stays.
template <class Place>
std::vector<Place> reduced(const std::vector<Place>& places) {
  std::vector<Place> kept;
  for (std::size_t i = 0; i < places.size(); ++i) {
    bool is_covered = false;
    for (std::size_t j = 0; j < places.size() && !is_covered; ++j) {
      if (i == j || !covers(places[j], places[i])) continue;
      is_covered = j < i || !covers(places[i], places[j]);
    }
    if (!is_covered) kept.push_back(places[i]);
  }
  return kept;
}

template <class Place>
std::vector<Place> intersect(const std::vector<Place>& all, const std::vector<Place>& more) {
  std::vector<Place> both;
  for (const auto& a : all) {
    for (const auto& b : more) {
      if (auto common = intersect(a, b)) both.push_back(std::move(*common));
    }
  }
  return reduced(both);
}

// Of one layer after the other, as long as something is left. `stopped_by`, where given, is told
// which layer left nothing.
template <class Place, class PlacesOf, class IsDeclared>
std::vector<Place> admitted_by_all(const Layers& layers, PlacesOf places_of, IsDeclared is_declared,
                                   const CompiledLayer** stopped_by = nullptr) {
  std::optional<std::vector<Place>> all;
  for (const auto& layer : layers) {
    const auto& declared = layer.places.declared;
    if (declared && is_declared(*declared)) continue;
    const std::vector<Place> own = declared ? std::vector<Place>() : places_of(layer);
    all = all ? intersect(*all, own) : reduced(own);
    if (!all->empty()) continue;
    if (stopped_by != nullptr) *stopped_by = &layer;
    return {};
  }
  return all.value_or(std::vector<Place>());
}

std::vector<CompiledFiles> admitted_files(const Layers& layers,
                                          const CompiledLayer** stopped_by = nullptr) {
  return admitted_by_all<CompiledFiles>(
      layers, [](const CompiledLayer& layer) { return layer.places.files; },
      [](const DeclaredPlaces& declared) { return declared.files; }, stopped_by);
}

std::vector<CompiledNetwork> admitted_networks(const Layers& layers,
                                               const CompiledLayer** stopped_by = nullptr) {
  return admitted_by_all<CompiledNetwork>(
      layers, [](const CompiledLayer& layer) { return layer.places.networks; },
      [](const DeclaredPlaces& declared) { return declared.network; }, stopped_by);
}

const CompiledLayer* denying_network(const Layers& layers) {
  const auto found = std::ranges::find_if(
      layers, [](const auto& layer) { return layer.places.network_denied_in.has_value(); });
  return found == layers.end() ? nullptr : &*found;
}

// Whether a person may be told to grant it: the program chose the text, which could be a pattern
// ("*") or, pasted into a shell, a command.
bool is_plain_destination(std::string_view destination) {
  return std::ranges::all_of(destination, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
  });
}

// An answer of all layers; each must have a place that `covers`.
template <class Covers>
NetworkAnswer ask_layers(const Layers& layers, const std::string& destination, Covers covers) {
  NetworkAnswer answer;
  if (layers.empty()) {
    answer.reason = "nothing is granted";
    return answer;
  }
  if (const auto* layer = denying_network(layers)) {
    answer.layer = layer->name;
    answer.said_in = *layer->places.network_denied_in;
    answer.reason = "it is denied by 'deny network'";
    return answer;
  }
  std::size_t refused = 0;
  for (const auto& layer : layers) {
    const auto& places = layer.places;
    if (places.declared) {
      if (places.declared->network) continue;
      return {.reason = fmt::format("{} is not declared", kNetworkPermission),
              .said_in = {},
              .layer = layer.name,
              .would_grant = {}};
    }
    const auto found = std::ranges::find_if(places.networks, covers);
    if (found != places.networks.end()) {
      if (answer.said_in.empty()) answer.said_in = found->said_in;
      continue;
    }
    if (refused++ == 0) {
      answer.layer = layer.name;
      answer.reason = fmt::format("nothing in {} allows {}", layer.name, destination);
    }
  }
  answer.allowed = refused == 0;
  if (answer.allowed) return answer;
  answer.said_in.clear();
  // A flag is of use only where the run's own layer is what refuses.
  if (refused == 1 && answer.layer == layers.front().name && is_plain_destination(destination))
    answer.would_grant = "--network " + shell_quoted(destination);
  return answer;
}

// Of addresses none but those that a statement names; public ones also by `network any`.
NetworkAnswer ask_for_address(const Layers& layers, const IpAddress& address, std::uint16_t port,
                              AddressOf whose = AddressOf::kOthers) {
  const std::string text = to_text(address);
  const bool is_private = whose == AddressOf::kThisMachine || is_special(address);
  const auto covers = [&](const CompiledNetwork& place) {
    if (!covers_port(place, port)) return false;
    if (const auto* network = std::get_if<IpNetwork>(&place.hosts)) return network->admits(address);
    return std::holds_alternative<AnyHost>(place.hosts) && !is_private;
  };
  auto answer = ask_layers(layers, fmt::format("{}:{}", text, port), covers);
  const auto refusing = std::ranges::find(layers, answer.layer, &CompiledLayer::name);
  const bool has_any =
      refusing != layers.end() &&
      std::ranges::any_of(refusing->places.networks, [port](const CompiledNetwork& place) {
        return covers_port(place, port) && std::holds_alternative<AnyHost>(place.hosts);
      });
  // A user may have taken that statement for all there is.
  if (!answer.allowed && answer.said_in.empty() && is_private && has_any)
    answer.reason += ": `network any` is for public addresses";
  return answer;
}

NetworkAnswer ask_for_name(const Layers& layers, const std::string& name, std::uint16_t port) {
  return ask_layers(layers, fmt::format("{}:{}", name, port), [&](const CompiledNetwork& place) {
    if (!covers_port(place, port)) return false;
    if (const auto* pattern = std::get_if<HostPattern>(&place.hosts)) return pattern->covers(name);
    return std::holds_alternative<AnyHost>(place.hosts);
  });
}

NetworkAnswer refuse(std::string reason) {
  NetworkAnswer answer;
  answer.reason = std::move(reason);
  return answer;
}

// IPv6 may stand without square brackets: a program names hosts, not URLs.
std::optional<Host> host_of(std::string_view host) {
  if (host.find(':') != std::string_view::npos && !host.starts_with('['))
    return read_host(fmt::format("[{}]", host));
  return read_host(host);
}

bool is_loopback(const IpAddress& address) {
  return address.v4 ? address.bytes[0] == 127 : address == *parse_ipv6("::1");
}

}  // namespace

bool covers(const CompiledFiles& outer, const CompiledFiles& inner) {
  return inner.lies_within(outer) && inner.mode <= outer.mode;
}

bool covers(const CompiledNetwork& outer, const CompiledNetwork& inner) {
  return covers_hosts(outer, inner) && (outer.port == 0 || outer.port == inner.port);
}

std::vector<CompiledFiles> compiled_files_of(const Layers& layers) {
  return admitted_files(layers);
}

std::vector<FilePlace> files_of(const Layers& layers) {
  std::vector<FilePlace> files;
  for (const auto& place : admitted_files(layers))
    files.push_back({join(place.written), place.mode, place.said_in, join(place.real)});
  std::ranges::sort(files, {}, &FilePlace::path);
  return files;
}

std::vector<CompiledNetwork> networks_of(const Layers& layers) {
  if (denying_network(layers) != nullptr) return {};
  return admitted_networks(layers);
}

std::optional<PlaceRefusal> refusal_of(const Layers& layers, PlaceKind kind) {
  if (layers.empty()) return PlaceRefusal{{}, "nothing is granted"};
  const bool is_files = kind == PlaceKind::kFiles;
  if (const auto* layer = is_files ? nullptr : denying_network(layers))
    return PlaceRefusal{layer->name, "denied by " + *layer->places.network_denied_in, true};
  const CompiledLayer* stopped_by = nullptr;
  const bool is_empty = is_files ? admitted_files(layers, &stopped_by).empty()
                                 : admitted_networks(layers, &stopped_by).empty();
  if (!is_empty) return std::nullopt;
  if (stopped_by == nullptr) return PlaceRefusal{{}, "nothing is granted"};
  const auto& places = stopped_by->places;
  const bool is_silent = is_files ? places.files.empty() : places.networks.empty();
  const char* what = is_files ? "files" : "network";
  return PlaceRefusal{
      stopped_by->name,
      is_silent ? fmt::format("{} admits no {}", stopped_by->name, what)
                : fmt::format("{} admits none of the {} that was granted", stopped_by->name, what)};
}

NetworkAnswer decide_network(const Layers& layers, std::string_view text, std::uint16_t port) {
  if (port == 0) return refuse("0 is no port");
  const auto host = host_of(text);
  if (!host) return refuse(fmt::format("'{}' is not a host", printable(text)));
  if (const auto* address = std::get_if<IpAddress>(&*host))
    return ask_for_address(layers, *address, port);
  const auto& name = std::get<std::string>(*host);
  if (!is_localhost(name)) return ask_for_name(layers, name, port);
  auto v4 = ask_for_address(layers, *parse_ipv4("127.0.0.1"), port);
  return v4.allowed ? v4 : ask_for_address(layers, *parse_ipv6("::1"), port);
}

NetworkAnswer decide_address(const Layers& layers, std::string_view text, const IpAddress& dialled,
                             std::uint16_t port, AddressOf whose) {
  const IpAddress address = unwrap(dialled);
  auto answer = decide_network(layers, text, port);
  if (!answer.allowed) return answer;
  const auto host = host_of(text);
  if (const auto* named = std::get_if<IpAddress>(&*host)) {
    if (*named == address) {
      if (whose == AddressOf::kOthers) return answer;
      answer = ask_for_address(layers, address, port, whose);
      if (!answer.allowed)
        answer.reason = fmt::format("{} is {}, which must be granted by itself: {}",
                                    to_text(address), kOwnAddress, answer.reason);
      return answer;
    }
    return refuse(fmt::format("{} is not the address {}", to_text(address), printable(text)));
  }
  if (is_localhost(std::get<std::string>(*host))) {
    if (!is_loopback(address))
      return refuse(fmt::format("{} is not on this machine", to_text(address)));
    return ask_for_address(layers, address, port);
  }
  const bool is_inner = is_special(address);
  if (!is_inner && whose == AddressOf::kOthers) return answer;
  answer = ask_for_address(layers, address, port, whose);
  if (!answer.allowed) {
    answer.reason =
        fmt::format("{} leads to {}, {} that must be granted by itself: {}", printable(text),
                    to_text(address), is_inner ? "an address" : kOwnAddress, answer.reason);
    // The answer for the name chose the address.
    answer.would_grant.clear();
    answer.no_grant = fmt::format(
        "a name that was granted leads inside, and that is no reason to grant {}; if it is meant, "
        "grant the address by itself",
        to_text(address));
  }
  return answer;
}

}  // namespace mcpac::policy
