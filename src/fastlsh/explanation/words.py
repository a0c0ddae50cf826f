"""An `Explanation` in words, which the terminal and the page share."""

from fastlsh.banding import probability_text
from fastlsh.explanation.data import ExplanationData
from fastlsh.html import replaced
from fastlsh.parallel import plural
from fastlsh.texts import UNIT, Shingler

Names = tuple[str, str]


def reason(explanation: ExplanationData) -> str:
    """Return the plain sentence that says why the two are found or not."""
    if not (explanation.shingles_a and explanation.shingles_b):
        return "Not found: a document without a shingle is similar to nothing."
    similarity, threshold = share(explanation.similarity), f"{explanation.threshold:g}"
    match = f"{_matching(explanation)} at similarity {similarity} a pair is found with probability"
    chance = f"{match} {_probability(explanation)}"
    if explanation.found and explanation.is_duplicate:
        return f"Found: {chance}."
    if explanation.found:
        return f"Compared, but below the threshold {threshold}: {chance}."
    if explanation.is_duplicate:
        return f"Not found although the threshold {threshold} is reached: {chance}."
    return f"Not found, and below the threshold {threshold}: {chance}."


def figures(explanation: ExplanationData, names: Names) -> list[tuple[str, str]]:
    """Return what there is in numbers, as (label, value)."""
    a, b = names
    params, e = explanation.params, explanation
    equal = round(e.estimate * e.num_perm)
    union = e.shingles_a + e.shingles_b - e.shared
    return [
        ("Jaccard similarity", f"{share(e.similarity)} ({e.shared:,} of {union:,} shingles)"),
        ("estimate", f"{share(e.estimate)} ({equal:,} of {e.num_perm:,} minima)"),
        (f"of {a} in {b}", f"{share(e.containment_a)} ({e.shared:,} of {e.shingles_a:,} shingles)"),
        (f"of {b} in {a}", f"{share(e.containment_b)} ({e.shared:,} of {e.shingles_b:,} shingles)"),
        ("shingles", shingles_text(e.shingler)),
        (
            "parameters",
            f"{params.bands} bands x {params.rows} rows, {e.scheme}, seed {e.seed},"
            f" threshold {e.threshold:g}",
        ),
    ]


PUNCTUATION = {"space": "punctuation as spaces", "remove": "no punctuation"}
"""What becomes of punctuation."""


def shingles_text(shingler: Shingler) -> str:
    """Return what a document was taken as a set of."""
    unit = UNIT[shingler.unit]
    how = steps(shingler)
    how += ["empty words"] if shingler.empty_words else []
    how += [shingler.words.replace("_", " ")] if shingler.words != "whitespace" else []
    how += [f"without {len(list(stop)):,} stop words"] if (stop := shingler.stop_words) else []
    how += [f"only {len(list(some)):,} words"] if (some := shingler.vocabulary) else []
    how += ["tokenizer"] if shingler.tokenizer is not None else []
    return ", ".join([f"{shingler.size} {unit}{'s' if shingler.size > 1 else ''}", *how])


def steps(shingler: Shingler) -> list[str]:
    """Return how texts are normalised, a word or two for each step."""
    how: list[str] = [shingler.unicode_form] if shingler.unicode_form else []
    how += ["lowercase"] if shingler.lowercase else []
    how += ["numbers as 0"] if shingler.numbers else []
    how += [PUNCTUATION[shingler.punctuation]] if shingler.punctuation else []
    flags = ("strip_accents", "remove_whitespace", "collapse_whitespace")
    how += [flag.replace("_", " ") for flag in flags if getattr(shingler, flag)]
    return how + (["normalize"] if shingler.normalize is not None else [])


def positions(explanation: ExplanationData) -> str:
    """Return what the texts are if they are not the documents; else nothing."""
    if explanation.original:
        return ""
    if explanation.shingler.tokenizer is not None:
        return "The texts are shown as their tokens, joined by spaces."
    return "The texts are shown normalised."


def length_text(text: str | bytes) -> str:
    """Return how long a text is."""
    unit = UNIT["byte" if isinstance(text, bytes) else "char"]
    return f"{plural(len(text), unit)}"


def share(value: float) -> str:
    """Return a share with four decimals, but 1 and 0 only where it is exactly that."""
    if value in (0.0, 1.0):
        return f"{value:g}"
    return f"{min(max(value, 0.0001), 0.9999):.4f}"


def name_text(name: str) -> str:
    """Return a document's name for one line of a terminal."""
    return replaced(name, str).replace("\n", "U+000A").replace("\t", " ")


def _matching(explanation: ExplanationData) -> str:
    count, bands = len(explanation.matching_bands), explanation.params.bands
    verb = "match" if count > 1 else "matches"
    return f"{count or 'none'} of {bands} bands {verb};"


def _probability(explanation: ExplanationData) -> str:
    chance = explanation.probability
    if 0 < chance < 0.001:
        return f"{chance:.0e}"
    text = probability_text(explanation.params, explanation.similarity)
    return "more than 0.9999999" if text.startswith("1 - ") else text
