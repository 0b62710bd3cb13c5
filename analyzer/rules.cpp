#include "analyzer/rules.h"

#include <algorithm>
#include <array>

namespace mcpac::analyzer {
namespace {

constexpr auto kRefuses = Severity::kRefuses;
constexpr auto kWarns = Severity::kWarns;
constexpr auto kNote = Severity::kNote;

constexpr std::array kRules{
    Rule{
        "attribute", kRefuses,
        "such an attribute runs code before the entry, or swaps one function for another after the "
        "analysis",
        "__attribute__((constructor)) void early() {}"},
    Rule{"bidirectional-control", kRefuses,
         "a bidirectional control shows a reader another program than the compiler reads",
         "\"a\\u202Eb\" written as the character itself"},
    Rule{"capability-cast", kRefuses,
         "a capability that is reached through a cast or as raw memory is no longer the one that "
         "was "
         "declared",
         "reinterpret_cast<char*>(&rt)"},
    Rule{"compile-error", kRefuses, "what does not compile cannot be analysed", "int x = ;"},
    Rule{"connect-in-agent", kRefuses,
         "an agent has only what its entry receives; connect is for programs of their own",
         "mcpac::connect<mcpac::Requires<…>>()"},
    Rule{"denied-use", kRefuses,
         "a call whose constant arguments no grant admits fails whenever it is made; found by the "
         "host, where grants are given",
         "read_text_file({.path = \"/etc/passwd\"}) under path within ./data"},
    Rule{"dependent-call", kNote,
         "a call in a template that no analysed instantiation resolves counts as a use, with "
         "unknown "
         "arguments",
         "template <class R> void f(R& rt) { rt.filesystem.read_text_file({}); }"},
    Rule{"detail-name", kRefuses, "mcpac::detail is the inside of the runtime and not for agents",
         "mcpac::detail::…"},
    Rule{"embed", kRefuses, "#embed reads a file of the machine that compiles",
         "#embed \"/etc/passwd\""},
    Rule{"entry-form", kRefuses,
         "the entry is where the permissions are declared, so its form must leave no doubt",
         "int agent_main(auto rt);"},
    Rule{"foreign-header", kRefuses,
         "only the generated headers, the toolchain's and the program's own belong to what was "
         "approved",
         "#include \"/tmp/mcpac.hpp\""},
    Rule{"forged-type", kRefuses,
         "a permission counts by its declaration in the generated header, never by its name",
         "struct Requires {}; int agent_main(Requires rt);"},
    Rule{
        "hidden-body", kRefuses,
        "libclang does not show what stands in a variable template, so nobody can say what it does",
        "template <class T> const auto read = [](Rt rt) { rt.filesystem.read_text_file({}); };"},
    Rule{"inline-assembly", kRefuses, "assembly does what no analysis of C++ can see",
         "asm(\"syscall\");"},
    Rule{"line-directive", kRefuses, "#line makes findings point at the wrong place",
         "#line 1 \"other.cpp\""},
    Rule{"macro-redefinition", kRefuses,
         "a macro with the name of a keyword or of the runtime makes the text mean something else",
         "#define private public"},
    Rule{"narrow-where", kRefuses,
         "the condition of a Narrow must be a text that is known before the run",
         "struct n : mcpac::Narrow<…> { static const char* where; };"},
    Rule{"no-capability", kNote, "a program without a Requires can call no tool",
         "int main() { return 0; }"},
    Rule{"no-entry", kRefuses, "without an entry there is nothing to run", "void f() {}"},
    Rule{
        "os-call", kWarns,
        "the sandbox gives an agent no files, sockets, processes or environment; the call fails at "
        "run time",
        "std::ofstream(\"x\")"},
    Rule{"pragma", kRefuses, "such a pragma hides text from the analysis or changes what is linked",
         "#pragma GCC system_header"},
    Rule{"private-access", kRefuses, "the private parts of the runtime are not for agents",
         "template struct Rob<&mcpac::…::private_member>;"},
    Rule{"redeclared-function", kWarns,
         "a declaration of a foreign function by hand goes around the headers",
         "extern \"C\" int system(const char*);"},
    Rule{"reopened-namespace", kRefuses,
         "the namespaces mcpac and mcp hold what was generated and locked, nothing else",
         "namespace mcpac { … }"},
    Rule{"too-deep", kRefuses, "what is nested too deeply to be analysed is refused",
         "((((…1…))))"},
    Rule{"too-many-findings", kRefuses, "nobody reads more; the rest was not kept",
         "ten thousand uses of asm"},
    Rule{"two-entries", kRefuses,
         "one program has one entry, or it would be unclear what it declares",
         "int agent_main(A); int agent_main(B);"},
    Rule{"undeclared-use", kRefuses,
         "a tool that the entry does not declare can only be reached by a forged callable",
         "mcpac::Method<mcp::filesystem::write_file> m(nullptr);"},
    Rule{"unknown-permission", kRefuses,
         "a permission must be one of the locked tools, as the generated header declares it",
         "struct mine {}; int agent_main(mcpac::Requires<mine> rt);"},
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
