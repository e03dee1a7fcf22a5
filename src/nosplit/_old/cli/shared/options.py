"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from nosplit._old.cli.shared.words import named

__all__ = [
    "Alpha",
    "Budget",
    "Calibration",
    "Columns",
    "Cur",
    "Decimal",
    "Encoding",
    "Exclude",
    "ExitCode",
    "Explain",
    "Groups",
    "Json",
    "Kernels",
    "Method",
    "MinEffect",
    "NanPolicy",
    "NoRows",
    "NoShuffle",
    "Paired",
    "Pairs",
    "Ref",
    "Report",
    "SampleRows",
    "Scale",
    "Seed",
    "Separator",
    "Series",
    "Strata",
    "Workers",
]

Ref = Annotated[str, typer.Argument(metavar="REF", help="Reference sample, one row each.")]
Cur = Annotated[str, typer.Argument(metavar="CUR", help="Current sample, the same columns.")]
Alpha = Annotated[float, typer.Option(help="Level of the test.")]
Method = Annotated[
    str,
    typer.Option(
        help="auto, ost, nonnegative, wald, best, split, chibar, naive or adaptive.",
        metavar="NAME",
    ),
]
Pairs = Annotated[
    str,
    typer.Option(
        help="auto, complete, sketch, linear, adjacent, a window such as 5, or blocks:64.",
        metavar="PAIRS",
    ),
]
Calibration = Annotated[str, typer.Option(help="auto, exact or asymptotic.", metavar="NAME")]
Kernels = Annotated[str, typer.Option(help="default, paper1, paper2 or paper6.", metavar="NAME")]
Budget = Annotated[float, typer.Option(help="Nominal seconds of one core that auto may spend.")]
Seed = Annotated[int, typer.Option(help="Seed of the shuffling and of the random draws.", min=0)]
Workers = Annotated[int | None, typer.Option(help="Threads; all cores by default.", min=1)]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")]
NoShuffle = Annotated[
    bool, typer.Option("--no-shuffle", metavar="", help="Keep the order of the rows.")
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Compare these columns only, as in a,b; may be repeated.",
        metavar="NAMES",
        callback=named,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        help="Leave these columns out, as in a,b; may be repeated.", metavar="NAMES", callback=named
    ),
]
Scale = Annotated[
    bool | None,
    typer.Option(
        "--scale/--no-scale",
        metavar="",
        help="Divide columns by their spread; by default where columns have names.",
        show_default=False,
    ),
]
NanPolicy = Annotated[
    str,
    typer.Option(
        help="Missing values: raise, omit or indicate (compare them, too; default for tables).",
        metavar="NAME",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option("--sep", help="What stands between cells of text files; found by default."),
]
Decimal = Annotated[
    str | None,
    typer.Option(help="What stands in decimals of text files, . or , ; found by default."),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Encoding of text files, such as latin-1; found by default.", metavar="NAME"),
]
SampleRows = Annotated[
    int | None,
    typer.Option("--sample", help="Use so many rows only, drawn at random.", min=2, metavar="ROWS"),
]
MinEffect = Annotated[
    float | None,
    typer.Option(
        help="With --exit-code: 1 only if a column separates by this much, from 0.5 to 1.",
        metavar="SHARE",
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        metavar="",
        help="Also say how large it is by all columns together; takes longer.",
    ),
]
ExitCode = Annotated[
    bool,
    typer.Option(
        "--exit-code",
        metavar="",
        help="Exit 1 if the samples differ, 3 if there is too little data.",
    ),
]

Paired = Annotated[
    bool,
    typer.Option(
        "--paired", metavar="", help="Rows belong together, the first with the first and so on."
    ),
]
Strata = Annotated[
    str | None,
    typer.Option(help="Compare inside strata, which this column names.", metavar="COLUMN"),
]
Groups = Annotated[
    str | None,
    typer.Option(
        help="Rows of a group, which this column names, are not independent.", metavar="COLUMN"
    ),
]

Series = Annotated[
    bool,
    typer.Option("--series", metavar="", help="Rows are in time order; permute blocks of rows."),
]

Report = Annotated[
    str | None,
    typer.Option(
        help="Write a report as one HTML file; one of that name is replaced.", metavar="FILE.html"
    ),
]
NoRows = Annotated[
    bool,
    typer.Option(
        "--no-rows",
        metavar="",
        help="Leave rows and names of categories out of the report: private data.",
    ),
]
