// Names are looked up whole, as they were decided.
#include "network/names.h"

#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <thread>

#include <boost/asio/io_context.hpp>

#include "core/file.h"
#include "network/host_dialer.h"

using namespace mcpac;
using namespace mcpac::network;
namespace asio = boost::asio;

namespace {

Addresses addresses(const std::vector<std::string>& texts) {
  Addresses list;
  for (const auto& text : texts) list.push_back(asio::ip::make_address(text));
  return list;
}

void turn_until(asio::io_context& loop, const std::function<bool()>& condition) {
  while (!condition()) {
    if (loop.poll() == 0) std::this_thread::yield();
    loop.restart();
  }
}

}  // namespace

TEST_SUITE("execute/names") {
  TEST_CASE("a name server is asked for the whole name, with its final dot") {
    std::string asked;
    const NameSources sources{.hosts = "/nowhere", .ask = [&](const std::string& name) {
                                asked = name;
                                return Result<Addresses>(addresses({"93.184.216.34"}));
                              }};
    for (const char* name : {"api.example.com", "db"}) {
      REQUIRE(look_up(name, sources));
      CHECK(asked == std::string(name) + ".");
    }
  }

  TEST_CASE("names of this machine's own list are found there, and nobody else is asked") {
    auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-hosts-");
    REQUIRE(folder);
    const auto hosts = folder->path() / "hosts";
    std::ofstream(hosts) << "# 10.0.0.1 commented\n"
                            "127.0.0.1\tlocalhost localhost.localdomain\n"
                            "10.1.2.3  Db.internal db # comment db2\n"
                            "no-address db\n"
                            "::1 localhost ip6-localhost\n"
                            "10.1.2.4 db\n"
                            "10.1.2.3 db";
    std::size_t asked = 0;
    const NameSources sources{.hosts = hosts, .ask = [&](const std::string&) {
                                ++asked;
                                return Result<Addresses>(Addresses{});
                              }};
    CHECK(look_up("localhost", sources).value() == addresses({"127.0.0.1", "::1"}));
    CHECK(look_up("db", sources).value() == addresses({"10.1.2.3", "10.1.2.4"}));
    CHECK(look_up("db.internal", sources).value() == addresses({"10.1.2.3"}));
    CHECK(asked == 0);
    for (const char* name : {"db2", "commented", "d"}) {
      const auto none = look_up(name, sources);
      REQUIRE_FALSE(none);
      CHECK(none.error().id == ErrorId::kNetworkName);
    }
    CHECK(asked == 3);
  }

  TEST_CASE("localhost and what is below it are this machine, whoever else says otherwise") {
    const NameSources sources{.hosts = "/nowhere", .ask = [](const std::string&) {
                                return Result<Addresses>(addresses({"93.184.216.34"}));
                              }};
    for (const char* name : {"localhost", "a.localhost"})
      CHECK(look_up(name, sources).value() == addresses({"127.0.0.1", "::1"}));
    CHECK(look_up("localhost"));  // as this machine is
  }

  TEST_CASE("a dialer that goes gives up what its resolver looks up") {
    asio::io_context loop;
    bool closed = false;
    struct Watched final : Resolver {
      explicit Watched(bool& flag) : closed(flag) {}
      asio::awaitable<Result<Addresses>> resolve(std::string) override { co_return Addresses{}; }
      void close() override { closed = true; }
      bool& closed;
    };
    std::make_unique<HostDialer>(loop.get_executor(), std::make_shared<Watched>(closed)).reset();
    CHECK(closed);
  }

  TEST_CASE("a machine that cannot make TLS says so to who asks for it, and serves the others") {
    asio::io_context loop;
    HostDialer dialer(loop.get_executor(), system_resolver(loop.get_executor()), nullptr, {}, [] {
      return TlsContext(fail(ErrorId::kServerTls, "cannot prepare TLS: no entropy"));
    });
    std::vector<Error> errors;
    const auto dial = [&](gate::Tls tls) {
      gate::DialPlan plan;
      plan.host = "127.0.0.1";
      plan.port = 1;
      plan.tls = tls;
      plan.may_dial = [](const policy::IpAddress&) { return false; };
      plan.done = [&](Result<gate::Dialled> result) { errors.push_back(result.error()); };
      return dialer.dial(std::move(plan));
    };
    dial(gate::Tls::kYes);
    CHECK(errors.empty());  // nothing is answered inside of the call
    turn_until(loop, [&] { return errors.size() == 1; });
    CHECK(errors[0].id == ErrorId::kNetworkTls);
    CHECK(errors[0].what == "cannot prepare TLS: no entropy");
    dialer.close(dial(gate::Tls::kYes));
    dial(gate::Tls::kNo);
    turn_until(loop, [&] { return errors.size() == 2; });
    CHECK(errors[1].id == ErrorId::kCallDenied);
    CHECK(dialer.open() == 0);
  }
}
