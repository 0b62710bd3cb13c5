// Files and network as places: what loads, what it prints as, what all layers together admit.
#include "policy/places.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <tuple>

#include "policy/explain/lint.h"
#include "policy/match/ip_network.h"
#include "policy/policy_digest.h"
#include "policy/policy_record.h"
#include "policy/support_world.h"
#include "policy/text/format.h"

namespace mcpac::policy::testing {
namespace {

LayerText layer(std::string name, std::vector<std::string> statements) {
  LayerText text;
  text.name = std::move(name);
  for (auto& statement : statements) text.files.emplace_back(std::move(statement), text.name);
  return text;
}

Authority loaded(const World& world, const std::vector<LayerText>& layers) {
  auto authority = world.load(layers);
  REQUIRE_MESSAGE(authority, (authority ? "" : authority.error().to_text()));
  return std::move(*authority);
}

Authority loaded(const World& world, const std::string& statements) {
  return loaded(world, {layer("run", {statements})});
}

std::string answer(const Authority& authority, std::string_view host, std::uint16_t port) {
  const auto found = authority.decide_network(host, port);
  return found.allowed ? "yes" : "no";
}

std::string dialled(const Authority& authority, std::string_view host, const char* address,
                    std::uint16_t port) {
  auto ip = parse_ipv4(address);
  if (!ip) ip = parse_ipv6(address);
  REQUIRE(ip);
  return authority.decide_address(host, *ip, port).allowed ? "yes" : "no";
}

}  // namespace

TEST_SUITE("policy/places") {
  TEST_CASE("a statement loads and prints in one spelling") {
    World world;
    const std::pair<const char*, const char*> cases[] = {
        {"files ./src read-only", "files ./src read-only"},
        {"files  \"./src\"\n read-write", "files ./src read-write"},
        {"files ~/work/a read-only", "files ~/work/a read-only"},
        {"files /srv/data read-write", "files /srv/data read-write"},
        {"files \"./with blank\" read-only", "files \"./with blank\" read-only"},
        {"files ./a:b read-only", "files ./a:b read-only"},
        {"network api.example.com:443", "network api.example.com:443"},
        {"network \"api.example.com:443\"", "network api.example.com:443"},
        {"network *.example.com:*", "network *.example.com:*"},
        {"network *:443", "network *:443"},
        {"network 127.0.0.1:8080", "network 127.0.0.1:8080"},
        {"network 10.1.0.0/16:443", "network 10.1.0.0/16:443"},
        {"network [::1]:8080", "network [::1]:8080"},
        {"network [fd00::/8]:*", "network [fd00::/8]:*"},
        {"network any", "network any"},
        {"deny network", "deny network"},
        {"deny\n  network # all of it", "deny network"},
    };
    for (const auto& [text, printed] : cases) {
      CAPTURE(text);
      const auto authority = loaded(world, text);
      CHECK(authority.print() == std::string(printed) + "\n");
      CHECK(loaded(world, printed).print() == authority.print());
    }
  }

  TEST_CASE("a statement that does not hold up is an error with its place and a reason") {
    const World world;
    const std::pair<const char*, const char*> cases[] = {
        {"files src read-only", "has no anchor"},
        {"files @server/a read-only", "has no anchor"},
        {"files . read-only", "has no anchor"},
        {"files ./a/../b read-only", "'..'"},
        {"files / read-only", "everything"},
        {"files /. read-only", "everything"},
        {"files //./ read-write", "everything"},
        {"files ./src", "expected read-only or read-write"},
        {"files ./src read", "expected read-only or read-write"},
        {"files ./*.txt read-only", "'*'"},
        {"files \"./a\\u0001\" read-only", "is not a path that a grant may name"},
        {"files \"./a\\\\b\" read-only", "is not a path that a grant may name"},
        {"files \"./e\\u0301\" read-only", "is not a path that a grant may name"},
        {"network", "expected a host and a port"},
        {"network api.example.com", "names no port"},
        {"network api.example.com:0", "is not a port"},
        {"network api.example.com:65536", "is not a port"},
        {"network api.example.com:0443", "is not a port"},
        {"network api.example.com:https", "is not a port"},
        {"network https://api.example.com:443", "is a URL"},
        {"network *:*", "every port of every host"},
        {"network *.com:443", "public suffix"},
        {"network *.github.io:443", "public suffix"},
        {"network localhost:80", "an address in the form of a name"},
        {"network 127.1:80", "an address in the form of a name"},
        {"network 0x7f000001:80", "an address in the form of a name"},
        {"network 10.1.2.3/16:80", "is not a network"},
        {"network ::1:80", "several ways"},
        {"network [::1]", "names no port"},
        {"network :80", "without a host"},
        {"network a..b:80", "is not a host"},
        {"allow mcpac.files", "mcpac.files is no tool"},
        {"allow mcpac.network", "mcpac.network is no tool"},
    };
    for (const auto& [text, what] : cases) {
      CAPTURE(text);
      const auto authority = world.load({layer("run", {std::string("\n") + text})});
      REQUIRE(!authority);
      CAPTURE(authority.error().to_text());
      CHECK(authority.error().what.find(what) != std::string::npos);
      CHECK(authority.error().where.starts_with("run:2:"));
    }
  }

  TEST_CASE("a URL is answered with the host and the port that it names") {
    const World world;
    for (const auto& [url, fix] :
         {std::pair{"https://api.example.com/v1?q=1", "network api.example.com:443"},
          {"http://api.example.com", "network api.example.com:80"},
          {"https://me@api.example.com:8443/x", "network api.example.com:8443"},
          {"https://[2001:4860::1]/x", "network [2001:4860::1]:443"},
          {"https:///x", "network api.example.com:443"}}) {
      CAPTURE(url);
      const auto authority = world.load({layer("run", {std::string("network \"") + url + "\""})});
      REQUIRE(!authority);
      CHECK(authority.error().fix == fix);
    }
  }

  TEST_CASE("a place is told as its option or statement says it, with its mode") {
    const World world;
    const std::tuple<const char*, const char*, const char*> cases[] = {
        {"the command line", "files \"out\" read-write", "--files ./out:rw"},
        {"the command line", "files \"out\" read-only", "--files ./out"},
        {"the command line", "network \"api.example.com\"", "--network api.example.com:443"},
        {"run", "files ./out rw", "files ./out read-write"},
        {"run", "files ./out wr", "files ./out read-write"},
        {"run", "network api.example.com", "network api.example.com:443"}};
    for (const auto& [name, text, fix] : cases) {
      CAPTURE(text);
      LayerText said;
      said.name = name;
      said.places = {text};
      const auto authority = world.load({said});
      REQUIRE(!authority);
      CHECK(authority.error().fix == std::string(fix));
    }
    LayerText climbs;
    climbs.name = "the command line";
    climbs.places = {"files \"..\" read-write"};
    const auto above = world.load({climbs});
    REQUIRE(!above);
    CHECK(above.error().fix.starts_with("--files /"));
    CHECK(above.error().fix.ends_with(":rw"));
  }

  TEST_CASE("a dangling link and a link to / are granted to nobody") {
    const World world;
    world.put("nowhere", "-> gone");
    world.put("everything", "-> /");
    CHECK(!world.load({layer("run", {"files ./nowhere read-only"})}));
    CHECK(!world.load({layer("run", {"files ./everything read-only"})}));
  }

  TEST_CASE("a server may be called network or files, and is spoken of by rules") {
    World world;
    world.tools.emplace(Permission::parse("network.get").value(), Json{{"type", "object"}});
    world.tools.emplace(Permission::parse("files.get").value(), Json{{"type", "object"}});
    const auto authority =
        loaded(world, "allow network.get\nallow files.get\ndeny network.get\ndeny files.*");
    CHECK(authority.print() ==
          "allow network.get\nallow files.get\ndeny network.get\ndeny files.*\n");
    CHECK(authority.named_places() == DeclaredPlaces{});
  }

  TEST_CASE("formatting keeps places and their comments") {
    const auto text =
        format({"p", "policy \"x\" {\n files   ./src   read-only # why\nnetwork any }"});
    REQUIRE(text);
    CHECK(*text == "policy \"x\" {\n  files ./src read-only  # why\n  network any\n}\n");
  }

  TEST_CASE("of one layer, what another place covers is left out, and a stronger one is kept") {
    const World world;
    const auto base = world.base();
    const auto authority = loaded(world,
                                  "files ./src read-only\nfiles ./src/a read-only\n"
                                  "files ./src/b read-write\nfiles ./src/b/c read-only\n"
                                  "files ./src read-only\nfiles ./src2 read-write");
    const auto files = authority.files();
    REQUIRE(files.size() == 3);
    CHECK(files[0] == FilePlace{base + "/src", FileMode::kReadOnly, "run:1", base + "/src"});
    CHECK(files[1].path == base + "/src/b");
    CHECK(files[1].mode == FileMode::kReadWrite);
    CHECK(files[2].path == base + "/src2");
  }

  TEST_CASE("of two layers, the inner path and the lower mode") {
    const World world;
    const auto base = world.base();
    const auto authority = loaded(
        world,
        {layer("run", {"files ./src read-write\nfiles ./docs/a read-write\nfiles /etc read-only"}),
         layer("mcpac.policy", {"files ./src/x read-only\nfiles ./docs read-write"})});
    const auto files = authority.files();
    REQUIRE(files.size() == 2);
    CHECK(files[0].path == base + "/docs/a");
    CHECK(files[0].mode == FileMode::kReadWrite);
    CHECK(files[0].said_in == "run:2");
    CHECK(files[1].path == base + "/src/x");
    CHECK(files[1].mode == FileMode::kReadOnly);
    CHECK(files[1].said_in == "mcpac.policy:1");
  }

  TEST_CASE("a layer that says nothing admits nothing, and is named") {
    const World world;
    const auto authority = loaded(world, {layer("run", {"files ./src read-only\nnetwork any"}),
                                          layer("mcpac.policy", {"allow kv.get"})});
    CHECK(authority.files().empty());
    CHECK(!authority.speaks_of_network());
    const auto files = authority.place_refusal(PlaceKind::kFiles);
    REQUIRE(files);
    CHECK(files->layer == "mcpac.policy");
    CHECK(files->why == "mcpac.policy admits no files");
    CHECK(authority.place_refusal(PlaceKind::kNetwork)->layer == "mcpac.policy");
  }

  TEST_CASE("a ceiling is not left by a link") {
    const World world;
    world.put("src/inside", "dir");
    world.put("secret", "dir");
    world.put("src/link", "-> ../secret");
    const std::vector<LayerText> layers = {layer("run", {"files ./src/link read-only"}),
                                           layer("mcpac.policy", {"files ./src read-only"})};
    CHECK(loaded(world, layers).files().empty());
    const auto alone = loaded(world, {layers[0]}).files();
    REQUIRE(alone.size() == 1);
    CHECK(alone[0].real == world.base() + "/secret");
  }

  TEST_CASE("what is declared cuts kinds, and no places") {
    const World world;
    LayerText declaration;
    declaration.name = "the program's declaration";
    declaration.declared = DeclaredPlaces{.files = true, .network = false};
    const auto authority =
        loaded(world, {layer("run", {"files ./src read-write\nnetwork any"}), declaration});
    REQUIRE(authority.files().size() == 1);
    CHECK(authority.files()[0].mode == FileMode::kReadWrite);
    CHECK(!authority.speaks_of_network());
    const auto refused = authority.decide_network("example.com", 443);
    CHECK(!refused.allowed);
    CHECK(refused.reason == "mcpac.network is not declared");
  }

  TEST_CASE("names are admitted by name, and by nothing that is near") {
    const World world;
    const auto authority = loaded(world, "network api.example.com:443\nnetwork *.corp.example:*");
    CHECK(answer(authority, "api.example.com", 443) == "yes");
    CHECK(answer(authority, "API.example.COM.", 443) == "yes");
    CHECK(answer(authority, "api.example.com", 80) == "no");
    CHECK(answer(authority, "www.api.example.com", 443) == "no");
    CHECK(answer(authority, "xapi.example.com", 443) == "no");
    CHECK(answer(authority, "corp.example", 22) == "yes");
    CHECK(answer(authority, "a.b.corp.example", 65535) == "yes");
    CHECK(answer(authority, "evilcorp.example", 22) == "no");
    CHECK(answer(authority, "", 443) == "no");
    CHECK(answer(authority, "a b", 443) == "no");
    CHECK(answer(authority, "corp.example", 0) == "no");
    CHECK(answer(authority, "93.184.216.34", 443) == "no");
    CHECK(authority.decide_network("x.example", 443).would_grant == "--network x.example:443");
    // What a program asks for becomes no pattern and no command in what its user may paste.
    for (const char* host : {"*", "*.x.example", "$(id).example", "`id`.example", "a;id.example"}) {
      CHECK_FALSE(authority.decide_network(host, 443).allowed);
      CHECK_MESSAGE(authority.decide_network(host, 443).would_grant == "", host);
    }
    CHECK(authority.decide_network("::1", 443).would_grant == "--network '[::1]:443'");
  }

  TEST_CASE("addresses are admitted only where one is granted, special ones by themselves") {
    const World world;
    const auto any = loaded(world, "network any");
    CHECK(answer(any, "93.184.216.34", 443) == "yes");
    CHECK(answer(any, "10.0.0.1", 443) == "no");
    CHECK(answer(any, "169.254.169.254", 80) == "no");
    CHECK(answer(any, "127.0.0.1", 80) == "no");
    CHECK(answer(any, "0x7f.1", 80) == "no");
    CHECK(answer(any, "[::1]", 80) == "no");
    CHECK(answer(any, "::ffff:10.0.0.1", 80) == "no");
    CHECK(answer(any, "localhost", 80) == "no");
    CHECK(any.decide_network("127.0.0.1", 80).reason ==
          "nothing in run allows 127.0.0.1:80: `network any` is for public addresses");
    const auto https = loaded(world, "network *:443");
    CHECK(https.decide_network("127.0.0.1", 80).reason == "nothing in run allows 127.0.0.1:80");
    const auto local = loaded(world, "network 127.0.0.0/8:80\nnetwork 0.0.0.0/0:443");
    CHECK(answer(local, "localhost", 80) == "yes");
    CHECK(answer(local, "127.0.0.1", 80) == "yes");
    CHECK(answer(local, "127.0.0.1", 443) == "no");
    CHECK(answer(local, "8.8.8.8", 443) == "yes");
    CHECK(answer(local, "example.com", 443) == "no");
  }

  TEST_CASE("what the host of a virtual machine serves, and carried addresses, are not public") {
    const World world;
    const auto any = loaded(world, "network any");
    for (const char* address : {"168.63.129.16", "::ffff:0:7f00:1", "::ffff:168.63.129.16"}) {
      CAPTURE(address);
      CHECK(answer(any, address, 80) == "no");
      CHECK(dialled(any, "db.example.com", address, 80) == "no");
    }
    CHECK(answer(any, "168.63.129.17", 80) == "yes");
    CHECK(answer(loaded(world, "network 168.63.129.16/32:80"), "168.63.129.16", 80) == "yes");
  }

  TEST_CASE("a public address of this machine must be granted by itself") {
    const World world;
    const auto address = parse_ipv4("93.184.216.34");
    const auto own = [&](const std::string& statement, const char* host) {
      return loaded(world, statement)
          .decide_address(host, *address, 443, AddressOf::kThisMachine)
          .allowed;
    };
    CHECK_FALSE(own("network any", "93.184.216.34"));
    CHECK_FALSE(own("network any", "example.com"));
    CHECK_FALSE(own("network example.com:443", "example.com"));
    CHECK(own("network 93.184.216.34:443", "93.184.216.34"));
    CHECK(own("network 93.184.216.0/24:443\nnetwork example.com:443", "example.com"));
    CHECK(loaded(world, "network any").decide_address("example.com", *address, 443).allowed);
  }

  TEST_CASE("the dialled address is asked for again, so that no name leads inside") {
    const World world;
    const auto authority = loaded(world, "network *.corp.example:443\nnetwork 10.1.0.0/16:443");
    CHECK(dialled(authority, "db.corp.example", "93.184.216.34", 443) == "yes");
    CHECK(dialled(authority, "db.corp.example", "10.1.2.3", 443) == "yes");
    CHECK(dialled(authority, "db.corp.example", "::ffff:10.1.2.3", 443) == "yes");
    CHECK(dialled(authority, "db.corp.example", "10.2.2.3", 443) == "no");
    CHECK(dialled(authority, "db.corp.example", "127.0.0.1", 443) == "no");
    CHECK(dialled(authority, "db.corp.example", "169.254.169.254", 443) == "no");
    CHECK(dialled(authority, "db.corp.example", "fe80::1", 443) == "no");
    CHECK(dialled(authority, "other.example", "93.184.216.34", 443) == "no");
    CHECK(dialled(authority, "10.1.2.3", "10.1.2.4", 443) == "no");
    CHECK(dialled(authority, "10.1.2.3", "10.1.2.3", 443) == "yes");
    const auto local = loaded(world, "network 127.0.0.0/8:80\nnetwork 8.8.8.0/24:80");
    CHECK(dialled(local, "localhost", "127.0.0.1", 80) == "yes");
    CHECK(dialled(local, "localhost", "8.8.8.8", 80) == "no");
  }

  TEST_CASE("a special address needs its grant in every layer") {
    const World world;
    const auto authority =
        loaded(world, {layer("run", {"network *.corp.example:443\nnetwork 10.1.0.0/16:443"}),
                       layer("mcpac.policy", {"network any"})});
    CHECK(dialled(authority, "db.corp.example", "93.184.216.34", 443) == "yes");
    CHECK(dialled(authority, "db.corp.example", "10.1.2.3", 443) == "no");
    CHECK(authority.networks() == std::vector<NetworkPlace>{{"*.corp.example", 443, "run:1"}});
  }

  TEST_CASE("deny network beats what any layer grants") {
    const World world;
    for (const bool above : {false, true}) {
      const auto authority = loaded(
          world, {layer("run", {above ? "network any" : "network any\ndeny network"}),
                  layer("mcpac.policy", {above ? "network any\ndeny network" : "network any"})});
      CHECK(!authority.speaks_of_network());
      const auto found = authority.decide_network("example.com", 443);
      CHECK(!found.allowed);
      CHECK(found.said_in == (above ? "mcpac.policy:2" : "run:2"));
      CHECK(found.would_grant.empty());
      CHECK(authority.place_refusal(PlaceKind::kNetwork)->denied);
    }
  }

  TEST_CASE("options are statements, and say where they stand") {
    const World world;
    LayerText run;
    run.name = "the command line";
    run.places = {"files \"./src\" read-only", "network example.com:443"};
    const auto authority = loaded(world, {run});
    CHECK(authority.files()[0].said_in == "--files");
    CHECK(authority.networks()[0].said_in == "--network");
    run.places = {"files \"src\" read-only"};
    const auto bad = world.load({run});
    REQUIRE(!bad);
    CHECK(bad.error().where.starts_with("--files:1:"));
    run.places = {"allow kv.get"};
    CHECK(!world.load({run}));
    run.places = {"network any network any"};
    CHECK(!world.load({run}));
  }

  TEST_CASE("a profile holds places, and one that is not used is checked all the same") {
    const World world;
    const auto authority = loaded(world,
                                  "use \"web\"\nprofile \"web\" { network example.com:443 }\n"
                                  "profile \"disk\" { files ./src read-only }");
    CHECK(authority.networks().size() == 1);
    CHECK(authority.files().empty());
    CHECK(!world.load({layer("run", {"profile \"disk\" { files src read-only }"})}));
  }

  TEST_CASE("a record holds places, and the same is admitted by what is read from it") {
    const World world;
    world.put("real", "dir");
    world.put("link", "-> real");
    LayerText declaration;
    declaration.name = "the program's declaration";
    declaration.declared = DeclaredPlaces{.files = true, .network = true};
    const auto authority = loaded(
        world, {layer("run", {"files ./link read-write\nnetwork *.example.com:443\nallow kv.get"}),
                declaration});
    const auto record = policy_record(authority);
    const auto read = read_policy_record(record);
    REQUIRE(read);
    const auto again = loaded(world, read->layers);
    CHECK(again.print() == authority.print());
    CHECK(policy_record(again).at("layers")[0].at("places").size() == 2);
    CHECK(policy_record(again).at("layers")[1] == record.at("layers")[1]);
    REQUIRE(again.files().size() == 1);
    CHECK(again.files()[0].real == world.base() + "/real");
    CHECK(answer(again, "a.example.com", 443) == "yes");
  }

  TEST_CASE("places have their say in the digest of a policy") {
    const World world;
    const auto digest = [&](const std::string& statements) {
      return policy_digest(loaded(world, statements));
    };
    const auto base = digest("allow kv.get");
    CHECK(digest("allow kv.get\nfiles ./src read-only") != base);
    CHECK(digest("allow kv.get\nfiles ./src read-write") !=
          digest("allow kv.get\nfiles ./src read-only"));
    CHECK(digest("allow kv.get\nnetwork any") != base);
    CHECK(digest("allow kv.get\ndeny network") != base);
    world.put("one", "dir");
    world.put("two", "dir");
    world.put("link", "-> one");
    const auto before = digest("files ./link read-only");
    std::filesystem::remove(world.base() + "/link");
    world.put("link", "-> two");
    CHECK(digest("files ./link read-only") != before);
  }

  TEST_CASE("a policy that admits more places is beyond the other, with an example") {
    const World world;
    const auto beyond = [&](const std::string& wider, const std::string& narrower) {
      const auto outer = loaded(world, wider);
      std::string found;
      for (const auto& one : outer.beyond(loaded(world, narrower))) {
        const auto* excess = std::get_if<Excess>(&one);
        found +=
            excess == nullptr ? "?" : excess->permission.text() + " " + to_text(excess->arguments);
      }
      CHECK(std::holds_alternative<Included>(outer.includes(loaded(world, narrower))) ==
            found.empty());
      return found;
    };
    const std::string base = world.base();
    CHECK(beyond("files ./src read-write", "files ./src/a read-only") == "");
    CHECK(beyond("files ./src read-only", "files ./src/a read-write") ==
          R"(mcpac.files {"mode":"read-write","path":")" + base + R"(/src/a"})");
    CHECK(beyond("files ./src/a read-only", "files ./src read-only") != "");
    CHECK(beyond("files ./src read-only", "files ./src2 read-only") != "");
    CHECK(beyond("allow kv.get", "network example.com:443") ==
          R"(mcpac.network {"host":"example.com","port":443})");
    CHECK(beyond("network any", "network *.example.com:443\nnetwork 8.8.8.0/24:53") == "");
    CHECK(beyond("network any", "network 10.0.0.0/8:443") != "");
    CHECK(beyond("network *.example.com:*", "network example.com:443") == "");
    CHECK(beyond("network example.com:443", "network *.example.com:443") ==
          R"(mcpac.network {"host":"any.example.com","port":443})");
    CHECK(beyond("network *:443", "network any") != "");
    CHECK(beyond("network any\ndeny network", "network example.com:443") != "");
    CHECK(beyond("network 8.0.0.0/9:1\nnetwork 8.128.0.0/9:1", "network 8.0.0.0/8:1") == "?");
  }

  TEST_CASE("check warns of network any, and of any name") {
    const auto notes = [](const char* text) {
      return summarize(SourceText{"p", text}).value().notes;
    };
    const auto found = notes("files ./a read-only\nnetwork any\n");
    REQUIRE(found.size() == 1);
    CHECK(found[0].place == "p:2");
    CHECK(notes("network *:443").size() == 1);
    CHECK(notes("network example.com:*").empty());
    CHECK(summarize(SourceText{"p", "files ./a read-only\nnetwork any"}).value().places == 2);
  }
}

}  // namespace mcpac::policy::testing
