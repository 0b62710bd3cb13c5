// A real socket pair with the door at one end and the test, which writes raw bytes as a hostile
// program would, at the other. One thread: the test turns the loop by hand.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "gate/agent_door.h"
#include "gate/support_gate.h"

namespace mcpac::gate::testing {

class Wire {
 public:
  explicit Wire(const World::Options& options = {}, DoorLimits limits = {});

  // Writes all of it, turning the loop while the socket is full. Stops when the door has closed.
  void write(std::string_view bytes);
  void send(const Json& message) { write(to_text(message) + "\n"); }
  // The next line that the door sent. Fails the test when none comes.
  std::string read_line();
  Json read() { return Json::parse(read_line()); }
  // Everything up to the end of the stream; fails the test when that does not come.
  std::string read_to_end();
  // Turns the loop until the condition holds; fails the test when it does not (generously) soon.
  void until(const std::function<bool()>& condition);
  // Turns the loop until everything that was written before has been handled: a ping and its
  // answer.
  void settle();
  // The upstream answers as soon as it can: after the loop has turned once.
  void answer_everything();

  [[nodiscard]] int fd() const { return peer.get(); }

  boost::asio::io_context loop;
  World world;
  UniqueFd peer;  // our end
  std::shared_ptr<AgentDoor> door;
  std::vector<std::string> logs;
  std::vector<Json> results;
  std::vector<Uncaught> uncaught;
  Json given = Json::object();  // the run's arguments
  int told = 0;                 // how often the program was
  std::string closed_because;
  int closed = 0;

 private:
  bool pull();

  std::string received_;
  bool ended_ = false;
};

[[nodiscard]] Json tool_call(const Json& id, std::string_view name,
                             Json arguments = Json::object());

}  // namespace mcpac::gate::testing
