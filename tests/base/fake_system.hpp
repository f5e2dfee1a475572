// Made-up files of /proc and /sys for units that read the system.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "support/command.hpp"

namespace dsea::test {

/// A folder that stands for /; gone with the test.
class FakeSystem : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root() + path).parent_path());
    support::write_file(root() + path, text);
  }
  void make_folder(const std::string& path) const { std::filesystem::create_directories(root() + path); }
  std::string root() const { return folder_.path(); }

 private:
  support::TempFolder folder_;
};

}  // namespace dsea::test
