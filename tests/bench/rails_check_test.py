#!/usr/bin/python3
"""bench/rails.py --check on results that keep their limits, miss them, or have none."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

RAILS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "rails.py")


def row(case, share, ratio):
    return {"case": case, "share_of_shaped_rate": share, "ratio": ratio}


GOOD = [row("ucx 1 rail 10 MB", 0.9, 1.0), row("ucx 2 rails 10 MB", 0.86, 1.9),
        row("ucx 4 rails 40 MB, 4 processes a node", 0.81, 3.6)]


def check(rows, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("".join(json.dumps(r) + "\n" for r in rows))
        file.flush()
        done = subprocess.run([sys.executable, RAILS, *options, "--check", "--from", file.name], text=True,
                              capture_output=True)
    return done.returncode, done.stderr


class Check(unittest.TestCase):
    def test_limits_that_are_just_kept(self):
        self.assertEqual(check(GOOD), (0, "3 of 3 cases keep their limits\n"))

    def test_each_case_that_misses_is_named(self):
        bad = [row("ucx 1 rail 40 MB", 0.899, 1.0), row("ucx 2 rails 40 MB", 0.9, 1.899),
               row("ucx 4 rails 10 MB, 2 processes a node", 0.9, 3.599)]
        code, text = check(GOOD + bad)
        self.assertEqual(code, 1)
        self.assertIn("ucx 1 rail 40 MB: 0.899 of the shaped rate, less than 0.9\n", text)
        self.assertIn("ucx 2 rails 40 MB: 1.899 times one rail, less than 1.9\n", text)
        self.assertIn("ucx 4 rails 10 MB, 2 processes a node: 3.599 times one rail, less than 3.6\n", text)
        self.assertIn("3 of 6 cases keep their limits\n", text)

    def test_others_have_no_limit(self):
        others = [row(case, 0.1, 0.1) for case in ("mpi 1 rail 10 MB", "UCX's own 4 rails 10 MB", "newest ucx 2 rails 10 MB",
                                                   "ucx relays 4 rails 10 MB, 2 processes a node")]
        self.assertEqual(check(GOOD + others)[0], 0)
        self.assertEqual(check(others)[0], 2)

    def test_cases_are_chosen_by_name(self):
        bad = [row("ucx 4 rails 10 MB", 0.5, 2.0)]
        self.assertEqual(check(GOOD + bad, "ucx 4")[0], 1)
        self.assertEqual(check(GOOD + bad, "ucx 2")[0], 0)

    def test_what_is_no_result_is_bad_usage(self):
        self.assertEqual(check([{"anything": 1}])[0], 2)
        self.assertEqual(check([{"case": "ucx 1 rail 10 MB"}])[0], 2)


if __name__ == "__main__":
    unittest.main()
