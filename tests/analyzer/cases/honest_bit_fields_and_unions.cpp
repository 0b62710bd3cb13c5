#include <mcpac.hpp>
#include <cstring>
struct Flags {
  unsigned ready : 1 = 0;
  unsigned level : 3 = 0;
  unsigned : 4;
  unsigned count : 8 = 0;
};
class Value {
 public:
  explicit Value(double number) : kind_(Kind::number), number_(number) {}
  explicit Value(bool truth) : kind_(Kind::truth), truth_(truth) {}
  double number() const { return kind_ == Kind::number ? number_ : truth_ ? 1.0 : 0.0; }

 private:
  enum class Kind : unsigned char { number, truth } kind_;
  union {
    double number_;
    bool truth_;
  };
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  Flags flags{.ready = 1, .level = 5};
  flags.count = static_cast<unsigned>(rt.filesystem.read_text_file({.path = "a"}).text().size() & 0xFFU);  // use: filesystem.read_text_file {"path": "a"}
  float f = 1.0F;
  unsigned bits = 0;
  std::memcpy(&bits, &f, sizeof bits);
  return Value(2.0).number() > Value(true).number() && flags.ready == 1 && bits == 0x3f800000U ? 0 : 1;
}
