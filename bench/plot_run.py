#!/usr/bin/python3
"""Draws a picture of an ljmd run: molecules of its last dump, and the energies of its table.

usage: bench/plot_run.py OUT_FOLDER PICTURE.png      (needs numpy and matplotlib: python3-numpy python3-matplotlib)
"""
import csv
import glob
import os
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np
except ImportError as error:
    sys.exit(f"plot_run.py: {error}: install python3-numpy and python3-matplotlib (Debian), or numpy and matplotlib by pip")


def read_dump(path):
    """Box lengths, positions and speeds of one LAMMPS text dump."""
    with open(path) as file:
        lines = file.read().splitlines()
    bounds = np.array([line.split()[:2] for line in lines[5:8]], float)
    columns = lines[8].split()[2:]
    data = np.array([line.split() for line in lines[9:]], float)
    pick = [columns.index(name) for name in ("x", "y", "z", "vx", "vy", "vz")]
    return bounds, data[:, pick[:3]], np.linalg.norm(data[:, pick[3:]], axis=1)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, picture = sys.argv[1:]
    dumps = sorted(glob.glob(os.path.join(folder, "dump.*.lammpstrj")), key=lambda p: int(p.split(".")[-2]))
    bounds, x, speed = read_dump(dumps[-1])
    with open(os.path.join(folder, "thermo.csv")) as file:
        rows = list(csv.DictReader(file))
    table = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}

    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), height_ratios=[1.4, 1])
    order = np.argsort(-x[:, 2])
    dots = top.scatter(x[order, 0], x[order, 1], c=speed[order], s=14, cmap="viridis", linewidths=0)
    top.set(aspect="equal", xlim=bounds[0], ylim=bounds[1], xlabel="x (the stream axis)", ylabel="y",
            title=f"{len(x)} Lennard-Jones molecules after {int(table['Step'][-1])} steps, coloured by speed")
    figure.colorbar(dots, ax=top, shrink=0.8)
    for name in ("KinEng", "E_pair", "TotEng"):
        bottom.plot(table["Step"], table[name], label=name)
    bottom.set(xlabel="step", ylabel="energy per molecule")
    bottom.legend(loc="center right")
    figure.tight_layout()
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main()
