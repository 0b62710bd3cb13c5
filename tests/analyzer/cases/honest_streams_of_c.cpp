#include <mcpac.hpp>
#include <cstdarg>
#include <cstdio>
#include <iostream>
#include <memory>
struct Printer {
  std::FILE* to = stdout;
  void print(const char* text) const { std::fputs(text, to); }
};
void note(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
}
int sum(int count, ...) {
  std::va_list arguments;
  va_start(arguments, count);
  int all = 0;
  for (int i = 0; i < count; ++i) all += va_arg(arguments, int);
  va_end(arguments);
  return all;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto text = rt.filesystem.read_text_file({.path = "a"}).text();  // use: filesystem.read_text_file {"path": "a"}
  static char room[256];
  std::setvbuf(stdout, room, _IOFBF, sizeof room);
  std::printf("%s %d %p\n", text.c_str(), 3, static_cast<const void*>(text.data()));
  std::fprintf(stderr, "%s\n", "done");
  Printer().print("x");
  Printer{.to = stderr}.print("y");
  note("%d of %s\n", sum(2, 1, 2), "three");
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  std::FILE* const chosen = text.empty() ? stderr : stdout;
  std::fputc('\n', chosen);
  const Printer* const printer = new Printer;
  std::cout << static_cast<const void*>(printer) << std::endl;
  delete printer;
  char line[16];
  return std::fgets(line, sizeof line, stdin) != nullptr && std::ferror(stdin) == 0 ? 0 : 1;
}
