// Checks of invariants: what only a mistake in the framework or in a worker can violate. For bad input and
// configuration throw UsageError instead, with a text for users.
//
//   DSEA_CHECK(slot.is_ready(), "slot ", index, " of ring ", ring);
//   DSEA_CHECK_EQ(header.slice, expected_slice, "out of order");
//
// A check that fails throws RunError: "stage_machine.cpp:88: check failed: header.slice == expected_slice (3 and 4):
// out of order". They are part of every build. The arguments after the condition are optional, put together as by
// cat(), and evaluated only on failure; operands are evaluated once. Not for device code.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "dsea/base/text.hpp"

namespace dsea::detail {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& operands,
                               const std::string& what);

inline std::string check_text() { return ""; }
template <class... Args>
std::string check_text(const Args&... args) {
  return cat(args...);
}

template <class T>
concept PlainInteger = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

// Integers are compared by value, whether signed or not.
template <class A, class B>
constexpr bool check_equal(const A& a, const B& b) {
  if constexpr (PlainInteger<A> && PlainInteger<B>) {
    return std::cmp_equal(a, b);
  } else {
    return a == b;
  }
}

template <class A, class B>
constexpr bool check_less(const A& a, const B& b) {
  if constexpr (PlainInteger<A> && PlainInteger<B>) {
    return std::cmp_less(a, b);
  } else {
    return a < b;
  }
}

template <class A, class B>
constexpr bool check_less_or_equal(const A& a, const B& b) {
  if constexpr (PlainInteger<A> && PlainInteger<B>) {
    return std::cmp_less_equal(a, b);
  } else {
    return a <= b;
  }
}

}  // namespace dsea::detail

#define DSEA_CHECK(condition, ...)                                                                               \
  do {                                                                                                           \
    if (!(condition)) [[unlikely]] {                                                                             \
      ::dsea::detail::check_failed(__FILE__, __LINE__, #condition, "", ::dsea::detail::check_text(__VA_ARGS__)); \
    }                                                                                                            \
  } while (false)

#define DSEA_CHECK_COMPARE_(function, sign, a, b, ...)                               \
  do {                                                                               \
    const auto& dsea_check_a = (a);                                                  \
    const auto& dsea_check_b = (b);                                                  \
    if (!::dsea::detail::function(dsea_check_a, dsea_check_b)) [[unlikely]] {        \
      ::dsea::detail::check_failed(__FILE__, __LINE__, #a " " sign " " #b,           \
                                   ::dsea::cat(dsea_check_a, " and ", dsea_check_b), \
                                   ::dsea::detail::check_text(__VA_ARGS__));         \
    }                                                                                \
  } while (false)

#define DSEA_CHECK_EQ(a, b, ...) DSEA_CHECK_COMPARE_(check_equal, "==", a, b, __VA_ARGS__)
#define DSEA_CHECK_LT(a, b, ...) DSEA_CHECK_COMPARE_(check_less, "<", a, b, __VA_ARGS__)
#define DSEA_CHECK_LE(a, b, ...) DSEA_CHECK_COMPARE_(check_less_or_equal, "<=", a, b, __VA_ARGS__)
