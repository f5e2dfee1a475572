// The kernels against reference trajectories: 864 molecules, periodic and between mirrors; a mixture.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "dsea/base/config.hpp"
#include "kernels/md/model.hpp"
#include "kernels/md/reference_dump.hpp"
#include "kernels/md/sweep.hpp"

namespace dsea::md::test {
namespace {

struct Totals {
  int step;
  double potential, kinetic, pressure;
};

struct Case {
  std::string folder, data, dumps;
  std::string config;
  Totals totals[4];
};

const Case periodic_case{"lj864",
                         "data.ref864",
                         "ref864",
                         "",
                         {{0, -2387.41653787050, 1941.75000000000, -1.82821186596391},
                          {1, -2387.36363571119, 1941.69651397821, -1.82806577216084},
                          {10, -2394.19218631937, 1948.52201682250, -1.81541639865685},
                          {100, -2195.72046244950, 1749.97010386428, 0.649090663848046}}};
const Case mirror_case{"lj864",
                       "data.mirror864",
                       "mirror864",
                       "[boundary]\nx = \"mirror\"\n",
                       {{0, -2.2541581645291344e+03, 1.9417499999999977e+03, -1.6760849409556520e+00},
                        {1, -2.2540596726375356e+03, 1.9416512856537338e+03, -1.6760094885721259e+00},
                        {10, -2.2604855883687446e+03, 1.9480661340715792e+03, -1.6643736447383144e+00},
                        {100, -2.0836768661071342e+03, 1.7711734790847329e+03, 7.7500257058680089e-01}}};
const Case mixture_case{
    "mixture",
    "data.mixture",
    "mixture",
    "[lj]\nepsilon = [1.0, 0.75]\nsigma = [1.0, 0.8]\ncutoff = [2.5, 1.9]\n[lj.1-2]\nepsilon = 0.9\n"
    "sigma = 0.88\ncutoff = 2.3\n[time]\ndt = 0.002\n",
    {{0, -1.8564504711881114e+03, 1.8887945340169742e+03, 6.9155208810339375e-01},
     {1, -1.8557069777533554e+03, 1.8880499444620982e+03, 6.9276828241831623e-01},
     {10, -1.8325767157698208e+03, 1.8649473512911607e+03, 7.4720842358715212e-01},
     {100, -1.8066386906266810e+03, 1.8390338493212309e+03, 8.0627866025233752e-01}}};

void expect_close(double value, double reference, double scale, double tolerance, const std::string& what) {
  EXPECT_LE(std::abs(value - reference), tolerance * std::max(std::abs(reference), scale))
      << what << ": " << value << " and " << reference;
}

/// Compares totals and every molecule. `stream` is the user's axis that is x inside.
void compare(const Case& c, const std::string& stream, int sort_every, double skin) {
  const std::string folder = std::string(DSEA_SOURCE_DIR) + "/tests/data/" + c.folder + "/";
  const std::string text = "[system]\ndata = \"" + folder + c.data + "\"\n" + c.config + "[ring]\nstream = \"" +
                           stream + "\"\n[neighbour]\nskin = " + std::to_string(skin) +
                           "\nevery = " + std::to_string(sort_every) + "\n";
  const Model model(Config::from_text(text));
  Sweep sweep(model.force_field(), model.capacity(), model.away(), model.sort_every());
  const Start& start = model.start();
  for (int i = 0; i < model.grid().slabs(); ++i) start.fill(i, sweep.slab(i).out());

  // user's axis of internal axis k
  const auto axes = start.axes();
  const double length[] = {model.grid().x.length, model.grid().y.length, model.grid().z.length};
  int step = 0;
  for (const Totals& t : c.totals) {
    for (; step < t.step; ++step) sweep.step();
    const double tolerance = t.step <= 10 ? 1e-12 : 1e-10;
    const FullState state = sweep.observe();
    const std::string at = c.dumps + " step " + std::to_string(step) + " ";
    expect_close(state.potential, t.potential, 0, tolerance, at + "potential energy");
    expect_close(state.kinetic, t.kinetic, 0, tolerance, at + "kinetic energy");
    const double pressure = (2 * state.kinetic + state.virial) / (3 * model.grid().volume());
    expect_close(pressure, t.pressure, 1, tolerance, at + "pressure");

    const ReferenceDump dump(folder + c.dumps + "." + std::to_string(step) + ".dump");
    ASSERT_EQ(dump.atoms.size(), state.molecules.size());
    double momentum[3] = {};
    for (const auto& [id, atom] : dump.atoms) {
      ASSERT_TRUE(state.molecules.contains(id)) << id;
      const auto& [p, s] = state.molecules.at(id);
      const double x[] = {p.x, p.y, p.z};
      const double v[] = {s.velocity.x, s.velocity.y, s.velocity.z};
      const double f[] = {s.fx, s.fy, s.fz};
      for (int k = 0; k < 3; ++k) {
        const std::string a(1, "xyz"[axes[static_cast<std::size_t>(k)]]);
        const std::string who = at + "molecule " + std::to_string(id) + " " + a;
        const double unwrapped = x[k] + length[k] * tag_image(p.tag, k);
        expect_close(unwrapped, atom.at(a) + length[k] * atom.at("i" + a), 1, tolerance, who + " position");
        momentum[k] += model.start().masses()[static_cast<std::size_t>(tag_type(p.tag) - 1)] * v[k];
        expect_close(v[k], atom.at("v" + a), 1, tolerance, who + " velocity");
        expect_close(f[k], atom.at("f" + a), 100, tolerance, who + " force");
      }
      expect_close(s.potential, atom.at("c_pea"), 10, tolerance, at + "energy of " + std::to_string(id));
    }
    for (int k = 0; k < 3; ++k) {
      if (c.config.find("mirror") == std::string::npos) {
        EXPECT_NEAR(momentum[k], 0, 1e-11) << at;
      }
    }
  }
  EXPECT_GE(sweep.moved_between_slabs(), 2);
  if (skin > 0) {
    EXPECT_EQ(sweep.plain_sums(), 0);
  }
  EXPECT_EQ(sweep.fault_word(), ~std::uint64_t{0});
}

TEST(Lj864, PeriodicAlongEveryAxis) {
  for (const char* stream : {"x", "y", "z"}) {
    compare(periodic_case, stream, 1, 0);
    compare(periodic_case, stream, 10, 0);
    compare(periodic_case, stream, 10, 0.4);
  }
}

TEST(Mixture, UnequalSigmaCutoffAndMass) {
  for (const char* stream : {"x", "y", "z"}) {
    compare(mixture_case, stream, 1, 0);
    compare(mixture_case, stream, 5, 0);
    compare(mixture_case, stream, 5, 0.4);
  }
}

TEST(Lj864, MirrorAlongAndAcrossTheStreamAxis) {
  for (const char* stream : {"x", "y", "z"}) {
    compare(mirror_case, stream, 1, 0);
    compare(mirror_case, stream, 5, 0);
    compare(mirror_case, stream, 10, 0.4);
  }
}

}  // namespace
}  // namespace dsea::md::test
