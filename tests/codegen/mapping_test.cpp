// What a schema means in C++, one keyword after the other (templates/EMITTED_FORM.md, "Types").
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "support_codegen.h"

using namespace mcpac;
using namespace mcpac::codegen;
using namespace mcpac::codegen::testing;

namespace {

// The schemas of one test, as tools of one server: compiled together when the test is over.
class Mapped {
 public:
  Mapped() = default;
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    const auto output = generate({listing("s", "[" + tools_ + "]")});
    REQUIRE(output);
    const TemporaryFolder folder = temporary_folder();
    write_headers(*output, folder.path());
    const auto source = folder.path() / "all.cpp";
    REQUIRE(write_file_atomic(source, "#include \"mcpac.hpp\"\nint main() {}\n"));
    const std::string words = check_syntax(clang19(), source, folder.path());
    CHECK_MESSAGE(words.empty(), words);
  }

  // The header of a tool with one property "p" (of an input and of an output).
  std::string header_of(const std::string& property, const std::string& beside = "") {
    const std::string schema =
        fmt::format(R"({{"type": "object", "properties": {{"p": {}}}, "required": ["p"]{}{}}})",
                    property, beside.empty() ? "" : ", ", beside);
    const std::string tool = fmt::format(
        R"({{"name": "t{1}", "inputSchema": {0}, "outputSchema": {0}}})", schema, ++count_);
    tools_ += (tools_.empty() ? "" : ", ") + tool;
    const auto output = generate({listing("s", "[" + tool + "]")});
    REQUIRE(output);
    return output->files.at("s.hpp");
  }

  // An argument with this schema has this type.
  void check_type(const std::string& property, const std::string& type,
                  const std::string& beside = "");

 private:
  std::string tools_{};
  int count_ = 0;
};

// Without the line breaks that only keep lines short.
std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c != '\n' && c != ' ') {
      line += c;
    } else if (!line.ends_with(' ')) {
      line += ' ';
    }
  }
  return line;
}

void check_says(const std::string& header, const std::string& part) {
  CHECK_MESSAGE(one_line(header).find(part) != std::string::npos, part, " is missing in\n", header);
}

void Mapped::check_type(const std::string& property, const std::string& type,
                        const std::string& beside) {
  check_says(header_of(property, beside), type + " p;");
}

}  // namespace

TEST_SUITE("codegen/mapping") {
  TEST_CASE("an enum of strings is an enum class, with names that say what the values are") {
    Mapped mapped;
    const std::string header = mapped.header_of(
        R"({"enum": ["+1", "-1", "", "class", "plus_1", ">=", "-created", "a b", "a-b"]})");
    check_says(header,
               "enum class P { plus_1_2, minus_1, empty, class_, plus_1, greater_equals, "
               "minus_created, a_b, a_b_2 };");
    check_says(header, R"({P::plus_1_2, "+1"})");
    check_says(header, "friend constexpr ::std::string_view to_string(P mcpac_e)");
  }

  TEST_CASE("an enum of integers is its numbers, a mixed one a table of scalars") {
    Mapped mapped;
    const std::string header = mapped.header_of(R"({"enum": [1, 2, -1]})");
    check_says(header, "enum class P : ::std::int64_t { _1 = 1, _2 = 2, minus_1 = -1 };");
    check_says(header, "::std::array<P, 3>{{ P::_1, P::_2, P::minus_1 }}");
    check_says(mapped.header_of(R"({"enum": [0, 18446744073709551615]})"),
               "enum class P : ::std::uint64_t { _0 = 0, _18446744073709551615 = "
               "18446744073709551615U };");
    check_says(mapped.header_of(R"({"enum": [0, -9223372036854775808]})"),
               "minus_9223372036854775808 = (-9223372036854775807 - 1)");
    const std::string mixed = mapped.header_of(R"({"enum": ["1", 1, 2.5, true, false, "auto"]})");
    check_says(mixed, "enum class P { _1, _1_2, _2_5, true_, false_, auto_ };");
    check_says(mixed, R"({P::_1, "1"}, {P::_1_2, 1}, {P::_2_5, 2.5}, {P::true_, true})");
    mapped.check_type(R"({"enum": [0.5, 1, 2]})", "::mcpac::Required<double>");
    mapped.check_type(R"({"enum": [true, false]})", "::mcpac::Required<bool>");
    mapped.check_type(R"({"enum": [{"a": 1}, "b"]})", "::mcpac::Required<::mcpac::Json>");
  }

  TEST_CASE("null in an enum makes it nullable") {
    Mapped mapped;
    mapped.check_type(R"({"enum": ["a", "b", null]})", "::mcpac::Required<::mcpac::Nullable<P>>");
    mapped.check_type(R"({"enum": [1, 2, null]})", "::mcpac::Required<::mcpac::Nullable<P>>");
    mapped.check_type(R"({"enum": ["a", 1, null]})", "::mcpac::Required<::mcpac::Nullable<P>>");
  }

  TEST_CASE("nullable is one thing in all three spellings") {
    Mapped mapped;
    const std::string type = "::mcpac::Required<::mcpac::Nullable<::std::string>>";
    mapped.check_type(R"({"type": ["string", "null"]})", type);
    mapped.check_type(R"({"anyOf": [{"type": "string"}, {"type": "null"}]})", type);
    mapped.check_type(R"({"type": "string", "nullable": true})", type);
    mapped.check_type(R"({"oneOf": [{"type": "string"}, {"const": null}]})", type);
  }

  TEST_CASE("a constant fills itself, and is what is read") {
    Mapped mapped;
    const std::string header = mapped.header_of(R"({"const": "circle"})");
    check_says(header, "::mcpac::Required<::std::string> p = \"circle\";");
    check_says(header, "::std::string p{};");
    check_says(header, R"(mcpac_v("p", mcpac_s.p, "circle");)");
    check_says(mapped.header_of(R"({"enum": ["one"]})"),
               "::mcpac::Required<::std::string> p = \"one\";");
    check_says(mapped.header_of(R"({"const": 5})"), "::mcpac::Required<::std::int64_t> p = 5;");
    check_says(mapped.header_of(R"({"const": true})"), "::mcpac::Required<bool> p = true;");
    check_says(mapped.header_of(R"({"const": null})"),
               "::mcpac::Required<::mcpac::Json> p = nullptr;");
    check_says(mapped.header_of(R"({"const": {"a": [1, "\"x"]}})"),
               R"raw(p = ::mcpac::Json::parse("{\"a\":[1,\"\\\"x\"]}");)raw");
  }

  TEST_CASE("objects that a constant tells apart are a variant, in results too") {
    Mapped mapped;
    const std::string header = mapped.header_of(R"({"oneOf": [
      {"type": "object", "title": "Circle", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
      {"type": "object", "title": "Square", "properties": {"kind": {"enum": ["square"]}, "r": {"type": "number"}}, "required": ["kind"]}]})");
    check_says(header, "::mcpac::Required<::mcpac::Variant<Circle, Square>> p;");
    check_says(header, "::mcpac::Variant<Circle, Square> p{};");
    // Nothing tells these apart: the answer stays as it came.
    check_says(mapped.header_of(R"({"anyOf": [
      {"type": "object", "properties": {"a": {"type": "string"}}},
      {"type": "object", "properties": {"b": {"type": "string"}}}]})"),
               "::mcpac::Json p{};");
    check_says(mapped.header_of(R"({"anyOf": [
      {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
      {"type": "object", "properties": {"b": {"type": "string"}}}]})"),
               "::mcpac::Variant<POption1, POption2> p{};");
  }

  TEST_CASE("OpenAPI's discriminator is a constant of each alternative") {
    Mapped mapped;
    const std::string header = mapped.header_of(
        R"({"oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
            "discriminator": {"propertyName": "type", "mapping": {"miau": "#/$defs/Cat"}}})",
        R"("$defs": {"Cat": {"type": "object", "properties": {"type": {"type": "string"}}},
                     "Dog": {"type": "object", "properties": {"type": {"type": "string"}, "friend": {"$ref": "#/$defs/Cat"}}}})");
    check_says(header, "::mcpac::Variant<Cat, Dog> p{};");
    check_says(header, R"(mcpac_v("type", mcpac_s.type, "miau");)");
    check_says(header, R"(mcpac_v("type", mcpac_s.type, "Dog");)");
  }

  TEST_CASE("members that are let in by word have a place") {
    Mapped mapped;
    const std::string object =
        R"({{"type": "object", "properties": {{"a": {{"type": "string"}}}}, "required": ["a"], {}}})";
    const auto extra = [&](const std::string& keywords, const std::string& type) {
      check_says(mapped.header_of(fmt::format(fmt::runtime(object), keywords)),
                 fmt::format("::mcpac::Extra<{}> extra{{}};", type));
    };
    extra(R"("additionalProperties": {"type": "integer"})", "::std::int64_t");
    extra(R"("additionalProperties": true)", "::mcpac::Json");
    extra(R"("patternProperties": {"^x-": {"type": "boolean"}}, "additionalProperties": false)",
          "bool");
    for (const char* closed : {R"("additionalProperties": false)", R"("minProperties": 1)"}) {
      const std::string header = mapped.header_of(fmt::format(fmt::runtime(object), closed));
      CHECK(header.find("::mcpac::Extra") == std::string::npos);
    }
    check_says(
        mapped.header_of(R"({"type": "string"})", R"("additionalProperties": {"type": "string"})"),
        "::mcpac::Extra<::std::string> extra{};");
    check_says(
        mapped.header_of(
            R"({"type": "object", "properties": {"extra": {"type": "string"}}, "additionalProperties": true})"),
        "::mcpac::Extra<::mcpac::Json> extra_2{};");
  }

  TEST_CASE("objects without named members are maps") {
    Mapped mapped;
    mapped.check_type(R"({"type": "object", "additionalProperties": {"type": "integer"}})",
                      "::mcpac::Required<::std::map<::std::string, ::std::int64_t>>");
    mapped.check_type(
        R"({"type": "object", "patternProperties": {"^a": {"type": "string"}, "^b": {"type": "boolean"}}, "additionalProperties": false})",
        "::mcpac::Required<::std::map<::std::string, ::mcpac::Variant<::std::string, bool>>>");
    mapped.check_type(R"({"type": "object"})", "::mcpac::Required<::mcpac::Json>");
    mapped.check_type(R"({"anyOf": [{"type": "string"}, {"type": "object"}]})",
                      "::mcpac::Required<::mcpac::Variant<::std::string, ::std::map<::std::string, "
                      "::mcpac::Json>>>");
  }

  TEST_CASE("tuples are tuples, with a rest they are vectors") {
    Mapped mapped;
    mapped.check_type(
        R"({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]})",
        "::mcpac::Required<::std::tuple<::std::string, ::std::int64_t>>");
    mapped.check_type(
        R"({"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false})",
        "::mcpac::Required<::std::tuple<::std::string, ::std::int64_t>>");
    mapped.check_type(
        R"({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}})",
        "::mcpac::Required<::std::vector<::mcpac::Variant<::std::string, ::std::int64_t>>>");
    mapped.check_type(
        R"({"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "string"}})",
        "::mcpac::Required<::std::vector<::std::string>>");
  }

  TEST_CASE("boolean schemas: anything, and nothing") {
    Mapped mapped;
    mapped.check_type("true", "::mcpac::Required<::mcpac::Json>");
    mapped.check_type("{}", "::mcpac::Required<::mcpac::Json>");
    const Output output = generate_schema(
        R"({"type": "object", "properties": {"never": false, "ever": {"type": "string"}}})");
    CHECK(output.files.at("s.hpp").find("never") == std::string::npos);
  }

  TEST_CASE("integers keep 64 bits, unsigned where only that fits") {
    Mapped mapped;
    const std::string large = "::mcpac::Required<::std::uint64_t>";
    mapped.check_type(R"({"type": "integer", "minimum": 0, "maximum": 18446744073709551615})",
                      large);
    mapped.check_type(R"({"type": "integer", "format": "uint64", "minimum": 0.0})", large);
    mapped.check_type(R"({"type": "integer", "minimum": 0})", "::mcpac::Required<::std::int64_t>");
    mapped.check_type(R"({"type": "integer", "minimum": -5, "maximum": 18446744073709551615})",
                      "::mcpac::Required<::std::int64_t>");
    mapped.check_type(R"({"type": "string", "format": "date-time"})",
                      "::mcpac::Required<::std::string>");
  }

  TEST_CASE("allOf is merged: the tighter bound, the common values, both sets of properties") {
    Mapped mapped;
    const std::string header = mapped.header_of(
        R"({"allOf": [{"type": "integer", "minimum": 1, "maximum": 10}, {"type": "number", "minimum": 3, "maximum": 20}]})");
    check_says(header, "::mcpac::Required<::std::int64_t> p;");
    check_says(
        mapped.header_of(R"({"allOf": [{"enum": ["a", "b", "c"]}, {"enum": ["b", "c", "d"]}]})"),
        "enum class P { b, c };");
    const std::string both = mapped.header_of(
        R"({"allOf": [{"$ref": "#/$defs/A"}, {"properties": {"x": {"maxLength": 5}, "y": {"type": "boolean"}}}]})",
        R"("$defs": {"A": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}})");
    check_says(both, "::mcpac::Required<::std::string> x; ::mcpac::Optional<bool> y{};");
    mapped.check_type(R"({"allOf": [{"type": "string"}, {"type": "integer"}]})",
                      "::mcpac::Required<::mcpac::Json>");
    mapped.check_type(R"({"allOf": [{"type": ["string", "null"]}, {"type": "string"}]})",
                      "::mcpac::Required<::std::string>");
  }

  TEST_CASE("references by anchor, by id and dynamic ones are followed; none is fetched") {
    Mapped mapped;
    const std::string type = "::mcpac::Required<::std::string>";
    mapped.check_type(R"({"$ref": "#name"})", type,
                      R"("$defs": {"a": {"$anchor": "name", "type": "string"}})");
    mapped.check_type(R"({"$ref": "#name"})", type,
                      R"("$defs": {"a": {"$id": "#name", "type": "string"}})");
    mapped.check_type(
        R"({"$ref": "name.json"})", type,
        R"("$id": "https://x.org/a/root.json", "$defs": {"a": {"$id": "name.json", "type": "string"}})");
    mapped.check_type(R"({"$ref": "https://x.org/a/root.json#/$defs/a"})", type,
                      R"("$id": "https://x.org/a/root.json", "$defs": {"a": {"type": "string"}})");
    mapped.check_type(
        R"({"$ref": "inner.json"})", type,
        R"("$id": "https://x.org/r.json", "$defs": {"a": {"$id": "inner.json", "$ref": "#/$defs/b", "$defs": {"b": {"type": "string"}}}})");
    mapped.check_type(R"({"$dynamicRef": "#node"})", type,
                      R"("$defs": {"a": {"$dynamicAnchor": "node", "type": "string"}})");
    mapped.check_type(R"({"$ref": "https://example.com/schema.json"})",
                      "::mcpac::Required<::mcpac::Json>");
    // What stands beside a reference holds, too.
    check_says(
        mapped.header_of(
            R"({"$ref": "#/$defs/A", "required": ["x"]})",
            R"("$defs": {"A": {"type": "object", "properties": {"x": {"type": "string"}}}})"),
        "::mcpac::Required<::std::string> x;");
  }

  TEST_CASE("a schema that contains itself in every way ends") {
    Mapped mapped;
    const std::string header = mapped.header_of(
        R"({"$ref": "#/$defs/E"})",
        R"("$defs": {"E": {"anyOf": [{"$ref": "#/$defs/N"}, {"$ref": "#/$defs/L"}]},
                     "N": {"type": "object", "properties": {"op": {"const": "not"}, "of": {"$ref": "#/$defs/E"}, "self": {"$ref": "#/$defs/N", "required": ["op"]}}, "required": ["op", "of"]},
                     "L": {"type": "object", "properties": {"op": {"const": "leaf"}}, "required": ["op"], "additionalProperties": {"$ref": "#/$defs/L"}}})");
    CHECK(header.size() < 100'000);
  }
}
