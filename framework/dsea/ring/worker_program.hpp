// A user's class behind one interface: what the ring calls. Which optional members the class has is found at compile
// time.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dsea/device/device.hpp"
#include "dsea/io/snapshot.hpp"
#include "dsea/ring/program.hpp"
#include "dsea/ring/stage.hpp"
#include "dsea/slice/digest.hpp"

namespace dsea {

/// See program.hpp for the meaning of the members. All const members may be called by several threads at once.
class WorkerProgram {
 public:
  virtual ~WorkerProgram() = default;
  /// The same program for another rank; null if the user's class cannot be copied.
  virtual std::unique_ptr<WorkerProgram> copy() const = 0;
  virtual Problem problem() const = 0;
  virtual void prepare(const Device& device) = 0;
  virtual void init(int slab, SlabOut out) const = 0;
  virtual void run(Stage& stage) const = 0;
  virtual void merge(Stage& stage) const = 0;
  virtual void finish(Stage& stage) const = 0;
  virtual bool has_merge() const = 0;
  virtual bool has_finish() const = 0;
  virtual bool has_snapshots() const = 0;
  virtual std::uint64_t digest(const SliceLayout& layout, int slab, const RawField* fields) const = 0;
  virtual std::vector<double> row(const Problem& problem, const StepSums& sums) const = 0;
  virtual std::unique_ptr<SnapshotWriter> open_snapshot(std::int64_t step, const std::string& folder) const = 0;
  virtual void close_output(const std::string& folder) const = 0;
  virtual std::string explain(const Fault& fault) const = 0;
};

/// Wraps an object of a user's class.
template <class T>
class ProgramOf final : public WorkerProgram {
 public:
  template <class... Args>
  explicit ProgramOf(Args&&... args) : user_(std::forward<Args>(args)...) {}

  T& user() { return user_; }

  std::unique_ptr<WorkerProgram> copy() const override {
    if constexpr (std::copy_constructible<T>) {
      return std::make_unique<ProgramOf>(user_);
    } else {
      return nullptr;
    }
  }
  Problem problem() const override { return user_.problem(); }
  void prepare(const Device& device) override {
    if constexpr (requires(T & t) { t.prepare(device); }) user_.prepare(device);
  }
  void init(int slab, SlabOut out) const override { user_.init(slab, out); }
  void run(Stage& stage) const override { user_.run(stage); }
  void merge(Stage& stage) const override {
    if constexpr (merges) user_.merge(stage);
  }
  void finish(Stage& stage) const override {
    if constexpr (finishes) user_.finish(stage);
  }
  bool has_merge() const override { return merges; }
  bool has_finish() const override { return finishes; }
  bool has_snapshots() const override { return snapshots; }
  std::uint64_t digest(const SliceLayout& layout, int slab, const RawField* fields) const override {
    if constexpr (requires(const T& t, SlabIn in) { t.digest(slab, in); }) {
      return user_.digest(slab, SlabIn(&layout, fields));
    } else {
      return slab_digest(layout, slab, fields);
    }
  }
  std::vector<double> row(const Problem& problem, const StepSums& sums) const override {
    if constexpr (requires(const T& t) { t.row(sums); }) {
      return user_.row(sums);
    } else {
      return {sums.values, sums.values + problem.observables.size()};
    }
  }
  std::unique_ptr<SnapshotWriter> open_snapshot(std::int64_t step, const std::string& folder) const override {
    if constexpr (snapshots) {
      return user_.open_snapshot(step, folder);
    } else {
      return nullptr;
    }
  }
  void close_output(const std::string& folder) const override {
    if constexpr (requires(const T& t) { t.close_output(folder); }) user_.close_output(folder);
  }
  std::string explain(const Fault& fault) const override {
    if constexpr (requires(const T& t) { t.explain(fault); }) {
      return user_.explain(fault);
    } else {
      return cat("a kernel reported code ", fault.code, " for element ", fault.element);
    }
  }

 private:
  static constexpr bool merges = requires(const T& t, Stage& s) { t.merge(s); };
  static constexpr bool finishes = requires(const T& t, Stage& s) { t.finish(s); };
  static constexpr bool snapshots = requires(const T& t, std::string f) { t.open_snapshot(std::int64_t{}, f); };

  T user_;
};

}  // namespace dsea
