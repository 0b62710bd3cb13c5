#include "execute/servers/server_places.h"

#include <utility>

namespace mcpac::execute {

void ConfinedRules::set(PlacesOfServers places) {
  const std::scoped_lock alone(mutex_);
  places_ = std::move(places);
}

ServerPlaces ConfinedRules::of(const std::string& server) const {
  const std::scoped_lock alone(mutex_);
  const auto found = places_.find(server);
  return found == places_.end() ? ServerPlaces{} : found->second;
}

PlacesOfServers ConfinedRules::all() const {
  const std::scoped_lock alone(mutex_);
  return places_;
}

PlacesOfServers places_of_servers(const Project& project, const codegen::Lock& /*lock*/,
                                  const policy::Authority& authority) {
  PlacesOfServers places;
  for (const auto& server : project.config.servers) {
    if (!server.sandbox) continue;
    ServerPlaces& one = places[server.name];
    one.network_denied = authority.network_denied();
  }
  return places;
}

void give_places(const Project& project, PlacesOfServers places) {
  if (project.confined) project.confined->set(std::move(places));
}

PlacesOfServers given_places(const Project& project) {
  return project.confined ? project.confined->all() : PlacesOfServers{};
}

}  // namespace mcpac::execute
