#include "places.h"

namespace mcpac::testing {
namespace {

std::string under(const char* folder, std::string_view place) {
  return place.empty() ? folder : std::string(folder).append("/").append(place);
}

}  // namespace

std::string in_source(std::string_view place) {
  return under(MCPAC_SOURCE_DIR, place);
}

std::string in_build(std::string_view place) {
  return under(MCPAC_BUILD_DIR, place);
}

}  // namespace mcpac::testing
