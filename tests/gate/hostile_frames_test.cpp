// Raw frames, as a program sends them that ignores our runtime headers. Each gets an answer or a
// closed connection, never a call that was not granted.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gate/support_wire.h"

using namespace mcpac;
using namespace mcpac::gate;
using namespace mcpac::gate::testing;

namespace {

int error_code(const Json& answer) {
  return answer.at("error").at("code").get<int>();
}

// `fs.remove` is locked and granted, yet not declared; `fs.write` is declared and not granted.
constexpr const char* kForbidden = "fs.write";
const Json kArguments = {{"path", "/a"}, {"text", "x"}};

}  // namespace

TEST_SUITE(
    "enforces permissions at the IPC boundary against a program that writes raw frames itself") {
  TEST_CASE("grantedPermissions omitted: the host's own list decides") {
    Wire wire;
    wire.send(tool_call(1, kForbidden, kArguments));
    CHECK(error_code(wire.read()) == -32001);
    CHECK(wire.world.upstream.calls.empty());
    CHECK(wire.world.audit.of("Anomaly").empty());
  }

  TEST_CASE("grantedPermissions widened: ignored, answered normally and recorded") {
    Wire wire;
    Json call = tool_call(1, kForbidden, kArguments);
    SUBCASE("in params") {
      call["params"]["grantedPermissions"] = {kForbidden, "*.*"};
    }
    SUBCASE("in _meta") {
      call["params"]["_meta"] = {{"grantedPermissions", {kForbidden}}};
    }
    SUBCASE("beside params") {
      call["grantedPermissions"] = {kForbidden};
    }
    SUBCASE("in the arguments") {
      call["params"]["arguments"]["grantedPermissions"] = {kForbidden};
    }
    wire.send(call);
    CHECK(error_code(wire.read()) == -32001);
    CHECK(wire.world.upstream.calls.empty());
    CHECK(wire.world.audit.of("Anomaly").size() == 1);
  }

  TEST_CASE("grantedPermissions on a granted call changes nothing") {
    Wire wire;
    wire.answer_everything();
    Json call = tool_call(1, "git.commit");
    call["params"]["grantedPermissions"] = Json::array();
    wire.send(call);
    CHECK(wire.read().contains("result"));
    CHECK(wire.world.upstream.calls.at(0).arguments == Json::object());
    CHECK(wire.world.audit.of("Anomaly").size() == 1);
  }

  TEST_CASE("a text about grantedPermissions is no attempt to bring them") {
    Wire wire;
    wire.answer_everything();
    wire.send(
        tool_call(1, "git.commit", {{"message", "Remove \"grantedPermissions\": it did nothing"}}));
    CHECK(wire.read().contains("result"));
    wire.send(tool_call(2, "git.commit", {{"names", {"grantedPermissions"}}}));
    CHECK(wire.read().contains("result"));
    CHECK(wire.world.audit.of("Anomaly").empty());
  }

  TEST_CASE("a second process on the same descriptor has the run's authority and no more") {
    Wire wire;
    wire.answer_everything();
    // Made before the fork: a child of a test only writes and leaves.
    const std::string frames = to_text(tool_call("child-1", kForbidden, kArguments)) + "\n" +
                               to_text(tool_call("child-2", "git.commit")) + "\n";
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const ssize_t n = ::send(wire.fd(), frames.data(), frames.size(), MSG_NOSIGNAL);
      ::_exit(n == static_cast<ssize_t>(frames.size()) ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    wire.send(tool_call("parent", kForbidden, kArguments));
    CHECK(wire.read().at("id") == "child-1");
    std::vector<Json> rest = {wire.read(), wire.read()};
    int denied = 0;
    for (const Json& answer : rest) {
      if (answer.at("id") == "child-2") CHECK(answer.contains("result"));
      if (answer.at("id") == "parent") denied += static_cast<int>(error_code(answer) == -32001);
    }
    CHECK(denied == 1);
    CHECK(wire.world.upstream.calls.size() == 1);
  }

  TEST_CASE("a replayed id: refused while the first is in flight, an ordinary call afterwards") {
    Wire wire({.declared = {"git.commit"}, .grants = {"git.commit calls <= 2"}});
    wire.send(tool_call(1, "git.commit"));
    wire.send(tool_call(1, "git.commit"));
    CHECK(error_code(wire.read()) == -32600);
    CHECK(wire.world.upstream.calls.size() == 1);
    CHECK(wire.world.audit.of("Anomaly").size() == 1);
    wire.world.upstream.answer(0, text_result("first"));
    CHECK(wire.read().at("result") == text_result("first"));
    // The number is free again. The budget is not.
    wire.send(tool_call(1, "git.commit"));
    wire.until([&] { return wire.world.upstream.calls.size() == 2; });
    wire.world.upstream.answer(1, text_result("second"));
    CHECK(wire.read().at("result") == text_result("second"));
    wire.send(tool_call(1, "git.commit"));
    CHECK(error_code(wire.read()) == -32001);
    CHECK(wire.world.upstream.calls.size() == 2);
  }

  TEST_CASE("ids of one number and one text are two ids") {
    Wire wire;
    wire.send(tool_call(1, "git.commit"));
    wire.send(tool_call("1", "git.commit"));
    wire.until([&] { return wire.world.upstream.calls.size() == 2; });
    wire.world.upstream.answer(1, text_result("text"));
    CHECK(wire.read().at("id") == "1");
  }

  TEST_CASE("duplicate keys are refused, wherever they stand") {
    Wire wire;
    for (
        const std::string frame : {
            R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs.write","name":"git.commit"}})",
            R"({"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"git.commit"}})",
            R"({"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"git.commit"}})",
            R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs.read","arguments":{"path":"/a","p\u0061th":"/b"}}})",
        }) {
      CAPTURE(frame);
      wire.write(frame + "\n");
      const Json answer = wire.read();
      CHECK(error_code(answer) == -32700);
      // By its one id; two are none.
      CHECK(answer.at("id") == (frame.contains(R"("id":2)") ? Json() : Json(1)));
    }
    CHECK(wire.world.upstream.calls.empty());
  }

  TEST_CASE(
      "a frame of 100 MiB is answered with an error, the connection closed, and nothing called") {
    Wire wire;
    const std::string piece(std::size_t{1} << 20U, 'x');
    wire.write(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"git.commit","arguments":{"a":")");
    for (int i = 0; i < 100 && wire.closed == 0; ++i) wire.write(piece);
    wire.until([&] { return wire.closed == 1; });
    const Json answer = Json::parse(wire.read_to_end());
    CHECK(error_code(answer) == -32600);
    CHECK(answer.at("id").is_null());
    CHECK(wire.world.upstream.calls.empty());
    CHECK(wire.world.audit.of("Anomaly").size() == 1);
  }

  TEST_CASE("half a frame, then silence: the connection is closed, and nothing called") {
    Wire wire({}, {.partial_frame = std::chrono::milliseconds(20)});
    const std::string frame = to_text(tool_call(1, "git.commit"));
    wire.write(frame.substr(0, frame.size() / 2));
    wire.until([&] { return wire.closed == 1; });
    CHECK(error_code(Json::parse(wire.read_to_end())) == -32600);
    CHECK(wire.world.upstream.calls.empty());
  }

  TEST_CASE("a connection that is silent between frames stays open") {
    Wire wire({}, {.partial_frame = std::chrono::milliseconds(5)});
    wire.settle();
    for (int i = 0; i < 10; ++i) {
      wire.loop.restart();
      wire.loop.run_one();  // the watch looks
    }
    CHECK(wire.closed == 0);
    wire.settle();
  }

  TEST_CASE("half a frame, then the end: nothing is called") {
    Wire wire;
    // Whole but for its newline: what has no end is no frame.
    wire.write(to_text(tool_call(1, "git.commit")));
    REQUIRE(::shutdown(wire.fd(), SHUT_WR) == 0);
    wire.until([&] { return wire.closed == 1; });
    CHECK(wire.world.upstream.calls.empty());
  }

  TEST_CASE("frames that are no request get an error and never a call") {
    struct Row {
      std::string frame;
      int code;
    };
    Wire wire;
    for (
        const Row& row : std::vector<Row>{
            {"", -32700},
            {"not json", -32700},
            {"{\"jsonrpc\":\"2.0\",", -32700},
            {"null", -32600},
            {"7", -32600},
            {"[]", -32600},
            {"[" + to_text(tool_call(1, "git.commit")) + "]", -32600},
            {R"({"id":1,"method":"tools/call","params":{"name":"git.commit"}})", -32600},
            {R"({"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"git.commit"}})",
             -32600},
            {R"({"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"git.commit"}})",
             -32600},
            {R"({"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"git.commit"}})",
             -32600},
            {R"({"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"git.commit"}})",
             -32600},
            {R"({"jsonrpc":"2.0","id":99999999999999999999,"method":"tools/call","params":{"name":"git.commit"}})",
             -32600},
            {R"({"jsonrpc":"2.0","id":1,"method":["tools/call"],"params":{"name":"git.commit"}})",
             -32600},
            {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":["git.commit"]})", -32600},
            {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","result":{},"params":{"name":"git.commit"}})",
             -32600},
            {"{\"jsonrpc\":\"2.0\",\"id\":\"" + std::string(300, 'i') +
                 "\",\"method\":\"tools/call\",\"params\":{\"name\":\"git.commit\"}}",
             -32600},
            {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
             "call\",\"params\":{\"name\":\"git.commit\",\"arguments\":" +
                 std::string(5000, '[') + std::string(5000, ']') + "}}",
             -32600},
            {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
             "call\",\"params\":{\"name\":\"git.commit\xff\"}}",
             -32700},
        }) {
      CAPTURE(row.frame.substr(0, 200));
      wire.write(row.frame + "\n");
      CHECK(error_code(wire.read()) == row.code);
    }
    CHECK(wire.world.upstream.calls.empty());
    CHECK(wire.closed == 0);
  }

  TEST_CASE("a call without an id is a notification, recorded and never made") {
    Wire wire;
    wire.write(R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"git.commit"}})"
               "\n");
    wire.settle();
    CHECK(wire.world.upstream.calls.empty());
    CHECK(wire.world.audit.of("Anomaly").size() == 1);
  }

  TEST_CASE("responses of the program are ignored and recorded") {
    Wire wire;
    wire.send(tool_call(1, "git.commit"));
    wire.write(R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})"
               "\n"
               R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}})"
               "\n"
               R"({"jsonrpc":"2.0","id":1,"error":{}})"
               "\n");
    wire.send({{"jsonrpc", "2.0"}, {"id", "next"}, {"method", "ping"}});
    CHECK(wire.read().at("id") == "next");  // an answer to an answer could go on for ever
    CHECK(wire.door->calls_in_flight() == 1);
    CHECK(wire.world.audit.of("Anomaly").size() == 3);
  }

  TEST_CASE("a program that sends nothing but nonsense is thrown out") {
    Wire wire;
    std::string nonsense;
    for (int i = 0; i < 100; ++i) nonsense += "nonsense\n";
    wire.write(nonsense);
    wire.until([&] { return wire.closed == 1; });
    wire.send(tool_call(1, "git.commit"));
    CHECK(wire.world.upstream.calls.empty());
  }

  TEST_CASE("a forged runtime object gains nothing") {
    // Whatever a program builds in its own memory, all that it can do with it is to write frames.
    Wire wire;
    wire.send({{"jsonrpc", "2.0"},
               {"id", 1},
               {"method", "tools/call"},
               {"runtime", {{"permissions", {"*.*"}}, {"token", "admin"}}},
               {"params",
                {{"name", kForbidden},
                 {"arguments", kArguments},
                 {"permissions", {kForbidden}},
                 {"capability", {{"fs", {"write"}}}},
                 {"declared", {kForbidden}},
                 {"run_id", "another"},
                 {"mode", "observe"}}}});
    CHECK(error_code(wire.read()) == -32001);
    CHECK(wire.world.upstream.calls.empty());
  }

  TEST_CASE("descriptors that are sent along are not received") {
    Wire wire;
    std::array<int, 2> pipe_ends{};
    REQUIRE(::pipe(pipe_ends.data()) == 0);
    UniqueFd read_end(pipe_ends[0]);
    UniqueFd write_end(pipe_ends[1]);
    std::string frame = R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                        "\n";
    iovec part{frame.data(), frame.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int passed = write_end.get();
    std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
    REQUIRE(::sendmsg(wire.fd(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(frame.size()));
    CHECK(wire.read().at("id") == 1);
    // Nobody else holds the pipe: with our copy gone it is at its end.
    write_end.reset();
    char byte = 0;
    CHECK(::read(read_end.get(), &byte, 1) == 0);
  }
}

TEST_SUITE("gate/property") {
  // Seeds are fixed: a failure can be had again.
  TEST_CASE("random bytes never reach the upstream") {
    std::mt19937 random(20'240'611);
    for (int round = 0; round < 30; ++round) {
      CAPTURE(round);
      Wire wire({}, {.max_malformed = 1'000'000});
      std::string bytes(20'000, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random() & 0xffU);
      wire.write(bytes + "\n");
      wire.until([&] {
        wire.loop.restart();
        return wire.loop.poll() == 0;
      });
      CHECK(wire.world.upstream.calls.empty());
    }
  }

  TEST_CASE("a damaged frame never becomes a call to what is not granted") {
    std::mt19937 random(7);
    // The only granted tool is the one that is not in the frame.
    Wire wire({.declared = {"fs.read", "fs.write", "fs.remove"}, .grants = {"git.commit"}},
              {.max_malformed = 1'000'000});
    const std::string frame = to_text(tool_call(1, "fs.read", {{"path", "/a"}}));
    for (int round = 0; round < 3000; ++round) {
      std::string damaged = frame;
      for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
        const std::size_t at = random() % damaged.size();
        switch (random() % 4) {
          case 0: damaged[at] = static_cast<char>(random() & 0x7fU); break;
          case 1: damaged.erase(at, 1 + random() % 3); break;
          case 2: damaged.insert(at, 1, static_cast<char>(random() & 0xffU)); break;
          default:
            damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 20));
            break;
        }
        if (damaged.empty()) damaged = "{";
      }
      wire.write(damaged + "\n");
      static_cast<void>(wire.loop.poll());
      while (true) {
        std::array<char, 4096> drop{};
        if (::recv(wire.fd(), drop.data(), drop.size(), MSG_DONTWAIT) <= 0) break;
      }
    }
    CHECK(wire.world.upstream.calls.empty());
    for (const Json& check : wire.world.audit.of("CapabilityCheck"))
      CHECK(check.at("allowed") == false);
  }

  TEST_CASE("a frame cut at any place into two writes is the same frame") {
    Wire wire;
    wire.answer_everything();
    const std::string frame = to_text(tool_call(1, "fs.read", {{"path", "/ä"}})) + "\n";
    for (std::size_t cut = 1; cut < frame.size(); ++cut) {
      wire.write(frame.substr(0, cut));
      wire.loop.restart();
      wire.loop.poll();
      wire.write(frame.substr(cut));
      CHECK(wire.read().contains("result"));
    }
    CHECK(wire.world.upstream.calls.size() == frame.size() - 1);
  }
}
