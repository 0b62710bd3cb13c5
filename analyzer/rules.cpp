// SPDX-License-Identifier: Apache-2.0

#include "analyzer/rules.h"

#include <algorithm>
#include <array>

namespace mcpac::analyzer {
namespace {

constexpr auto kRefuses = Severity::kRefuses;
constexpr auto kWarns = Severity::kWarns;
constexpr auto kNote = Severity::kNote;

constexpr std::array kRules{
    Rule{"allow-form", kWarns,
         "an mcpac-allow names a rule that warns and gives a reason; it cannot allow what refuses",
         "// mcpac-allow: inline-assembly it is fast"},
    Rule{"allow-unused", kNote,
         "an mcpac-allow that allows nothing hides the next finding in its place",
         "int f(); // mcpac-allow: os-call there was one here"},
    Rule{"analysis-probe", kWarns,
         "no command line of mcpac defines such a macro, so it shows another program to other "
         "readers than to the compiler",
         "#ifdef __clang_analyzer__\n"
         "#endif"},
    Rule{"attribute", kRefuses,
         "such an attribute runs code that no call shows, or swaps one function for another after "
         "the analysis",
         "__attribute__((constructor)) void early() {}"},
    Rule{"bidirectional-control", kRefuses,
         "a bidirectional control shows a reader another program than the compiler reads",
         "const char* text = \"a\u202Eb\";"},
    Rule{"build-clock", kRefuses,
         "the program that is compiled would be another than the one that was analysed",
         "const char* built = __TIME__;"},
    Rule{"capability-cast", kRefuses,
         "a capability that is reached through a cast or as raw memory is no longer the one that "
         "was declared",
         "char* peek(mcpac::Requires<>& rt) { return reinterpret_cast<char*>(&rt); }"},
    Rule{"code-pointer", kRefuses,
         "a call of a computed address can reach any function without naming it",
         "void jump(long to) { reinterpret_cast<void (*)()>(to)(); }"},
    Rule{"compile-error", kRefuses, "what does not compile cannot be analysed", "int x = ;"},
    Rule{"confusable-identifier", kRefuses,
         "a reader takes the name for another one of the program or the runtime",
         "int p\u0430yload, payload;"},
    Rule{"connect-in-agent", kRefuses,
         "an agent has only what its entry receives; connect is for programs of their own",
         "auto more = mcpac::connect<mcpac::Requires<mcp::filesystem::write_file>>();"},
    Rule{"dangling", kRefuses,
         "what looks at a temporary, or at a variable of a function that has ended, reads anything",
         "std::string_view text = std::string(\"a text that is longer than the object\");"},
    Rule{"denied-use", kRefuses,
         "a call whose constant arguments no grant admits fails whenever it is made; found by the "
         "host, where grants are given",
         "read_text_file({.path = \"/etc/passwd\"}) under path within ./data", FoundIn::kGrants},
    Rule{"dependent-call", kNote,
         "a call in a template that no analysed instantiation resolves counts as a use, with "
         "unknown arguments",
         "template <class R> void f(R& rt) { rt.filesystem.read_text_file({}); }"},
    Rule{"detail-name", kRefuses, "mcpac::detail is the inside of the runtime and not for agents",
         "using namespace mcpac::detail;"},
    Rule{"early-call", kWarns,
         "a tool that is called before the entry acts without it, and an error there ends the "
         "program without a word",
         "extern mcpac::Requires<mcp::filesystem::read_text_file> runtime;\n"
         "auto text = runtime.filesystem.read_text_file({.path = \"a\"}).text();\n"
         "int main() {}"},
    Rule{"early-code", kNote, "this runs before the entry, in an order that the linker chooses",
         "int count() { return 1; }\n"
         "int counted = count();"},
    Rule{"embed", kRefuses, "#embed reads a file of the machine that compiles",
         "const char text[] = {\n"
         "#embed \"/etc/hostname\"\n"
         "};"},
    Rule{"entry-form", kRefuses,
         "the entry is where the permissions are declared, so its form must leave no doubt",
         "int agent_main(int rt) { return rt; }"},
    Rule{"explicit-instantiation", kRefuses,
         "private names may stand in it, and the parser does not show them",
         "template <auto P> void take() {}\n"
         "template void take<1>();"},
    Rule{"foreign-header", kRefuses,
         "only the generated headers, the toolchain's and the program's own belong to what was "
         "approved",
         "#include \"/dev/null\""},
    Rule{"forged-type", kRefuses,
         "a permission counts by its declaration in the generated header, never by its name",
         "struct Requires {};\n"
         "int agent_main(Requires) { return 0; }"},
    Rule{
        "hidden-body", kRefuses,
        "libclang does not show what stands in a variable template, so nobody can say what it does",
        "template <class T> const auto read = [](Rt rt) { rt.filesystem.read_text_file({}); };"},
    Rule{"inline-assembly", kRefuses, "assembly does what no analysis of C++ can see",
         "asm(\"nop\");"},
    Rule{"invisible-character", kRefuses,
         "a reader does not see the character, and the compiler does",
         "const char* text = \"a\u200Bb\";"},
    Rule{"left-out-argument", kRefuses,
         "a required list that is left out would be sent as an empty one, which `= {}` says in "
         "words",
         "void all(mcpac::Requires<mcp::filesystem::read_multiple_files> rt) {\n"
         "  rt.filesystem.read_multiple_files({});\n}"},
    Rule{"library-internals", kRefuses, "names of the library's inside lead past what it checks",
         "void flush(std::string& text) { text.__resize_default_init(3); }"},
    Rule{"library-specialisation", kRefuses,
         "the runtime is built from the library's templates and would mean something else",
         "template <>\n"
         "class std::shared_ptr<mcpac::Requires<>> {};"},
    Rule{"line-directive", kRefuses, "#line makes findings point at the wrong place",
         "#line 1 \"other.cpp\""},
    Rule{"macro-redefinition", kRefuses,
         "a macro with the name of a keyword, of the runtime or of what stands in a header that is "
         "read after it makes the text mean something else",
         "#define private public"},
    Rule{"mixed-script", kWarns,
         "letters of several scripts that look alike are hard to read and easy to mistake",
         "int sp\u0430n_of;"},
    Rule{"module-import", kRefuses, "a module is compiled elsewhere, and its text is not analysed",
         "import std;"},
    Rule{"narrow-elsewhere", kWarns,
         "what the host enforces is what the entry receives; a Narrow in another Requires looks "
         "like "
         "a limit and is none",
         "struct some : mcpac::Narrow<mcp::filesystem::read_text_file> {\n"
         "  static constexpr char where[] = \"path within ./data\";\n};\n"
         "void read(mcpac::Requires<some> rt);"},
    Rule{"narrow-where", kRefuses,
         "the condition of a Narrow must be a text that is known before the run",
         "struct some : mcpac::Narrow<mcp::filesystem::read_text_file> {\n"
         "  static const char* where;\n"
         "};\n"
         "int agent_main(mcpac::Requires<some>) { return 0; }"},
    Rule{"no-capability", kNote, "a program without a Requires can call no tool",
         "int main() { return 0; }"},
    Rule{"no-entry", kRefuses, "without an entry there is nothing to run",
         "namespace mine { int agent_main(mcpac::Requires<>) { return 0; } }"},
    Rule{"not-granted", kRefuses,
         "a program may do only what its user granted; found by the host, where grants are given",
         "int agent_main(mcpac::Requires<mcp::memory::read_graph>) under filesystem.*",
         FoundIn::kGrants},
    Rule{"object-note", kRefuses,
         "the compiled program must declare exactly what the analysis of its source saw",
         "a second mcpac note, or one whose text differs", FoundIn::kObject},
    Rule{"object-override", kRefuses,
         "a definition with the name of one of the runtime or a library takes that one's place",
         "extern \"C\" int open(const char*, int, ...) { return 3; }", FoundIn::kObject},
    Rule{
        "object-section", kRefuses,
        "compiled code that runs outside of the entry, or lies where none belongs, was hidden from "
        "the analysis",
        ".preinit_array, .init_array.101, an IFUNC symbol", FoundIn::kObject},
    Rule{"object-symbol", kWarns,
         "the compiled program needs a function that programs in the sandbox have no use for",
         "an undefined symbol `socket` in the object file", FoundIn::kObject},
    Rule{"object-unknown", kRefuses,
         "a function that belongs neither to C++ nor to what its library and the runtime need may "
         "reach "
         "anything, the connection to the gate among it",
         "an undefined symbol `eventfd_write` in the object file", FoundIn::kObject},
    Rule{"os-call", kWarns,
         "the sandbox gives an agent no sockets, processes or environment, and files only where it "
         "declares mcpac::files; the call fails at run time",
         "#include <fstream>\n"
         "std::ofstream file(\"x\");"},
    Rule{"pasted-word", kRefuses,
         "a word that decides what the analysis reads must stand where it is read",
         "#define JOIN(a, b) a##b\n"
         "JOIN(_Pra, gma)(\"once\")"},
    Rule{"path-probe", kRefuses,
         "the sandboxes of analysis and compilation hold different files, so the two would be "
         "different programs",
         "#if __has_include(\"/etc/hostname\")\n"
         "#endif"},
    Rule{"pragma", kRefuses, "such a pragma hides text from the analysis or changes what is linked",
         "#pragma GCC system_header"},
    Rule{"private-access", kRefuses, "the private parts of the runtime are not for agents",
         "template <auto P> struct Take {};\n"
         "template struct Take<&mcpac::Method<mcp::filesystem::read_text_file>::session_>;"},
    Rule{"raw-descriptor", kRefuses,
         "the connection to the gate is an open descriptor: who writes there by hand calls tools "
         "that no analysis sees",
         "#include <unistd.h>\n"
         "auto sent = ::write(3, \"{}\", 2);"},
    Rule{"redeclared-function", kRefuses,
         "a declaration of a foreign function by hand goes around the headers and what is known of "
         "them",
         "extern \"C\" int system(const char*);"},
    Rule{"reopened-namespace", kRefuses,
         "the namespaces of the runtime, the generated headers and the library hold what was "
         "locked, nothing else",
         "namespace mcpac { int more; }"},
    Rule{"replaced-function", kRefuses,
         "the runtime is linked with the same symbol, and its messages would go through the "
         "program's function",
         "extern \"C\" long send(int, const void*, unsigned long, int) { return 0; }"},
    Rule{"self-include", kRefuses,
         "the entry stands behind the program when it is compiled, so a second reading is another "
         "text",
         "#ifndef AGAIN\n"
         "#define AGAIN\n"
         "#include \"main.cpp\"\n"
         "#endif"},
    Rule{
        "sliced-error", kRefuses,
        "a copy of an error is a mcpac::Error and no other class, so that dynamic_cast of it finds "
        "nothing",
        "bool denied(mcpac::Error error) { return dynamic_cast<mcpac::Denied*>(&error); }"},
    Rule{"text-range", kRefuses,
         "two literals are no beginning and end of one text: what is read between them is anything",
         "std::vector<std::string> words{{\"a\", \"b\"}};"},
    Rule{"too-deep", kRefuses, "what is nested too deeply to be analysed is refused",
         "int sum = 1 + 1 + 1;  // and 3,000 more"},
    Rule{"too-many-findings", kRefuses, "nobody reads more; the rest was not kept",
         "asm(\"nop\");  // and 500 more"},
    Rule{"two-definitions", kRefuses,
         "one name must be one thing in all files of a program, or the analysis of each is of "
         "another program than the linker makes",
         "struct Shared { int a; }; in one file, struct Shared { long a; }; in another",
         FoundIn::kFiles},
    Rule{"two-entries", kRefuses,
         "one program has one entry, or it would be unclear what it declares",
         "int agent_main(mcpac::Requires<>) { return 0; }\n"
         "int agent_main(int) { return 0; }"},
    Rule{"undeclared-use", kRefuses,
         "a tool that the entry does not declare can only be reached by a forged callable",
         "mcpac::Requires<mcp::filesystem::write_file>* forged;\n"
         "void call() { forged->filesystem.write_file({.path = \"a\", .content = \"b\"}); }"},
    Rule{"undefined-function", kRefuses,
         "what a function does with the tools is unknown where none of the given files defines it",
         "int elsewhere(int);\nint here() { return elsewhere(1); }"},
    Rule{"unknown-function", kRefuses,
         "a function of C that belongs to nothing that programs here need may reach anything, the "
         "connection to the gate among it",
         "#include <unistd.h>\n"
         "auto id = ::gethostid();"},
    Rule{"unknown-permission", kRefuses,
         "a permission must be one of the locked tools, as the generated header declares it",
         "struct mine : mcpac::Narrow<int> { static constexpr char where[] = \"path in x\"; };\n"
         "int agent_main(const mcpac::Requires<mine>& rt);"},
    Rule{"unknown-pragma", kWarns, "a pragma that mcpac does not know may change the program",
         "#pragma omp parallel"},
};
static_assert(std::ranges::is_sorted(kRules, {}, &Rule::name));

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

const Rule* find_rule(std::string_view name) {
  const auto found = std::ranges::lower_bound(kRules, name, {}, &Rule::name);
  return found != kRules.end() && found->name == name ? &*found : nullptr;
}

}  // namespace mcpac::analyzer
