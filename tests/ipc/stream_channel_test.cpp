#include "ipc/stream_channel.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

using namespace mcpac;
using namespace std::chrono_literals;
using ipc::CloseCause;
using ipc::SendStatus;
using ipc::StreamChannel;

namespace {

struct Ends {
  UniqueFd ours;
  UniqueFd peer;
};

Ends socket_pair() {
  int fds[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Ends pipe_ends() {  // {read, write}
  int fds[2];
  REQUIRE(::pipe2(fds, O_CLOEXEC) == 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

void put(const UniqueFd& fd, std::string_view text) {
  REQUIRE(::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

std::string take(const UniqueFd& fd, std::size_t at_most = 65536) {
  std::string out(at_most, '\0');
  const auto n = ::read(fd.get(), out.data(), out.size());
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

// A channel with everything that it says written down.
struct Heard {
  boost::asio::io_context loop;
  std::shared_ptr<StreamChannel> channel;
  std::vector<std::string> lines;
  std::optional<CloseCause> closed;
  int drained = 0;
  int failed_writes = 0;

  void start() {
    channel->start({.on_line = [this](std::string_view line) { lines.emplace_back(line); },
                    .on_closed = [this](const ipc::CloseReason& reason) { closed = reason.cause; },
                    .on_drained = [this] { ++drained; },
                    .on_write_failed = [this] { ++failed_writes; }});
  }
  void work() {
    loop.restart();
    loop.poll();
  }
};

}  // namespace

TEST_SUITE("ipc/stream_channel") {
  TEST_CASE("lines go both ways over one socket") {
    auto ends = socket_pair();
    Heard heard;
    heard.channel = StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours));
    heard.start();
    put(ends.peer, "one\ntwo\nthr");
    heard.work();
    CHECK(heard.lines == std::vector<std::string>{"one", "two"});
    put(ends.peer, "ee\n");
    heard.work();
    CHECK(heard.lines.back() == "three");
    CHECK(heard.channel->send("answer") == SendStatus::kSent);
    CHECK(take(ends.peer) == "answer\n");
  }

  TEST_CASE("descriptors that the peer does not take are counted, until it does") {
    auto ends = socket_pair();
    Heard heard;
    heard.channel = StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours));
    heard.start();
    while (heard.channel->send(std::string(4096, 'x')) == SendStatus::kSent) continue;
    CHECK(heard.channel->queued_descriptors() == 0);
    for (int i = 0; i < 2; ++i) {
      auto carried = socket_pair();
      CHECK(heard.channel->send("with", std::move(carried.peer)) == SendStatus::kQueued);
    }
    CHECK(heard.channel->queued_descriptors() == 2);
    while (heard.channel->queued_bytes() > 0) {
      REQUIRE_FALSE(take(ends.peer).empty());
      heard.work();
    }
    CHECK(heard.channel->queued_descriptors() == 0);
  }

  TEST_CASE("lines go both ways over a pipe pair") {
    auto in = pipe_ends();
    auto out = pipe_ends();
    Heard heard;
    heard.channel = StreamChannel::over_pair(heard.loop.get_executor(), std::move(in.ours),
                                             std::move(out.peer));
    heard.start();
    put(in.peer, "hello\n");
    heard.work();
    CHECK(heard.lines == std::vector<std::string>{"hello"});
    CHECK(heard.channel->send("there") == SendStatus::kSent);
    CHECK(take(out.ours) == "there\n");
  }

  TEST_CASE("the end of the stream says whether a line was cut off") {
    for (const bool cut : {false, true}) {
      auto ends = socket_pair();
      Heard heard;
      heard.channel = StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours));
      heard.start();
      put(ends.peer, cut ? "whole\nhalf" : "whole\n");
      ends.peer.reset();
      heard.work();
      CHECK(heard.lines == std::vector<std::string>{"whole"});
      CHECK(heard.closed == (cut ? CloseCause::kTruncated : CloseCause::kEnd));
      CHECK(heard.channel->is_closed());
    }
  }

  TEST_CASE("a line over the limit closes the channel") {
    auto ends = socket_pair();
    Heard heard;
    heard.channel = StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours),
                                               {.max_line = 10});
    heard.start();
    put(ends.peer, "fine\n" + std::string(11, 'x'));
    heard.work();
    CHECK(heard.lines == std::vector<std::string>{"fine"});
    CHECK(heard.closed == CloseCause::kOverLong);
    CHECK(heard.channel->send("late") == SendStatus::kClosed);
  }

  TEST_CASE("a peer that does not read fills the queue to its limit and no further") {
    auto ends = socket_pair();
    Heard heard;
    heard.channel = StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours),
                                               {.max_line = ipc::kMaxLine, .max_queued = 100'000});
    heard.start();
    std::string expected;
    SendStatus status = SendStatus::kSent;
    for (int i = 0; status != SendStatus::kFull; ++i) {
      const std::string line = std::to_string(i) + std::string(5'000, '.');
      status = heard.channel->send(line);
      if (status != SendStatus::kFull) expected += line + "\n";
      REQUIRE(i < 10'000);
    }
    CHECK(heard.channel->queued_bytes() <= 100'000);
    CHECK(heard.drained == 0);
    std::string got;
    while (got.size() < expected.size()) {
      got += take(ends.peer, 30'000);
      heard.work();
    }
    CHECK(got == expected);
    CHECK(heard.drained == 1);
    CHECK(heard.channel->queued_bytes() == 0);
    CHECK(heard.channel->send("again") == SendStatus::kSent);
  }

  TEST_CASE("a line that has not begun to go can be taken out, and the others go on") {
    auto ends = socket_pair();
    Heard heard;
    heard.channel = StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours));
    heard.start();
    const std::string begun(3'000'000, 'a');
    CHECK(heard.channel->send(begun) == SendStatus::kQueued);
    CHECK(heard.channel->send(std::string(1'000'000, 'b')) == SendStatus::kQueued);
    CHECK(heard.channel->send("c") == SendStatus::kQueued);
    CHECK(heard.channel->sent_lines() == 0);
    CHECK_FALSE(heard.channel->take_out(1));
    const std::size_t queued = heard.channel->queued_bytes();
    CHECK(heard.channel->take_out(2));
    CHECK_FALSE(heard.channel->take_out(2));
    CHECK_FALSE(heard.channel->take_out(4));
    CHECK(heard.channel->queued_bytes() == queued - 1'000'001);
    CHECK(heard.channel->accepted_lines() == 3);
    const std::string expected = begun + "\nc\n";
    std::string got;
    while (got.size() < expected.size()) {
      got += take(ends.peer);
      heard.work();
    }
    CHECK(got == expected);
    CHECK(heard.channel->sent_lines() == 3);
    CHECK(heard.channel->send("d") == SendStatus::kSent);
    CHECK(heard.channel->sent_lines() == 4);
  }

  TEST_CASE("one line over the queue's limit is sent when nothing waits before it") {
    auto ends = socket_pair();
    Heard heard;
    heard.channel = StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours),
                                               {.max_line = ipc::kMaxLine, .max_queued = 10});
    heard.start();
    const std::string line(3'000'000, 'z');
    CHECK(heard.channel->send(line) == SendStatus::kQueued);
    std::string got;
    while (got.size() < line.size() + 1) {
      got += take(ends.peer);
      heard.work();
    }
    CHECK(got == line + "\n");
  }

  TEST_CASE("writing to a peer that is gone is no signal, over a socket and over a pipe") {
    struct sigaction before {};
    struct sigaction deadly {};
    deadly.sa_handler = SIG_DFL;
    ::sigaction(SIGPIPE, &deadly, &before);
    auto ends = socket_pair();
    Heard heard;
    heard.channel = StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours));
    ends.peer.reset();
    heard.start();
    CHECK(heard.channel->send("x") == SendStatus::kClosed);
    CHECK_FALSE(heard.closed.has_value());  // not out of send() itself
    heard.work();
    CHECK(heard.closed.has_value());

    auto in = pipe_ends();
    auto out = pipe_ends();
    Heard pair;
    pair.channel =
        StreamChannel::over_pair(pair.loop.get_executor(), std::move(in.ours), std::move(out.peer));
    pair.start();
    out.ours.reset();
    SUBCASE("is told at once where it is written to") {
      CHECK(pair.channel->send("x") == SendStatus::kClosed);
      CHECK(pair.failed_writes == 0);  // not out of send() itself
      put(in.peer, "last words\n");
    }
    SUBCASE("and later of lines that were queued") {
      put(in.peer, "last ");
      pair.work();
      CHECK(pair.channel->send_between_lines("x") == SendStatus::kQueued);
      put(in.peer, "words\n");
      pair.work();
      CHECK(pair.channel->queued_bytes() == 0);
    }
    in.peer.reset();
    pair.work();
    CHECK(pair.failed_writes == 1);
    CHECK(pair.lines == std::vector<std::string>{"last words"});
    CHECK(pair.closed == CloseCause::kEnd);
    ::sigaction(SIGPIPE, &before, nullptr);
  }

  TEST_CASE("of the lines of one turn the first goes at once, and the others together") {
    auto ends = socket_pair();
    Heard heard;
    heard.channel =
        StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours), {.gathers = 3});
    heard.start();
    CHECK(heard.channel->send("one") == SendStatus::kSent);
    CHECK(heard.channel->send("two") == SendStatus::kQueued);
    CHECK(heard.channel->send("three") == SendStatus::kQueued);
    CHECK(take(ends.peer) == "one\n");
    CHECK(heard.drained == 0);
    SUBCASE("at the end of the turn") {
      heard.work();
      CHECK(take(ends.peer) == "two\nthree\n");
      CHECK(heard.drained == 1);
      CHECK(heard.channel->send("four") == SendStatus::kSent);
      heard.work();
      CHECK(heard.drained == 1);
    }
    SUBCASE("when there are as many as go together, and then the queue is empty, too") {
      CHECK(heard.channel->send("four") == SendStatus::kSent);
      CHECK(take(ends.peer) == "two\nthree\nfour\n");
      heard.work();
      CHECK(heard.drained == 1);
    }
    SUBCASE("when what waits is large") {
      CHECK(heard.channel->send(std::string(70'000, 'x')) == SendStatus::kSent);
      CHECK(take(ends.peer, 1'000'000).size() == 10 + 70'001);
    }
    SUBCASE("when the channel is closed, or has no owner any more") {
      SUBCASE("") {
        heard.channel->close();
      }
      SUBCASE("") {
        heard.channel.reset();
      }
      CHECK(take(ends.peer) == "two\nthree\n");
      heard.work();
      CHECK(heard.drained == 0);
    }
    SUBCASE("before our side ends") {
      heard.channel->finish_writing();
      heard.work();
      CHECK(take(ends.peer) == "two\nthree\n");
      CHECK(take(ends.peer).empty());
    }
  }

  TEST_CASE("a line that goes between lines waits while one of the peer's is here only in part") {
    auto ends = socket_pair();
    Heard heard;
    heard.channel = StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours));
    heard.start();
    CHECK(heard.channel->send_between_lines("before") == SendStatus::kSent);
    CHECK(take(ends.peer) == "before\n");
    put(ends.peer, "whole\nhalf");
    heard.work();
    CHECK(heard.channel->send_between_lines("one") == SendStatus::kQueued);
    CHECK(heard.channel->send_between_lines("two") == SendStatus::kQueued);
    heard.work();
    CHECK(heard.channel->queued_bytes() == 8);
    SUBCASE("until that is whole") {
      put(ends.peer, "\nhalf");
      heard.work();
      CHECK(heard.channel->queued_bytes() == 8);
      put(ends.peer, "\n");
      heard.work();
      CHECK(heard.lines == std::vector<std::string>{"whole", "half", "half"});
      CHECK(take(ends.peer) == "one\ntwo\n");
      CHECK(heard.drained == 1);
    }
    SUBCASE("not for long") {
      heard.loop.restart();
      while (heard.channel->queued_bytes() > 0) REQUIRE(heard.loop.run_one_for(10s) > 0);
      CHECK(take(ends.peer) == "one\ntwo\n");
    }
    SUBCASE("nor when another goes, and stays in its place then") {
      CHECK(heard.channel->send("three") == SendStatus::kSent);
      CHECK(take(ends.peer) == "one\ntwo\nthree\n");
    }
    SUBCASE("and can be taken out meanwhile") {
      CHECK(heard.channel->take_out(heard.channel->accepted_lines()));
      put(ends.peer, "\n");
      heard.work();
      CHECK(take(ends.peer) == "one\n");
    }
    SUBCASE("and goes before our side ends") {
      SUBCASE("") {
        heard.channel->finish_writing();
      }
      SUBCASE("") {
        heard.channel->close();
      }
      SUBCASE("") {
        heard.channel.reset();
      }
      CHECK(take(ends.peer) == "one\ntwo\n");
      CHECK(take(ends.peer).empty());
    }
  }

  TEST_CASE("no callback comes after close, not even for lines that were already read") {
    auto ends = socket_pair();
    boost::asio::io_context loop;
    auto channel = StreamChannel::over_socket(loop.get_executor(), std::move(ends.ours));
    int lines = 0;
    bool closed = false;
    channel->start({.on_line =
                        [&](std::string_view) {
                          ++lines;
                          channel->close();
                        },
                    .on_closed = [&](const ipc::CloseReason&) { closed = true; },
                    .on_drained = {}});
    put(ends.peer, "one\ntwo\nthree\n");
    ends.peer.reset();
    loop.run();
    CHECK(lines == 1);
    CHECK_FALSE(closed);
  }

  TEST_CASE("the last owner may let go inside a callback") {
    auto ends = socket_pair();
    boost::asio::io_context loop;
    auto channel = StreamChannel::over_socket(loop.get_executor(), std::move(ends.ours));
    int lines = 0;
    channel->start({.on_line =
                        [&](std::string_view) {
                          ++lines;
                          channel.reset();
                        },
                    .on_closed = {},
                    .on_drained = {}});
    put(ends.peer, "one\n");
    loop.run();
    CHECK(lines == 1);
    CHECK(take(ends.peer).empty());  // closed
  }

  TEST_CASE("a paused channel reads nothing, a resumed one goes on where it was") {
    auto ends = socket_pair();
    Heard heard;
    heard.channel = StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours));
    heard.channel->start({.on_line =
                              [&](std::string_view line) {
                                heard.lines.emplace_back(line);
                                heard.channel->pause_reading();
                              },
                          .on_closed = [&](const ipc::CloseReason& r) { heard.closed = r.cause; },
                          .on_drained = {}});
    put(ends.peer, "one\ntwo\n");
    ends.peer.reset();
    heard.work();
    CHECK(heard.lines.size() == 1);
    heard.channel->resume_reading();
    CHECK(heard.lines.size() == 1);  // not out of resume_reading() itself
    heard.work();
    CHECK(heard.lines.size() == 2);
    CHECK_FALSE(heard.closed.has_value());
    heard.channel->resume_reading();
    heard.work();
    CHECK(heard.closed == CloseCause::kEnd);
  }

  TEST_CASE("finish_writing sends what waits, then ends our side alone") {
    auto ends = socket_pair();
    Heard heard;
    heard.channel = StreamChannel::over_socket(heard.loop.get_executor(), std::move(ends.ours));
    heard.start();
    const std::string line(1'000'000, 'q');
    CHECK(heard.channel->send(line) == SendStatus::kQueued);
    heard.channel->finish_writing();
    CHECK(heard.channel->send("late") == SendStatus::kClosed);
    std::string got;
    for (std::string piece = take(ends.peer); !piece.empty(); piece = take(ends.peer)) {
      got += piece;
      heard.work();
    }
    CHECK(got == line + "\n");
    put(ends.peer, "still heard\n");
    heard.work();
    CHECK(heard.lines == std::vector<std::string>{"still heard"});
  }
}
