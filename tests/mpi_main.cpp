// The main of every test that runs under mpirun. All ranks run all tests together; rank 0 prints the usual report, the
// others only their failures; every rank returns the worst result of all, so that mpirun sees a failure of any.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace {

/// Prints one block per failed expectation, with the rank in front.
class FailuresOnly : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}

  void OnTestStart(const testing::TestInfo& info) override {
    suite_ = info.test_suite_name();
    test_ = info.name();
  }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s.%s failed at %s:%d\n%s\n", rank_, suite_, test_,
                 result.file_name() != nullptr ? result.file_name() : "?", result.line_number(), result.message());
    std::fflush(stderr);
  }

 private:
  int rank_;
  const char* suite_ = "?";
  const char* test_ = "?";
};

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    std::fprintf(stderr, "this MPI library gives no MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  testing::InitGoogleTest(&argc, argv);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));  // gtest owns and deletes it
  }
  int mine = RUN_ALL_TESTS();
  int worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}
