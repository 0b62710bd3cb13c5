// What a call says in other words than its schema: names that decoders fold, and members that are
// left out and that a server fills in.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json_schema.h"
#include "core/offer.h"
#include "places.h"
#include "policy/support_inclusion.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

const Permission kTool = Permission::parse("s.t").value();

// One tool, s.t, with this schema.
std::unique_ptr<World> world_with(std::string_view schema) {
  return std::make_unique<World>("2026-06-01T12:00:00Z", Json{{"s.t", Json::parse(schema)}});
}

LayerText rules(std::vector<std::string> grants, std::vector<std::string> denies = {},
                std::vector<std::string> asks = {}) {
  return {.name = "the command line",
          .grants = std::move(grants),
          .asks = std::move(asks),
          .denies = std::move(denies),
          .files = {}};
}

struct Answer {
  std::string effect;  // "invalid" where no rule was asked
  std::string why;
};

// As the gate does it: complete, then decide.
Answer answer(const World& world, const LayerText& layer, std::string_view arguments) {
  auto authority = world.load({layer});
  const std::string error = authority ? "" : authority.error().to_text();
  REQUIRE_MESSAGE(authority.has_value(), error);
  const auto schema = JsonSchema::compile(world.tools.at(kTool)).value();
  Json call = Json::parse(arguments);
  if (const auto violation = authority->complete(kTool, *schema, call))
    return {"invalid", violation->pointer + " " + violation->message};
  const Decision decision = authority->decide(kTool, call);
  // What is explained is what is decided.
  const Explanation explained = authority->explain(kTool, call);
  CHECK(explained.decision.effect == decision.effect);
  return {to_string(decision.effect), decision.reason};
}

bool has_text(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The input schemas of recorded listings of real servers.
std::vector<Json> real_schemas() {
  std::vector<Json> schemas;
  for (const auto& entry :
       std::filesystem::directory_iterator(mcpac::testing::in_source("tests/codegen/data"))) {
    if (entry.path().extension() != ".json") continue;
    const Json listing = parse_json(read_file(entry.path().string()).value()).value();
    for (const Json& tool : listing.at("tools")) {
      if (tool.contains("inputSchema")) schemas.push_back(tool["inputSchema"]);
    }
  }
  return schemas;
}

struct LeftOut {
  std::vector<std::string> path;
  Json value;
};

// Members that may be left out, with a default that a rule can be written for.
void find_left_out(const DefaultPlace& place, std::vector<std::string> path,
                   std::vector<LeftOut>& into) {
  if (path.size() > 4) return;
  for (const auto& [name, below] : place.members()) {
    path.push_back(name);
    for (const Json* value : below->values()) {
      if (value->is_string() || value->is_number_integer() || value->is_boolean())
        into.push_back({path, *value});
    }
    find_left_out(*below, path, into);
    path.pop_back();
  }
}

constexpr const char* kMoves = R"({"type":"object","properties":{
  "source":{"type":"string"},
  "options":{"type":"object","properties":{"mode":{"type":"string"}}},
  "edits":{"type":"array","items":{"$ref":"#/$defs/Edit"}},
  "how":{"anyOf":[{"type":"object","properties":{"force":{"type":"boolean"}}},{"type":"null"}]},
  "env":{"type":"object","additionalProperties":{"type":"object","properties":{"key":{"type":"string"}}}},
  "free":{"type":"object"},
  "both":{"type":"object","properties":{"id":{"type":"string"},"ID":{"type":"string"}}}},
  "$defs":{"Edit":{"type":"object","properties":{"oldText":{"type":"string"}}}}})";

// Shapes in which zod and pydantic write an optional object with a default inside.
struct Shape {
  const char* name;
  const char* schema;   // `o.mode` has the default "danger"
  const char* without;  // a call that leaves it out
  const char* with;     // and one that says "safe"
};
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{
      {"anyOf",
       R"({"type":"object","properties":{"o":{"anyOf":[{"$ref":"#/$defs/O"},{"type":"null"}]}},
        "$defs":{"O":{"type":"object","properties":{"mode":{"type":"string","default":"danger"}}}}})",
       R"({"o":{}})", R"({"o":{"mode":"safe"}})"},
      {"oneOf", R"({"type":"object","properties":{"o":{"oneOf":[
        {"type":"object","properties":{"mode":{"default":"danger"}},"additionalProperties":false},{"type":"string"}]}}})",
       R"({"o":{}})", R"({"o":{"mode":"safe"}})"},
      {"if", R"({"type":"object","properties":{"o":{"type":"object","if":{"required":["x"]},
        "then":{},"else":{"properties":{"mode":{"default":"danger"}}}}}})",
       R"({"o":{}})", R"({"o":{"mode":"safe"}})"},
      {"additionalProperties", R"({"type":"object","additionalProperties":{"type":"object",
        "properties":{"mode":{"type":"string","default":"danger"}}}})",
       R"({"o":{}})", R"({"o":{"mode":"safe"}})"},
      {"patternProperties", R"({"type":"object","patternProperties":{"^o$":{"type":"object",
        "properties":{"mode":{"type":"string","default":"danger"}}}}})",
       R"({"o":{}})", R"({"o":{"mode":"safe"}})"},
      {"dependentSchemas",
       R"({"type":"object","properties":{"o":{"type":"object","dependentSchemas":{
        "x":{"properties":{"mode":{"default":"danger"}}}}}}})",
       R"({"o":{"x":1}})", R"({"o":{"x":1,"mode":"safe"}})"},
      {"inside another default",
       R"({"type":"object","properties":{"o":{"type":"object","default":{},
        "properties":{"mode":{"type":"string","default":"danger"}}}}})",
       R"({})", R"({"o":{"mode":"safe"}})"},
      {"an object that is left out", R"({"type":"object","properties":{"o":{"type":"object",
        "properties":{"mode":{"type":"string","default":"danger"}}}}})",
       R"({})", R"({"o":{"mode":"safe"}})"},
      {"a form of the member", R"({"type":"object","properties":{"o":{"type":"object","properties":{
        "mode":{"anyOf":[{"type":"string","default":"danger"},{"type":"null"}]}}}}})",
       R"({"o":{}})", R"({"o":{"mode":"safe"}})"},
      {"a default beside $ref",
       R"({"type":"object","properties":{"o":{"$ref":"#/$defs/O","default":{}}},
        "$defs":{"O":{"type":"object","properties":{"mode":{"type":"string","default":"danger"}}}}})",
       R"({})", R"({"o":{"mode":"safe"}})"},
      {"an optional object of pydantic",
       R"({"type":"object","properties":{"o":{"anyOf":[{"$ref":"#/$defs/O"},{"type":"null"}],"default":null}},
        "$defs":{"O":{"type":"object","properties":{"mode":{"type":"string","default":"danger"}}}}})",
       R"({"o":{}})", R"({"o":{"mode":"safe"}})"},
      {"an object like the whole",
       R"({"type":"object","properties":{"o":{"anyOf":[{"$ref":"#"},{"type":"null"}]},
        "mode":{"type":"string","default":"danger"}}})",
       R"({"mode":"safe","o":{}})", R"({"mode":"safe","o":{"mode":"safe"}})"},
      {"beside a $ref of draft 7",
       R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{
        "a":{"type":"object","properties":{"mode":{"type":"string"}}},
        "o":{"$ref":"#/properties/a","default":{"mode":"danger"}}}})",
       R"({})", R"({"o":{"mode":"safe"}})"},
      {"an anchor",
       R"({"type":"object","properties":{"o":{"anyOf":[{"$ref":"#here"},{"type":"null"}]}},
        "$defs":{"O":{"$anchor":"here","type":"object","properties":{"mode":{"default":"danger"}}}}})",
       R"({"o":{}})", R"({"o":{"mode":"safe"}})"},
      {"in the default of the object, which is given",
       R"({"type":"object","properties":{"o":{"type":"object","default":{"mode":"danger"},
        "properties":{"mode":{"type":"string"},"x":{}}}}})",
       R"({"o":{"x":1}})", R"({"o":{"mode":"safe"}})"},
      {"a member of a given object", R"({"type":"object","properties":{"o":{"type":"object",
        "properties":{"mode":{"type":"string","default":"danger"}}}}})",
       R"({"o":{}})", R"({"o":{"mode":"safe"}})"},
  };
  return all;
}

}  // namespace

TEST_CASE("a name that folds to one of the schema is refused before any rule, at every depth") {
  const auto world = world_with(kMoves);
  const auto all = rules({"s.t"});
  for (const auto& [call, meant] : std::vector<std::pair<std::string, std::string>>{
           {R"({"SOURCE":"x"})", "source"},
           {R"({"source":"ok","Source":"secret"})", "source"},
           {R"({"ſource":"x"})", "source"},
           {R"({"edits":[{"oldText":"a"},{"OldText":"b"}]})", "oldText"},
           {R"({"edits":[{"old_text":"b"}]})", "oldText"},
           {R"({"options":{"MODE":"x"}})", "mode"},
           {R"({"how":{"FORCE":true}})", "force"},
           {R"({"env":{"any":{"Key":"x"}}})", "key"},
           {"{\"env\":{\"any\":{\"\u212aey\":\"x\"}}}", "key"},
           {"{\"sou\u200brce\":\"x\"}", "source"},
           {"{\"source\u00a0\":\"x\"}", "source"},
           {"{\"\uff53ource\":\"x\"}", "source"},
           {R"({"both":{"Id":"x"}})", "ID"},
           {R"({"EDITS":[]})", "edits"}}) {
    CAPTURE(call);
    const Answer got = answer(*world, all, call);
    CHECK(got.effect == "invalid");
    CHECK_MESSAGE(has_text(got.why, fmt::format("did you mean \"{}\"?", meant)), got.why);
  }
  for (const char* call :
       {R"({"source":"x","options":{"mode":"x"},"edits":[{"oldText":"a"}]})",
        R"({"both":{"id":"x","ID":"y"}})", R"({"sources":"x"})", R"({"free":{"a":1,"A":2}})",
        R"({"env":{"http_proxy":{},"HTTP_PROXY":{}}})", R"({"how":{"force":true,"other":1}})"}) {
    CAPTURE(call);
    CHECK(answer(*world, all, call).effect == "allow");
  }
}

TEST_CASE("a name that a form decoder or a binder of dotted keys takes for one is refused") {
  const auto world = world_with(kMoves);
  const auto all = rules({"s.t"});
  for (const auto& [call, meant] : std::vector<std::pair<std::string, std::string>>{
           {R"({"source[]":"x"})", "\"source\"?"},
           {R"({"source[0]":"x"})", "\"source\"?"},
           {R"({"[source]":"x"})", "\"source\"?"},
           {R"({"\"source\"":"x"})", "\"source\"?"},
           {R"({"'source'":"x"})", "\"source\"?"},
           {"{\"\u201csource\u201d\":\"x\"}", "\"source\"?"},
           {R"({"source:":"x"})", "\"source\"?"},
           {R"({"$source":"x"})", "\"source\"?"},
           {R"({"so.urce":"x"})", "\"source\"?"},
           {R"({" source":"x"})", "\"source\"?"},
           {"{\"\uff53\uff4f\uff55\uff52\uff43\uff45\uff3b\uff3d\":\"x\"}", "\"source\"?"},
           {R"({"options.mode":"x"})", "\"mode\" in \"options\"?"},
           {R"({"options[mode]":"x"})", "\"mode\" in \"options\"?"},
           {R"({"options[mode][]":"x"})", "\"mode\" in \"options\"?"},
           {R"({"OPTIONS[Mode]":"x"})", "\"mode\" in \"options\"?"},
           {R"({"options:mode":"x"})", "\"mode\" in \"options\"?"},
           {"{\"options\uff0emode\":\"x\"}", "\"mode\" in \"options\"?"},
           {R"({"edits[0].oldText":"x"})", "\"oldText\" in \"edits\"?"},
           {R"({"edits[][old_text]":"x"})", "\"oldText\" in \"edits\"?"},
           {R"({"how.force":true})", "\"force\" in \"how\"?"},
           {R"({"env":{"any":{"key[]":"x"}}})", "\"key\"?"}}) {
    CAPTURE(call);
    const Answer got = answer(*world, all, call);
    CHECK(got.effect == "invalid");
    CHECK_MESSAGE(has_text(got.why, "did you mean " + meant), got.why);
  }
  for (const char* call :
       {R"({"source.x":"x"})", R"({"options.other":"x"})", R"({"other.mode":"x"})",
        R"({"free":{"options.mode":"x","a.b[]":1,"$id":2}})", R"({"[]":"x"})",
        R"({".":"x","$":"x"})"}) {
    CAPTURE(call);
    CHECK(answer(*world, all, call).effect == "allow");
  }
  // What only a rule names, or the schema one step and a rule the next.
  const auto denies = rules({"s.t"}, {R"(s.t(free.list[*].mode == "danger"))"});
  for (const char* call :
       {R"({"free.list[0].mode":"danger"})", R"({"free[list][][mode]":"danger"})",
        R"({"free":{"list.mode":"danger"}})", R"({"free":{"list":[{"mode[]":"danger"}]}})"}) {
    CAPTURE(call);
    CHECK(answer(*world, denies, call).effect == "invalid");
  }
  CHECK(answer(*world, denies, R"({"free":{"list.other":"danger"}})").effect == "allow");
  // A schema that has such a name means it.
  const auto exact = world_with(R"({"type":"object","properties":{
    "page":{"type":"object","properties":{"size":{}}},"page[size]":{},"tags[]":{},"tags":{}}})");
  CHECK(answer(*exact, all, R"({"page[size]":1,"tags[]":"x"})").effect == "allow");
}

TEST_CASE("a name that folds to one that a rule reads is refused where the schema names none") {
  const auto world = world_with(kMoves);
  const auto denies = rules({"s.t"}, {R"(s.t(free.mode == "danger"))"});
  CHECK(answer(*world, denies, R"({"free":{"mode":"danger"}})").effect == "deny");
  CHECK(answer(*world, denies, R"({"free":{"mode":"safe"}})").effect == "allow");
  CHECK(answer(*world, denies, R"({"free":{"MODE":"danger"}})").effect == "invalid");
  CHECK(answer(*world, denies, R"({"free":{"mode":"safe","Mode":"danger"}})").effect == "invalid");
  CHECK(answer(*world, denies, R"({"free":{"deep":{"MODE":"danger"}}})").effect == "allow");
  const auto deep = rules({"s.t"}, {R"(s.t(free.list[*].mode == "danger"))"});
  CHECK(answer(*world, deep, R"({"free":{"list":[{"mode":"x"},{"moDe":"danger"}]}})").effect ==
        "invalid");
  // Two rules name two spellings: both are names.
  const auto both = rules({"s.t"}, {R"(s.t(free.proxy == "a"))", R"(s.t(free.PROXY == "a"))"});
  CHECK(answer(*world, both, R"({"free":{"proxy":"b","PROXY":"b"}})").effect == "allow");
}

TEST_CASE("a member that JavaScript takes for a prototype is refused, at every depth") {
  const auto world = world_with(kMoves);
  const LayerText layer = rules({"s.t"});
  for (const char* call :
       {R"({"__proto__":{"source":"/etc/x"}})", R"({"source":"a","__proto__":null})",
        R"({"options":{"__proto__":{"mode":"x"}}})", R"({"free":{"a":[{"__proto__":{"b":1}}]}})",
        R"({"edits":[{"__proto__":{"oldText":"x"}}]})", R"({"other":{"__proto__":{"source":1}}})",
        R"({"constructor":{"prototype":{"source":"x"}}})",
        R"({"free":{"constructor":{"prototype":{"x":1}}}})", R"({"__proto__.source":"x"})",
        R"({"__proto__[source]":"x"})", R"({"free":{"constructor.prototype.x":1}})",
        R"({"free":{"constructor[prototype][x]":1}})"}) {
    CAPTURE(std::string(call));
    const Answer got = answer(*world, layer, call);
    CHECK(got.effect == "invalid");
    CHECK_MESSAGE(has_text(got.why, "is a prototype to servers in JavaScript"), got.why);
  }
  for (const char* call :
       {R"({"free":{"constructor":"x","prototype":{"a":1}}})", R"({"free":{"proto":{"a":1}}})",
        R"({"free":{"constructor":{"name":"x"}}})", R"({"source":"__proto__"})",
        R"({"free":{"docs/__proto__.md":"x","a.constructor":1}})"}) {
    CAPTURE(std::string(call));
    CHECK(answer(*world, layer, call).effect == "allow");
  }
  const auto named = world_with(R"({"type":"object","properties":{"__proto__":{"type":"object"},
    "constructor":{"type":"object","properties":{"prototype":{"type":"object"}}}}})");
  for (const char* call :
       {R"({"__proto__":{"a":1}})", R"({"constructor":{"prototype":{"a":1}}})"}) {
    CAPTURE(std::string(call));
    CHECK(answer(*named, layer, call).effect == "allow");
  }
}

TEST_CASE("two arguments of a prompt that are spellings of one are refused") {
  World world;
  const auto permission = Permission::of("fs", kGetPrompt).value();
  world.tools.insert_or_assign(permission, schema_of(Offer::kPrompt));
  auto authority = world.load({rules({R"(fs."prompts/get"(name any, ..))"})}).value();
  const auto schema = JsonSchema::compile(schema_of(Offer::kPrompt)).value();
  Json twice{{"name", "review"}, {"arguments", {{"lang", "en"}, {"LANG", "fr"}}}};
  const auto violation = authority.complete(permission, *schema, twice);
  REQUIRE(violation);
  CHECK(violation->pointer == "/arguments/lang");
  Json once{{"name", "review"}, {"arguments", {{"lang", "en"}, {"LANGUAGE", "fr"}}}};
  CHECK_FALSE(authority.complete(permission, *schema, once));
}

TEST_CASE("a foreseen call with a name that folds is denied, as it will be") {
  const auto world = world_with(kMoves);
  auto authority = world->load({rules({"s.t"})}).value();
  const auto foreseen = authority.foresee(
      kTool, {.known = Json::parse(R"({"SOURCE":"x"})"), .unknown = {}, .open = false});
  CHECK(foreseen.outlook == Outlook::kDenied);
  CHECK(has_text(foreseen.reason, "did you mean \"source\"?"));
}

TEST_CASE("a member that is left out is its default to a deny and an ask, in every shape") {
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    const auto world = world_with(shape.schema);
    const auto denies = rules({"s.t"}, {R"(s.t(o.mode == "danger"))"});
    CHECK(answer(*world, denies, shape.without).effect == "deny");
    CHECK(answer(*world, denies, shape.with).effect == "allow");
    CHECK(
        answer(*world, rules({"s.t"}, {}, {R"(s.t(o.mode == "danger"))"}), shape.without).effect ==
        "ask");
    CHECK(answer(*world, rules({"s.t"}, {R"(s.t(* == "danger"))"}), shape.without).effect ==
          "deny");
    CHECK(answer(*world, rules({"s.t"}, {R"(s.t(o.mode == "other"))"}), shape.without).effect ==
          "allow");
    // An allow that names it: what is not there is a miss, and what may be there must pass.
    CHECK(answer(*world, rules({R"(s.t(o.mode == "safe", ..))"}), shape.without).effect == "deny");
    const Answer optional = answer(*world, rules({R"(s.t(?o.mode == "safe", ..))"}), shape.without);
    CHECK(optional.effect == "deny");
    CHECK_MESSAGE(has_text(optional.why, "danger"), optional.why);
    CHECK(answer(*world, rules({R"(s.t(?o.mode == "danger", ..))"}), shape.without).effect ==
          "allow");
    CHECK(answer(*world, rules({R"(s.t(?o.mode == "safe", ..))"}), shape.with).effect == "allow");
    CHECK(answer(*world, rules({"s.t"}), shape.without).effect == "allow");
  }
}

TEST_CASE("a denial for what was left out says which member, and that saying it helps") {
  const auto world = world_with(shapes()[0].schema);
  const Answer got = answer(*world, rules({"s.t"}, {R"(s.t(o.mode == "danger"))"}), R"({"o":{}})");
  CHECK(got.why ==
        "it is denied by a rule; o.mode is left out, and the server may take it for a "
        "default of its schema: say it");
  CHECK(answer(*world, rules({"s.t"}, {R"(s.t(o.mode == "danger"))"}), R"({"o":{"mode":"danger"}})")
            .why == "it is denied by a rule");
}

TEST_CASE("what is filled in for certain counts as absent where brackets are closed, whole") {
  const auto world = world_with(R"({"type":"object","properties":{"path":{"type":"string"},
    "o":{"$ref":"#/$defs/O","default":{}},"p":{"allOf":[{"$ref":"#/$defs/O"}],"default":{}}},
    "$defs":{"O":{"type":"object","properties":{"mode":{"type":"string","default":"safe"},
      "deep":{"type":"object","default":{},"properties":{"x":{"default":1}}}}}}})");
  CHECK(answer(*world, rules({"s.t(path any)"}), R"({"path":"a"})").effect == "allow");
  CHECK(answer(*world, rules({"s.t(path any)"}), R"({"path":"a","o":{"deep":{}}})").effect ==
        "allow");
  CHECK(answer(*world, rules({"s.t(path any)"}), R"({"path":"a","o":{"mode":"danger"}})").effect ==
        "deny");
  CHECK(answer(*world, rules({R"(s.t(path any, o.mode == "safe"))"}), R"({"path":"a"})").effect ==
        "allow");
  CHECK(answer(*world, rules({"s.t"}, {R"(s.t(o.deep.x == 1))"}), R"({"path":"a"})").effect ==
        "deny");
}

TEST_CASE("which policy admits more is told with what is left out in mind") {
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    const auto world = world_with(shape.schema);
    auto all = policy_of(*world, "allow s.t\n");
    auto denied = policy_of(*world, "allow s.t\ndeny s.t(o.mode == \"danger\")\n");
    auto also = policy_of(*world, "allow s.t\ndeny s.t(o.mode starts \"dan\")\n");
    CHECK(std::holds_alternative<Included>(all.includes(denied)));
    CHECK(std::holds_alternative<Included>(denied.includes(also)));
    const Inclusion more = denied.includes(all);
    REQUIRE(std::holds_alternative<Excess>(more));
    const std::string wrong = why_no_witness(*world, denied, all, std::get<Excess>(more));
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

// Its default is refused by itself: the gate does not fill `mode`, and a server may.
struct Refused {
  const char* name;
  const char* schema;
};
const std::vector<Refused>& refusing() {
  static const std::vector<Refused> all = {
      {"of another value", R"({"type":"object","properties":{"path":{"type":"string"},
        "mode":{"enum":["safe","other"],"default":"danger"}}})"},
      {"by its length", R"({"type":"object","properties":{"path":{"type":"string"},
        "mode":{"type":"string","maxLength":5,"default":"danger"}}})"},
      {"behind a reference", R"({"type":"object","properties":{"path":{"type":"string"},
        "mode":{"$ref":"#/$defs/M"}},
        "$defs":{"M":{"type":"string","pattern":"^(safe|other)$","default":"danger"}}})"},
      {"beside a reference", R"({"type":"object","properties":{"path":{"type":"string"},
        "mode":{"$ref":"#/$defs/M","default":"danger"}},
        "$defs":{"M":{"enum":["safe","other"]}}})"},
      {"by what stands beside a reference",
       R"({"type":"object","properties":{"path":{"type":"string"},
        "mode":{"$ref":"#/$defs/M","maxLength":5}},
        "$defs":{"M":{"type":"string","default":"danger"}}})"},
  };
  return all;
}

TEST_CASE("a default that its own schema refuses is not there, and a deny and an ask catch it") {
  const char* without = R"({"path":"a"})";
  const char* with = R"({"path":"a","mode":"safe"})";
  for (const Refused& refused : refusing()) {
    CAPTURE(refused.name);
    const auto world = world_with(refused.schema);
    const auto denies = rules({"s.t"}, {R"(s.t(mode == "danger"))"});
    CHECK(answer(*world, denies, without).effect == "deny");
    CHECK(answer(*world, denies, with).effect == "allow");
    CHECK(answer(*world, rules({"s.t"}, {R"(s.t(* == "danger"))"}), without).effect == "deny");
    CHECK(answer(*world, rules({"s.t"}, {}, {R"(s.t(mode starts "dang"))"}), without).effect ==
          "ask");
    CHECK(answer(*world, rules({"s.t(path any)"}), without).effect == "allow");
    CHECK(answer(*world, rules({"s.t(path any, mode absent)"}), without).effect == "allow");
    CHECK(answer(*world, rules({"s.t(path any, mode absent)"}), with).effect == "deny");
    CHECK(answer(*world, rules({R"(s.t(path any, ?mode == "safe"))"}), without).effect == "deny");
    CHECK(answer(*world, rules({"s.t(path any, mode any)"}), without).effect == "deny");
  }
  // What it is refused in is filled without it, and that counts as absent as a whole.
  const auto world = world_with(R"({"type":"object","properties":{"path":{"type":"string"},
    "o":{"type":"object","default":{},"properties":{"mode":{"type":"string","default":1},
      "kept":{"type":"integer","default":3}}}}})");
  CHECK(answer(*world, rules({"s.t(path any)"}), without).effect == "allow");
  CHECK(answer(*world, rules({"s.t(path any)"}), R"({"path":"a","o":{"mode":"x"}})").effect ==
        "deny");
  CHECK(answer(*world, rules({"s.t"}, {"s.t(* == \"danger\")"}), without).effect == "allow");
}

TEST_CASE("which policy admits more is told with refused defaults in mind") {
  for (const Refused& refused : refusing()) {
    CAPTURE(refused.name);
    const auto world = world_with(refused.schema);
    auto all = policy_of(*world, "allow s.t\n");
    for (const char* narrower :
         {"allow s.t(mode any, ..)\n", "allow s.t\ndeny s.t(mode absent)\n",
          "allow s.t\ndeny s.t(mode == \"danger\")\n", "allow s.t(?mode == \"safe\", ..)\n"}) {
      CAPTURE(narrower);
      auto part = policy_of(*world, narrower);
      CHECK(std::holds_alternative<Included>(all.includes(part)));
      const Inclusion more = part.includes(all);
      REQUIRE(std::holds_alternative<Excess>(more));
      const std::string wrong = why_no_witness(*world, part, all, std::get<Excess>(more));
      CHECK_MESSAGE(wrong.empty(), wrong);
    }
  }
}

TEST_CASE("brackets that leave out a required argument whose default is refused admit no call") {
  const auto world = world_with(R"({"type":"object","required":["kept","mode"],"properties":{
    "kept":{"type":"integer","default":3},"mode":{"type":"string","default":1}}})");
  const auto said = [&](std::string grant) {
    const auto loaded = world->load({rules({std::move(grant)})});
    return loaded ? std::string() : loaded.error().to_text();
  };
  CHECK(said("s.t(mode any)") == "");
  CHECK(has_text(said("s.t(kept any)"), "the schema requires 'mode'"));
}

TEST_CASE("a limit over several tools is compared with what calls of the others leave out") {
  // The one call of each that is granted leaves `o` out, whose default is "danger".
  World world("2026-06-01T12:00:00Z", Json{{"s.t", Json::parse(shapes()[0].schema)},
                                           {"s.u", Json::parse(shapes()[0].schema)}});
  const std::string apart = "allow s.t(o absent) calls <= 3\nallow s.u(o absent) calls <= 3\n";
  const auto is_within = [&](const std::string& wider, const std::string& rest) {
    return std::holds_alternative<Included>(
        policy_of(world, "allow s.t(o absent), s.u(o absent) calls <= " + wider + rest)
            .includes(policy_of(world, apart + rest)));
  };
  CHECK_FALSE(is_within("5\n", "\n"));
  CHECK(is_within("6\n", "\n"));
  // Every such call is asked about for its default, and a yes is not limited.
  CHECK(is_within("5\n", "ask s.t(o.mode == \"danger\"), s.u(o.mode == \"danger\")\n"));
}

TEST_CASE("a schema whose default leads back into itself is read to its end") {
  const auto world = world_with(R"({"type":"object","properties":{
    "child":{"$ref":"#","default":{"child":{"mode":"danger"}}},"mode":{"type":"string"}}})");
  const auto denies = rules({"s.t"}, {R"(s.t(child.child.mode == "danger"))"});
  CHECK(answer(*world, denies, R"({"mode":"x","child":{"mode":"y"}})").effect == "deny");
  CHECK(answer(*world, denies, R"({"child":{"child":{"mode":"safe"}}})").effect == "allow");
}

TEST_CASE("what is foreseen of a call that leaves a member out is what is decided") {
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    const auto world = world_with(shape.schema);
    for (const char* call : {shape.without, shape.with}) {
      for (const auto& layer :
           {rules({"s.t"}, {R"(s.t(o.mode == "danger"))"}),
            rules({"s.t"}, {R"(s.t(* == "danger"))"}), rules({R"(s.t(?o.mode == "safe", ..))"})}) {
        auto authority = world->load({layer}).value();
        const auto foreseen =
            authority.foresee(kTool, {.known = Json::parse(call), .unknown = {}, .open = false});
        const bool allowed = answer(*world, layer, call).effect == "allow";
        CHECK(foreseen.outlook == (allowed ? Outlook::kCovered : Outlook::kDenied));
      }
    }
  }
}

TEST_CASE("where a schema has too many places, a deny and an ask take what is left out for any") {
  // Each of 1,500 forms of `o` has a member of its own with a default: more than is looked at.
  Json schema = Json::parse(R"({"type":"object","properties":{"o":{"type":"object"}}})");
  for (int i = 0; i < 1'500; ++i)
    schema["properties"]["o"]["anyOf"].push_back(
        {{"properties", {{fmt::format("p{}", i), {{"default", "safe"}}}}}});
  const auto world = world_with(schema.dump());
  const auto any = rules({"s.t"}, {R"(s.t(* == "danger"))"});
  const auto one = rules({"s.t"}, {}, {R"(s.t(o.p1499 == "danger"))"});
  CHECK(answer(*world, any, "{}").effect == "deny");
  CHECK(answer(*world, any, R"({"o":{}})").effect == "deny");
  CHECK(answer(*world, one, R"({"o":{}})").effect == "ask");
  CHECK(answer(*world, one, R"({"o":{"p1499":"x"}})").effect == "allow");
  CHECK(answer(*world, rules({R"(s.t(?o.p1499 == "safe", ..))"}), R"({"o":{}})").effect == "deny");
  auto authority = world->load({any}).value();
  const auto foreseen = authority.foresee(
      kTool, {.known = Json{{"o", Json::object()}}, .unknown = {}, .open = false});
  CHECK(foreseen.outlook == Outlook::kDenied);
  auto all = policy_of(*world, "allow s.t\n");
  CHECK_FALSE(std::holds_alternative<Included>(authority.includes(all)));
}

TEST_CASE("a schema that is part of itself has no calls, and does no harm") {
  for (const char* schema :
       {R"({"type":"object","allOf":[{"$ref":"#"},{"properties":{"path":{"type":"string"}}}]})",
        R"({"type":"object","allOf":[{"$ref":"#/$defs/a"}],"$defs":{
            "a":{"allOf":[{"$ref":"#/$defs/b"},{"properties":{"path":{"type":"string"}}}]},
            "b":{"allOf":[{"$ref":"#/$defs/a"}]}}})"}) {
    CAPTURE(schema);
    const auto world = world_with(schema);
    CHECK(answer(*world, rules({R"(s.t(path == "z"))"}), R"({"path":"z"})").effect == "invalid");
    CHECK(answer(*world, rules({"s.t"}, {R"(*.*(path == "z"))"}), R"({"path":"z"})").effect ==
          "invalid");
    auto all = policy_of(*world, "allow s.t\n");
    auto some = policy_of(*world, "allow s.t\ndeny s.t(path == \"z\")\n");
    CHECK(std::holds_alternative<Included>(all.includes(some)));
    CHECK_NOTHROW(std::ignore = some.includes(all));
  }
}

TEST_CASE("of tools of real servers no default passes a deny, and no other spelling is a name") {
  std::size_t defaults = 0;
  std::size_t names = 0;
  for (const Json& schema : real_schemas()) {
    const auto compiled = JsonSchema::compile(schema);
    if (!compiled) continue;
    const World world("2026-06-01T12:00:00Z", Json{{"s.t", schema}});
    const SchemaDefaults left_out(*compiled);
    std::vector<LeftOut> found;
    if (left_out.root() != nullptr) find_left_out(*left_out.root(), {}, found);
    for (const LeftOut& one : found) {
      std::string path;
      for (const auto& name : one.path) path += (path.empty() ? "" : ".") + Json(name).dump();
      const auto loaded =
          world.load({rules({"s.t"}, {fmt::format("s.t({} == {})", path, to_text(one.value))})});
      if (!loaded) continue;  // a rule that can match no call of this schema
      // Each object above it is there, and empty.
      for (std::size_t depth = 0; depth < one.path.size(); ++depth) {
        Json call = Json::object();
        Json* at = &call;
        for (std::size_t i = 0; i < depth; ++i) at = &((*at)[one.path[i]] = Json::object());
        REQUIRE((*compiled)->fill_defaults(call));
        auto authority =
            world.load({rules({"s.t"}, {fmt::format("s.t({} == {})", path, to_text(one.value))})})
                .value();
        CAPTURE(path);
        CHECK(authority.decide(kTool, call).effect == Effect::kDeny);
        ++defaults;
      }
    }
    const Json* properties = find_member(schema, "properties");
    if (properties == nullptr) continue;
    for (const auto& [name, below] : properties->items()) {
      CHECK_FALSE((*compiled)->find_misnamed({{name, 1}}));
      std::string other = name;
      std::ranges::transform(other, other.begin(), [](char c) {
        return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
      });
      if (properties->contains(other)) continue;
      CHECK((*compiled)->find_misnamed({{other, 1}}));
      CHECK((*compiled)->find_misnamed({{name + "\u200d", 1}}));
      ++names;
    }
  }
  CHECK(names > 100);
  CHECK(defaults > 5);
}

}  // namespace mcpac::policy::testing
