// The message of the error a piece of code throws.
#pragma once

#include <exception>
#include <string>
#include <typeinfo>

namespace dsea::test {

/// The text of the exception of exactly the type E that `run` throws; otherwise a text that equals no message.
template <class E, class F>
std::string error_text(F&& run) {
  try {
    run();
  } catch (const std::exception& error) {
    if (typeid(error) == typeid(E)) return error.what();
    return std::string("<another exception> ") + error.what();
  }
  return "<no exception>";
}

}  // namespace dsea::test
