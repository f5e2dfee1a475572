// How NCCL's library is found, and that what this library believes of its interface is what the header says.
#include "dsea/comm/nccl_api.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "dsea/base/error.hpp"

#if defined(DSEA_TEST_NCCL_HEADER)
#include <nccl.h>

#include <cstddef>
#include <type_traits>
#endif

namespace {

class NamedLibrary {
 public:
  explicit NamedLibrary(const char* path) { setenv("DSEA_NCCL_LIBRARY", path, 1); }
  ~NamedLibrary() { unsetenv("DSEA_NCCL_LIBRARY"); }
};

std::string refusal() {
  try {
    dsea::load_nccl();
    return "no error";
  } catch (const dsea::UsageError& error) {
    return error.what();
  }
}

TEST(NcclApi, AMissingLibraryIsNamed) {
  const NamedLibrary named("/nowhere/libnccl.so.2");
  const std::string text = refusal();
  for (const char* part : {"cannot load /nowhere/libnccl.so.2", "DSEA_NCCL_LIBRARY", "Install NCCL 2.18 or later",
                           "--transport ucx or mpi"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(NcclApi, AnotherLibraryIsRefused) {
  const NamedLibrary named("libm.so.6");
  EXPECT_NE(refusal().find("libm.so.6 has no function ncclGetVersion"), std::string::npos) << refusal();
}

TEST(NcclApi, VersionsAreReadable) {
  EXPECT_EQ(dsea::nccl_version_text(21805), "2.18.5");
  EXPECT_EQ(dsea::nccl_version_text(23203), "2.32.3");
}

#if defined(DSEA_TEST_NCCL_HEADER)
template <class Mine, class Theirs>
constexpr bool same_shape = sizeof(Mine) == sizeof(Theirs) && alignof(Mine) == alignof(Theirs);

static_assert(same_shape<dsea::NcclUniqueId, ncclUniqueId>);
static_assert(same_shape<dsea::NcclComm, ncclComm_t>);
static_assert(sizeof(int) == sizeof(ncclResult_t) && sizeof(int) == sizeof(ncclDataType_t));
static_assert(dsea::nccl_success == ncclSuccess && dsea::nccl_in_progress == ncclInProgress);
static_assert(dsea::nccl_bytes == ncclInt8);
static_assert(dsea::nccl_least_version == NCCL_VERSION(2, 18, 0));
static_assert(offsetof(dsea::NcclConfig, size) == offsetof(ncclConfig_t, size));
static_assert(offsetof(dsea::NcclConfig, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(dsea::NcclConfig, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(dsea::NcclConfig, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(dsea::NcclConfig, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize));
static_assert(offsetof(dsea::NcclConfig, min_ctas) == offsetof(ncclConfig_t, minCTAs));
static_assert(offsetof(dsea::NcclConfig, max_ctas) == offsetof(ncclConfig_t, maxCTAs));
static_assert(offsetof(dsea::NcclConfig, net_name) == offsetof(ncclConfig_t, netName));
static_assert(offsetof(dsea::NcclConfig, split_share) == offsetof(ncclConfig_t, splitShare));
static_assert(sizeof(dsea::NcclConfig) <= sizeof(ncclConfig_t));
static_assert(NCCL_CONFIG_UNDEF_INT == INT_MIN);
static_assert(std::is_same_v<decltype(&ncclSend), ncclResult_t (*)(const void*, std::size_t, ncclDataType_t, int,
                                                                   ncclComm_t, cudaStream_t)>);
static_assert(std::is_same_v<decltype(&ncclRecv),
                             ncclResult_t (*)(void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t)>);
static_assert(std::is_same_v<decltype(&ncclCommInitRankConfig),
                             ncclResult_t (*)(ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*)>);

TEST(NcclApi, TheConfigurationBeginsAsInTheHeader) {
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  const dsea::NcclConfig mine;
  EXPECT_EQ(mine.magic, theirs.magic);
  EXPECT_EQ(mine.cga_cluster_size, theirs.cgaClusterSize);
  EXPECT_EQ(mine.net_name, theirs.netName);
  EXPECT_EQ(mine.split_share, theirs.splitShare);
}
#endif

TEST(NcclApi, TheInstalledLibraryHasAllFunctions) {
  const char* const named = std::getenv("DSEA_TEST_NCCL_LIBRARY");
  if (named == nullptr) GTEST_SKIP() << "DSEA_TEST_NCCL_LIBRARY names none";
  const NamedLibrary library(named);
  const dsea::NcclApi api = dsea::load_nccl();
  EXPECT_EQ(api.version.substr(0, 2), "2.");
  EXPECT_NE(api.get_error_string(5), nullptr);
  dsea::NcclUniqueId id;
  EXPECT_EQ(api.get_unique_id(&id), dsea::nccl_success);
}

}  // namespace
