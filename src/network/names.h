// SPDX-License-Identifier: Apache-2.0

// Addresses of a host's name, asked of this machine.
//
// Names are asked for as they were decided, whole: a name server is asked with the final dot, so
// that no search domain of the machine is hung on. /etc/hosts is read here, because glibc does not
// find names with that dot there. Blocking, for threads of their own (ipc/lookups.h).
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/error.h"
#include "ipc/name_service.h"

namespace mcpac::network {

using Addresses = ipc::Addresses;

struct NameSources {
  std::filesystem::path hosts = "/etc/hosts";
  // Asks the name service for exactly this text, "api.example.com."; null: getaddrinfo.
  std::function<Result<Addresses>(const std::string&)> ask = nullptr;
};

// `name` is canonical (gate::DialPlan). In the order in which they are to be tried, each once,
// never none. kNetworkName.
[[nodiscard]] Result<Addresses> look_up(const std::string& name, const NameSources& sources = {});

}  // namespace mcpac::network
