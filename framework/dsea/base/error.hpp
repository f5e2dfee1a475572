// The errors of DSEA and the exit codes they end a program with.
//
// A message says what happened, where, and what to do about it. Errors are thrown, never printed at the place where
// they happen: run_app prints them once, with the rank in front, and turns them into the exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace dsea {

/// Exit codes of every DSEA program.
enum class ExitCode : int {
  done = 0,            ///< all steps done
  usage = 2,           ///< bad usage, configuration or input; nothing was written over
  failed = 3,          ///< failed while running
  stopped_early = 75,  ///< stopped with a good checkpoint: run again with --restart latest
};

/// Base of all errors thrown by DSEA.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode exit_code() const { return code_; }

 private:
  ExitCode code_;
};

/// Bad usage, configuration or input (exit code 2). Found before the first slice flows.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// Something failed while running (exit code 3).
class RunError : public Error {
 public:
  explicit RunError(const std::string& message) : Error(ExitCode::failed, message) {}

 protected:
  RunError(const std::string& message, ExitCode code) : Error(code, message) {}
};

}  // namespace dsea
