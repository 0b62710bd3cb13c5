#include "policy/compare/compare_places.h"

#include <algorithm>

#include "policy/decide/decide_places.h"

namespace mcpac::policy {
namespace {

using Layers = std::vector<CompiledLayer>;

Permission permission_of(const char* text) {
  return Permission::parse(text).value();
}

// An example that the place covers, with a port where it leaves that open: an unlikely one, so that
// it stands for all.
struct Destination {
  std::string host;
  std::uint16_t port;
};
constexpr std::uint16_t kSomePort = 61'616;

Destination example_of(const CompiledNetwork& place) {
  const std::uint16_t port = place.port != 0 ? place.port : kSomePort;
  if (const auto* network = std::get_if<IpNetwork>(&place.hosts))
    return {to_text(network->first()), port};
  if (const auto* pattern = std::get_if<HostPattern>(&place.hosts)) {
    if (!pattern->name.empty())
      return {pattern->subdomains ? "any." + pattern->name : pattern->name, port};
  }
  return {"any.example", port};
}

void add_files(const Layers& wider, const Layers& narrower, std::vector<Inclusion>& beyond) {
  const auto outer = compiled_files_of(wider);
  for (const auto& place : compiled_files_of(narrower)) {
    if (std::ranges::any_of(outer, [&](const auto& one) { return covers(one, place); })) continue;
    Excess excess{permission_of(kFilesPermission),
                  {{"path", join(place.written)}, {"mode", to_string(place.mode)}},
                  Effect::kAllow,
                  Effect::kDeny,
                  {}};
    beyond.emplace_back(std::move(excess));
  }
}

void add_networks(const Layers& wider, const Layers& narrower, std::vector<Inclusion>& beyond) {
  const auto outer = networks_of(wider);
  for (const auto& place : networks_of(narrower)) {
    if (std::ranges::any_of(outer, [&](const auto& one) { return covers(one, place); })) continue;
    const auto example = example_of(place);
    if (decide_network(wider, example.host, example.port).allowed ||
        !decide_network(narrower, example.host, example.port).allowed) {
      beyond.emplace_back(
          Undecided{permission_of(kNetworkPermission), "no single place covers " + place.host});
      continue;
    }
    beyond.emplace_back(Excess{permission_of(kNetworkPermission),
                               {{"host", example.host}, {"port", example.port}},
                               Effect::kAllow,
                               Effect::kDeny,
                               {}});
  }
}

}  // namespace

std::vector<Inclusion> places_beyond(const Layers& wider, const Layers& narrower) {
  std::vector<Inclusion> beyond;
  add_files(wider, narrower, beyond);
  add_networks(wider, narrower, beyond);
  return beyond;
}

}  // namespace mcpac::policy
