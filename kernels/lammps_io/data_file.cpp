#include "kernels/lammps_io/data_file.hpp"

#include <algorithm>
#include <charconv>

#include "dsea/base/text.hpp"
#include "kernels/lammps_io/line_reader.hpp"
#include "kernels/lammps_io/molecule_lines.hpp"

namespace dsea::lammps {

namespace {

constexpr std::string_view axis_names = "xyz";

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : in_(text, name) {}

  DataFile parse() {
    if (in_.next()) read_title();
    bool more = read_header();
    while (more) more = read_section();
    check_complete();
    check_end();
    return std::move(file_);
  }

 private:
  /// The first line is a comment; LAMMPS's write_data leaves the step there.
  void read_title() {
    constexpr std::string_view key = "timestep = ";
    const std::string_view line = in_.comment().empty() ? in_.content() : in_.comment();
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) return;
    const char* const first = line.data() + at + key.size();
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(first, line.data() + line.size(), step);
    if (error == std::errc() && step >= 0) file_.step = step;
  }

  // ---- header: lines "<numbers> <keyword>" up to the first section ----
  bool read_header() {
    bool more = in_.next_filled();
    for (; more && is_number(in_.words()[0]); more = in_.next_filled()) header_line();
    if (atoms_ < 0) in_.fail("the header has no line '<number> atoms' before this");
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const char a = axis_names[axis];
      if (!box_seen_[axis]) in_.fail(cat("the header has no line '<lo> <hi> ", a, "lo ", a, "hi' before this"));
    }
    file_.masses.assign(static_cast<std::size_t>(file_.types), 1.0);
    return more;
  }

  static bool is_number(std::string_view word) {
    return word.find_first_of("0123456789") != std::string_view::npos && word.find_first_of("+-.0123456789") == 0;
  }

  void header_line() {
    const auto& w = in_.words();
    if (w.size() == 2 && w[1] == "atoms") {
      atoms_ = in_.integer(w[0], "the number of atoms");
      if (atoms_ < 0) in_.fail(cat("the number of atoms is ", atoms_, ": it must be at least 0"));
      return;
    }
    if (w.size() == 3 && w[1] == "atom" && w[2] == "types") {
      const std::int64_t types = in_.integer(w[0], "the number of atom types");
      if (types < 1 || types > most_types) in_.fail(cat(types, " atom types: there must be 1 to ", most_types));
      file_.types = static_cast<int>(types);
      return;
    }
    if (w.size() == 4) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const char a = axis_names[axis];
        if (w[2] == cat(a, "lo") && w[3] == cat(a, "hi")) return box_line(axis);
      }
    }
    if (w.size() == 6 && w[3] == "xy" && w[4] == "xz" && w[5] == "yz") {
      bool tilted = false;
      for (std::size_t k = 0; k < 3; ++k) tilted = tilted || in_.real(w[k], w[3 + k]) != 0;
      if (!tilted) return;
    }
    if (w.back() == "yz" || w.back() == "xz" || w.back() == "xy") {
      in_.fail("the box is tilted (xy xz yz): only boxes with right angles are supported");
    }
    if (w.size() >= 2 && w[0] == "0") return;  // "0 bonds" and the like
    in_.fail(cat("'", in_.content(), "' is not understood in the header: only atoms, atom types and the box bounds are",
                 " (atom style atomic)"));
  }

  void box_line(std::size_t axis) {
    const char a = axis_names[axis];
    if (box_seen_[axis]) in_.fail(cat("the bounds of ", a, " are given twice"));
    file_.lo[axis] = in_.real(in_.words()[0], cat(a, "lo"));
    file_.hi[axis] = in_.real(in_.words()[1], cat(a, "hi"));
    if (!(file_.lo[axis] < file_.hi[axis])) in_.fail(cat(a, "lo must be less than ", a, "hi"));
    box_seen_[axis] = true;
  }

  // ---- sections: the current line is a keyword; afterwards it is the next one. False at the end. ----
  bool read_section() {
    const std::string_view keyword = in_.content();
    if (keyword == "Masses") return masses();
    if (keyword == "Atoms") return atoms();
    if (keyword == "Velocities") return velocities();
    if (keyword == "Pair Coeffs") return skip(file_.types);
    if (keyword == "PairIJ Coeffs") return skip(file_.types * (file_.types + 1) / 2);
    if (!last_section_.empty() && is_number(in_.words()[0])) {
      in_.fail(cat("more lines in section ", last_section_, " than the header says (", last_expected_, ")"));
    }
    in_.fail(cat("unknown section '", keyword, "': only Masses, Atoms and Velocities are read (atom style atomic)"));
  }

  void once(bool& seen, const std::string& section, std::int64_t expected) {
    if (seen) in_.fail(cat("section ", section, " is there twice"));
    seen = true;
    last_section_ = section;
    last_expected_ = expected;
  }

  /// The next line of a section that has `done` of its lines so far.
  void section_line(std::int64_t done, std::initializer_list<std::size_t> words, const char* format) {
    if (!in_.next_filled() || !is_number(in_.words()[0])) {
      in_.fail(cat("section ", last_section_, " has ", done, " lines, but the header says ", last_expected_));
    }
    if (std::find(words.begin(), words.end(), in_.words().size()) == words.end()) {
      in_.fail(cat("section ", last_section_, ": a line must have ", format, ", this one has ", in_.words().size(),
                   " words"));
    }
  }

  bool skip(int lines) {
    last_section_ = in_.content();
    last_expected_ = lines;
    for (int n = 0; n < lines; ++n) {
      if (!in_.next_filled()) in_.fail(cat("section ", last_section_, " ends after ", n, " of ", lines, " lines"));
    }
    return in_.next_filled();
  }

  int type(std::string_view word) {
    const std::int64_t t = in_.integer(word, "the type");
    if (t < 1 || t > file_.types)
      in_.fail(cat("type ", t, " is unknown: the header says ", file_.types, " atom types"));
    return static_cast<int>(t);
  }

  bool masses() {
    once(masses_seen_, "Masses", file_.types);
    file_.has_masses = true;
    std::vector<bool> seen(static_cast<std::size_t>(file_.types));
    for (int n = 0; n < file_.types; ++n) {
      section_line(n, {2}, "type and mass");
      const auto t = static_cast<std::size_t>(type(in_.words()[0]) - 1);
      if (seen[t]) in_.fail(cat("the mass of type ", t + 1, " is given twice"));
      seen[t] = true;
      file_.masses[t] = in_.real(in_.words()[1], "the mass");
      if (!(file_.masses[t] > 0)) in_.fail(cat("the mass of type ", t + 1, " must be positive"));
    }
    return in_.next_filled();
  }

  bool atoms() {
    const std::string style(in_.comment());
    if (!style.empty() && style != "atomic") {
      in_.fail(cat("section Atoms is of style '", style, "': only atomic (id type x y z) is supported"));
    }
    once(atoms_seen_, "Atoms", atoms_);
    file_.molecules.reserve(static_cast<std::size_t>(std::min<std::int64_t>(atoms_, 1 << 24)));
    std::size_t columns = 0;
    for (std::int64_t n = 0; n < atoms_; ++n) {
      section_line(n, {5, 8}, "id type x y z, or id type x y z ix iy iz");
      if (n == 0) columns = in_.words().size();
      if (in_.words().size() != columns) in_.fail("either all molecules have image flags or none");
      file_.molecules.push_back(molecule());
    }
    lines_.sort(in_, file_.molecules);
    return in_.next_filled();
  }

  DataMolecule molecule() {
    const auto& w = in_.words();
    DataMolecule m;
    m.id = molecule_id(in_, w[0]);
    m.type = type(w[1]);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const char a = axis_names[axis];
      const double x = m.position[axis] = in_.real(w[2 + axis], std::string_view(&a, 1));
      if (x < file_.lo[axis] || x > file_.hi[axis]) fail_outside(in_, m, axis, file_);
      if (w.size() == 8) m.image[axis] = molecule_image(in_, w[5 + axis]);
    }
    lines_.add(m.id, in_.line());
    return m;
  }

  bool velocities() {
    if (!atoms_seen_) in_.fail("section Velocities comes before Atoms: put it behind");
    once(velocities_seen_, "Velocities", atoms_);
    file_.has_velocities = true;
    std::vector<bool> seen(file_.molecules.size());
    for (std::int64_t n = 0; n < atoms_; ++n) {
      section_line(n, {4}, "id vx vy vz");
      const std::int64_t id = in_.integer(in_.words()[0], "the id");
      const std::int64_t at = lines_.find(id);
      if (at < 0) in_.fail(cat("there is no molecule ", id, " in section Atoms"));
      const auto index = static_cast<std::size_t>(at);
      if (seen[index]) in_.fail(cat("the velocity of molecule ", id, " is given twice"));
      seen[index] = true;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const char name[] = {'v', axis_names[axis]};
        file_.molecules[index].velocity[axis] = in_.real(in_.words()[1 + axis], std::string_view(name, 2));
      }
    }
    return in_.next_filled();
  }

  void check_complete() {
    if (!atoms_seen_ && atoms_ > 0) in_.fail(cat("section Atoms is missing; the header says ", atoms_, " atoms"));
  }

  /// A number that lost its last digits is still a number.
  void check_end() {
    if (!in_.unfinished() || last_section_.empty()) return;
    file_.warnings.push_back(
        cat(in_.place(), ": the last line of section ", last_section_, " has no end of line: was the file cut there?"));
  }

  LineReader in_;
  DataFile file_;
  MoleculeLines lines_;
  std::int64_t atoms_ = -1;
  std::string last_section_;
  std::int64_t last_expected_ = 0;
  std::array<bool, 3> box_seen_{};
  bool masses_seen_ = false;
  bool atoms_seen_ = false;
  bool velocities_seen_ = false;
};

}  // namespace

DataFile parse_data_file(std::string_view text, const std::string& name) { return Parser(text, name).parse(); }

DataFile read_data_file(const std::string& path) { return parse_data_file(read_text_file(path, "data file"), path); }

}  // namespace dsea::lammps
