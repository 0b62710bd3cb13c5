// Lookups: blocking look-ups of names on threads of their own, for a loop that must not wait.
//
// A name server can take half a minute and cannot be interrupted, so nobody joins these threads:
// once closed, what they still find out is dropped, and they touch nothing but their own state. How
// many there are, and how many names wait for one, is bounded. All of it but the look-up itself is
// on the loop's thread; `found` is called once, never inside ask().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "core/error.h"
#include "execute/network/names.h"

namespace mcpac::execute {

struct LookupLimits {
  std::size_t at_once = 16;
  std::size_t waiting = 64;
};
using LookUp = std::function<Result<Addresses>(const std::string&)>;

class Lookups {
 public:
  using Found = std::function<void(Result<Addresses>)>;
  // `look_up` is called on several threads at once, and may be after this is gone.
  Lookups(boost::asio::any_io_executor executor, LookUp look_up, LookupLimits limits = {});
  ~Lookups();
  Lookups(const Lookups&) = delete;
  Lookups& operator=(const Lookups&) = delete;

  // kNetworkName when too many are asked for; then `found` is not called.
  [[nodiscard]] Result<void> ask(std::string name, Found found);
  // Tells everybody who waits that it was given up, and answers nothing after that.
  void close();

 private:
  struct State;    // shared with the threads
  struct Waiting;  // who waits for what: the loop's alone
  void leave_alone();
  static void work(const std::shared_ptr<State>& state, const std::weak_ptr<Waiting>& waiting);

  std::shared_ptr<State> state_;
  std::shared_ptr<Waiting> waiting_;
  LookupLimits limits_;
};

}  // namespace mcpac::execute
