// Programs of several files, through the real worker.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "analyzer/support_worker.h"
#include "core/file.h"

namespace {

using namespace mcpac;
using analyzer::Entry;
using analyzer::Report;
using analyzer::Verdict;
using Files = std::vector<std::pair<std::string, std::string>>;

const std::string kHead = "#include <mcpac.hpp>\nusing mcp::filesystem::read_text_file;\n";
const std::string kRead = "mcpac::Requires<read_text_file>";
const std::string kMain = kHead + "void helper(" + kRead + " rt);\nint agent_main(" + kRead +
                          " rt) { helper(rt); return 0; }\n";
const std::string kHelper =
    kHead + "void helper(" + kRead + " rt) { rt.filesystem.read_text_file({.path = \"b\"}); }\n";

// Every *.cpp is a source of the program, in this order; the rest lies beside them.
Report analyzed(const Files& files) {
  auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-program-");
  REQUIRE(folder.has_value());
  std::vector<std::string> sources;
  for (const auto& [name, text] : files) {
    const auto path = folder->path() / name;
    std::filesystem::create_directories(path.parent_path());
    REQUIRE(write_file_atomic(path, text).has_value());
    if (name.ends_with(".cpp")) sources.push_back(path.string());
  }
  auto request = test::request_for(sources.front(), test::Pch::kWith);
  request.source_dir = folder->path().string();
  for (std::size_t i = 1; i < sources.size(); ++i) {
    const auto name = std::filesystem::path(sources[i]).lexically_relative(folder->path());
    request.further.push_back({name.string(), sources[i]});
  }
  const auto answer = test::ask_worker(to_text(to_json(request)));
  INFO(answer.text);
  REQUIRE(answer.exit_code == 0);
  auto report = analyzer::report_from_json(parse_json(answer.text).value());
  REQUIRE(report.has_value());
  return std::move(*report);
}

// The rules that refuse, with their files: "two-entries in b.cpp".
std::string refusals(const Files& files) {
  const Report report = analyzed(files);
  std::string text;
  for (const auto& finding : report.findings) {
    if (finding.severity == analyzer::Severity::kRefuses)
      text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", finding.rule,
                          std::filesystem::path(finding.file).filename().string());
  }
  CHECK((report.verdict == Verdict::kOk) == text.empty());
  return text;
}

}  // namespace

TEST_SUITE("analyzer/program") {
  TEST_CASE("declared is what the one entry receives, uses are those of all files") {
    for (const bool entry_first : {true, false}) {
      Files files{{"a.cpp", kMain}, {"b.cpp", kHelper}};
      if (!entry_first) std::swap(files[0], files[1]);
      const Report report = analyzed(files);
      CHECK(report.verdict == Verdict::kOk);
      CHECK(report.entry == Entry::kAgentMain);
      CHECK(report.file == "a.cpp");
      REQUIRE(report.declared.size() == 1);
      CHECK(report.declared[0].text() == "filesystem.read_text_file");
      CHECK(report.declared[0].file == "a.cpp");
      REQUIRE(report.uses.size() == 1);
      CHECK(report.uses[0].file == "b.cpp");
      CHECK(report.uses[0].arguments.at("path").value == "b");
      CHECK(report.unused.empty());
    }
  }

  TEST_CASE("an entry whose name is spelled in an unusual way is found all the same") {
    const std::string odd = kHead + "int\nagent_main\n(" + kRead + " rt) { (void)rt; return 0; }\n";
    const Report report = analyzed({{"b.cpp", kHelper}, {"a.cpp", odd}});
    CHECK(report.verdict == Verdict::kOk);
    CHECK(report.file == "a.cpp");
    CHECK(report.uses.size() == 1);
  }

  TEST_CASE("the entry stands in exactly one file") {
    CHECK(refusals({{"a.cpp", kMain}, {"b.cpp", kMain}}).contains("two-entries in b.cpp"));
    CHECK(refusals({{"a.cpp", kMain}, {"b.cpp", "int main() { return 0; }\n"}})
              .contains("two-entries in b.cpp"));
    CHECK(refusals({{"a.cpp", kHelper}, {"b.cpp", "int f() { return 0; }\n"}}) ==
          "no-entry in a.cpp");
  }

  TEST_CASE("a tool that only another file calls must be declared by the entry") {
    const std::string write = kHead +
                              "void helper(mcpac::Requires<mcp::filesystem::write_file> rt) {\n"
                              "  rt.filesystem.write_file({.path = \"a\", .content = \"b\"});\n}\n";
    // It is another function than the one that the entry calls, too.
    CHECK(refusals({{"a.cpp", kMain}, {"b.cpp", write}}) ==
          "undefined-function in a.cpp, undeclared-use in b.cpp");
  }

  TEST_CASE("a function that no given file defines is refused where it is used") {
    CHECK(refusals({{"a.cpp", kMain}, {"b.cpp", "int f() { return 1; }\n"}}) ==
          "undefined-function in a.cpp");
    CHECK(refusals({{"a.cpp", kMain}}) == "undefined-function in a.cpp");
    CHECK(refusals({{"a.cpp", kMain}, {"b.cpp", kHelper}}) == "");
  }

  TEST_CASE("arguments that are begun in one of several files lack what that file does not give") {
    const auto helper = [](const std::string& rest) {
      return kHead +
             "void helper(mcpac::Requires<read_text_file> rt) {\n"
             "  mcp::filesystem::read_multiple_files::Args args{};\n" +
             rest + "  rt.filesystem.read_text_file({.path = args.paths->front()});\n}\n";
    };
    CHECK(refusals({{"a.cpp", kMain}, {"b.cpp", helper("  args.paths.push_back(\"b\");\n")}})
              .empty());
    const std::string unused =
        kHead + "void helper(" + kRead +
        " rt) {\n  mcp::filesystem::read_multiple_files::Args args{};\n"
        "  (void)args;\n  rt.filesystem.read_text_file({.path = \"b\"});\n}\n";
    CHECK(refusals({{"a.cpp", kMain}, {"b.cpp", unused}}) == "left-out-argument in b.cpp");
  }

  TEST_CASE("a base that casts itself to what derives from it is known whole in one file only") {
    const std::string base =
        "template <class D> struct Step { void run() { static_cast<D*>(this)->go(); } };\n"
        "struct Read : Step<Read> {\n  " +
        kRead + " rt;\n  void go() { rt.filesystem.read_text_file({.path = \"b\"}); }\n};\n";
    const std::string use = "void helper(" + kRead + " rt) { Read read{{}, rt}; read.run(); }\n";
    CHECK(refusals({{"a.cpp", kMain}, {"b.cpp", kHead + base + use}}) == "");
    CHECK(refusals({{"a.cpp", kMain},
                    {"b.cpp", kHead + "#include \"step.hpp\"\n" + use},
                    {"step.hpp", "#pragma once\n" + kHead + base}}) ==
          "capability-cast in step.hpp");
  }

  TEST_CASE(
      "findings and compile errors name the right file, and an error leaves nothing declared") {
    CHECK(refusals({{"a.cpp", kMain}, {"b.cpp", kHelper + "asm(\"nop\");\n"}}) ==
          "inline-assembly in b.cpp");
    const Report report = analyzed({{"a.cpp", kMain}, {"b.cpp", kHelper + "int x = ;\n"}});
    CHECK(report.verdict == Verdict::kCompileError);
    CHECK(report.declared.empty());
    CHECK(report.uses.empty());
    REQUIRE_FALSE(report.findings.empty());
    CHECK(report.findings[0].file == "b.cpp");
    CHECK(report.findings[0].line == 4);
  }

  TEST_CASE("a local header is shared, also from a folder below, and its findings come once") {
    const std::string header = "#pragma once\nnamespace mcp { struct evil {}; }\n";
    const Report report = analyzed({{"a.cpp", "#include \"c.hpp\"\n" + kMain},
                                    {"sub/b.cpp", "#include \"../c.hpp\"\n" + kHelper},
                                    {"c.hpp", header}});
    CHECK(report.verdict == Verdict::kRefused);
    CHECK(std::ranges::count(report.findings, std::string("foreign-header"),
                             &analyzer::Finding::rule) == 0);
    CHECK(std::ranges::count(report.findings, std::string("reopened-namespace"),
                             &analyzer::Finding::rule) >= 1);
    std::vector<std::string> seen;
    for (const auto& finding : report.findings)
      seen.push_back(fmt::format("{}:{}:{} {} {}", finding.file, finding.line, finding.column,
                                 finding.rule, finding.message));
    std::ranges::sort(seen);
    CHECK(std::ranges::adjacent_find(seen) == seen.end());
  }

  TEST_CASE("one name is one thing in all files") {
    const auto two = [](const std::string& left, const std::string& right) {
      return refusals({{"a.cpp", kMain + left}, {"b.cpp", kHelper + right}});
    };
    const std::string refused = "two-definitions in b.cpp";
    CHECK(two("struct S { int a; };\n", "struct S { long a; };\n") == refused);
    CHECK(two("struct S { int a; };\n", "#pragma pack(1)\nstruct S { int a; };\n")
              .find("two-definitions") == std::string::npos);
    CHECK(two("struct S { char c; int a; };\n", "#pragma pack(1)\nstruct S { char c; int a; };\n")
              .contains(refused));
    CHECK(two("inline int f() { return 1; }\n", "inline int f() { return 2; }\n") == refused);
    CHECK(two("inline int f(int a) { return a + 1; }\n",
              "inline int f(int a) { return a - 1; }\n") == refused);
    CHECK(two("template <class T> T f(T a) { return a; }\n",
              "template <class T> T f(T a) { return a * 2; }\n") == refused);
    CHECK(two("inline constexpr const char* path = \"a\";\n",
              "inline constexpr const char* path = \"/etc\";\n") == refused);
    CHECK(two("enum class E { a, b };\n", "enum class E { b, a };\n") == refused);
    CHECK(two("extern int x;\n", "long x = 1;\n") == refused);
    CHECK(two("int f();\n", "long f() { return 1; }\n") == refused);
    CHECK(two("namespace n { struct S { int a; }; }\n", "namespace n { struct S { }; }\n") ==
          refused);
  }

  TEST_CASE("a capability cannot change its type on the way to another file") {
    const std::string both = "mcpac::Requires<read_text_file, mcp::filesystem::write_file>";
    const auto refused = [&](const std::string& left, const std::string& right) {
      return refusals({{"a.cpp", kMain + left}, {"b.cpp", kHelper + right}})
          .contains("two-definitions");
    };
    CHECK(refused(fmt::format("extern {} shared;\n", kRead),
                  fmt::format("extern {} shared;\n", both)));
    CHECK(refused(fmt::format("{} make();\n", kRead), fmt::format("{} make();\n", both)));
    CHECK(refused(fmt::format("struct Held {{ {} rt; }};\n", kRead),
                  fmt::format("struct Held {{ {} rt; }};\n", both)));
  }

  TEST_CASE("a header that reads differently in two files is two definitions") {
    const std::string header = "#pragma once\nstruct S { WIDE a; };\n";
    CHECK(refusals({{"a.cpp", "#define WIDE int\n#include \"s.hpp\"\n" + kMain},
                    {"b.cpp", "#define WIDE long\n#include \"s.hpp\"\n" + kHelper},
                    {"s.hpp", header}}) == "two-definitions in s.hpp");
  }

  TEST_CASE("what two files share names the same things in both") {
    const auto shared = [](const std::string& header, const std::string& left,
                           const std::string& right) {
      return refusals({{"a.cpp", left + "#include \"s.hpp\"\n" + kMain},
                       {"b.cpp", right + "#include \"s.hpp\"\n" + kHelper},
                       {"s.hpp", "#pragma once\n" + header}});
    };
    const auto differs = [&](const std::string& header, const std::string& left,
                             const std::string& right) {
      CAPTURE(header);
      CHECK(shared(header, left, right).contains("two-definitions in s.hpp"));
      CHECK(shared(header, left, left) == "");
    };
    differs("inline int f() { return own(); }\n", "static int own() { return 1; }\n",
            "static int own() { return 2; }\n");
    differs("inline int f() { return own(); }\n", "namespace { int own() { return 1; } }\n",
            "namespace { int own() { return 2; } }\n");
    differs("inline int f() { return own; }\n", "const int own = 1;\n", "const int own = 2;\n");
    differs("inline int f() { return own(); }\n",
            "static int far() { return 1; }\nstatic int own() { return far(); }\n",
            "static int far() { return 2; }\nstatic int own() { return far(); }\n");
    differs("inline int f() { return Own::get(); }\n",
            "namespace { struct Own { static int get() { return 1; } }; }\n",
            "namespace { struct Own { static int get() { return 2; } }; }\n");
    differs("inline int f() { return own; }\n", "namespace { enum { own = 1 }; }\n",
            "namespace { enum { own = 2 }; }\n");
    differs("template <class T> int f(T) { return own(); }\ninline int g() { return f(1); }\n",
            "static int own() { return 1; }\n", "static int own() { return 2; }\n");
    differs("struct S { int f() { return own(); } };\n", "static int own() { return 1; }\n",
            "static int own() { return 2; }\n");
    differs("inline unsigned long f() { return sizeof(Own); }\n",
            "namespace { struct Own { int a; }; }\n", "namespace { struct Own { long a; }; }\n");
    differs("inline const char* f() { return TEXT; }\n", "#define TEXT \"a\"\n",
            "#define TEXT \"b\"\n");
    differs("inline int g(int a) { return a; }\ninline int f() { return g(); }\n",
            "int g(int a = 1);\n", "int g(int a = 2);\n");
    differs("inline int f() { return l(); }\n", "static const auto l = [] { return 1; };\n",
            "static const auto l = [] { return 2; };\n");
  }

  TEST_CASE("what is equal in two files, or the own matter of each, is honest") {
    const std::string shared =
        "#pragma once\n#include <string>\n#include <vector>\n"
        "struct S { std::string name; std::vector<int> all; bool operator==(const S&) const = "
        "default; };\n"
        "template <class T> T twice(T a) { return a + a; }\n"
        "inline auto f() { return [](int a) { return a + 1.5; }; }\n"
        "enum class E : char { a = 'a' };\ninline const std::string text = \"x\";\n";
    CHECK(
        refusals({{"a.cpp", "#include \"s.hpp\"\n" + kMain +
                                "static int own() { return 1; }\n"
                                "namespace { struct Mine { int a; }; }\n int n = twice(own());\n"},
                  {"b.cpp", "#include \"s.hpp\"\n" + kHelper +
                                "static int own() { return 2; }\n"
                                "namespace { struct Mine { long a; }; }\n long m = twice(2L);\n"},
                  {"s.hpp", shared}}) == "");
    CHECK(refusals(
              {{"a.cpp", kMain + "struct S { int a; };\ninline int g(S s) { return s.a; }\n"},
               {"b.cpp", kHelper + "struct S { int a; };\ninline int g(S s) { return s.a; }\n"}}) ==
          "");
  }

  TEST_CASE("a value that another file may have its own of is told at run time only") {
    const auto path_with = [](const std::string& header, const std::string& path) {
      const std::string helper = "#include \"s.hpp\"\n" + kHead + "void helper(" + kRead +
                                 " rt) { rt.filesystem.read_text_file({.path = " + path + "}); }\n";
      const Report report = analyzed({{"a.cpp", kMain}, {"b.cpp", helper}, {"s.hpp", header}});
      CHECK(report.verdict == Verdict::kOk);
      REQUIRE(report.uses.size() == 1);
      const auto& argument = report.uses[0].arguments.at("path");
      return argument.is_constant ? argument.value.get<std::string>() : "?";
    };
    const std::string head = "#pragma once\n#include <concepts>\n";
    const auto told = [&](const std::string& header, const std::string& path) {
      return path_with(head + header, path);
    };
    CHECK(told("", R"(true ? "a" : "b")") == "a");
    CHECK(told("inline constexpr int n = 2;\nconst bool is = n > 1;\n",
               R"(is && !false ? "a" : "b")") == "a");
    CHECK(told("inline constexpr const char* path = \"a\";\n", "path") == "a");
    CHECK(told("static const char* own() { return \"a\"; }\n", "own()") == "a");
    CHECK(told("inline const char* shared() { return \"a\"; }\n", "shared()") == "?");
    CHECK(told("template <class T> concept C = sizeof(T) == 4;\n", R"(C<int> ? "a" : "b")") == "?");
    CHECK(told("template <class T> constexpr int v = 1;\n", R"(v<int> == 1 ? "a" : "b")") == "?");
    CHECK(told("template <class T> struct S { static constexpr bool is = true; };\n",
               R"(S<int>::is ? "a" : "b")") == "?");
    CHECK(told("template <class T> struct S { enum { is = 1 }; };\n",
               R"(S<int>::is == 1 ? "a" : "b")") == "?");
    CHECK(told("template <class T> struct S { static constexpr char path[] = \"a\"; };\n",
               "S<int>::path") == "?");
    CHECK(told("consteval int one() { return 1; }\n", R"(one() == 1 ? "a" : "b")") == "?");
    CHECK(told("#define SIZE sizeof\n", R"(SIZE(int) == 4 ? "a" : "b")") == "?");
    CHECK(told("const bool is = sizeof(int) == 4;\n", R"(is ? "a" : "b")") == "?");
  }

  TEST_CASE("a constructor that no given file defines is refused, one of another file is not") {
    const std::string held = "#pragma once\nstruct Held { explicit Held(int n); int n; };\n";
    const std::string user = "#include \"h.hpp\"\n" + kMain + "Held made(1);\n";
    CHECK(refusals({{"a.cpp", user}, {"b.cpp", kHelper}, {"h.hpp", held}}) ==
          "undefined-function in a.cpp");
    CHECK(refusals({{"a.cpp", user},
                    {"b.cpp", "#include \"h.hpp\"\n" + kHelper + "Held::Held(int n) : n(n) {}\n"},
                    {"h.hpp", held}}) == "");
  }

  TEST_CASE("a global runtime is one for all files that declare it alike") {
    const std::string declared = kHead + "extern " + kRead + " runtime;\n";
    const Report report = analyzed(
        {{"a.cpp", declared + "void f();\nint main() { f(); }\n"},
         {"b.cpp",
          declared + "void f() { runtime.filesystem.read_text_file({.path = \"x\"}); }\n"}});
    CHECK(report.verdict == Verdict::kOk);
    CHECK(report.entry == Entry::kRuntimeObject);
    CHECK(report.uses.size() == 1);
  }
}
