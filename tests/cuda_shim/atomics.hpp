// CUDA's atomics on integers of 32 and 64 bits; each gives the value before. There are none on floating-point numbers:
// their results would depend on the order of the threads.
//
// Atomic for host threads too, which may look at pinned memory meanwhile.
#pragma once

#include <concepts>
#include <type_traits>

namespace shim {

template <class T>
concept AtomicInteger = std::integral<T> &&(sizeof(T) == 4 || sizeof(T) == 8);

template <AtomicInteger T, class Change>
T atomic_update(T* address, Change change) {
  T seen = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &seen, change(seen), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return seen;
}

template <class T>
using Plain = std::type_identity_t<T>;  // the address alone says which type it is

}  // namespace shim

template <shim::AtomicInteger T>
T atomicAdd(T* address, shim::Plain<T> value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
template <shim::AtomicInteger T>
T atomicSub(T* address, shim::Plain<T> value) {
  return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}
template <shim::AtomicInteger T>
T atomicExch(T* address, shim::Plain<T> value) {
  return __atomic_exchange_n(address, value, __ATOMIC_RELAXED);
}
template <shim::AtomicInteger T>
T atomicCAS(T* address, shim::Plain<T> expected, shim::Plain<T> value) {
  __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
template <shim::AtomicInteger T>
T atomicAnd(T* address, shim::Plain<T> value) {
  return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
}
template <shim::AtomicInteger T>
T atomicOr(T* address, shim::Plain<T> value) {
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}
template <shim::AtomicInteger T>
T atomicXor(T* address, shim::Plain<T> value) {
  return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}
template <shim::AtomicInteger T>
T atomicMin(T* address, shim::Plain<T> value) {
  return shim::atomic_update(address, [value](T seen) { return value < seen ? value : seen; });
}
template <shim::AtomicInteger T>
T atomicMax(T* address, shim::Plain<T> value) {
  return shim::atomic_update(address, [value](T seen) { return value > seen ? value : seen; });
}
inline unsigned atomicInc(unsigned* address, unsigned last) {
  return shim::atomic_update(address, [last](unsigned seen) { return seen >= last ? 0U : seen + 1; });
}
inline unsigned atomicDec(unsigned* address, unsigned first) {
  return shim::atomic_update(address, [first](unsigned seen) { return seen == 0 || seen > first ? first : seen - 1; });
}
