#!/usr/bin/env python3
"""Draws the data of a figure anew: plot.py FIGURE.csv [PICTURE.pdf]

Beside each picture that `tutti run` and `tutti sweep` draw stands its data. What is to look otherwise in a paper is
changed here. It needs matplotlib (package python3-matplotlib).
"""
import csv
import math
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

def read(file):
    with open(file, newline="", encoding="utf-8") as text:
        header, *rows = ([plain(cell) for cell in row] for row in csv.reader(text))
    return header, rows


def plain(cell):
    """A name in which `$` begins no formula and `_` hides nothing from the legend."""
    return ("\u200b" if cell.startswith("_") else "") + cell.replace("$", r"\$")


def by(rows, column):
    parts = {}
    for row in rows:
        parts.setdefault(row[column], []).append(row)
    return parts


def numbers(rows, column):
    return [float(row[column]) for row in rows]


def are_numbers(texts):
    try:
        return bool([float(text) for text in texts])
    except ValueError:
        return False


def in_order(texts):
    return sorted(texts, key=float) if are_numbers(texts) else list(texts)


PAPER = ", paper"  # ends the name of a series that a paper prints


def curves(axes, header, rows):
    colours = {}
    for name, points in by(rows, 0).items():
        named = not are_numbers(point[1] for point in points)
        x = [point[1] for point in points] if named else numbers(points, 1)
        printed = name.endswith(PAPER)
        line, = axes.plot(x, numbers(points, 2), marker="D" if printed else "o", label=name,
                          markersize=5 if printed else 3, linestyle="" if printed else "-",
                          color=colours.get(name.removesuffix(PAPER)))
        colours[name] = line.get_color()
        band = [p for p in points if len(p) > 3 and p[3]]
        if band:
            axes.fill_between(numbers(band, 1), numbers(band, 3), numbers(band, 4), alpha=0.2)
    for scale, column in ((axes.set_xscale, 1), (axes.set_yscale, 2)):
        if are_numbers(row[column] for row in rows):
            values = numbers(rows, column)
            if 0 < 100 * min(values) <= max(values):
                scale("log")


def bars(axes, header, rows, stacked):
    places = list(dict.fromkeys(tuple(row[1:-1]) for row in rows))
    series = by(rows, 0)
    bounds = series.pop("bound", []) if not stacked else []
    printed = {name: series.pop(name) for name in list(series) if name.endswith(PAPER)}
    bottom = dict.fromkeys(places, 0.0)
    width = 0.8 if stacked else 0.8 / len(series)
    for i, (name, part) in enumerate(series.items()):
        for k, row in enumerate(part):
            place = tuple(row[1:-1])
            x = places.index(place) + (0 if stacked else (i - (len(series) - 1) / 2) * width)
            axes.bar(x, float(row[-1]), width, bottom[place] if stacked else 0, color=f"C{i}",
                     label=name if k == 0 else None)
            bottom[place] += float(row[-1])
    for row in bounds:
        x = places.index(tuple(row[1:-1]))
        axes.hlines(float(row[-1]), x - 0.4, x + 0.4, "black", "dashed",
                    label="bound" if row is bounds[0] else None)
    for k, (name, part) in enumerate(printed.items()):
        shift = (list(series).index(name.removesuffix(PAPER)) - (len(series) - 1) / 2) * width
        axes.plot([places.index(tuple(row[1:-1])) + shift for row in part], numbers(part, -1), "kD",
                  markersize=4, label="paper" if k == 0 else None)
    names = [" ".join(place) for place in places]
    turned = max(map(len, names)) * len(names) > 70
    axes.set_xticks(range(len(names)), names, rotation=90 if turned else 0, fontsize=7)
    if turned:
        axes.figure.set_size_inches(7, 3 + 0.06 * max(map(len, names)))


def heat_maps(figure, header, rows):
    panels = by(rows, 0)
    most = max(numbers(rows, 3))
    columns = min(4, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure.set_size_inches(7, 2.2 * lines)
    grid = list(figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True).flat)
    for axes in grid[len(panels):]:
        axes.axis("off")
    for axes, (name, cells) in zip(grid, panels.items()):
        nodes = 1 + int(max(numbers(cells, 1) + numbers(cells, 2)))
        image = [[float("nan")] * nodes for _ in range(nodes)]
        for cell in cells:
            image[int(cell[1])][int(cell[2])] = float(cell[3])
        drawn = axes.imshow(image, vmin=0, vmax=most, interpolation="nearest")
        axes.set_title(name, fontsize="small")
    figure.supxlabel(header[2])
    figure.supylabel(header[1])
    figure.colorbar(drawn, ax=grid, label=header[3])


def network(axes, header, rows):
    values = numbers(rows, 6)
    colours = plt.get_cmap("viridis_r")
    most = max(values) or 1
    for row, value in zip(rows, values):
        x, y, to_x, to_y = (float(cell) for cell in row[2:6])
        length = math.hypot(to_x - x, to_y - y) or 1
        aside = 1.5 * (y - to_y) / length, 1.5 * (to_x - x) / length
        axes.annotate("", (to_x + aside[0], to_y + aside[1]), (x + aside[0], y + aside[1]),
                      arrowprops={"arrowstyle": "->", "shrinkA": 6, "shrinkB": 6,
                                  "color": colours(value / most) if value else "lightgrey"})
    places = {row[0]: row[2:4] for row in rows} | {row[1]: row[4:6] for row in rows}
    for name, (x, y) in places.items():
        axes.text(float(x), float(y), name, fontsize=6, ha="center", va="center",
                  bbox={"boxstyle": "round", "facecolor": "white", "linewidth": 0.5})
    axes.scatter(*zip(*((float(x), float(y)) for x, y in places.values())), s=0)
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.axis("off")
    axes.figure.colorbar(plt.cm.ScalarMappable(plt.Normalize(0, most), colours), ax=axes,
                         label=header[6])


def steps(axes, header, rows):
    links = list(dict.fromkeys(row[1] + " > " + row[2] for row in rows))
    for row in rows:
        axes.text(int(row[0]), links.index(row[1] + " > " + row[2]), row[3], fontsize=6,
                  ha="center", va="center", bbox={"boxstyle": "round", "facecolor": "lightblue"})
    axes.set(xlim=(0.5, 0.5 + max(int(row[0]) for row in rows)), ylim=(len(links) - 0.5, -0.5),
             xlabel=header[0])
    axes.set_xticks(range(1, 1 + max(int(row[0]) for row in rows)))
    axes.set_yticks(range(len(links)), links, fontsize=6)


def choices(axes, header, rows):
    columns, lines, names = (in_order(by(rows, column)) for column in (1, 2, 0))
    for row in rows:
        at = columns.index(row[1]), lines.index(row[2])
        axes.add_patch(plt.Rectangle((at[0] - 0.5, at[1] - 0.5), 1, 1, edgecolor="white",
                                     facecolor=f"C{names.index(row[0])}"))
        axes.text(*at, row[3], fontsize=6, ha="center", va="center")
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(-0.5, len(lines) - 0.5))
    axes.set_xticks(range(len(columns)), columns, rotation=90 if len(columns) > 8 else 0)
    axes.set_yticks(range(len(lines)), lines)
    axes.set(xlabel=header[1], ylabel=header[2])
    axes.legend(handles=[plt.Rectangle((0, 0), 1, 1, color=f"C{i}", label=name)
                         for i, name in enumerate(names)], fontsize="small")


def fronts(figure, header, rows):
    panels = by(rows, 1)
    names = list(by([row for row in rows if row[0] == "front"], 2))
    for axes, (title, points) in zip(figure.subplots(1, len(panels), squeeze=False)[0],
                                     panels.items()):
        beaten = [point for point in points if point[0] == "beaten"]
        axes.scatter(numbers(beaten, 3), numbers(beaten, 4), s=3, color="lightgrey")
        for name, front in by([point for point in points if point[0] == "front"], 2).items():
            axes.scatter(numbers(front, 3), numbers(front, 4), s=14,
                         color=f"C{names.index(name)}", label=name)
        axes.set(title=title, xlabel=header[3], ylabel=header[4])
        axes.legend(fontsize="small")


def ranges(axes, header, rows):
    for i, row in enumerate(reversed(rows)):
        axes.plot(numbers([row[3:], row[4:]], 0), [i, i], color="lightsteelblue", linewidth=6)
        for column, marker in ((3, "o"), (4, "s")):
            axes.plot(float(row[column]), i, marker, color=f"C{column - 3}")
            axes.annotate(row[column - 2], (float(row[column]), i + 0.2), fontsize=6, ha="center")
    axes.set_yticks(range(len(rows)), [row[0] for row in reversed(rows)])
    axes.set_xlabel(header[3])
    values = numbers(rows, 3) + numbers(rows, 4)
    if 0 < 8 * min(values) <= max(values):
        axes.set_xscale("log")


def lines_or_bars(axes, header, rows):
    if header[0] == "part" or header[1] == "group":
        bars(axes, header, rows, header[0] == "part")
    else:
        curves(axes, header, rows)
        axes.set_xlabel(header[1])
    axes.set_ylabel(header[-1] if header[0] == "part" else header[2])
    axes.legend(fontsize="small")


# By the first cell of the header: what draws on the figure, and what on axes.
ON_FIGURE = {"panel": heat_maps, "point": fronts}
ON_AXES = {"from": network, "step": steps, "choice": choices, "parameter": ranges}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    header, rows = read(sys.argv[1])
    if not rows:
        sys.exit(f"{sys.argv[1]}: it has no rows to draw")
    picture = sys.argv[2] if len(sys.argv) == 3 else sys.argv[1].removesuffix(".csv") + ".pdf"
    figure = plt.figure(figsize=(7, 3.5), layout="constrained")
    if header[0] in ON_FIGURE:
        ON_FIGURE[header[0]](figure, header, rows)
    else:
        ON_AXES.get(header[0], lines_or_bars)(figure.subplots(), header, rows)
    figure.savefig(picture)


main()
