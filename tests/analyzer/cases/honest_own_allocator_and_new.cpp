#include <mcpac.hpp>
#include <new>
template <class T>
struct CountingAllocator {
  using value_type = T;
  static inline std::size_t allocated = 0;
  CountingAllocator() = default;
  template <class U>
  CountingAllocator(const CountingAllocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    allocated += n * sizeof(T);
    return static_cast<T*>(::operator new(n * sizeof(T)));
  }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p); }
  friend bool operator==(const CountingAllocator&, const CountingAllocator&) = default;
};
struct Point {
  int x;
  int y;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::vector<int, CountingAllocator<int>> numbers;
  for (const auto& line : rt.filesystem.read_text_file({.path = "n.txt"}).lines()) numbers.push_back(static_cast<int>(line.size()));  // use: filesystem.read_text_file {"path": "n.txt"}
  alignas(Point) std::byte room[sizeof(Point)];
  const Point* point = ::new (room) Point{1, 2};
  return point->x + point->y == 3 && CountingAllocator<int>::allocated > 0 ? 0 : 1;
}
