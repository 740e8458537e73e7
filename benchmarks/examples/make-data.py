#!/usr/bin/env python3
"""Writes the tables of the examples as CSV files; the same numbers everywhere. Needs Python alone.

    python3 benchmarks/examples/make-data.py                            # all three, beside this script
    python3 benchmarks/examples/make-data.py kriging --rows 2000        # one of them, with fewer rows
    python3 benchmarks/examples/make-data.py hourly --to somewhere      # in another folder

kriging   6000 measurements at 1500 sites in two dimensions, four at each site: a linear trend, a rough field, noise; with
          more rows (`--rows 20000`), further sites follow
hourly    1500 hours of a temperature with eight gaps: a Matern-3/2 process, a daily cycle, noise
wide      800 rows of 50 columns: 44 numbers, 5 categories and a target that depends on a few; cells are missing
"""

import argparse
import csv
import datetime
import math
import random
from pathlib import Path

ROWS = {"kriging": 6000, "hourly": 1500, "wide": 800}
REPLICATES = 4
GAPS = 8
FEATURES = 400
CATEGORIES = {
    "region": ["north", "south", "east", "west"],
    "line": ["A", "B", "C"],
    "shift": ["early", "late", "night"],
    "supplier": ["Arn", "Bell", "Cole", "Dahl", "Eder", "Funk"],
    "material": ["oak", "pine", "steel"],
}
NUMBERS = 44
FACTORS = 8
INCOMPLETE = [3, 11, 19, 27, 35]
MISSING = 0.025


class Numbers:
    """Random numbers that no version of Python changes: `random()` alone is promised to stay."""

    def __init__(self, seed):
        self.uniform = random.Random(seed).random

    def normal(self):
        return math.sqrt(-2.0 * math.log(1.0 - self.uniform())) * math.cos(2.0 * math.pi * self.uniform())

    def below(self, bound):
        return int(self.uniform() * bound)


def matern32(numbers, inputs, length_scale):
    """A draw from a Matern-3/2 process with variance 1, by random Fourier features: a function of a point."""
    features = []
    for _ in range(FEATURES):
        normals = [numbers.normal() for _ in range(inputs)]
        # The frequencies have a multivariate t distribution with 3 degrees of freedom.
        spread = math.sqrt(sum(numbers.normal() ** 2 for _ in range(3)) / 3.0) * length_scale
        features.append(([z / spread for z in normals], 2.0 * math.pi * numbers.uniform()))
    scale = math.sqrt(2.0 / FEATURES)

    def value(point):
        return scale * sum(
            math.cos(phase + sum(w * x for w, x in zip(frequency, point))) for frequency, phase in features
        )

    return value


def kriging(numbers, rows):
    yield ["site", "lon", "lat", "level"]
    field = matern32(numbers, 2, 0.8)
    for site in range(math.ceil(rows / REPLICATES)):
        lon, lat = round(5.0 + 10.0 * numbers.uniform(), 4), round(45.0 + 10.0 * numbers.uniform(), 4)
        level = 3.0 + 0.15 * (lon - 10.0) - 0.1 * (lat - 50.0) + 0.6 * field([lon, lat])
        for _ in range(min(REPLICATES, rows - REPLICATES * site)):
            yield [f"S{site + 1}", f"{lon:.4f}", f"{lat:.4f}", f"{level + 0.25 * numbers.normal():.4f}"]


def hourly(numbers, rows):
    yield ["time", "temperature"]
    process = matern32(numbers, 1, 15.0)
    ends = sorted(int(rows * numbers.uniform()) for _ in range(GAPS))
    gaps = {end: 6 + numbers.below(31) for end in ends}
    hour = 0
    for row in range(rows):
        hour += 1 + gaps.get(row, 0)
        time = datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=hour)
        daily = 0.8 * math.sin(2.0 * math.pi * hour / 24.0)
        temperature = 8.0 + 4.0 * process([float(hour)]) + daily + 1.2 * numbers.normal()
        yield [time.isoformat(sep=" "), f"{temperature:.2f}"]


def wide(numbers, rows):
    yield [*CATEGORIES, *(f"x{k + 1:02}" for k in range(NUMBERS)), "quality"]
    loads = [[numbers.normal() / math.sqrt(FACTORS) for _ in range(FACTORS)] for _ in range(NUMBERS)]
    effects = {name: [0.6 * numbers.normal() for _ in words] for name, words in CATEGORIES.items()}
    for _ in range(rows):
        factors = [numbers.normal() for _ in range(FACTORS)]
        x = [sum(a * f for a, f in zip(load, factors)) + 0.5 * numbers.normal() for load in loads]
        drawn = {name: numbers.below(len(words)) for name, words in CATEGORIES.items()}
        quality = 2.0 * math.sin(1.5 * x[0]) + 1.2 * x[1] * x[2] + 0.8 * x[3] ** 2 + 0.5 * x[4]
        quality += effects["line"][drawn["line"]] + effects["material"][drawn["material"]]
        quality += 0.5 * numbers.normal()
        cells = [f"{value:.3f}" for value in x]
        for column in INCOMPLETE:
            if numbers.uniform() < MISSING:
                cells[column] = ""
        yield [*(CATEGORIES[name][k] for name, k in drawn.items()), *cells, f"{quality:.3f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="kriging, hourly or wide; all by default")
    parser.add_argument("--rows", type=int, help="another number of rows")
    parser.add_argument("--to", type=Path, default=Path(__file__).resolve().parent, help="the folder to write to")
    asked = parser.parse_args()
    for name in asked.tables:
        if name not in ROWS:
            parser.error(f"no table `{name}`; there are {', '.join(ROWS)}")
    for name in asked.tables or ROWS:
        file = asked.to / f"{name}.csv"
        rows = asked.rows or ROWS[name]
        with open(file, "w", newline="") as lines:
            csv.writer(lines, lineterminator="\n").writerows(globals()[name](Numbers(f"gpbench {name}"), rows))
        print(f"{file}: {rows} rows")


if __name__ == "__main__":
    main()
