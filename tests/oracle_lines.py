"""Lines, paragraphs and sentences in plain Python, as docs/command-line.md has them."""

import re

BLANK = " \t\n\v\f\r"


def pieces(text, by):
    """Return (begin, end) of each line, paragraph or sentence that is not blank."""
    if by == "sentence":
        return sentences(text or "")
    found, place, going = [], 0, False
    text = text or ""
    for line in text.split("\n"):
        end = place + len(line)
        end -= line.endswith("\r") and end < len(text)  # what no line feed follows is text
        filled = bool(line.strip(BLANK))
        if filled and by == "paragraph" and going:
            found[-1] = (found[-1][0], end)
        elif filled:
            found.append((place, end))
        going = filled
        place += len(line) + 1
    return found


STOPS, WIDE_STOPS, CLOSING = ".!?…", "。！？", "\"'’”)]»」』"


def behind(text, place, characters):
    """Return the first place from this one on whose character is none of these."""
    while place < len(text) and (
        text[place].isspace() if characters is None else text[place] in characters
    ):
        place += 1
    return place


def behind_stop(text, place):
    """Return where the boundary ends that begins with a character; its place if none does."""
    letter = text[place : place + 1] or "x"
    if letter == "\n":
        return behind(text, place, "\n")
    closed = behind(text, place + 1, CLOSING)
    spaced = behind(text, closed, None)
    return spaced if letter in WIDE_STOPS or (letter in STOPS and spaced > closed) else place


def sentences(text):
    """Return (begin, end) of each sentence."""
    found, begin, place = [], 0, 0
    while place < len(text):
        end = behind_stop(text, place)
        while behind_stop(text, end) > end:
            end = behind_stop(text, end)
        place = max(end, place + 1)
        if end == place or place == len(text):
            first = behind(text, begin, None)
            if first < place:
                found.append((first, first + len(text[first:place].rstrip())))
            begin = place
    return found


def without_sentences(text, removed):
    """Return a text without some of its sentences: of the gaps between two that stay, one stays."""
    places, gaps, left = sentences(text), [], ""
    if set(places) == set(removed):
        return ""
    for number, (begin, end) in enumerate(places):
        gaps.append(text[places[number - 1][1] if number else 0 : begin])
        if (begin, end) not in removed:
            most = max(gap.count("\n") for gap in gaps)
            best = next(gap for gap in gaps if gap.count("\n") == most)
            left += (best if left else gaps[0]) + text[begin:end]
            gaps = []
    return left + text[places[-1][1] :]


def without(text, removed, by):
    """Return a text without some of its pieces: of all others, with what stands between them."""
    if by == "sentence" and removed:
        return without_sentences(text, removed)
    everything = pieces(text, by)
    if not removed:
        return text
    # What follows a piece, up to the next one; of lines the line end only.
    lead = text[: everything[0][0]]
    rest = lead
    ends = [begin for begin, _ in everything[1:]] + [len(text)]
    last = len(everything) - 1
    gaps = []
    for (_, end), stop in zip(everything, ends, strict=True):
        gap = text[end:stop]
        own = re.match(r"\r?\n|\Z|", gap)[0] if by == "line" else gap
        gaps.append((own, gap[len(own) :]))
    at_end = everything[last] in removed and not gaps[last][1]
    at_end = at_end and (by == "paragraph" or not gaps[last][0])  # else its own line end goes
    for place, (own, more) in zip(everything, gaps, strict=True):
        if place not in removed:
            rest += text[slice(*place)] + own
        rest += more
    if at_end:  # it ends as the text did
        rest = _unended(rest, by) + gaps[last][0]
    return rest if rest.strip(BLANK) else ""


def _unended(text, by):
    if by == "paragraph":
        return re.sub(r"(?:\r?\n[ \t\r\v\f]*)*\r?\n[ \t\r\v\f]*\Z|\A[ \t\r\v\f]+\Z", "", text)
    return re.sub(r"\r?\n\Z", "", text)


def windows(text, by, size):
    """Return (begin, end) of each window of so many consecutive pieces, and these."""
    parts = pieces(text, by)
    every = [parts[start : start + size] for start in range(len(parts) - size + 1)]
    return [(window[0][0], window[-1][1], window) for window in every]


def deduplicated(texts, by="line", same=lambda piece: piece, least=0, window=1):
    """Return the texts, and (document, begin, end, kept document, begin, end) of what goes."""
    seen, proofs, result = {}, [], []
    for number, text in enumerate(texts):
        gone = set()
        for begin, end, parts in windows(text, by, window):
            key = same(text[begin:end])
            if end - begin < least or not key:
                continue
            first = seen.setdefault(key, (number, begin, end))
            if first != (number, begin, end):
                gone.update(parts)
                proofs.append((number, begin, end, *first))
        result.append(without(text, gone, by))
    return result, proofs
