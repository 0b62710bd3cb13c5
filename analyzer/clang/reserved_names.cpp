#include "analyzer/clang/reserved_names.h"

#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

constexpr std::string_view kOfTheRuntime =
    "Method detail run_agent_main runtime_object Narrow Requires agent_main async main "
    "mcp mcpac runtime std try_call where";
constexpr std::string_view kOfTheLanguage =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char "
    "char16_t char32_t char8_t class co_await co_return co_yield compl concept const "
    "const_cast consteval constexpr constinit continue decltype default delete do double "
    "dynamic_cast else enum explicit export extern false final float for friend goto if "
    "import inline int long module mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq override private protected public register reinterpret_cast "
    "requires return short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true try typedef typeid typename union unsigned "
    "using virtual void volatile wchar_t while xor xor_eq __asm __asm__ __attribute "
    "__attribute__ _Pragma defined __has_include __has_embed";

}  // namespace

bool is_reserved_name(std::string_view name) {
  return has_word(kOfTheRuntime, name) || has_word(kOfTheLanguage, name);
}

}  // namespace mcpac::analyzer
