// Note: what a program declares, readable in its binary before it runs.
//
// Every place that makes a capability (connect(), the two entries) leaves an ELF note in
// .note.mcpac: owner "mcpac", type 1, and where in the file the names stand. `mcpac permissions
// analyze ./app` and `mcpac run` read it. A note only narrows: the host never gives more for what
// it says.
//
// Assembly, because g++ 12 drops section attributes on templates and knows no string operands; so
// the note holds a distance and a length, and the text is an ordinary constant. The section is
// allocated and of type NOTE: it survives strip and --gc-sections, and keeps its text with it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace mcpac {

template <class... P>
class Requires;

namespace detail {

template <class P>
[[nodiscard]] consteval ::std::string_view where_of() {
  if constexpr (requires { P::where; }) {
    return ::std::string_view(P::where);
  } else {
    return {};
  }
}

// Every permission as "server.tool", NUL, the text of a Narrow or nothing, NUL.
template <class... P>
inline constexpr ::std::size_t note_size = (::std::size_t{0} + ... +
                                            (P::permission.size() + where_of<P>().size() + 2));

template <class... P>
[[nodiscard]] consteval auto note_text_of() {
  ::std::array<char, note_size<P...> + 1> text{};
  ::std::size_t at = 0;
  const auto put = [&text, &at](::std::string_view part) {
    for (const char c : part) text[at++] = c;
    text[at++] = '\0';
  };
  (..., (put(P::permission), put(where_of<P>())));
  return text;
}

// Hidden: the distance from the note is then known to the linker, in shared libraries, too.
template <class... P>
[[gnu::visibility("hidden")]] inline constexpr auto note_text = note_text_of<P...>();

template <class Capability>
struct Note;

template <class... P>
struct Note<Requires<P...>> {
  static_assert(((where_of<P>().find('\0') == ::std::string_view::npos) && ...),
                "the text of a Narrow holds no NUL");
  static void leave() noexcept {
#if defined(__x86_64__) && defined(__ELF__)
    __asm__ volatile(
        ".pushsection .note.mcpac,\"a\",@note\n\t"
        ".balign 4\n\t"
        ".long 6\n\t"   // bytes of the owner
        ".long 16\n\t"  // bytes of what follows it
        ".long 1\n\t"   // the type: version 1 of a declaration
        ".asciz \"mcpac\"\n\t"
        ".balign 4\n\t"
        ".quad %c0-.\n\t"
        ".quad %c1\n\t"
        ".popsection"
        :
        : "i"(&note_text<P...>),
          "i"(::std::integral_constant<::std::size_t, note_size<P...>>::value));
#endif
  }
};

}  // namespace detail
}  // namespace mcpac
