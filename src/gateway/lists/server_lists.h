// ServerLists: cache of the servers' lists besides tools, kept while they are fresh.
//
// One for a gateway: nothing of a client is in it, and who may see which entry is decided later
// (offer_view.h). Everything that a server can make long is bounded (list_reading.h), and so is how
// long clients wait for it (list_patience.h): a server that is not in time has what it had, and its
// list is read on, all pages within the server's `timeout`. Where none is known, or the server says
// that it changed, it is also read in the background; what then comes is told to the clients that
// were shown less. A list that did not change is the one that there was: what was worked out from
// it holds on. On the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/clock.h"
#include "core/json.h"
#include "gate/servers.h"
#include "gateway/lists/known_list.h"
#include "gateway/lists/list_kind.h"
#include "gateway/lists/list_patience.h"
#include "gateway/lists/list_reading.h"

namespace mcpac::gateway {

// Null: it is not known what the server has.
using ServerList = std::shared_ptr<const KnownList>;
using ListsByServer = std::map<std::string, ServerList>;

class ServerLists {
 public:
  // Hears, once, of a server that does not answer, and why a list of one is not read.
  using Warning = std::function<void(const std::string&)>;
  // `servers` and `clock` are borrowed.
  ServerLists(gate::Servers& servers, boost::asio::any_io_executor executor, const Clock& clock,
              Warning warning = nullptr, const ListPatience::Spans& spans = {})
      : servers_(servers),
        executor_(std::move(executor)),
        clock_(clock),
        warning_(std::move(warning)),
        spans_(spans) {}

  // The lists of these servers, asked for where they are not fresh. `done` may come at once.
  void get(ListKind kind, const std::set<std::string>& servers,
           std::function<void(const ListsByServer&)> done);
  // Hears of a list that is another one than clients were shown: they would not know.
  using OnLate = std::function<void(const std::string& server, ListKind kind)>;
  void on_late(OnLate heard) { late_ = std::move(heard); }
  // So long a client's view of it was worked out, on the loop.
  void worked(const std::string& server, ListKind kind, std::chrono::nanoseconds time);
  // The server announces a change: what is kept is stale.
  void forget(const std::string& server, ListKind kind);
  // It may have changed unheard: read when it is time, and told where it did.
  void doubt(const std::string& server);
  // The server was started again.
  void began_anew(const std::string& server);

 private:
  using Done = std::function<void(const ServerList&)>;
  struct Slot {
    explicit Slot(const ListPatience::Spans& spans) : patience(spans) {}
    ServerList list;
    std::chrono::steady_clock::time_point fresh_until;
    std::shared_ptr<ListReading> reading;              // the server is being asked
    std::vector<Done> waiting;                         // for that
    gate::Servers::RequestToken token = 0;             // of its page that is asked for
    std::unique_ptr<boost::asio::steady_timer> timer;  // of this reading
    std::chrono::milliseconds left{0};                 // for it when that has expired
    std::chrono::steady_clock::time_point begun;
    bool is_unseen = false;    // no client may wait for this reading
    bool is_late = false;      // no client waits for it any more
    bool is_outdated = false;  // it changed since it was last asked for
    bool is_missed = false;    // a client was shown a stale list, for want of a fresh one
    ListPatience patience;
    std::unique_ptr<boost::asio::steady_timer> again;  // when it is read in the background
    std::chrono::steady_clock::time_point again_at{};  // of that
  };
  using Key = std::pair<std::string, ListKind>;
  enum class Ended : std::uint8_t { kAnswered, kGaveNoList };

  void get_one(const Key& key, Done done);
  [[nodiscard]] bool may_be_asked(const Key& key) const;
  // A client gets the known list, which may be stale.
  void show_known(const Key& key, Slot& slot, const Done& done);
  void begin_reading(const Key& key, Slot& slot);
  // It is read at that time, with or without a waiter.
  void read_at(const Key& key, Slot& slot, std::chrono::steady_clock::time_point when);
  void read_now(const Key& key);
  // Unless this reading has ended by then.
  void after(const Key& key, Slot& slot, std::chrono::milliseconds time,
             void (ServerLists::*then)(const Key&));
  void read_page(const Key& key, const std::shared_ptr<ListReading>& reading, Json params);
  void add_page(const Key& key, const std::shared_ptr<ListReading>& reading, const Json& result);
  void stop_waiting(const Key& key);
  void give_up(const Key& key);
  void finish(const Key& key, Ended ended, ServerList list);
  void read_again(const Key& key, Slot& slot);
  void say_missing(const Key& key, Slot& slot, std::string_view why) const;
  static void tell(Slot& slot);

  gate::Servers& servers_;
  boost::asio::any_io_executor executor_;
  const Clock& clock_;
  Warning warning_;  // may be null
  OnLate late_;      // may be null
  ListPatience::Spans spans_;
  std::map<Key, Slot> slots_;
  // Answers may come when this object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpac::gateway
