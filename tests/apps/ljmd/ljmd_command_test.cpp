// The program ljmd as users start it: files, exit codes, messages.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/md/reference_dump.hpp"

namespace {

namespace fs = std::filesystem;
using dsea::md::test::ReferenceDump;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

const std::string source = DSEA_SOURCE_DIR;
const std::string reference_folder = source + "/tests/data/lj864/";

class LjmdCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("dsea_ljmd_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Writes run.toml, runs ljmd and returns its exit code.
  int run(const std::string& toml, const std::string& arguments = "") {
    std::ofstream(folder_ / "run.toml") << toml;
    return run_file(folder_ / "run.toml", arguments + " --out " + (folder_ / "out").string());
  }
  int run_file(const fs::path& file, const std::string& arguments) {
    const std::string command = std::string(DSEA_BIN_DIR) + "/ljmd " + file.string() + " " + arguments + " > " +
                                (folder_ / "stdout").string() + " 2> " + (folder_ / "stderr").string();
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string messages() const { return read(folder_ / "stderr"); }
  std::string tables() const { return read(folder_ / "stdout"); }
  std::string digest() const {
    const std::string text = tables();
    const auto at = text.find("digest ");
    return at == std::string::npos ? "no digest" : text.substr(at + 7, 16);
  }

  fs::path folder_;
};

std::string start_from(const std::string& data, int steps, int dump_every) {
  return "[system]\ndata = \"" + data + "\"\n[run]\nsteps = " + std::to_string(steps) +
         "\n[ring]\nworkers = 2\n[output]\nthermo_every = 1\ndump_every = " + std::to_string(dump_every) + "\n";
}

void expect_same_molecules(const ReferenceDump& ours, const ReferenceDump& theirs, double tolerance) {
  ASSERT_EQ(ours.atoms.size(), theirs.atoms.size());
  for (const auto& [id, reference] : theirs.atoms) {
    const auto& atom = ours.atoms.at(id);
    for (const std::string axis : {"x", "y", "z"}) {
      const double here = atom.at(axis) + 12 * atom.at("i" + axis);
      const double there = reference.at(axis) + 12 * reference.at("i" + axis);
      EXPECT_NEAR(here, there, tolerance * std::max(1.0, std::abs(there))) << axis << " of " << id;
      EXPECT_GE(atom.at(axis), 0);
      EXPECT_LE(atom.at(axis), 12);
      const double v = reference.at("v" + axis);
      const double f = reference.at("f" + axis);
      EXPECT_NEAR(atom.at("v" + axis), v, tolerance * std::max(1.0, std::abs(v))) << "v" << axis << " of " << id;
      EXPECT_NEAR(atom.at("f" + axis), f, tolerance * std::max(100.0, std::abs(f))) << "f" << axis << " of " << id;
    }
  }
}

TEST_F(LjmdCommand, DumpsHoldTheReferenceStates) {
  const std::array<std::string, 2> names{"ref864", "mirror864"};
  for (const std::string& name : names) {
    const std::string boundary = name == "mirror864" ? "[boundary]\nx = \"mirror\"\n" : "";
    for (const std::string ranks : {"--ranks 1", "--ranks 3", "--ranks 2 --set ring.stream=y"}) {
      SCOPED_TRACE(name + " " + ranks);
      ASSERT_EQ(run(start_from(reference_folder + "data." + name, 100, 10) + boundary, ranks), 0) << messages();
      for (int step : {0, 10, 100}) {
        const ReferenceDump ours((folder_ / "out" / ("dump." + std::to_string(step) + ".lammpstrj")).string());
        EXPECT_EQ(ours.step, step);
        EXPECT_EQ(ours.bounds, name == "mirror864" ? "ff pp pp" : "pp pp pp");
        expect_same_molecules(ours, ReferenceDump(reference_folder + name + "." + std::to_string(step) + ".dump"),
                              step <= 10 ? 1e-12 : 1e-10);
      }
      fs::remove_all(folder_ / "out");
    }
    ASSERT_EQ(run(start_from(reference_folder + "data." + name, 1, 1) + boundary, "--ranks 2"), 0) << messages();
    expect_same_molecules(ReferenceDump((folder_ / "out" / "dump.1.lammpstrj").string()),
                          ReferenceDump(reference_folder + name + ".1.dump"), 1e-12);
  }
}

TEST_F(LjmdCommand, TableAndReportAreWritten) {
  ASSERT_EQ(run(start_from(reference_folder + "data.ref864", 10, 0), "--ranks 2"), 0) << messages();
  std::ifstream csv(folder_ / "out" / "thermo.csv");
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "Step,Temp,E_pair,TotEng,Press,KinEng,Virial");
  std::vector<std::string> lines;
  while (std::getline(csv, line)) lines.push_back(line);
  ASSERT_EQ(lines.size(), 11U);
  std::istringstream last(lines.back());
  std::vector<double> numbers;
  for (std::string word; std::getline(last, word, ',');) numbers.push_back(std::stod(word));
  ASSERT_EQ(numbers.size(), 7U);
  EXPECT_EQ(numbers[0], 10);
  EXPECT_NEAR(numbers[2] * 864, -2394.19218631937, 2394 * 1e-12);
  EXPECT_NEAR(numbers[4], -1.81541639865685, 2e-12);
  EXPECT_NEAR(numbers[5] * 864, 1948.52201682250, 1948 * 1e-12);
  EXPECT_NEAR(numbers[6] * 864, -13308.1626442821, 13308 * 1e-12);

  const std::string report = read(folder_ / "out" / "run.json");
  for (const char* key : {"\"digest\"", "\"step\": 10", "\"elements\": 864", "\"rate\"", "\"bytes_per_element\""}) {
    EXPECT_NE(report.find(key), std::string::npos) << key << "\n" << report;
  }
  EXPECT_NE(report.find(digest()), std::string::npos);
  EXPECT_NE(tables().find("TotEng"), std::string::npos);
}

TEST_F(LjmdCommand, TheConfigurationsThatComeWithItRun) {
  const std::string quick = " --set run.steps=3 --set output.thermo_every=1 --out " + (folder_ / "out").string();
  for (const char* name : {"demo.toml", "ljmd.toml"}) {
    EXPECT_EQ(run_file(source + "/apps/ljmd/" + name, "--ranks 2" + quick), 0) << messages();
    EXPECT_EQ(run_file(source + "/apps/ljmd/" + name, "--plan"), 0) << messages();
    EXPECT_EQ(run_file(source + "/apps/ljmd/" + name, "--plan --device cuda"), 0) << messages();  // with a GPU or none
  }
}

TEST_F(LjmdCommand, BadInputEndsWithExitCode2) {
  const std::string good = start_from("start.data", 5, 0);
  const auto write_data = [this](const std::string& atoms, const std::string& header = "2 atoms\n1 atom types\n") {
    std::ofstream(folder_ / "start.data") << "x\n" << header << "0 8 xlo xhi\n0 8 ylo yhi\n0 8 zlo zhi\n\n" << atoms;
  };
  const std::string atoms = "Atoms\n\n1 1 1 1 1\n2 1 3 3 3\n";
  write_data(atoms);
  ASSERT_EQ(run(good), 0) << messages();

  struct Bad {
    std::string toml, arguments, message;
  };
  const Bad configurations[] = {
      {good + "[lj]\ncutof = 2.0\n", "", "unknown key 'lj.cutof' (did you mean 'lj.cutoff'?)"},
      {good, "--set lj.sigmaa=2", "sigma"},
      {"[system]\nlatice = \"fcc\"\n", "", "run.toml:2: is 'system.lattice' meant by 'system.latice'?"},
      {"[sytem]\nlattice = \"fcc\"\n", "", "unknown section [sytem] (did you mean [system]?)"},
      {good + "[tim]\ndt = 0.1\n", "", "tim"},
      {good + "[lj]\ncutoff = \"2.5\"\n", "", "run.toml:11"},
      {good + "[lj]\ncutoff = 0\n", "", "lj.cutoff"},
      {good, "--set time.dt=0", "time.dt"},
      {good, "--set time.dt=-1", "time.dt"},
      {good, "--set time.dt=nan", "time.dt"},
      {good, "--set lj.cutoff=8.5", "run.toml:2: key 'system.data': the box is too small"},
      {good, "--set lj.shift=maybe", "lj.shift"},
      {good, "--set ensemble.kind=rescale", "ensemble.temperature"},
      {good, "--set ensemble.kind=npt", "ensemble.kind"},
      {good, "--set boundary.z=outflow", "boundary.z"},
      {good, "--set ring.stream=w", "ring.stream"},
      {good, "--set run.steps=-1", "run.steps"},
      {good, "--set run.steps=many", "run.steps"},
      {good, "--set run.steps=99999999999999999999", "does not fit in 64 bits"},
      {good, "--set run.stepps=5", "did you mean 'run.steps'"},
      {good, "--set run.steps=1 run.seed=2", "each --set takes one key=value, so write --set run.seed=2"},
      {good, "--set ring.slots=1 --set ring.workers=1",
       "--set ring.slots=1: key 'ring.slots': slots = 1 would block for ever"},
      {good, "run.toml", "one argument too many: 'run.toml'"},
      {good, "--set system.data=.", "it is a folder"},
      {good, "--ranks 257", "257 ranks are more than the 256 that may be threads of one process"},
      {good, "--set system.data=nothing.data", "nothing.data"},
      {good, "--set system.data='\"\"'", "key 'system.data': is empty: name a file"},
      {"[system]\nlattice = \"fcc\"\ncells = [4, 4, 4]\ndensity = 0.5\ntemperature = 1\nmass = [1, 1]\nfractions = [1, "
       "1]\n"
       "[lj.2-1]\nsigma = 2.0\n",
       "", "run.toml:8: key 'lj.2-1': the smaller type comes first: call it [lj.1-2]"},
      {good, "--set system.lattice=fcc", "choose one"},
      {good, "--set system.dump=start.dump", "choose one"},
      {"[system]\ndump = \"start.data\"\n", "", "start.data:1: 'x' is not understood: is this a LAMMPS dump?"},
      {good, "--set output.write_data=a/b", "output.write_data"},
      {good, "--set output.profile_every=7 --set profile.from_step=1", "profile.from_step"},
      {good, "--set system.spare=-1", "system.spare"},
      {good + "[lj\n", "", "run.toml:10"},
      {"[run]\nsteps = 1\n", "", "the start is missing"},
      {good, "--ranks 0", "ranks"},
      {good, "--device tpu", "tpu"},
      {good, "--nonsense", "nonsense"},
  };
  for (const Bad& bad : configurations) {
    EXPECT_EQ(run(bad.toml, bad.arguments), 2) << bad.arguments << bad.toml << messages();
    EXPECT_NE(messages().find(bad.message), std::string::npos) << bad.message << "\n" << messages();
  }
  EXPECT_EQ(run_file(source + "/apps/heat/heat.toml", "--out " + (folder_ / "out").string()), 2);
  EXPECT_NE(messages().find("unknown sections [grid], [heat]: is this file for another program?"), std::string::npos)
      << messages();
  EXPECT_EQ(run_file("--set run.steps=1 run.seed=2", ""), 2);
  EXPECT_NE(messages().find("write --set run.seed=2"), std::string::npos) << messages();
  EXPECT_EQ(run_file(folder_ / "missing.toml", ""), 2);
  EXPECT_NE(messages().find("missing.toml"), std::string::npos) << messages();

  struct BadData {
    std::string atoms, header, message;
  };
  const std::string header = "2 atoms\n1 atom types\n";
  const BadData files[] = {
      {"Atoms\n\n1 1 1 1 1\n2 1 3 3\n", header, "start.data:11: section Atoms: a line must have"},
      {"Atoms\n\n1 1 1 1 1\n", header, "section Atoms has 1 lines, but the header says 2"},
      {atoms, "1 atoms\n1 atom types\n", "start.data:11: more lines in section Atoms"},
      {"Atoms\n\n1 1 1 1 1\n1 1 3 3 3\n", header, "start.data:11: molecule 1 is there twice"},
      {"Atoms\n\n17 1 1 1 1\n4 1 1 1 1\n", header, "start.data has molecules 4 and 17 at the same place"},
      {"Atoms\n\n1 1 1 1 1\n2 1 3 nan 3\n", header, "start.data:11: y is 'nan'"},
      {"Atoms\n\n1 1 1 1 1\n2 1 3 9 3\n", header, "start.data:11: molecule 2 is outside the box"},
      {"", header, "section Atoms is missing"},
      {"Atoms\n\n1 1 1 1 1\n2 3 3 3 3\n", "2 atoms\n2 atom types\n", "start.data:11: type 3 is unknown"},
      {atoms, "2 atoms\n1 atom types\n0.5 0 0 xy xz yz\n", "start.data:4: the box is tilted"},
  };
  for (const BadData& bad : files) {
    write_data(bad.atoms, bad.header);
    EXPECT_EQ(run(good, "--ranks 2"), 2) << bad.message << messages();
    EXPECT_NE(messages().find(bad.message), std::string::npos) << bad.message << "\n" << messages();
  }
}

TEST_F(LjmdCommand, RunawayEndsWithExitCode3) {
  std::ofstream(folder_ / "start.data") << "x\n2 atoms\n1 atom types\n0 16 xlo xhi\n0 8 ylo yhi\n0 8 zlo zhi\n\n"
                                        << "Atoms\n\n17 1 1 1 1\n4 1 1.1 1 1\n";
  for (const char* ranks : {"--ranks 1", "--ranks 3"}) {
    EXPECT_EQ(run(start_from("start.data", 5, 0), ranks), 3) << messages();
    EXPECT_NE(messages().find("molecule 4 in slab 0 at step 0 moved too far from its cell"), std::string::npos)
        << messages();
  }
  std::ofstream(folder_ / "start.data") << "x\n2 atoms\n1 atom types\n0 16 xlo xhi\n0 8 ylo yhi\n0 8 zlo zhi\n\n"
                                        << "Atoms\n\n17 1 0 1 1\n4 1 1e-60 1 1\n";
  EXPECT_EQ(run(start_from("start.data", 5, 0), "--ranks 2"), 3) << messages();
  EXPECT_NE(messages().find("molecule 4 in slab 0 at step 0 got a position that is not a finite"), std::string::npos)
      << messages();
  // The cause is said where it happened, and at the end again.
  const std::string text = messages();
  EXPECT_NE(text.rfind("molecule 4"), text.find("molecule 4")) << text;
  EXPECT_EQ(text.rfind("ljmd: error: "), text.rfind('\n', text.size() - 2) + 1) << text;
}

TEST_F(LjmdCommand, AFullSlabSaysWhatToRaise) {
  // A hundred molecules that feel nothing move into the slab of another hundred.
  std::ofstream data(folder_ / "start.data");
  data << "x\n200 atoms\n1 atom types\n0 16 xlo xhi\n0 8 ylo yhi\n0 8 zlo zhi\n\nAtoms\n\n";
  for (int i = 0; i < 200; ++i) data << i + 1 << " 1 " << (i < 100 ? 2.6 : 4) << ' ' << i % 10 << "e-1 1." << i << "\n";
  data << "\nVelocities\n\n";
  for (int i = 0; i < 200; ++i) data << i + 1 << (i < 100 ? " 1 0 0\n" : " 0 0 0\n");
  data.close();
  const std::string toml =
      start_from("start.data", 2, 0) + "[lj]\nepsilon = 0\n[time]\ndt = 0.1\n[neighbour]\nevery = 1\n";
  EXPECT_EQ(run(toml, "--set system.spare=1"), 0) << messages();
  EXPECT_EQ(run(toml, "--set system.spare=0"), 3) << messages();
  EXPECT_NE(messages().find("of slab 1 needs room for 200 elements, but its capacity is 192: raise system.spare"),
            std::string::npos)
      << messages();
}

TEST_F(LjmdCommand, SnapshotsOfAnEarlierRunAreNamed) {
  const std::string toml = start_from(reference_folder + "data.ref864", 4, 2);
  ASSERT_EQ(run(toml), 0) << messages();
  EXPECT_EQ(messages().find("earlier run"), std::string::npos) << messages();
  ASSERT_EQ(run(toml), 0) << messages();
  EXPECT_NE(messages().find("out holds 3 snapshots of an earlier run, such as dump.0.lammpstrj: they are kept"),
            std::string::npos)
      << messages();
  EXPECT_TRUE(fs::exists(folder_ / "out" / "dump.4.lammpstrj"));
}

TEST_F(LjmdCommand, APlanMakesNoMolecules) {  // nor needs the memory of the machine it is for
  const std::string toml = "[system]\nlattice = \"fcc\"\ncells = [900, 900, 900]\ndensity = 0.5\ntemperature = 1.5\n";
  ASSERT_EQ(run(toml, "--plan --ranks 1000"), 0) << messages();
  EXPECT_EQ(messages(), "");
  EXPECT_NE(tables().find("N_max"), std::string::npos);
  EXPECT_NE(tables().find("of memory, more than it would have on this machine"), std::string::npos) << tables();
}

TEST_F(LjmdCommand, ABillionMoleculesKeep149GpusBusyWhateverIsThere) {
  const std::string toml =
      "[system]\nlattice = \"sc\"\ncells = [1000, 1000, 1000]\ndensity = 0.30\ntemperature = 1.5\n"
      "[boundary]\nx = \"mirror\"\n[neighbour]\nevery = 1\nskin = 0.0\n"
      "[plan]\nrate = 3.4e8\nbandwidth = 38e9\n";
  const auto plan = [&](const std::string& ranks) {
    EXPECT_EQ(run(toml, "--plan --device cuda --ranks " + ranks), 0) << messages();
    EXPECT_NE(tables().find("149.3 processes = 597 / 4.0"), std::string::npos) << tables();
    EXPECT_NE(tables().find("50.7 G"), std::string::npos) << "the steady rate\n" << tables();
    return tables();
  };
  EXPECT_NE(plan("149").find("limit       the workers, which are always busy"), std::string::npos) << tables();
  EXPECT_NE(plan("1000").find("597 keep 149.3 of 1000 processes busy"), std::string::npos) << tables();
  EXPECT_NE(plan("10000").find("597 keep 149.3 of 10000 processes busy"), std::string::npos) << tables();
  EXPECT_NE(tables().find("only 1001 of 10000 workers ever have something to do"), std::string::npos) << tables();
}

}  // namespace
