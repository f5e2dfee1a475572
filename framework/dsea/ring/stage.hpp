// What a worker sees while it advances one slab by one sub-step.
#pragma once

#include <cstdint>
#include <string>

#include "dsea/device/reduce.hpp"
#include "dsea/device/stream.hpp"
#include "dsea/ring/program.hpp"
#include "dsea/slice/view.hpp"

namespace dsea {

struct StageContext;  // the framework's side, ring/stage_context.hpp

/// Reports an error from a kernel; copy it into the functor. If several threads report, the smallest (code, element)
/// wins, so that the message does not depend on the order. The run ends with the program's explain() and exit code 3.
struct FaultReporter {
  std::uint64_t* word = nullptr;

  /// code 1..255; element 0..2^56-1, such as a molecule's id.
  DSEA_FN void report(int code, std::int64_t element) const {
    const std::uint64_t value =
        (static_cast<std::uint64_t>(code) << 56) | (static_cast<std::uint64_t>(element) & 0x00ffffffffffffffULL);
#if defined(__CUDA_ARCH__)
    atomicMin(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
#else
    std::uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (value < seen && !__atomic_compare_exchange_n(word, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
#endif
  }
};

/// One call of run(), merge() or finish(). All work is put on the stage's stream: pass the stage to for_each and its
/// kin. Nothing here waits for the device. Valid during the call; used by one thread.
class Stage {
 public:
  explicit Stage(StageContext& context) : context_(&context) {}

  int slab() const;           ///< the slab being advanced (in merge(): completed)
  int slabs() const;          ///< of the whole problem
  int kind() const;           ///< index in Problem::kinds; in finish() the number of kinds
  int position() const;       ///< place in the ring; results must not depend on it
  std::int64_t step() const;  ///< full steps behind the input
  double time() const;        ///< step() x dt
  double dt() const;

  /// Slab i+d of the input, |d| <= in. False beyond an open end. Not in merge().
  SlabIn in(int d = 0) const;

  /// What to add to the coordinates of in(d) along the stream axis, in lengths of the whole box: 0, or +-n across a
  /// seam.
  int shift(int d) const;

  /// Output. out(0) holds the fields the kind writes. For a field with Use::contribute, out(d) with |d| <= out is the
  /// region of slab i+d that belongs to this source alone; in merge() out(0) is the final field.
  /// Throws RunError for a slab beyond an open end: ask has_neighbour(d) first.
  SlabOut out(int d = 0) const;

  /// In merge(): what the worker at slab i+d wrote for this slab (its out(-d)). False beyond an open end.
  SlabIn contribution(int d) const;

  /// Whether slab i+d exists.
  bool has_neighbour(int d) const;

  /// Where to report an observable: a number in device memory, set to 0 (sum) or +-infinity (min, max) before.
  /// Write it from one thread, or by reduce(). Never add to it from several.
  double* observable(Observable o) const;

  /// Whether anybody will look at the observables of this step. Reporting them anyway does no harm.
  bool observing() const;

  /// The observable reduced over all slabs at step() - D, and the configured start value before step D ([run]
  /// feedback_delay = D).
  double reduced(Observable o) const;

  /// Where to put this slab's part of a snapshot; false if none is wanted at this step. The io thread writes it.
  SlabOut snapshot() const;

  /// True if this stage has to make the side fields: it writes them, and may read them later in the same stage, through
  /// out(0)[f]. Otherwise they are input, in(d)[f]. True for the first worker of a process and by Problem::side_every.
  bool makes_side() const;

  /// Device memory for n elements that lives until this call's work is done. Consecutive calls give disjoint parts of
  /// Problem::scratch_bytes (added up by ScratchSize); 64-byte aligned. Throws RunError if that is used up.
  template <class T>
  T* scratch(std::int64_t n) const {
    return static_cast<T*>(scratch_bytes(static_cast<std::size_t>(n) * sizeof(T)));
  }

  /// For kernels that may meet bad data.
  FaultReporter faults() const;

  /// External data of slab i+d at step() + ahead (Problem::feed, Kind::takes).
  template <class T>
  View<const T> feed(Feed<T> f, int d = 0, int ahead = 0) const {
    const RawField raw = feed_field(f.index, d, ahead);
    return {static_cast<const T*>(raw.data), raw.count, raw.capacity};
  }

  /// For the program's own marks on a slice; what run() sets travels with slab i's slice.
  std::uint64_t flags() const;
  void set_flags(std::uint64_t flags) const;

  /// What is put on the stream from here on, up to the next phase() or the end of the call, counts as this phase in the
  /// report's account of where the time goes. A phase not named by Problem::phase() is an error.
  void phase(Phase p) const;

  Stream& stream() const;
  operator Stream&() const { return stream(); }  // NOLINT: for_each(stage, ...) reads well

  /// cudaStream_t on CUDA, null on the host: for libraries and hand-written kernels.
  void* native() const { return stream().native(); }

  /// Runs f on the host in stream order. f is small and copied.
  template <class F>
  void host_task(F f) const {
    stream().host_task(std::move(f));
  }

 private:
  template <class F>
  friend void observe(const Stage& stage, Observable o, Count n, F f);

  void* scratch_bytes(std::size_t bytes) const;
  RawField feed_field(int feed, int d, int ahead) const;
  void* reduce_scratch(std::size_t bytes) const;
  ReduceOp op(Observable o) const;
  StageContext* context_;
};

/// Reports an observable: f(0) .. f(n-1), reduced with the observable's own operation in a fixed order.
///   dsea::observe(stage, energy_, n, KineticEnergy{velocity});
template <class F>
void observe(const Stage& stage, Observable o, Count n, F f) {
  reduce(stage.stream(), n, std::move(f), stage.observable(o), stage.op(o),
         stage.reduce_scratch(reduce_scratch_bytes(n.bound)));
}

}  // namespace dsea
