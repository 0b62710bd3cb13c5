// SPDX-License-Identifier: Apache-2.0

// The network of confined servers: the destinations of an entry's "network", and nothing else.
//
// The network namespace of such a server leads nowhere. On sockets of that namespace, bound before
// the server starts and handed to us by its keeper, this process listens: on a port of 127.0.0.1
// for what speaks to proxies (proxy_talk.h), on the ports that the entry names for what connects
// directly (there every address is the namespace's own, and the socket says which one was meant),
// and on port 53 of 127.0.0.1 for names, which lead to addresses that stand for them. Each
// destination takes the way of a program's own connection (gate/network_gate.h): decided by name,
// looked up here, every address decided again, dialled, recorded. Nothing of the server is read but
// bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "audit/log.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json.h"
#include "network/resolver.h"
#include "policy/layers.h"
#include "sandbox/sandbox.h"

namespace mcpac::servers {

// Whether the authority behind the start lets servers reach the network at all (`deny network`).
enum class ServersReach : std::uint8_t { kAsTheirEntries, kNothing };

struct ServerNetwork {
  std::string server;
  std::string file;  // that has its entry
  std::vector<policy::LayerText> layers{};
  // For direct connections: the ports that its places name, and of places with any port those of
  // the web.
  std::vector<std::uint16_t> ports{};
  std::uint16_t proxy_port = 0;
};

// `places` as the entry has them. An error names the place that is none.
[[nodiscard]] Result<ServerNetwork> network_of_server(const std::string& server,
                                                      const std::string& file,
                                                      const std::vector<std::string>& places,
                                                      ServersReach reach);
// Its sockets, and the variables that lead to the proxy where the entry has not set them. The
// arguments begin with the keeper's name for itself (src/mcp/keeper_main.cpp).
void give_network(const ServerNetwork& network, sandbox::Spec& spec);

// The connections of the confined servers of a project, on a thread of its own that starts with the
// first of them: the starter of servers may wait while they are served. Any thread.
class ServerConnections {
 public:
  // `audit_folder`: for the records of servers that have connections while no run has their record.
  // `resolver`: null for the system's.
  using MakeResolver =
      std::function<std::shared_ptr<network::Resolver>(boost::asio::any_io_executor)>;
  explicit ServerConnections(std::filesystem::path audit_folder, MakeResolver resolver = nullptr);
  ~ServerConnections();  // ends all
  ServerConnections(const ServerConnections&) = delete;
  ServerConnections& operator=(const ServerConnections&) = delete;

  // One start of a server. Destroying it ends its connections and closes its sockets.
  class Session;
  // `sockets`: those of give_network(), in their order. `standard_error`: the server's own, where
  // refusals are told, once a destination; or none.
  [[nodiscard]] Result<std::unique_ptr<Session>> serve(ServerNetwork network,
                                                       std::vector<UniqueFd> sockets,
                                                       UniqueFd standard_error);

  // Connections that begin from here on are recorded there; it is borrowed, and null ends those
  // that it has the record of, and with them every use of it.
  void record_in(audit::Sink* log);

  // Hears what servers were refused, each destination of a start once, with what to write; called
  // on the thread of the connections. What was refused before is kept for it, up to a number of
  // each server, and so is what was noted.
  // `is_bounded`: a note, whose number for one server is limited; refusals may be many, as each
  // start begins anew.
  using Tell = std::function<void(const std::string& text, bool is_bounded)>;
  void tell_refusals(Tell tell);

  // Something else of a server that its user hears. Each kind of each server has a number of notes
  // of its own, for its lifetime here: of many failed calls no new name goes untold. Past it one
  // note says that more are not told.
  struct Note {
    enum class Kind : std::uint8_t { kFailedCall, kNewName, kUnseen };
    Kind kind = Kind::kFailedCall;
    std::string server;
    std::string key;   // what it is about; each is told once
    std::string text;  // a sentence
    Json anomaly;      // further members of its record
  };
  static constexpr std::size_t kMostFailedCalls = 32;
  static constexpr std::size_t kMostNewNames = 4096;
  static constexpr std::size_t kMostUnseen = 256;
  // The record of a run has it, where one is, else a record of the server's own, which has its
  // notes alone: an Anomaly with these members. Told on the thread of the connections, and kept for
  // who hears it later.
  void note(Note note);

  struct Loop;  // of the file alone

 private:
  std::shared_ptr<Loop> loop_;
};

class ServerConnections::Session {
 public:
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  struct State;  // of the file alone

 private:
  friend class ServerConnections;
  Session(std::shared_ptr<Loop> loop, std::shared_ptr<State> state);
  std::shared_ptr<Loop> loop_;
  std::shared_ptr<State> state_;
};

}  // namespace mcpac::servers
