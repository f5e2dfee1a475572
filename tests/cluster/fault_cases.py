"""What is expected of a run that meets a fault; faults.py has the runs."""
from __future__ import annotations

from dataclasses import dataclass

NODE, RAIL, SLICE = r"\ben2\b", r"\brail1\b", r"\bslice \d+"
ANY_RAIL = r"\brail[01]\b"


def error(pattern):
    """An error of the program's own whose line has the pattern; start-up lines name rails, too."""
    return r"\berror: .*" + pattern


def warning(pattern):
    return r"\bwarning: .*" + pattern


# mpirun's own words: it may end the other ranks before they have noticed, who then say what they waited for.
NOTICED = r"\ben2\b.*exited on signal 9"


@dataclass(frozen=True)
class Case:
    """A fault and what may follow: the end of the run with the undisturbed digest, an error, or either of them.

    done, failed: patterns that the output must have, all of them, when the run ends so; None: it must not end so.
    alternatives to one pattern stand in one tuple. limit: [ring] link_timeout in seconds. loading: the fault comes while
    slices of the start travel, over slower rails.
    """

    name: str
    transport: str
    fault: str
    done: tuple | None
    failed: tuple | None
    limit: int = 6
    loading: bool = False


# A rail that is back again is used only when TCP sends anew, up to 13 s after a cut of 5 s: hence the limit of 20. Transport
# mpi does not know which rails MPI uses: its errors name the link's nodes and the slice.
CASES = [
    Case("undisturbed.mpi", "mpi", "none", (), None),
    Case("undisturbed.ucx", "ucx", "none", (), None),
    Case("kill-rank.mpi", "mpi", "kill", None, ((error(NODE), NOTICED), SLICE)),
    Case("kill-rank.ucx", "ucx", "kill", None, ((error(ANY_RAIL), NOTICED), SLICE)),
    Case("stop-rank.mpi", "mpi", "stop", None, (error(NODE), error(SLICE))),
    Case("stop-rank.ucx", "ucx", "stop", None, (error(NODE), error(ANY_RAIL), error(SLICE))),
    Case("short-cut.mpi", "mpi", "cut and restore", (), (error(NODE), error(SLICE)), limit=20),
    Case("short-cut.ucx", "ucx", "cut and restore", (), (error(NODE), error(RAIL), error(SLICE)), limit=20),
    Case("rail-cut.mpi", "mpi", "cut", (), (error(NODE), error(SLICE))),
    Case("rail-cut.ucx", "ucx", "cut", (warning(RAIL),), None),
    Case("all-rails-cut.mpi", "mpi", "cut all", None, (error(NODE), error(SLICE))),
    Case("all-rails-cut.ucx", "ucx", "cut all", None, (error(NODE), error(ANY_RAIL), error(SLICE))),
    Case("load-rail-cut.ucx", "ucx", "cut", (warning(RAIL),), None, loading=True),
    Case("load-all-rails-cut.mpi", "mpi", "cut all", None, (error(NODE), error(SLICE)), loading=True),
    Case("load-all-rails-cut.ucx", "ucx", "cut all", None, (error(NODE), error(ANY_RAIL), error(SLICE)), loading=True),
    Case("srun.pmix", "mpi", "srun", (), None),
    Case("srun.without-pmix", "mpi", "srun", None, (r"srun --mpi=pmix",)),
]
