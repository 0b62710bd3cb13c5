// SPDX-License-Identifier: Apache-2.0

#include "gateway/http/event_stream.h"

#include <utility>

namespace mcpac::gateway::http {

EventStream::EventStream(std::uint64_t number, std::shared_ptr<ClientShare> share)
    : number_(number), share_(std::move(share)), place_(share_->enlist()) {}

EventStream::~EventStream() {
  share_->keep(place_, *this, kept_, 0);
  share_->release(bytes_);
}

void EventStream::push(Event event) {
  bytes_ += event.line.size();
  share_->hold(event.line.size());
  answered_ = answered_ || event.is_answer;
  events_.push_back(std::make_shared<const Event>(std::move(event)));
  count_kept();
  changed();
}

std::shared_ptr<const Event> EventStream::at(std::uint64_t place) const {
  if (place < first_ || place >= next_place()) return nullptr;
  return events_[static_cast<std::size_t>(place - first_)];
}

void EventStream::abandon() {
  abandoned_ = true;
  changed();
}

EventStream::Ticket EventStream::attach(std::function<void()> on_change) {
  const auto before = std::exchange(on_change_, std::move(on_change));
  const Ticket ticket = ++reader_;
  count_kept();
  if (before) before();
  return ticket;
}

void EventStream::detach(Ticket ticket) {
  if (!is_reader(ticket)) return;
  on_change_ = nullptr;
  count_kept();
}

void EventStream::count_kept() {
  const std::size_t now = has_reader() ? 0 : bytes_;
  share_->keep(place_, *this, kept_, now);
  kept_ = now;
}

void EventStream::shrink(std::size_t bytes) {
  while (bytes_ > bytes && events_.size() > 1) drop_front();
}

void EventStream::drop_taken() {
  while (!events_.empty() && first_ < taken_) drop_front();
}

void EventStream::drop_all() {
  while (!events_.empty()) drop_front();
}

void EventStream::drop_front() {
  const std::size_t size = events_.front()->line.size();
  events_.pop_front();
  ++first_;
  bytes_ -= size;
  count_kept();
  share_->release(size);
}

void EventStream::changed() {
  const auto heard = on_change_;
  if (heard) heard();
}

}  // namespace mcpac::gateway::http
