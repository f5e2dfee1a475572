#!/usr/bin/python3
"""Draws what `./dev bench ring` measured beside the plan, and the method's strong-scaling figure as the plan has it.

usage: bench/plot_ring.py build/bench/ring.jsonl docs/scaling.png      (needs matplotlib: python3-matplotlib)
"""
import json
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError as error:
    sys.exit(f"plot_ring.py: {error}: install python3-matplotlib (Debian), or matplotlib by pip")

COLOURS = {1: "tab:blue", 2: "tab:orange"}


def draw_measured(axes, rows):
    """Rates in busy workers, so that one worker's line has slope 1 and two workers' slope 2."""
    points = [r for r in rows if r["case"] == "scaling"]
    for workers in sorted({r["workers"] for r in points}):
        mine = sorted((r for r in points if r["workers"] == workers), key=lambda r: r["ranks"])
        unit = workers / mine[0]["stage_seconds"]  # of one rank that is always busy
        ranks = [r["ranks"] for r in mine]
        axes.plot(ranks, [r["peer_value"] / unit for r in mine], color=COLOURS[workers],
                  label=f"plan, {workers} worker{'s' * (workers > 1)}: $N_{{max}}$ = {mine[0]['n_max']:.3g}")
        axes.plot(ranks, [r["value"] / unit for r in mine], "o", color=COLOURS[workers], mfc="none", label="measured")
        worst = max(abs(r["ratio"] - 1) for r in mine)
        print(f"{workers} workers: {len(mine)} points, at most {100 * worst:.1f} % off the plan")
    first = points[0]
    axes.set(xlabel="ranks", ylabel="throughput, in ranks that are always busy", xlim=0, ylim=0,
             title=f"The ring against its plan: {first['slices']} slices, transport {first['transport']}")
    axes.legend(loc="lower right")


def draw_figure(axes, rows):
    notes = {
        (1e9, 1): ("$10^9$ molecules, 1 worker", "tab:green", "{gpus} GPUs: {rate:.2g} x $10^{{10}}$ /s", (-6, 6), "right"),
        (1e8, 1): ("$10^8$ molecules, 1 worker", COLOURS[1], "linear to 9 nodes, flat from 10", (8, -16), "left"),
        (1e8, 2): ("$10^8$ molecules, 2 workers", COLOURS[2], "linear to 5 nodes, flat from 6", (8, -16), "left"),
    }
    figure = [r for r in rows if r["case"] == "figure"]
    for (molecules, workers), (label, colour, note, shift, side) in notes.items():
        mine = [r for r in figure if r["molecules"] == molecules and r["workers"] == workers]
        mine.sort(key=lambda r: r["nodes"])
        n_max, most = mine[0]["n_max"], mine[-1]["value"]
        axes.plot([r["nodes"] for r in mine], [r["value"] / 1e10 for r in mine], "o-", ms=3, color=colour,
                  label=f"{label}: $N_{{max}}$ = {mine[0]['slices']} / {mine[0]['slices'] / n_max:.0f} = {int(n_max)}")
        axes.annotate(note.format(gpus=int(n_max), rate=most / 1e10), (n_max / 8, most / 1e10), xytext=shift,
                      textcoords="offset points", color=colour, ha=side)
    gpu = max(r["value"] / r["gpus"] for r in figure)
    axes.set(xlabel="nodes of 8 GPUs", ylabel="$10^{10}$ molecule steps/s", xlim=0, ylim=(0, 7.5),
             title=f"The plan for molecules, {gpu / 1e8:.1f} x $10^8$ steps/s a GPU")
    axes.legend(loc="upper left")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        rows = [json.loads(line) for line in file]
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6))
    draw_measured(left, rows)
    draw_figure(right, rows)
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=90)


if __name__ == "__main__":
    main()
