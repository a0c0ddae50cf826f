"""fastlsh tune, and the plots."""

import re
import xml.etree.ElementTree as ET

import pytest

from combinations import every
from fastlsh import LSHParams, compare_bandings, evaluate
from fastlsh.banding import probability_text
from fastlsh.plots import plot_curves

SENTENCE = (
    "A pair at 0.80 is found with probability 0.982, at 0.90 with 0.99998;\n"
    "of the pairs at 0.30, 0.4 % are compared needlessly."
)


@pytest.fixture
def matplotlib():
    return pytest.importorskip("matplotlib")


def test_the_table(run):
    status, out, err = run("tune", "--threshold", "0.8")
    lines = out.splitlines()
    assert (status, err) == (0, [])
    assert lines[0] == "17 bands x 7 rows (119 of 128 values), steepest near 0.667"
    assert out.endswith(f"\n{SENTENCE}\n")
    rows = [re.fullmatch(r" *(\S+) +(1 - \S+|\S+) \|(#*) *\|( <)?", line) for line in lines[3:23]]
    assert all(rows)
    params = LSHParams(17, 7)
    assert [float(row[1]) for row in rows] == [n / 20 for n in range(1, 21)]
    for row in rows:
        p = params.probability(float(row[1]))
        shown = 1.0 if row[2].startswith("1") else float(row[2])
        assert abs(shown - p) <= 5e-4
        assert len(row[3]) == round(40 * p)
        assert bool(row[4]) == (row[1] == "0.8")


@pytest.mark.parametrize(
    ("threshold", "shown", "label"),
    [
        (0.8, "0.80", "0.8"),
        (0.17, "0.17", "0.17"),
        (0.855, "0.855", "0.855"),
        (2 / 3, "0.666667", "0.666667"),
        (0.999999, "0.999999", "0.999999"),
        (0.9999999, "0.9999999", "0.9999999"),
        (0.0001, "0.0001", "0.0001"),
        (1.0, "1.00", "1"),
    ],
)
def test_what_is_said_holds_for_the_similarities_as_shown(run, threshold, shown, label):
    options = ["--threshold", threshold, "--bands", 20, "--rows", 5, "--compare"]
    _, out, _ = run("tune", *options)
    (line,) = (line for line in out.splitlines() if line.endswith("<"))
    assert line.split()[0] == label
    assert f" P({label})" in out
    labels = [line.split()[0] for line in out.splitlines() if "|" in line]
    assert len(set(labels)) == len(labels)
    sentence = re.search("^A pair at .*\n.*", out, re.MULTILINE)[0]
    assert sentence.startswith(f"A pair at {shown} is found with")
    params = LSHParams(20, 5)
    if above := re.search(r", at (0\.\d\d) with (\S+);", sentence):
        assert above[2] == probability_text(params, float(above[1]))
    low, share = re.search(r"pairs at (\S+), (\S+) % are", sentence).groups()
    assert float(share) == pytest.approx(100 * params.probability(float(low)), rel=0.1, abs=0.05)


@pytest.mark.parametrize(
    "kind", every(3, [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")])
)
def test_formats_of_plots(run, tmp_path, matplotlib, kind):
    name, magic = kind
    assert run("tune", "--threshold", "0.8", "--plot", name)[0] == 0
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_plot_is_the_same_each_time(run, tmp_path, matplotlib):
    run("tune", "--threshold", "0.8", "--plot", "a.svg")
    first = (tmp_path / "a.svg").read_bytes()
    run("tune", "--threshold", "0.8", "--plot", "a.svg")
    assert (tmp_path / "a.svg").read_bytes() == first
    ET.fromstring(first)


def test_what_is_drawn(matplotlib):
    from fastlsh.plots import plot_evaluation

    params = LSHParams(20, 5)
    (axes,) = plot_curves(params, 0.5).axes
    shaded = [area.get_label() for area in axes.collections]
    assert shaded == ["compared needlessly", "missed"]
    needless, missed = ([path.vertices[:, 0] for path in a.get_paths()] for a in axes.collections)
    assert max(needless[0]) == min(missed[0]) == 0.5
    x, y = axes.lines[0].get_data()
    assert y.tolist() == params.probability(x).tolist()
    assert axes.lines[1].get_xdata() == [0.5, 0.5]
    figure = plot_curves(LSHParams.choices(0.8))
    assert len(figure.axes[0].lines) == len(LSHParams.choices(0.8))
    assert len(figure.legends) == 1
    (axes,) = plot_curves({"one": params, "other": LSHParams(9, 13), "again": params}).axes
    assert [line.get_label() for line in axes.lines] == ["one\n= again", "other"]
    close = {"one": LSHParams(194, 5), "below": LSHParams(193, 5), "apart": LSHParams(9, 13)}
    (axes,) = plot_curves(close).axes
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--", "-"]

    texts = [f"{'the same beginning of all ' * 2}{i}" for i in range(20)]
    for verify in ("exact", "signature", "none"):
        result = evaluate(texts, 0.8, verify=verify)
        (axes,) = plot_evaluation(result).axes
        shown = [each for each in result.bins[1:] if each.candidates.total]
        assert [c.get_label() for c in axes.containers] == ["candidates", "in the answer"]
        assert axes.containers[0][0].get_ydata().tolist() == [b.candidates.value for b in shown]
    plot_evaluation(evaluate([], 0.8))  # nothing but the prediction
    compared = compare_bandings(texts, 0.8, bandings=[(8, 16), (32, 4)])
    (axes,) = plot_evaluation(compared).axes
    for each, curve, measured in zip(compared, axes.lines[::4], axes.containers, strict=False):
        assert curve.get_ydata().tolist() == each.params.probability(curve.get_xdata()).tolist()
        shown = [b.candidates.value for b in each.bins[1:] if b.candidates.total]
        assert measured[0].get_ydata().tolist() == shown
    assert [c.get_label() for c in axes.containers] == [
        "measured: 8 bands x 16 rows", "measured: 32 bands x 4 rows",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("curves", "threshold", "error"),
    [
        ([LSHParams(2, 3)], None, TypeError),
        ({}, None, ValueError),
        (LSHParams(2, 3), 2.0, ValueError),
        (LSHParams(2, 3), "0.8", TypeError),
    ],
)
def test_what_cannot_be_drawn(curves, threshold, error):
    with pytest.raises(error):
        plot_curves(curves, threshold)


@pytest.mark.parametrize("extra", [[], ["--compare"]])
def test_all_curves_in_one_plot(run, tmp_path, matplotlib, extra):
    assert run("tune", "--threshold", "0.7", "--plot", "a.svg", *extra)[0] == 0
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert ("division 16: 16 x 8" in text) == bool(extra)
