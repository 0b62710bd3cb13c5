// Pace: what servers announce by themselves reaches clients in measure.
//
// A server decides how often it says that something changed, and a client's connection must not
// fill with it. The first announcement of a kind is passed on at once, those that follow within a
// quarter of a second as one, at its end: nothing that changed last is missed. On the loop's
// thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace mcpac::gateway {

class Pace {
 public:
  explicit Pace(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  // `key` tells announcements apart. Of too many different ones at once the rest is dropped.
  void tell(const std::string& key, std::function<void()> tell);
  [[nodiscard]] std::size_t count() const { return told_.size(); }

 private:
  struct Told {
    boost::asio::steady_timer timer;
    std::function<void()> next;  // null: nothing came since
  };
  void rest(const std::string& key);

  boost::asio::any_io_executor executor_;
  std::map<std::string, std::unique_ptr<Told>> told_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpac::gateway
