// Views: what C++23 has and the library of agents (libc++ 19) has not: enumerate, chunk, slide,
// join_with, cartesian_product, stride, adjacent, pairwise, zip_transform, as_const. As those of
// std::views, but for these: what has no random access is copied into a vector first, and join_with
// is the joined string or vector itself.
#pragma once

#if defined(_LIBCPP_VERSION) && __cplusplus >= 202302L

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace mcpac::views {

namespace detail {

template <class R>
concept indexed = ::std::ranges::random_access_range<const ::std::remove_reference_t<R>> &&
    ::std::ranges::sized_range<const ::std::remove_reference_t<R>>;

// A view of the range whose elements are found by their number.
template <::std::ranges::viewable_range R>
[[nodiscard]] auto by_number(R&& range) {
  if constexpr (indexed<::std::views::all_t<R>>) {
    return ::std::views::all(::std::forward<R>(range));
  } else {
    ::std::vector<::std::ranges::range_value_t<R>> all;
    for (auto&& item : range) all.push_back(::std::forward<decltype(item)>(item));
    return ::std::views::all(::std::move(all));
  }
}

[[nodiscard]] inline ::std::ptrdiff_t positive(::std::ptrdiff_t n) {
  if (n < 1) throw ::std::invalid_argument("mcpac::views: the length is at least 1");
  return n;
}

// Parts of a range: part i begins at i * step and has at most n elements.
template <class V>
[[nodiscard]] auto parts(V view, ::std::ptrdiff_t count, ::std::ptrdiff_t step,
                         ::std::ptrdiff_t n) {
  return ::std::views::iota(::std::ptrdiff_t{0}, count) |
         ::std::views::transform([view = ::std::move(view), step, n](::std::ptrdiff_t i) {
           const auto size = static_cast<::std::ptrdiff_t>(::std::ranges::size(view));
           const auto begin = ::std::ranges::begin(view) + i * step;
           return ::std::ranges::subrange(begin, begin + ::std::min(n, size - i * step));
         });
}

struct Enumerate : ::std::ranges::range_adaptor_closure<Enumerate> {
  template <::std::ranges::viewable_range R>
  [[nodiscard]] auto operator()(R&& range) const {
    return ::std::views::zip(::std::views::iota(::std::ptrdiff_t{0}),
                             ::std::views::all(::std::forward<R>(range)));
  }
};

struct ChunkOf : ::std::ranges::range_adaptor_closure<ChunkOf> {
  ::std::ptrdiff_t n;
  explicit ChunkOf(::std::ptrdiff_t length) : n(positive(length)) {}
  template <::std::ranges::viewable_range R>
  [[nodiscard]] auto operator()(R&& range) const {
    auto view = by_number(::std::forward<R>(range));
    const auto size = static_cast<::std::ptrdiff_t>(::std::ranges::size(view));
    return parts(::std::move(view), size / n + (size % n == 0 ? 0 : 1), n, n);
  }
};
struct SlideOf : ::std::ranges::range_adaptor_closure<SlideOf> {
  ::std::ptrdiff_t n;
  explicit SlideOf(::std::ptrdiff_t length) : n(positive(length)) {}
  template <::std::ranges::viewable_range R>
  [[nodiscard]] auto operator()(R&& range) const {
    auto view = by_number(::std::forward<R>(range));
    const auto size = static_cast<::std::ptrdiff_t>(::std::ranges::size(view));
    return parts(::std::move(view), size < n ? 0 : size - n + 1, 1, n);
  }
};

template <class Separator>
struct JoinWithOf : ::std::ranges::range_adaptor_closure<JoinWithOf<Separator>> {
  Separator separator;  // one element, or a range of them
  explicit JoinWithOf(Separator between) : separator(::std::move(between)) {}
  template <::std::ranges::input_range R>
  [[nodiscard]] auto operator()(R&& range) const {
    using Item = ::std::ranges::range_value_t<::std::ranges::range_reference_t<R>>;
    ::std::conditional_t<::std::same_as<Item, char>, ::std::string, ::std::vector<Item>> joined;
    bool first = true;
    for (auto&& inner : range) {
      if (!::std::exchange(first, false)) {
        if constexpr (::std::convertible_to<const Separator&, Item>) {
          joined.push_back(separator);
        } else {
          for (const auto& item : separator) joined.push_back(item);
        }
      }
      for (auto&& item : inner) joined.push_back(::std::forward<decltype(item)>(item));
    }
    return joined;
  }
};

// f(i), f of every combination: the last index runs fastest.
struct CartesianProduct {
  template <::std::ranges::viewable_range... R>
  requires(sizeof...(R) > 0) [[nodiscard]] auto operator()(R&&... ranges) const {
    return combined(::std::index_sequence_for<R...>(), by_number(::std::forward<R>(ranges))...);
  }

 private:
  template <::std::size_t... I, class... V>
  [[nodiscard]] static auto combined(::std::index_sequence<I...>, V... views) {
    ::std::ptrdiff_t count = 1;
    ((count *= static_cast<::std::ptrdiff_t>(::std::ranges::size(views))), ...);
    return ::std::views::iota(::std::ptrdiff_t{0}, count) |
           ::std::views::transform([... views = ::std::move(views)](::std::ptrdiff_t number) {
             ::std::array<::std::ptrdiff_t, sizeof...(V)> sizes{
                 static_cast<::std::ptrdiff_t>(::std::ranges::size(views))...};
             ::std::array<::std::ptrdiff_t, sizeof...(V)> at{};
             for (::std::size_t i = sizes.size(); i-- > 0; number /= sizes[i])
               at[i] = number % sizes[i];
             return ::std::tuple<::std::ranges::range_reference_t<const V>...>(
                 ::std::ranges::begin(views)[at[I]]...);
           });
  }
};

struct StrideOf : ::std::ranges::range_adaptor_closure<StrideOf> {
  ::std::ptrdiff_t n;
  explicit StrideOf(::std::ptrdiff_t length) : n(positive(length)) {}
  template <::std::ranges::viewable_range R>
  [[nodiscard]] auto operator()(R&& range) const {
    auto view = by_number(::std::forward<R>(range));
    const auto size = static_cast<::std::ptrdiff_t>(::std::ranges::size(view));
    return ::std::views::iota(::std::ptrdiff_t{0}, size / n + (size % n == 0 ? 0 : 1)) |
           ::std::views::transform(
               [view = ::std::move(view), step = n](::std::ptrdiff_t i) -> decltype(auto) {
                 return ::std::ranges::begin(view)[i * step];
               });
  }
};

template <::std::size_t N>
struct AdjacentOf : ::std::ranges::range_adaptor_closure<AdjacentOf<N>> {
  template <::std::ranges::viewable_range R>
  [[nodiscard]] auto operator()(R&& range) const {
    constexpr auto n = static_cast<::std::ptrdiff_t>(N);
    auto view = by_number(::std::forward<R>(range));
    const auto size = static_cast<::std::ptrdiff_t>(::std::ranges::size(view));
    return ::std::views::iota(::std::ptrdiff_t{0}, size < n ? 0 : size - n + 1) |
           ::std::views::transform([view = ::std::move(view)](::std::ptrdiff_t i) {
             return at(view, i, ::std::make_index_sequence<N>());
           });
  }

 private:
  template <class V, ::std::size_t... I>
  [[nodiscard]] static auto at(const V& view, ::std::ptrdiff_t i, ::std::index_sequence<I...>) {
    using Item = ::std::ranges::range_reference_t<const V>;
    const auto begin = ::std::ranges::begin(view) + i;
    if constexpr (N == 2) {
      return ::std::pair<Item, Item>(begin[0], begin[1]);
    } else {
      return ::std::tuple<decltype((void)I, begin[0])...>(
          begin[static_cast<::std::ptrdiff_t>(I)]...);
    }
  }
};

struct ZipTransform {
  template <class F, ::std::ranges::viewable_range... R>
  requires(sizeof...(R) > 0) [[nodiscard]] auto operator()(F f, R&&... ranges) const {
    return ::std::views::zip(::std::forward<R>(ranges)...) |
           ::std::views::transform([f = ::std::move(f)](auto&& items) -> decltype(auto) {
             return ::std::apply(f, ::std::forward<decltype(items)>(items));
           });
  }
};

struct AsConst : ::std::ranges::range_adaptor_closure<AsConst> {
  template <::std::ranges::viewable_range R>
  [[nodiscard]] auto operator()(R&& range) const {
    return ::std::views::all(::std::forward<R>(range)) |
           ::std::views::transform([](auto&& item) -> decltype(auto) {
             if constexpr (::std::is_lvalue_reference_v<decltype(item)>) {
               return ::std::as_const(item);
             } else {
               return ::std::remove_cvref_t<decltype(item)>(::std::forward<decltype(item)>(item));
             }
           });
  }
};

}  // namespace detail

// What std::views has is found here as well.
using namespace ::std::views;

inline constexpr detail::AdjacentOf<2> pairwise{};
template <::std::size_t N>
inline constexpr detail::AdjacentOf<N> adjacent{};
inline constexpr detail::ZipTransform zip_transform{};
inline constexpr detail::AsConst as_const{};
[[nodiscard]] inline detail::StrideOf stride(::std::ptrdiff_t n) {
  return detail::StrideOf(n);
}
template <::std::ranges::viewable_range R>
[[nodiscard]] auto stride(R&& range, ::std::ptrdiff_t n) {
  return stride(n)(::std::forward<R>(range));
}

inline constexpr detail::Enumerate enumerate{};
inline constexpr detail::CartesianProduct cartesian_product{};

[[nodiscard]] inline detail::ChunkOf chunk(::std::ptrdiff_t n) {
  return detail::ChunkOf(n);
}
template <::std::ranges::viewable_range R>
[[nodiscard]] auto chunk(R&& range, ::std::ptrdiff_t n) {
  return chunk(n)(::std::forward<R>(range));
}
[[nodiscard]] inline detail::SlideOf slide(::std::ptrdiff_t n) {
  return detail::SlideOf(n);
}
template <::std::ranges::viewable_range R>
[[nodiscard]] auto slide(R&& range, ::std::ptrdiff_t n) {
  return slide(n)(::std::forward<R>(range));
}
template <class Separator>
[[nodiscard]] auto join_with(const Separator& separator) {
  if constexpr (::std::convertible_to<const Separator&, ::std::string_view>) {
    return detail::JoinWithOf<::std::string>(::std::string(::std::string_view(separator)));
  } else {
    return detail::JoinWithOf<Separator>(separator);
  }
}
template <::std::ranges::input_range R, class Separator>
[[nodiscard]] auto join_with(R&& range, const Separator& separator) {
  return join_with(separator)(::std::forward<R>(range));
}

}  // namespace mcpac::views

#endif
