// The bytes of a FILE say which descriptor it writes to; none of these names a member.
#include <mcpac.hpp>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <span>
struct Kept {
  std::FILE* file;
  int count;
};
union Both {
  std::FILE* file;  // expect: refuses raw-descriptor
  char* bytes;
};
char room[512];
void copy_in() { std::memcpy(stdout, room, sizeof room); }  // expect: refuses raw-descriptor
void copy_out() { std::memcpy(room, stdin, sizeof room); }  // expect: refuses raw-descriptor
void assign() { *stdout = *stderr; }  // expect: refuses raw-descriptor // expect: refuses raw-descriptor
char* look() { return reinterpret_cast<char*>(stdout); }  // expect: refuses raw-descriptor
char* look_in_c() { return (char*)stdout; }  // expect: refuses raw-descriptor
unsigned long number() { return reinterpret_cast<unsigned long>(stdout); }  // expect: refuses raw-descriptor
unsigned long cast_bits() { return std::bit_cast<unsigned long>(stdout); }  // expect: refuses raw-descriptor
std::FILE* made() { return static_cast<std::FILE*>(static_cast<void*>(room)); }  // expect: refuses raw-descriptor
void pointer(char* to) { std::memcpy(to, &stdout, sizeof stdout); }  // expect: refuses raw-descriptor
void member(Kept& kept) { std::memcpy(&kept, room, sizeof kept); }  // expect: refuses raw-descriptor
void scan() { std::sscanf(room, "%511c", stdout); }  // expect: refuses raw-descriptor
auto bytes() { return std::as_writable_bytes(std::span(stdout, 1)); }  // expect: refuses raw-descriptor
void thrown() { throw stdout; }  // expect: refuses raw-descriptor
void listed(int count, ...) {
  std::va_list arguments;
  va_start(arguments, count);
  std::fputs("x", va_arg(arguments, std::FILE*));  // expect: refuses raw-descriptor
  va_end(arguments);
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
