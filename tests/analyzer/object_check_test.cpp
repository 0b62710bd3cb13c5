// Objects that clang 19 made of small sources, through the reader and the check. The full programs
// with the real runtime are in execute/ and e2e/.
#include "analyzer/object_check.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "analyzer/object_symbols.h"
#include "core/file.h"

namespace {

using namespace mcpac;
using namespace mcpac::analyzer;

std::string object_of(const std::string& source) {
  auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-object-");
  REQUIRE(folder.has_value());
  const auto file = folder->path() / "a.cpp";
  REQUIRE(write_file_atomic(file, source).has_value());
  const std::string command =
      fmt::format("/usr/lib/llvm-19/bin/clang++ -w -std=c++23 -stdlib=libc++ -O0 -c {0} -o {0}.o",
                  file.string());
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  return read_file(file.string() + ".o").value();
}

ObjectFile parsed(const std::string& source) {
  const std::string bytes = object_of(source);
  auto object = read_object(elf::reader_of(bytes), "a.cpp");
  REQUIRE(object.has_value());
  return std::move(*object);
}

// Names that a library would define.
bool is_of_library(std::string_view name) {
  return name == "open" || name == "_start" || name == "_Znwm" ||
         name.starts_with("_ZN5mcpac6detail");
}

std::string findings_of(const std::vector<std::string>& sources, const Report& report = {}) {
  std::vector<ObjectFile> objects;
  for (const auto& source : sources) objects.push_back(parsed(source));
  std::string text;
  for (const auto& finding : check_objects(objects, is_of_library, report))
    text += fmt::format("{} {}: {}\n", to_string(finding.severity), finding.rule, finding.message);
  return text;
}

bool finds(const std::string& source, std::string_view rule, std::string_view name) {
  const std::string text = findings_of({source});
  INFO(source, "\n", text);
  CHECK(text.contains(name));
  return text.contains(rule);
}

Report with_finding(std::string rule, std::string message) {
  Report report;
  report.findings.push_back(
      {std::move(rule), Severity::kWarns, "a.cpp", 1, 1, std::move(message), ""});
  return report;
}

}  // namespace

TEST_SUITE("analyzer/object_check") {
  TEST_CASE("an ordinary program has no findings") {
    CHECK(findings_of({R"(
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <format>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <print>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <variant>
#include <vector>
std::map<std::string, int> table{{"a", 1}};
inline std::string shared_text = std::string(40, 'x');
thread_local std::vector<int> mine{1, 2};
struct Base { virtual ~Base() = default; virtual double f(double) = 0; };
struct Derived : Base { double f(double x) override { return std::pow(std::sinh(x), 3) + std::lgamma(x); } };
int main() {
  std::vector<int> v{3, 1, 2};
  std::ranges::sort(v);
  std::stringstream s; s << 1.5 << std::hex << 255 << shared_text;
  std::mutex m; { std::lock_guard g(m); mine.push_back(3); }
  std::thread t([] { std::cout << "x\n"; }); t.join();
  std::regex r("a+"); (void)std::regex_match("aa", r);
  std::mt19937_64 e(1); std::normal_distribution<> d; (void)d(e);
  std::println("{} {:%F}", std::format("{:.3f}", 2.5), std::chrono::sys_days{});
  std::filesystem::path p = std::filesystem::path("a") / "b"; (void)p.extension().string();
  __int128 big = 1; big = big * 7 / 3; long double l = std::sqrt(2.0L); (void)l;
  try { throw std::runtime_error("x"); } catch (const std::exception& x) { std::cerr << x.what(); }
  Base* b = new Derived; b->f(1); delete b;
  std::function<int()> f = [] { return 1; };
  std::variant<int, std::string> w = "x"; std::visit([](auto&&) {}, w);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return f() + static_cast<int>(std::stod("1.5")) + table["a"];
})"}) == "");
  }

  TEST_CASE("a call of the operating system is found by its symbol, however it was spelled") {
    CHECK(
        finds("#include <sys/socket.h>\n#define CAT(a, b) a##b\n"
              "int main() { return CAT(sock, et)(1, 1, 0); }",
              "warns object-symbol", "`socket`, which reaches the network"));
    CHECK(finds("extern \"C\" long syscall(long, ...); int main() { return syscall(39); }",
                "refuses raw-descriptor", "`syscall`"));
    CHECK(finds("#include <unistd.h>\nint main() { return write(3, \"x\", 1); }",
                "refuses raw-descriptor", "`write`"));
    CHECK(finds("#include <fstream>\nint main() { std::ofstream f(\"x\"); f << 1; }",
                "warns object-symbol", "`std::basic_"));
    CHECK(finds("#include <filesystem>\nint main() { return std::filesystem::exists(\"x\"); }",
                "warns object-symbol", "`std::filesystem::"));
    CHECK(finds("extern char** environ; int main() { return environ != nullptr; }",
                "warns object-symbol", "`environ`"));
  }

  TEST_CASE("what a finding of the source says already is not said again") {
    const std::string source = "#include <fcntl.h>\nint main() { return open(\"x\", 0); }";
    CHECK(findings_of({source}).contains("`open`"));
    CHECK(findings_of({source}, with_finding("os-call", "`open` reaches files")) == "");
    CHECK(findings_of({source},
                      with_finding("redeclared-function", "`open` is declared by hand")) == "");
    CHECK(findings_of({source}, with_finding("os-call", "`openat` reaches files")) != "");
    CHECK(findings_of({source}, with_finding("attribute", "`open`")) != "");
  }

  TEST_CASE("a definition that takes the place of another's is refused") {
    CHECK(finds("extern \"C\" int open(const char*, int, ...) { return 3; } int main() {}",
                "refuses object-override", "`open`"));
    CHECK(finds("extern \"C\" [[gnu::weak]] void _start() {} int main() {}",
                "refuses object-override", "`_start`"));
    CHECK(finds("namespace mcpac::detail { int connection() { return 3; } } int main() {}",
                "refuses object-override", "`mcpac::detail::connection`"));
    CHECK(
        finds("namespace mcpac::detail { inline int connection() { return 3; } }\n"
              "int main() { return mcpac::detail::connection(); }",
              "refuses object-override", "`mcpac::detail::connection`"));
    CHECK(finds("int mine() asm(\"_ZN5mcpac6detail1fEv\"); int mine() { return 1; } int main() {}",
                "refuses object-override", "`mcpac::detail::f`"));
    CHECK(
        finds("#include <cstdlib>\nvoid* operator new(unsigned long n) { return std::malloc(n); }"
              " int main() {}",
              "refuses object-override", "_Znwm"));
  }

  TEST_CASE("what runs before the entry, other than initialisers of globals, is refused") {
    CHECK(finds("__attribute__((constructor)) void early() {} int main() {}",
                "refuses object-section", "`early` runs before the entry"));
    CHECK(finds("__attribute__((constructor(101))) static void early() {} int main() {}",
                "refuses object-section", "`.init_array.101`"));
    CHECK(finds("__attribute__((destructor)) static void late() {} int main() {}",
                "refuses object-section", "runs"));
    CHECK(
        finds("void f() {} [[gnu::section(\".preinit_array\"), gnu::used]] void (*p)() = f;"
              "int main() {}",
              "refuses object-section", "`.preinit_array`"));
    CHECK(
        finds("void f() {} [[gnu::section(\".init_array\"), gnu::used]] void (*p)() = f;"
              "int main() {}",
              "refuses object-section", "`f` runs before the entry"));
    CHECK(
        finds("void f() {} [[gnu::section(\".ctors\"), gnu::used]] void (*p)() = f; int main() {}",
              "refuses object-section", "`.ctors`"));
    CHECK(
        finds("extern \"C\" int g() { return 1; } extern \"C\" void* r() { return (void*)&g; }\n"
              "int f() __attribute__((ifunc(\"r\"))); int main() { return f(); }",
              "refuses object-section", "IFUNC"));
  }

  TEST_CASE("sections that C++ does not make are refused") {
    CHECK(finds("[[gnu::section(\"mine\"), gnu::used]] int x = 1; int main() {}",
                "refuses object-section", "`mine`"));
    CHECK(finds("[[gnu::section(\".textual\")]] void f() {} int main() {}",
                "refuses object-section", "`.textual`"));
    CHECK(finds("asm(\".section .text.open,\\\"awx\\\",@progbits\\n nop\\n .text\"); int main() {}",
                "refuses object-section", "`.text.open` can be written and executed"));
    CHECK(
        finds("[[gnu::section(\".note.other\"), gnu::used]] const int x[3] = {1, 2, 3};"
              "int main() {}",
              "refuses object-section", "`.note.other`"));
  }

  TEST_CASE("what one object of the program defines, another may need") {
    CHECK(findings_of({"extern \"C\" int helper(); int main() { return helper(); }"})
              .contains("`helper`"));
    CHECK(findings_of({"extern \"C\" int helper(); int main() { return helper(); }",
                       "extern \"C\" int helper() { return 0; }"}) == "");
  }

  TEST_CASE("the note of the linked program declares what the source does, or it is refused") {
    Report source;
    CHECK(check_note(std::nullopt, source).empty());
    source.declared = {{"a.b", "", "a.cpp", 1, 1}, {"a.c", "x within y", "a.cpp", 1, 1}};
    CHECK(check_note(source.declared, source).empty());
    auto more = source.declared;
    more.push_back({"a.d", "", "a.cpp", 1, 1});
    REQUIRE(check_note(more, source).size() == 1);
    CHECK(check_note(more, source)[0].severity == Severity::kRefuses);
    CHECK(check_note(more, source)[0].message.ends_with(": a.d"));
    CHECK(check_note(std::nullopt, source).size() == 1);
    CHECK(check_note(std::vector<Declared>{{"a.b", "", "", 0, 0}, {"a.c", "", "", 0, 0}}, source)
              .size() == 1);
  }

  TEST_CASE("more findings than a person reads end in a refusal") {
    std::string source = "int main() {}\n";
    for (int i = 0; i < 300; ++i)
      source += fmt::format("extern \"C\" void u{0}(); void f{0}() {{ u{0}(); }}\n", i);
    const std::string text = findings_of({source});
    CHECK(std::ranges::count(text, '\n') <= 101);
    CHECK(text.contains("refuses too-many-findings"));
  }

  TEST_CASE("a broken object file is an error, never a crash and never fewer symbols") {
    const std::string whole = object_of("int main() { return 0; } int other() { return 1; }");
    const auto complete = read_object(elf::reader_of(whole), "a");
    REQUIRE(complete.has_value());
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string cut = whole.substr(0, size);
      const auto object = read_object(elf::reader_of(cut), "a");
      if (object) CHECK(object->symbols.size() == complete->symbols.size());
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const char to : {'\0', '\x7f', '\xff'}) {
        std::string bent = whole;
        bent[at] = to;
        auto object = read_object(elf::reader_of(bent), "a");
        if (!object) continue;
        std::vector<ObjectFile> objects;
        objects.push_back(std::move(*object));
        (void)check_objects(objects, is_of_library, {});
      }
    }
  }

  TEST_CASE("a mangled name is read as far as its first template argument") {
    CHECK(readable_symbol("open") == "open");
    CHECK(readable_symbol("_ZNSt3__14__fs10filesystem8__statusERKNS1_4pathEPNS_10error_codeE") ==
          "std::filesystem::__status");
    CHECK(readable_symbol("_ZTVNSt3__114basic_ofstreamIcNS_11char_traitsIcEEEE") ==
          "std::basic_ofstream");
    CHECK(readable_symbol("_ZNK5mcpac6MethodIN3mcp10filesystem10write_fileEEclEv") ==
          "mcpac::Method");
    CHECK(readable_symbol("_ZSt9terminatev") == "std::terminate");
    CHECK(readable_symbol("_ZTv0_n24_NSt3__114basic_ifstreamIcNS_11char_traitsIcEEED1Ev") ==
          "std::basic_ifstream");
    CHECK(readable_symbol("_ZTchn8_h16_N3mcp1aD1Ev") == "mcp::a");
    CHECK(readable_symbol("_ZThn16_3run") == "run");
    CHECK(readable_symbol("_Z3runv") == "run");
    CHECK(readable_symbol("_ZL4divei") == "dive");
    CHECK(readable_symbol("_ZN3ownL4diveEi") == "own::dive");
    for (const char* odd : {"_Z", "_ZN", "_ZN99999999x", "_ZN5abE", "_ZN0E", "_ZTV", "_ZNKVr",
                            "_ZTv0_n", "_ZThn", "_ZTch1_", "_ZL", "_ZL9x"})
      CHECK(readable_symbol(odd) == odd);
  }

  TEST_CASE("no function is allowed that reaches the operating system") {
    for (const char* name : {"open",     "socket", "system", "syscall", "dlopen",
                             "fork",     "execve", "mmap",   "environ", "getenv",
                             "read",     "write",  "fopen",  "dup2",    "__libc_start_main",
                             "_dl_open", "ioctl",  "prctl",  "",        "time clock"})
      CHECK_MESSAGE(purpose_of(name) == nullptr, name);
    CHECK(purpose_of("sinf") != nullptr);
    CHECK(purpose_of("memcpy") != nullptr);
  }
}
