#!/usr/bin/python3
"""Draws what `./dev bench rails` measured: rates between nodes over 1, 2 and 4 rails, by transport.

usage: bench/plot_rails.py build/bench/rails.jsonl docs/rails.png      (needs matplotlib: python3-matplotlib)
"""
import json
import re
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError as error:
    sys.exit(f"plot_rails.py: {error}: install python3-matplotlib (Debian), or matplotlib by pip")

SHAPED = 50  # MB/s of a rail
NAME = re.compile(r"(?P<how>.*) (?P<rails>\d) rails? (?P<mb>\d+) MB(?:, (?P<processes>\d) processes a node)?$")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
    for axes, megabytes in zip(panels, (10, 40)):
        series = {}
        for row in rows:
            name = NAME.match(row["case"])
            if name and int(name["mb"]) == megabytes:
                label = name["how"] + (f", {name['processes']} processes a node" if name["processes"] else "")
                series.setdefault(label, {})[int(name["rails"])] = row["value"]
        for n, (label, values) in enumerate(series.items()):
            style = "-" if label.startswith("ucx") else "--"
            axes.plot(list(values), list(values.values()), style, marker="osD^v<>*PX"[n % 10], label=label, lw=1.2, ms=5)
        axes.plot([1, 2, 4], [SHAPED * r for r in (1, 2, 4)], color="0.6", lw=6, alpha=0.4, label="what the rails can carry", zorder=0)
        axes.set(title=f"slices of {megabytes} MB", xlabel="rails of 400 Mbit/s", xticks=[1, 2, 4], ylim=0)
    panels[0].set_ylabel("MB/s between two nodes")
    panels[1].legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=110)


if __name__ == "__main__":
    main()
