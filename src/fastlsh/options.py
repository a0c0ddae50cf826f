"""The table of options: what they are, which commands take them, and why they may be refused.

The command line is made of it, as are the bounds that `fastlsh.arguments` checks, the refusals of
options, their names in messages, and their table in the reference.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

MAX_NUM_PERM = 65_535
LARGEST = 2**63 - 1
"""The largest number that the kernels take."""


class Kind(NamedTuple):
    """What the value of an option is."""

    name: str
    """Such as "integer" or "file": it says how the words of a command line are read."""
    metavar: str | tuple[str, ...] | None = None
    """What the help calls the value, or the two values."""
    least: int = 0
    greatest: int | None = None
    """Of an integer; None: there is no largest value."""
    choices: tuple[str, ...] = ()
    values: str = "one"
    """How many values it takes: "one", "repeated" (one each time) or "several"."""
    value: Any = True
    """Of a flag that is given."""


def integer(least: int, greatest: int | None = None, metavar: str = "N") -> Kind:
    """Return the kind of an integer."""
    return Kind("integer", metavar, least, greatest)


def number(metavar: str) -> Kind:
    """Return the kind of a number."""
    return Kind("number", metavar)


def choice(*choices: str, metavar: str | None = None) -> Kind:
    """Return the kind of a word that is one of several."""
    return Kind("choice", metavar, choices=choices)


def text(metavar: str, values: str = "one", name: str = "text") -> Kind:
    """Return the kind of a name or another text."""
    return Kind(name, metavar, values=values)


FLAG = Kind("flag")
COLUMN = text("COL")
FILE = Kind("file", "FILE")
FILES = Kind("file", "FILE", values="several")


class Option(NamedTuple):
    """An option of commands, or a parameter that only Python has."""

    name: str
    """The keyword argument of the library."""
    kind: Kind
    help: str = ""
    """Empty: only Python has it."""
    default: str | float | None = None
    """What the help calls the default; None: nothing, or its text says what happens."""
    refused: str = ""
    """The keys of `REFUSALS`, separated by spaces: where the option is refused."""
    flag: str | None = None
    """The name on the command line where it is another one; "": the value stands by itself."""
    required: bool = False
    use: str = ""
    """What the value becomes: a "keyword" of the job, a part of "reading" or of the "shingler", or
    nothing that the library gets ("command")."""
    group: str = ""
    """The title of the options in the help that it belongs to; empty: no title."""
    commands: tuple[str, ...] = ()

    @property
    def spelled(self) -> str:
        """The name on the command line; empty if it has none."""
        return f"--{self.name.replace('_', '-')}" if self.flag is None else self.flag

    @property
    def full_help(self) -> str:
        """The help and the default."""
        return self.help if self.default is None else f"{self.help} (default: {self.default})"


def _block(commands: tuple[str, ...], group: str, use: str, *options: Option) -> Iterator[Option]:
    """Yield options with what they have in common, where they do not have it themselves."""
    for option in options:
        yield option._replace(
            commands=option.commands or commands, group=option.group or group,
            use=option.use or use,
        )  # fmt: skip


PAIRS, DEDUP, OVERLAP, EVALUATE = ("pairs",), ("dedup",), ("overlap",), ("evaluate",)
EXPLAIN, AUDIT, TUNE, CLEAN = ("explain",), ("audit",), ("tune",), ("decontaminate",)
BUILD, ADD, QUERY, REMOVE, EXPORT, INFO = (
    (f"index {name}",) for name in ("build", "add", "query", "remove", "export", "info")
)
INDEXES = (*BUILD, *ADD, *QUERY)
SEARCHES = (*PAIRS, *DEDUP, *OVERLAP)
SIMILAR = (*SEARCHES, *EVALUATE, *EXPLAIN, *INDEXES)
READERS = (*SIMILAR, *CLEAN, *AUDIT)

INPUT, OUTPUT, SIMILARITY, SEARCH = "input", "output", "similarity", "search"
NORMALISATION = "normalisation of texts, in this order"
MEMORY, MACHINES, MESSAGES = "memory and disk", "many machines", "messages and exit status"

PRESETS = (
    "fineweb", "stack", "nemo", "olmo3", "lee2022", "datasketch", "lsh", "riskiq", "course",
    "lecture", "questions",
)  # fmt: skip
DECONTAMINATION_PRESETS = ("gpt3", "decon", "marin")

INPUTS = (
    ".jsonl .json .csv .tsv .txt (also .gz .bz2 .xz .zst), .parquet, .arrow, a directory of these,"
    " a pattern ('data/**/*.jsonl'), a URL (s3://bucket/key), or - for the standard input (JSON,"
    " unless --format says otherwise); several "
)
TABLE_FORMATS = "(.tsv .csv .jsonl .parquet)"
TABLE_OUTPUT = "as .tsv .csv .jsonl .parquet (default: TSV on the standard output)"
CONVERT_TO = "the format of a directory or -: parquet, jsonl, json, csv, arrow, tsv (or csv.gz...)"
KEY_FILE = (
    "a file of 16 or more secret bytes, which choose the hash functions, to protect against texts"
    " that are built to collide (docs/guarantees.md)"
)
PRESET = f"parameters of a pipeline, which other options override: {', '.join(PRESETS)}"
WORDS = choice("whitespace", "alphanumeric", "ascii_alphanumeric", "unicode", metavar="W")
SPLIT_WORDS = (
    "split words at white space (whitespace); at everything except letters, numbers and _"
    " (alphanumeric, ascii_alphanumeric); or at everything except these and marks, with each letter"
    " of scripts that are written without spaces as a word (unicode); default: "
)
STAGE = "work on one stage of a run on disk, in a directory that all machines share (--work): "

OPTIONS = (
    *_block((*INDEXES, *REMOVE, *EXPORT, *INFO), "", "command",
        Option("index", text("INDEX"), "file of the index, or redis://HOST:PORT/DB#NAME", flag=""),
        Option("key", FILE, KEY_FILE, flag="--key-file", use="shingler",
            commands=(*REMOVE, *EXPORT, *INFO)),
        Option("ids", text("ID", "several"), "the ids of the documents", flag="", commands=REMOVE),
        Option("quiet", FLAG, "print no summary", commands=REMOVE),
    ),
    *_block(READERS, "", "command",
        *(Option("inputs", text("INPUT", "several"), INPUTS + meaning, flag="", commands=commands)
            for commands, meaning in (
                ((*PAIRS, *DEDUP, *EVALUATE, *EXPLAIN, *INDEXES, *CLEAN), "form one collection"),
                (OVERLAP, "are as many data sets"), (AUDIT, "are as many sources"))),
    ),
    *_block(READERS, INPUT, "reading",
        Option("recursive", FLAG, "also read the subdirectories of a directory"),
        Option("skip_unknown", FLAG, "leave out files of unknown formats"),
        Option("text", text("COL", "repeated"), "column of the texts (default: text); a.b is key"
            " b in a; given several times: these columns as one text; a column may have lists of"
            " messages"),
        Option("join_with", text("S", name="escaped text"), "what stands between the columns, or"
            " the messages, of a text", r"\n"),
        Option("roles", text("R", name="list of names"), "roles of which messages are read,"
            " separated by commas", "all"),
        Option("id", COLUMN, "column of the ids", "id if present, else FILE:ROW"),
        Option("format", text("F"), "format of files without a known suffix"),
        Option("encoding", text("E"), "encoding of text files", "utf-8"),
        Option("delimiter", text("D", name="delimiter"), "delimiter of CSV and TSV"),
        Option("header", Kind("flag", value=False), "CSV and TSV have no header; the columns are 1,"
            " 2...", flag="--no-header"),
        Option("quotes", Kind("flag", value=False), "treat double quotes in CSV and TSV as text",
            flag="--no-quotes"),
        Option("split", choice("lines", "paragraphs"), "documents in a .txt", "the whole file",
            refused="lines span"),
        Option("on_error", choice("fail", "skip"), "stop at a bad row, or skip and count it",
            "fail"),
        Option("limit", integer(1), "read the first N documents only, to try a command on large"
            " files", commands=(*PAIRS, *DEDUP, *EVALUATE, *CLEAN)),
    ),
    *_block(PAIRS, "", "keyword",
        Option("output", text("OUT"), f"write the pairs {TABLE_OUTPUT}", use="command"),
        Option("against", FILES, "find only the pairs of an input, id_a, and a document in these"
            " files, id_b"),
    ),
    *_block(DEDUP, OUTPUT, "keyword",
        Option("output", text("KEPT"), "the kept rows: a file in the format of the inputs (.jsonl"
            " for .txt), or a directory (DIR/), which gets a file of the same name for each input",
            "count only", use="command"),
        Option("convert_to", text("F"), CONVERT_TO),
        Option("removed", FILE, "id, kept_id and jaccard (or containment) of each removed document"
            " (.tsv .csv .jsonl .parquet)"),
        Option("clusters", FILE, "id, cluster and cluster_size of each kept document with"
            " duplicates, and of the duplicates", refused="lines span"),
        Option("annotate", FLAG, "write all rows, with the columns duplicate_of (the id of the kept"
            " document), similarity and cluster_size; with --by span, with the column"
            " repeated_spans", refused="lines"),
        Option("source", COLUMN, "count the different values of a column in each cluster:"
            " --annotate and --clusters get the column cluster_sources; with --index and"
            " --save-index, the index counts them", refused="lines span"),
        Option("count", text("COL", "repeated"), "sum a column of numbers over each cluster:"
            " --annotate and --clusters get the column cluster_COL; may be given several times; the"
            " index sums it, too", refused="lines span"),
        Option("max_copies", integer(1), "write up to N documents of each cluster, by priority", 1,
            refused="index lines span"),
        Option("copies_per", Kind("copies", ("COL", "N"), 1), "of each cluster, write up to N"
            " documents for each value of a column; a document of --against counts for every value;"
            " with --max-copies, a document must be allowed by both", refused="index lines span"),
        Option("keep", choice("first", "last", "longest"), "which near-duplicate to keep", "first",
            refused="first span"),
        Option("priority", COLUMN, "instead of --keep: a column of numbers or dates; the row with"
            " the highest number or the latest date is kept, or the earlier one of equals; rows"
            " without a value come last", refused="first span"),
        Option("against", FILES, "also remove near-duplicates of the documents in these files; with"
            " --by, lines, paragraphs or sentences that occur in them", refused="index"),
    ),
    *_block(AUDIT, "", "keyword",
        Option("removed", FILE, "the table that fastlsh dedup --removed has written for these"
            " inputs", required=True, use="command"),
        Option("page", FILE, "write the sample as an HTML page, which takes the answers and"
            " downloads them", use="command"),
        Option("answers", FILE, "the answers that the page has downloaded, as JSON lines",
            use="command"),
        Option("against", FILES, "the files that the run had behind --against"),
    ),
    *_block((*PAIRS, *DEDUP, *AUDIT), INPUT, "keyword",
        Option("against_text", text("COL", "repeated"), "column of the texts in the files of"
            " --against (default: as --text); may be given several times", refused="index"),
        Option("against_id", COLUMN, "column of the ids in the files of --against", "as --id",
            refused="index"),
    ),
    *_block(PAIRS, "", "keyword",
        Option("results", FLAG, "print what the answers of --answers tell", use="command",
            commands=AUDIT),
        Option("best", FLAG, "with --against: only the most similar document for each input"
            " document"),
        Option("one_to_one", FLAG, "with --against: each document of both sides in one pair at"
            " most, the pairs with the highest similarity first"),
        Option("columns", text("COL,...", name="list of names"), "add columns of the rows of both"
            " documents to the table: title as title_a and title_b"),
        Option("components", FILE,
            "id and component of every document: the id of the first document of those that pairs"
            f" connect, for splits that have no near-duplicates on both sides {TABLE_FORMATS}"),
        Option("exact", FLAG, "find every pair, without bands; in memory, for up to a few hundred"
            " thousand documents"),
    ),
    *_block(DEDUP, "indexes", "keyword",
        Option("index", text("INDEX"), "also remove near-duplicates of the documents in this index"
            " (see `fastlsh index build`), and add the kept documents to it: both, or neither; the"
            " index determines the parameters", refused="lines span", use="command"),
        Option("report", FILE, "write a page about the run (.html)"),
        Option("save_index", text("NEW"), "make an index of the kept documents, in a new file, for"
            " --index of later runs", refused="index lines span"),
    ),
    *_block(OVERLAP, "", "keyword",
        Option("output", text("OUT"), f"write the counts {TABLE_OUTPUT}", use="command"),
        Option("report", FILE, "write a page with the shares as matrices (.html)"),
        Option("source", COLUMN, "the values of this column are the data sets, instead of the"
            " inputs"),
    ),
    *_block(CLEAN, "", "keyword",
        Option("evals", FILES, "evaluation files: .jsonl (as lm-evaluation-harness and lighteval"
            " log them, too), .csv .tsv .txt .parquet .arrow, or directories of these",
            required=True, use="command"),
        Option("fields", text("NAME", "several"), "the fields of an item that are looked for; a.b"
            " is key b in a", "every string of a row", flag="--field"),
        Option("item_id", text("NAME"), "the ids of items", "id if present, else FILE:ROW"),
        Option("output", text("CLEAN"), "the rows that are left: a file in the format of the"
            " inputs, or a directory (DIR/)", refused="self_test", use="command"),
        Option("convert_to", text("F"), CONVERT_TO, refused="self_test"),
        Option("hits", FILE,
            "id, item_file, item_id, share, longest_run, field, start and end of each place where"
            f" an item is found {TABLE_FORMATS}", refused="self_test"),
        Option("self_test", FLAG, "write nothing: put items into documents of the inputs, in"
            " several ways, and print how many are found; exit status 2 if an item cannot be found"
            " at all", use="command"),
    ),
    *_block(CLEAN, "what counts as found", "keyword",
        Option("preset", choice(*DECONTAMINATION_PRESETS, metavar="NAME"),
            f"a published way, which other options override: {', '.join(DECONTAMINATION_PRESETS)}",
            use="command"),
        Option("unit", choice("char", "word"), "unit of n-grams", "word", use="shingler"),
        Option("size", integer(1, 2**31 - 1), "units per n-gram", 13, use="shingler"),
        Option("step", integer(1, LARGEST), "use every Nth n-gram of an item", 1),
        Option("min_share", number("S"), "share of an item's n-grams that a document must contain",
            "one n-gram"),
        Option("min_run", integer(0), "words of the longest run that both must have in common",
            "one n-gram"),
        Option("max_items", integer(1, LARGEST), "an n-gram that more items have does not count",
            100),
        Option("boilerplate_share", number("S"), "an n-gram does not count if this share of the"
            " sample contains it, mostly without the rest of the item", 0.01,
            refused="no_boilerplate"),
        Option("boilerplate_documents", integer(1), "and so many documents", 100,
            refused="no_boilerplate"),
        Option("no_boilerplate", FLAG, "every n-gram counts, however common it is", use="command"),
        Option("sample", integer(1), "documents of the sample", 20000, refused="no_sample"),
    ),
    *_block(CLEAN, "what is removed", "keyword",
        Option("rule", choice("document", "span", "annotate"), "span: cut out what a document has"
            " in common with items; annotate: keep all rows and add the columns contaminated_by,"
            " contamination_share and contamination_run", "document"),
        Option("around", integer(0), "with --rule span: cut out N characters on both sides, too", 0,
            refused="no_cut"),
        Option("min_piece", integer(0), "with --rule span: drop remaining pieces of fewer"
            " characters", 0, refused="no_cut"),
        Option("max_pieces", integer(1), "with --rule span: drop documents that are cut into more"
            " pieces", refused="no_cut"),
        Option("join", text("TEXT", name="characters"), "with --rule span: write this in place of"
            " each cut", "nothing", refused="no_cut"),
    ),
    *_block(AUDIT, "sample", "keyword",
        Option("source", COLUMN, "column of the sources", "each input is a source"),
        Option("sample", integer(1), "removals to judge, from all steps of similarity, sizes of"
            " clusters and sources", 400),
        Option("seed", integer(0, 2**32 - 1, "S"), "which sample", 1),
        Option("precision", number("P"), "name the lowest threshold with this precision", 0.95,
            use="command"),
    ),
    *_block(AUDIT, "page", "shingler",
        Option("unit", choice("char", "word"), "unit of the shingles by which differences are"
            " found", "char"),
        Option("size", integer(1, 2**31 - 1), "units per shingle", 9),
    ),
    *_block(EXPLAIN, "", "command",
        Option("id_a", text("ID_A"), "id of a document, as `pairs` prints it", flag=""),
        Option("id_b", text("ID_B"), "id of the other document", flag=""),
    ),
    *_block((*PAIRS, *DEDUP), SIMILARITY, "keyword",
        Option("group", COLUMN, "rows with the same value of this column are one document, whose id"
            " it is, as a repository", refused="index lines span", group=INPUT),
        Option("within", COLUMN, "compare only documents with the same value of this column, as"
            " language or repository", refused="index lines span"),
        Option("also", Kind("also", "COL[:T]"), "texts in this column must be similar, too: T or"
            " more (default: --threshold)", refused="index lines span equal"),
        Option("also_threshold", number("T"), "as --also COL:T", refused="index lines span equal"),
    ),
    *_block(DEDUP, "indexes", "keyword",
        Option("index_texts", choice("full", "compressed"), "with --save-index: keep texts as they"
            " are (default), or compressed", refused="index lines span new_index", flag="--texts"),
    ),
    *_block(SIMILAR, SIMILARITY, "keyword",
        Option("preset", choice(*PRESETS, metavar="NAME"), PRESET, refused="span equal",
            use="command"),
        Option("threshold", number("T"), "Jaccard similarity", 0.8, refused="span equal"),
        Option("unit", choice("char", "word", "byte", "token"), "unit of the shingles (default:"
            " char); token: documents are lists of token ids, or texts with --tokenizer",
            refused="equal_pieces", use="shingler"),
        Option("size", integer(1, 2**31 - 1), "units per shingle", 9,
            refused="span equal_pieces equal", use="shingler"),
        Option("ignore", FILES, "texts that everybody shares, such as a question sheet or a licence"
            " header: their shingles make no documents alike", refused="span equal_pieces equal"),
        Option("ignore_common", number("F"), "also ignore shingles that are in more than this share"
            " of the documents", refused="index lines span equal index_stage plan",
            commands=(*PAIRS, *DEDUP)),
    ),
    *_block((*SIMILAR, *CLEAN, *AUDIT), NORMALISATION, "shingler",
        Option("unicode_form", choice("NFC", "NFD", "NFKC", "NFKD"), "Unicode normalisation form"),
        Option("lowercase", FLAG, "convert texts to lower case"),
        Option("numbers", choice("0"), "replace each number by 0"),
        Option("punctuation", choice("space", "remove"), "turn punctuation into spaces or drop it"),
        Option("punctuation_characters", text("CHARS", name="characters"), "characters that count"
            " as punctuation", "Unicode's"),
        Option("strip_accents", FLAG, "remove accents; texts stay decomposed, so that a syllable of"
            " Hangul is two or three characters and --size needs to be larger"),
        Option("remove_whitespace", FLAG, "remove all white space"),
        Option("collapse_whitespace", FLAG, "replace each run of white space by one space"),
        Option("words", WORDS, SPLIT_WORDS + "whitespace", refused="equal_pieces",
            commands=(*SIMILAR, *AUDIT)),
        Option("words", WORDS, SPLIT_WORDS + "unicode", commands=CLEAN),
        Option("empty_words", FLAG, "count an empty word between two adjacent separators",
            refused="span equal_pieces equal"),
        Option("stop_words", FILE, "leave these words out; a text file of words"),
        Option("vocabulary", FILE, "leave all words out but these; a text file of words"),
    ),
    *_block(SIMILAR, SEARCH, "keyword",
        Option("num_perm", integer(1, MAX_NUM_PERM, "K"), "minima per signature", 128,
            refused="span equal_pieces equal exact"),
        Option("recall", number("P"), "recall of pairs at the threshold", 0.98,
            refused="span equal_pieces equal exact bandings"),
        Option("bands", integer(1, metavar="B"), "number of bands; with --rows, instead of"
            " --recall", refused="span equal_pieces equal exact bandings"),
        Option("rows", integer(1, metavar="R"), "rows per band",
            refused="span equal_pieces equal exact bandings"),
        Option("seed", integer(0, 2**32 - 1, "S"), "seed of the hash functions", 1,
            refused="span equal_pieces equal exact"),
        Option("scheme", choice("affine32", "fss"), "fss: faster for long documents",
            refused="span equal_pieces equal exact"),
        Option("verify", choice("exact", "signature", "none"), "how to verify candidates", "exact",
            refused="span equal_pieces equal exact"),
        Option("key", FILE, KEY_FILE, flag="--key-file", use="shingler"),
        Option("threads", integer(1, LARGEST), "number of threads", "all processors"),
    ),
    *_block(SIMILAR, MESSAGES, "command",
        Option("quiet", FLAG, "show warnings, but no progress and no summary"),
    ),
    *_block(INDEXES, SIMILARITY, "keyword",
        Option("rule", choice("jaccard", "contained"), "contained: find a document only if it has"
            " enough of the shingles of the other one", "jaccard"),
    ),
    *_block(DEDUP, SIMILARITY, "keyword",
        Option("rule", choice("jaccard", "contained", "equal"), "contained: remove a document only"
            " if enough of its shingles are in the kept one; equal: only if the texts are equal,"
            " once they are normalised", "jaccard", refused="lines span"),
    ),
    *_block((*DEDUP, *INDEXES), SIMILARITY, "keyword",
        Option("containment", number("C"), "with --rule contained: this share of its shingles",
            "1.0, all", refused="lines span"),
        Option("search", choice("jaccard", "containment"), "containment: with --rule contained,"
            " find documents in much longer ones", "jaccard, by --threshold", refused="lines span"),
    ),
    *_block(BUILD, "", "keyword",
        Option("index_texts", choice("full", "compressed"), "of a file: keep texts as they are"
            " (default), or compressed", flag="--texts", use="command"),
    ),
    *_block(ADD, "", "command",
        Option("on_known", Kind("flag", choices=("raise", "replace"), value="replace"),
            "replace documents whose ids are in the index already", "an error", flag="--replace"),
    ),
    *_block(QUERY, "", "command",
        Option("output", text("OUT"),
            f"write id, match and jaccard (or containment) of each match {TABLE_OUTPUT}"),
        Option("limit", integer(1), "print at most N matches per document", "all"),
    ),
    *_block(EXPORT, "", "command",
        Option("as_json", FLAG, "as without it", flag="--json", commands=INFO),
        Option("output", text("OUT"),
            "write id, documents (it and its duplicates), and, if dedup was given --source and"
            f" --count, sources and sum_COL, {TABLE_OUTPUT}"),
    ),
    *_block(DEDUP, SEARCH, "keyword",
        Option("max_candidates", integer(1), "most comparisons per document", 1000,
            refused="span equal_pieces equal"),
    ),
    *_block(DEDUP, "lines, paragraphs, sentences and passages", "keyword",
        Option("by", choice("line", "paragraph", "sentence", "span"), "remove repeated lines,"
            " paragraphs, sentences or passages from the texts, instead of whole documents; the"
            " first occurrence stays. Lines, paragraphs and sentences count as repeated if they are"
            " equal or, with --threshold below 1, similar; span removes every passage of"
            " --min-length characters that occurred before. --removed gets id, start, end and"
            " kept_id of each, and jaccard or, of a span, kept_start", use="command"),
        Option("min_length", integer(0, LARGEST), "never remove lines, paragraphs, sentences or"
            " passages of fewer characters (default: 0; with --by span: 500)", refused="documents"),
        Option("window", integer(1, LARGEST), "with --by line, paragraph or sentence: compare N"
            " consecutive ones as one, and remove each that is in a repeated window", 1,
            refused="empty span"),
        Option("drop_empty", FLAG, "with --by line, paragraph or sentence: leave out rows whose"
            " text has become empty", refused="empty span"),
        Option("tokenizer", FILE, "with --by span --unit token: the tokenizer.json whose tokens are"
            " counted", refused="no_span", use="command"),
        Option("join", text("TEXT", name="characters"), "with --by span: write this in place of"
            " each cut", "nothing", refused="no_span"),
        Option("keep_least", integer(0), "with --by span: leave out rows that lost something, and"
            " of whose text fewer characters (or bytes, words) remain", 0, refused="no_span"),
        Option("merge_gap", integer(0), "with --by span: also remove up to N units between two"
            " cuts, unless another passage stays there", 0, refused="no_span"),
        Option("snap", choice("none", "word", "sentence", "line"), "with --by span: move the ends"
            " of cuts inwards, to the next word, sentence or line", "none", refused="no_span"),
        Option("max_share", number("F"), "with --by span: keep what occurs in more than this share"
            " of the documents, and say how much that is", 1.0, refused="no_span"),
    ),
    *_block(PAIRS, "", "keyword",
        Option("max_pairs", integer(0), "fail if there are more", 100_000_000),
        Option("estimates", FLAG, "add a column with the similarity that the signatures estimate"),
        Option("report", FILE, "write a page with the similarities, the pairs by file and the most"
            " similar pairs (.html); in memory"),
        Option("most", integer(0), "pairs that the report shows", 1000),
    ),
    *_block(OVERLAP, "", "keyword",
        Option("max_pairs", integer(0), "fail if more pairs of texts must be compared", 10**8),
    ),
    *_block(EVALUATE, "", "keyword",
        Option("sample", integer(1), "evaluate N documents, drawn by --seed", "all, but at most"
            " 20000"),
        Option("lowest", number("S"), "lowest similarity of the pairs found exactly", "3/4 of the"
            " threshold"),
        Option("max_pairs", integer(0), "fail if more pairs must be compared", 100_000_000),
        Option("missed", FILE, f"id_a, id_b and jaccard of the missed pairs {TABLE_FORMATS}",
            refused="bandings", use="command"),
        Option("bandings", text("BxR,...", name="bandings"), "compare several bandings (bands x"
            " rows) of the same signatures: 100x2,50x4"),
        Option("report", FILE, "write a page with the recall and examples of each step of"
            " similarity (.html)", refused="bandings", use="command"),
        Option("json", FILE, "write all figures; - prints them alone", use="command"),
        Option("plot", FILE, "plot the observed recall on the S-curve (.svg .png .pdf)",
            use="command"),
    ),
    *_block(EXPLAIN, "", "command",
        Option("html", FILE, "write a page with both texts and their differences"),
        Option("json", FILE, "write all figures and positions; - prints them alone"),
    ),
    *_block(CLEAN, "", "keyword",
        Option("threads", integer(1, LARGEST), "number of threads", "all processors"),
    ),
    *_block(SEARCHES, MEMORY, "keyword",
        Option("engine", choice("auto", "memory", "disk"), "where to work; the answer is the same",
            "on disk if --memory is too small"),
        Option("memory", text("SIZE"), "most memory to use, such as 4G", "half of what is free"),
        Option("work", text("DIR"), "directory of a run on disk, where an interrupted run"
            " continues", "the name of the output, followed by .work; of a URL in the current"
            " directory", refused="index"),
        Option("keep_work", FLAG, "keep this directory afterwards", refused="index"),
        Option("restart", FLAG, "discard the work of an earlier run", refused="index"),
    ),
    *_block(CLEAN, MEMORY, "keyword",
        Option("memory", text("SIZE"), "most memory to use, such as 4G, besides the items",
            "half of what is free", refused="self_test"),
        Option("work", text("DIR"), "a directory that keeps what is done until the end: the same"
            " command continues an interrupted run", "nothing is kept", refused="self_test"),
        Option("restart", FLAG, "discard the work of an earlier run in --work",
            refused="self_test"),
    ),
    *_block((*SEARCHES, *CLEAN), MACHINES, "keyword",
        Option("stage", text("S"),
            STAGE + "sign, link, unite, gather, decide, merge, write, finish; before these, with"
            " --group, rows, group, collect, join",
            refused="index_stage exact report plan", commands=SEARCHES),
        Option("stage", text("S"), STAGE + "sample, find, write, finish", refused="self_test plan",
            commands=CLEAN),
        Option("part", text("I/N", name="part"), "the part of the stage: 3/64, from 1/64 to 64/64",
            refused="index_stage exact report self_test plan"),
        Option("plan", choice("slurm", "sh"), "do nothing but print a script that starts all"
            " stages, with --parts", refused="exact report self_test", use="command"),
        Option("parts", integer(1), "parts of each stage in the plan",
            refused="exact report self_test", use="command"),
    ),
    *_block((*SEARCHES, *CLEAN), MESSAGES, "command",
        Option("verbose", FLAG, "also print the bands, and why this engine", commands=SEARCHES),
        Option("log", FILE, "append events to this file, as JSON lines", refused="self_test"),
        Option("summary", FILE, "write the counts and parameters as JSON", refused="self_test"),
        Option("fail_above", text("SHARE", name="share"), "exit status 3 if more than this share is"
            " found (from 0 to below 1): of documents removed, in a pair, with an item, or in"
            " another data set; with --by, of lines, paragraphs or characters removed; all outputs"
            " are written", refused="self_test"),
        Option("quiet", FLAG, "show warnings, but no progress and no summary", commands=CLEAN),
    ),
    *_block(TUNE, "", "keyword",
        Option("threshold", number("T"), "Jaccard similarity; needed without --preset"),
        Option("preset", choice(*PRESETS, metavar="NAME"), PRESET, use="command"),
        Option("num_perm", integer(1, MAX_NUM_PERM, "K"), "minima per signature", 128),
        Option("recall", number("P"), "recall of pairs at the threshold", 0.98),
        Option("weights", Kind("number", ("FP", "FN")), "instead of --recall: weights of false"
            " positives and negatives, as in datasketch"),
        Option("steepest", choice("up", "down"), "instead of --recall: the curve that is steepest"
            " at the threshold, (1/b)^(b/K) = T, b rounded up or down"),
        Option("bands", integer(1, metavar="B"), "number of bands; with --rows, instead of a rule"),
        Option("rows", integer(1, metavar="R"), "rows of a band"),
        Option("compare", FLAG, "compare all rules, and every division of K", use="command"),
        Option("plot", FILE, "plot the S-curve, with --compare all of them (.svg .png .pdf)",
            use="command"),
    ),
    *_block((), "", "keyword",
        Option("families", choice("auto", "driver", "rounds")), Option("per_label", integer(1)),
        Option("measure", choice("documents", "characters")), Option("trials", integer(100)),
        Option("partitions", integer(1, 2**31 - 1)), Option("documents", integer(0, 2**31 - 1)),
        Option("by", choice("line", "paragraph", "sentence")), Option("bits", integer(1, 8)),
        Option("seeds", integer(1)), Option("reference", FLAG), Option("counts", COLUMN),
        Option("labels", COLUMN), Option("editable", FLAG), Option("tokens", FLAG),
    ),
)  # fmt: skip

REFUSALS = {
    "index": "--index and {option} cannot be given together",
    "index_stage": "--index and {option} cannot be given together",
    "lines": "--by and {option} cannot be given together",
    "first": "{option} is for whole documents: with --by, the first occurrence of a {by} is kept."
             " Put the input whose {by}s should stay first, or give it as --against",
    "equal_pieces": "{option} is for a --threshold below 1: without one, a {by} is removed if it"
                    " equals another one",
    "span": "{option} has no effect with --by span, and cannot be given",
    "no_span": "{option} is for --by span",
    "documents": "{option} is for --by line, --by paragraph, --by sentence or --by span",
    "empty": "{option} is for --by line, --by paragraph or --by sentence",
    "new_index": "{option} says how --save-index keeps texts: give both",
    "equal": "{option} has no effect with --rule equal, which compares texts",
    "exact": "{option} has no effect with --exact, which has no bands",
    "report": "--report works in memory, where {option} has no effect",
    "bandings": "--bandings cannot be combined with {option}",
    "no_boilerplate": "{option} has no effect with --no-boilerplate",
    "no_sample": "{option} has no effect with --no-boilerplate",
    "no_cut": "{option} is for --rule span",
    "self_test": "{option} has no effect with --self-test: nothing is written",
    "plan": "--plan has all stages and parts: leave out {option}",
}  # fmt: skip
"""The reasons for which options are refused, by the names that `Option.refused` has for them."""


def options_of(command: str) -> list[Option]:
    """Return the options of a command, in the order of its help."""
    return [option for option in OPTIONS if command in option.commands]


def takes(command: str, name: str) -> bool:
    """Return whether a command has an option, by the name in the library."""
    return any(option.name == name for option in options_of(command))
