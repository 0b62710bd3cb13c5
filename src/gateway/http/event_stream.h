// SPDX-License-Identifier: Apache-2.0

// EventStream: events of one stream of a session, kept until they are taken, and a while longer.
//
// A connection that breaks loses what was on its way; a client of the `initialize` era may come
// back and say what it saw last (Last-Event-ID). What is kept is bounded: what does not fit is
// dropped from the front, and a client that asks for it is told so instead of being left with a gap
// that it does not know of. One reader at a time; the latest one wins. What it holds is counted in
// its guest's share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "gateway/http/client_share.h"

namespace mcpac::gateway::http {

struct Event {
  std::string line;  // one JSON-RPC message
  bool is_answer = false;
  std::int64_t error_code = 0;
};

class EventStream {
 public:
  EventStream(std::uint64_t number, std::shared_ptr<ClientShare> share);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  void push(Event event);
  // The event with this place, counted from 0; null: not yet, or no more. Its holder may write it,
  // whatever becomes of the stream meanwhile.
  [[nodiscard]] std::shared_ptr<const Event> at(std::uint64_t place) const;
  // Handed to the client, as far as a connection can tell. untaken(): the first that was not.
  // A connection that another has replaced may come late with it.
  void take(std::uint64_t place) { taken_ = std::max(taken_, place + 1); }
  [[nodiscard]] std::uint64_t untaken() const { return taken_ < first_ ? first_ : taken_; }
  // It was said, and is not kept any more.
  [[nodiscard]] bool is_lost(std::uint64_t place) const { return place < first_; }
  [[nodiscard]] std::uint64_t next_place() const { return first_ + events_.size(); }
  // Nothing follows the answer.
  [[nodiscard]] bool is_answered() const { return answered_; }
  // No answer will come.
  void abandon();
  [[nodiscard]] bool is_abandoned() const { return abandoned_; }

  // The reader is called when something was pushed; the reader before hears of it, too, and finds
  // that it is the reader no more.
  using Ticket = std::uint64_t;
  [[nodiscard]] Ticket attach(std::function<void()> on_change);
  void detach(Ticket ticket);
  [[nodiscard]] bool is_reader(Ticket ticket) const { return ticket == reader_; }
  [[nodiscard]] bool has_reader() const { return on_change_ != nullptr; }

  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // Lets go of the oldest events until so many bytes are kept, at least the newest.
  void shrink(std::size_t bytes);
  // Lets go of those that were taken.
  void drop_taken();
  // Lets go of all: a client that comes back for them is told so.
  void drop_all();

 private:
  void changed();
  void drop_front();
  // Unread events are kept for a client that comes back, and counted as that.
  void count_kept();

  std::uint64_t number_;
  std::shared_ptr<ClientShare> share_;
  std::uint64_t place_;
  std::deque<std::shared_ptr<const Event>> events_;
  std::uint64_t first_ = 0;  // the place of the first that is kept
  std::uint64_t taken_ = 0;
  std::size_t bytes_ = 0;
  std::size_t kept_ = 0;  // of them, as they were counted
  std::function<void()> on_change_;
  Ticket reader_ = 0;
  bool answered_ = false;
  bool abandoned_ = false;
};

}  // namespace mcpac::gateway::http
