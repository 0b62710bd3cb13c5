#include "hostile/support_sources.h"

namespace mcpac::hostile {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// #define A0 BASE, #define A1 A0 A0, …: `levels` later 2^levels of it.
std::string doubling(const std::string& base, int levels) {
  std::string text = "#define A0 " + base + "\n";
  for (int i = 1; i <= levels; ++i) {
    const std::string before = "A" + std::to_string(i - 1);
    text += "#define A" + std::to_string(i) + " " + before + " " + before + "\n";
  }
  return text;
}

}  // namespace

const std::vector<Source>& reaching_sources() {
  static const std::vector<Source> sources{
      {"include", "#include \"{file}\"\n", Fate::kRefused},
      {"include with angles", "#include <{file}>\n", Fate::kRefused},
      {"include_next", "#include_next \"{file}\"\n", Fate::kRefused},
      {"import", "#import \"{file}\"\n", Fate::kRefused},
      {"include by macro", "#define F \"{file}\"\n#include F\n", Fate::kRefused},
      {"include with dots", "#include \"/usr/include/../..{file}\"\n", Fate::kRefused},
      {"include below /proc", "#include \"/proc/self/root{file}\"\n", Fate::kRefused},
      {"embed", "const char x[] = {\n#embed \"{file}\"\n};\n", Fate::kRefused},
      {"embed with a limit", "const char x[] = {\n#embed \"{file}\" limit(9)\n};\n",
       Fate::kRefused},
      {"incbin", "__asm__(\".incbin \\\"{file}\\\"\");\n", Fate::kRefused},
      {"incbin in a function", "void f() { __asm__ volatile(\".incbin \\\"{file}\\\", 0, 9\"); }\n",
       Fate::kRefused},
      {"assembler include", "__asm__(\".include \\\"{file}\\\"\");\n", Fate::kRefused},
      {"has_include", "#if __has_include(\"{file}\")\n#error seen\n#endif\nint x = 1;\n",
       Fate::kHarmless},
      {"has_include_next", "#if __has_include_next(\"{file}\")\n#error seen\n#endif\nint x = 1;\n",
       Fate::kHarmless},
      {"has_embed", "#if __has_embed(\"{file}\")\n#error seen\n#endif\nint x = 1;\n",
       Fate::kHarmless},
      {"dependency", "#pragma GCC dependency \"{file}\"\n", Fate::kRefused},
      {"line marker", "# 1 \"{file}\" 1\n#include \"nothing.txt\"\nint x = ;\n", Fate::kRefused},
      {"line directive", "#line 1 \"{file}\"\nint x = ;\n", Fate::kRefused},
      {"precompiled header", "#pragma GCC pch_preprocess \"{file}\"\nint x = ;\n", Fate::kRefused},
      {"module map", "#pragma clang module load {file}\nint x = ;\n", Fate::kRefused},
      {"library", "#pragma comment(lib, \"{file}\")\nint x = 1;\n", Fate::kHarmless},
      {"linker option", "#pragma comment(linker, \"-T {file}\")\nint x = ;\n", Fate::kRefused},
  };
  return sources;
}

const std::vector<Source>& odd_sources() {
  static const std::vector<Source> sources{
      {"standard input", "#include \"/dev/stdin\"\n", Fate::kRefused},
      {"standard input by number", "#include \"/proc/self/fd/0\"\n", Fate::kRefused},
      {"a device without an end", "#include \"/dev/zero\"\n", Fate::kRefused},
      {"embedding a device", "const char x[] = {\n#embed \"/dev/urandom\" limit(64)\n};\n",
       Fate::kRefused},
      {"the terminal", "#include \"/dev/tty\"\n", Fate::kRefused},
      {"the environment", "#include \"/proc/self/environ\"\n", Fate::kRefused},
      {"the command line", "#include \"/proc/self/cmdline\"\n", Fate::kRefused},
      {"a folder", "#include \"/etc\"\n", Fate::kRefused},
      {"a plugin", "#pragma clang plugin load \"/tmp/x.so\"\nint x = ;\n", Fate::kRefused},
      {"a module", "import secret;\nint x = 1;\n", Fate::kRefused},
      {"a crash on purpose", "#pragma clang __debug crash\n", Fate::kEnded},
      {"an assertion of the tool", "#pragma clang __debug llvm_fatal_error\n", Fate::kEnded},
  };
  return sources;
}

std::vector<Source> endless_sources() {
  return {
      {"a header in itself", "#include __FILE__\n", Fate::kRefused},
      {"two headers in each", "#include __FILE__\n#include __FILE__\n", Fate::kEnded},
      {"templates without an end",
       "template <int N> struct T { static constexpr int v = T<N + 1>::v; };\nint v = T<0>::v;\n",
       Fate::kRefused},
      {"templates that multiply",
       "template <int N, class T> struct G : G<N - 1, G<N - 1, T>>, G<N - 1, T*> {};\n"
       "template <class T> struct G<0, T> {};\nG<30, int> g;\n",
       Fate::kEnded},
      {"a constant without an end",
       "constexpr int f() { for (;;) {} return 0; }\nconstexpr int v = f();\n", Fate::kRefused},
      {"a constant that counts",
       "constexpr long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
       "constexpr long v = f(60);\n",
       Fate::kEnded},
      {"macros that multiply", doubling("x", 40) + "A40\n", Fate::kEnded},
      {"parentheses", "int x = " + repeated("(", 100'000) + "1" + repeated(")", 100'000) + ";\n",
       Fate::kRefused},
      {"conditions", "int x = " + repeated("1 ? 1 : ", 200'000) + "1;\n", Fate::kEnded},
      {"a large object", "char x[1UL << 40] = {1};\n", Fate::kEnded},
      {"assembler that repeats", "__asm__(\".rept 2000000000\\n.quad 1\\n.endr\");\n",
       Fate::kEnded},
      {"assembler that fills", "__asm__(\".fill 4000000000, 8, 1\");\n", Fate::kEnded},
      {"assembler macros in themselves", "__asm__(\".macro m\\nm\\nm\\n.endm\\nm\");\n",
       Fate::kEnded},
      {"messages", doubling("_Pragma(\"message(\\\"xxxxxxxxxxxxxxxx\\\")\")", 22) + "A22\n",
       Fate::kEnded},
  };
}

}  // namespace mcpac::hostile
