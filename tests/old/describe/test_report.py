"""The report: what it says and leaves out, what it lets in, and how it is written."""

from __future__ import annotations

import re
from functools import cache, partial
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit import Blocks, Exact, InputError, NosplitWarning, models
from nosplit._old.describe.report import page as page_module
from nosplit._old.describe.report import report
from nosplit._old.describe.report.columns import cell
from nosplit.inference.print import format_p
from nosplit.methods import Best, Split

SCRIPT = "</script><script>alert(1)</script>"
HOSTILE = [
    SCRIPT,
    "\"' onmouseover=alert(1) x='",
    "<img src=x onerror=alert(1)>",
    "$\\frac{1}{$ _x^2 \\",
    "{{ 7 * 7 }} {% raw %}",
    "漢字 😀 \x07 \u202e",
    "\ud800 half",
    "long " + "x" * 5000,
]
KERNELS = (nosplit.kernels.Gaussian(1.0), nosplit.kernels.Linear())
QUICK = {"kernels": KERNELS, "calibration": Exact(99)}


class Page(HTMLParser):
    """Elements with their attributes, and the text outside style sheets."""

    VOID = ("meta", "path", "use", "br")

    def __init__(self, source):
        super().__init__()
        self.elements, self.words, self.open = [], [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def tags(self, *names):
        return [attributes for tag, attributes in self.elements if tag in names]


def numbers(n, width, seed, shift=0.0):
    rows = np.random.default_rng(seed).normal(size=(n, width))
    rows[:, 0] += shift
    return rows


def table(n, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": np.round(np.exp(rng.normal(9.0, 0.5, n)), 2),
            "age": rng.normal(40.0, 10.0 * spread, n),
            "e-mail": [f"person{int(i)}@example.org" for i in 10**6 + rng.integers(20, size=n)],
            "city": rng.choice(["Rome-town", "Oslo-town"], n, p=[0.8, 0.2] if spread > 1 else None),
            "since": pd.Timestamp("2021-03-04") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )


@cache
def samples():
    return numbers(80, 3, 0), numbers(70, 3, 1, shift=1.0)


@cache
def differing():
    return nosplit.two_sample_test(*samples(), **QUICK)


@cache
def people():
    return table(120, 0), table(120, 1, spread=3.0)


@cache
def of_people():
    return nosplit.two_sample_test(*people(), calibration=Exact(99))


@pytest.fixture(scope="module")
def of_people_written(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "report.html"
    return report(of_people(), *people(), path=path).read_text(encoding="utf-8")


@pytest.fixture
def write(tmp_path):
    def call(res, *data, **options):
        file = report(res, *data, path=tmp_path / "report.html", **options)
        return file.read_text(encoding="utf-8")

    return call


# What it says -----------------------------------------------------------------------------------


def test_what_changed_comes_before_all_else(write, of_people_written):
    text = Page(of_people_written).text
    assert text.index("What changed") < text.index("How large it is")
    assert "<strong>sd " in of_people_written
    assert "-town" in of_people_written.split('id="changed"')[1].split("</section>")[0]
    private = write(of_people(), *people(), rows=False).split('id="changed"')[1]
    private = private.split("</section>")[0]
    assert "-town" not in private
    assert "sd " in private
    assert "No column differs by itself" in write(nosplit.two_sample_test(*samples()[:1] * 2))


def test_columns_and_rows_are_those_of_the_explanation(write):
    x, y = samples()
    text = Page(write(differing(), x, y, names=["weight", "height", "age"])).text
    columns = re.findall(r"(weight|height|age) \d+ ± \d+ %", text)
    assert columns[0] == "weight"
    assert sorted(columns) == ["age", "height", "weight"]
    top = nosplit.explain(differing(), x, y).top_rows(5)
    for sample, rows in ((x, top.x), (y, top.y)):
        for row in rows:
            assert f"{row.index} {row.witness:+.3g}" in text
            assert cell(sample[row.index], 0) in text


FAMILIES = {
    "The sample does not fit the model": lambda x: nosplit.goodness_of_fit_test(
        5.0 + x, models.MultivariateNormal(np.zeros(3)), calibration=Exact(99)
    ),
    "No evidence against the model": lambda x: nosplit.goodness_of_fit_test(
        x, lambda rows: -rows, calibration="wild"
    ),
    "The variables depend on each other": lambda x: nosplit.independence_test(
        x[:, 0], x[:, 0] + x[:, 1] / 10.0
    ),
    "Some mean is not zero": lambda x: nosplit.mean_test(x + 1.0, symmetric=True),
    "No evidence of a mean other than zero": lambda _: nosplit.joint_normal_test(
        [-1.0, -2.0], np.eye(2)
    ),
}


@cache
def of_family(answer):
    return FAMILIES[answer](numbers(80, 3, 0))


@pytest.mark.parametrize("answer", FAMILIES)
def test_other_questions_have_verdict_how_and_numbers(write, answer):
    res = of_family(answer)
    text = Page(write(res)).text
    assert f"{answer}." in text
    assert format_p(res.log_pvalue) in text
    assert "How it was tested" in text
    assert "What the test learned" not in text
    assert all(repr(float(t)) in text for t in res.selection.tau)


def test_warnings_stand_beside_the_verdict(write):
    x, y = (rows[:70] for rows in samples())
    with pytest.warns(NosplitWarning):
        res = nosplit.two_sample_test(x, y, method="naive", calibration="asymptotic", pairs=2)
    text = Page(write(res)).text
    assert text.index("Before you rely on it") < text.index("How it was tested")
    assert "does not control the level" in text
    assert "NotATestWarning" not in text.split("How it was tested")[0]


def test_few_rows_are_reported_without_columns(write):
    x, y = numbers(5, 2, 0), numbers(5, 2, 1, shift=4.0)
    text = Page(write(nosplit.two_sample_test(x, y, **QUICK), x, y)).text
    assert "What the test learned" not in text
    assert "too few rows" in text


def test_hostile_names_stay_text(write):
    x, y = numbers(40, len(HOSTILE), 0), numbers(40, len(HOSTILE), 1, shift=2.0)
    res = nosplit.two_sample_test(x, y, **QUICK)
    page = Page(write(res, x, y, names=HOSTILE, labels=(SCRIPT, HOSTILE[2]), title=HOSTILE[1]))
    assert not page.tags("script", "img", "iframe", "object", "a" * 2)
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)
    for name in HOSTILE[:5]:
        assert name in page.text
    assert "49" not in re.findall(r"\{\{ (.+?) \}\}", page.text)
    assert "\\x07 \\u202e" in page.text
    assert "\\ud800 half" in page.text
    assert "x" * 100 not in page.text


def test_hostile_values_stay_text(write):
    rng = np.random.default_rng(0)
    x, y = (
        pd.DataFrame({SCRIPT: rng.choice(HOSTILE[:6], 60, p=p), "n": rng.normal(size=60)})
        for p in ([0.5, 0.1, 0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.5, 0.1, 0.1, 0.1])
    )
    page = Page(write(nosplit.two_sample_test(x, y, calibration=Exact(99)), x, y))
    assert not page.tags("script", "img")
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)
    assert page.text.count(SCRIPT) > 3


def test_nothing_is_loaded_and_nothing_runs(of_people_written):
    source = of_people_written
    page = Page(source)
    assert not page.tags("script", "link", "img", "iframe", "base")
    links = [a for _, attrs in page.elements for k, a in attrs.items() if k in ("src", "href")]
    assert all(link.startswith("#") for link in links)
    assert "url(" not in re.sub(r"url\(#", "", source)
    assert "@import" not in source
    policy = [a["content"] for a in page.tags("meta") if "http-equiv" in a]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    addresses = set(re.findall(r"https?://[^\s\"<]+", source))
    assert addresses <= {"http://www.w3.org/1999/xlink", "http://www.w3.org/2000/svg"}


def values_of(frame):
    """Every value that only a row can have told, in all ways it might be written."""
    for name in ("income", "age"):
        for value in frame[name]:
            yield from (repr(float(value)), f"{value:.6g}", cell(np.array([value]), 0))
    yield from frame["e-mail"]
    yield from frame["city"]
    yield from frame["since"].astype(str)


def test_without_rows_no_value_is_left(write, of_people_written):
    x, y = people()
    secret = {value for frame in (x, y) for value in values_of(frame)}
    private, open_ = write(of_people(), x, y, rows=False), of_people_written
    # Means of columns may be dates on which something happened: they are no one's.
    means = {str(frame["since"].mean().round("D").date()) for frame in (x, y)}
    assert not [value for value in secret - means if value in private]
    assert [value for value in secret if value in open_]
    assert "Rome-town" in open_
    assert "category 1" in private
    assert "left out of this report" in Page(private).text


def test_without_rows_a_constant_column_has_no_mean(write):
    x, y = (rows.copy() for rows in samples())
    x[:, 1] = 1234.5
    res = nosplit.two_sample_test(x, y, **QUICK)
    assert "mean 1,234" in write(res, x, y)
    assert "all the same" in write(res, x, y, rows=False)
    assert "1,234" not in write(res, x, y, rows=False)


# How it is built --------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["table", "wide", "other"])
def page(request, tmp_path_factory, of_people_written):
    if request.param == "table":
        return Page(of_people_written)
    if request.param == "wide":
        x, y = numbers(20, 200, 0), numbers(15, 200, 1, shift=3.0)
        res, data = nosplit.two_sample_test(x, y, kernels=KERNELS[1], calibration=Exact(99)), (x, y)
        options = {"names": [f"feature {'of some length ' * 5} {j}" for j in range(200)]}
    else:
        res, data, options = of_family("Some mean is not zero"), (), {}
    path = tmp_path_factory.mktemp("report") / "report.html"
    report(res, *data, path=path, **options)
    assert path.stat().st_size < 300_000
    return Page(path.read_text(encoding="utf-8"))


def test_headings_are_in_order(page):
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_is_accessible(page):
    assert page.tags("html") == [{"lang": "en"}]
    assert len(page.tags("title")) == 1
    assert all("scope" in cell for cell in page.tags("th"))
    for _, attrs in page.elements:
        assert attrs.get("role") not in ("img", "region") or attrs["aria-label"]
        assert "scroll" not in attrs.get("class", "").split() or attrs["tabindex"] == "0"
    figures = [attrs for _, attrs in page.elements if attrs.get("role") == "img"]
    assert len(figures) == len(page.tags("svg"))
    assert {"class": "skip", "href": "#main"} in page.tags("a")


def test_ids_are_unique_and_all_that_is_named_exists(page):
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    named = [attrs["aria-labelledby"] for _, attrs in page.elements if "aria-labelledby" in attrs]
    named += [a.lstrip("#") for _, at in page.elements for k, a in at.items() if k.endswith("href")]
    assert set(named) <= set(ids)


def test_contrast_against_wcag():
    css = (Path(page_module.__file__).parent / "style.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    assert len(blocks) == 3  # light, dark, print
    for block in blocks:
        colour = dict(re.findall(r"--([\w-]+): (#\w{6})", block))
        for ink in ("ink", "soft", "link", "yes", "no"):
            for ground in ("paper", "panel"):
                assert contrast(colour[ink], colour[ground]) >= 4.5, (ink, ground)
        assert contrast(colour["ink"], colour["care"]) >= 4.5
        for line in ("first", "second"):
            assert contrast(colour[line], colour["paper"]) >= 3.0


def contrast(a, b):
    """Ratio of relative luminances, as WCAG 2 defines it."""

    def luminance(colour):
        parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_same_data_gives_the_same_bytes(write, of_people_written):
    assert write(of_people(), *people()) == of_people_written


# Doing it again ---------------------------------------------------------------------------------

CLOSED = {"calibration": "asymptotic"}
AGAIN = {
    "adaptive": {"calibration": Exact(99)},
    "window": {"method": "ost", "pairs": 3, **CLOSED},
    "blocks": {"method": "best", "pairs": Blocks(20), **CLOSED},
    "split": {"method": Split(0.3, Best()), "pairs": "linear", **CLOSED},
    "naive": {"method": "naive", "pairs": "adjacent", **CLOSED},
    "order": {"calibration": Exact(49), "rng": 7, "shuffle": False},
    "sketch": {"pairs": "sketch", "calibration": Exact(49)},
    "paired": {"method": "ost", "calibration": Exact(49), "paired": True},
}


def run_again(source, **names):
    code = Page(source).words
    start = next(i for i, text in enumerate(code) if text.startswith("import nosplit"))
    exec(code[start].replace("print(", "("), names)
    return names["res"]


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
@pytest.mark.parametrize("case", AGAIN)
def test_code_repeats_the_test(write, case):
    x, y = (rows[:70] for rows in samples())
    res = nosplit.two_sample_test(x, y, **AGAIN[case])
    options = {k: v for k, v in AGAIN[case].items() if k in ("shuffle", "paired")}
    again = run_again(write(res, options=options), x=x, y=y)
    assert again.to_dict() == res.to_dict()


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
@pytest.mark.parametrize("answer", FAMILIES)
def test_code_repeats_other_tests(write, answer):
    rows = numbers(80, 3, 0)
    names = {
        "x": rows,
        "score": lambda rows: -rows,
        "h": rows + 1.0,
        "y": rows[:, 0] + rows[:, 1] / 10.0,
        "tau": [-1.0, -2.0],
        "cov": np.eye(2),
    }
    if "does not fit" in answer:
        names |= {"x": rows + 5.0, "score": models.MultivariateNormal(np.zeros(3))}
    if "variables" in answer:
        names["x"] = rows[:, 0]
    again = run_again(write(of_family(answer)), **names)
    assert again.to_dict() == of_family(answer).to_dict()


def test_code_repeats_an_accumulation(write):
    stream = nosplit.TwoSampleAccumulator(KERNELS)
    stream.update(numbers(200, 2, 0), numbers(200, 2, 1))
    res = stream.result(n_resamples=99)
    assert run_again(write(res), acc=stream).to_dict() == res.to_dict()


def test_code_repeats_a_test_of_files(tmp_path, monkeypatch, write):
    monkeypatch.chdir(tmp_path)
    for name, frame in zip(("a.csv", "b.csv"), people(), strict=True):
        frame.drop(columns="since").to_csv(name, index=False)
    res = nosplit.two_sample_test("a.csv", "b.csv", calibration=Exact(49))
    source = write(res, "a.csv", "b.csv")
    assert "Rows that stand out in a.csv" in source
    assert run_again(source).to_dict() == res.to_dict()


def test_of_large_files_some_rows_are_drawn(tmp_path, monkeypatch, write):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nosplit._old.data.files.whole.SMALL", 1000)
    monkeypatch.setattr("nosplit._old.data.files.whole.PILOT", 400)
    x, y = numbers(3000, 2, 0), numbers(3000, 2, 1, shift=0.8)
    np.save("x.npy", x)
    np.save("y.npy", y)
    res = nosplit.two_sample_test("x.npy", "y.npy", kernels=KERNELS, method="ost", pairs="sketch")
    source = write(res, "x.npy", "y.npy")
    text = Page(source).text
    assert "Rows used 5,760" in text
    assert "The signal rests on 5,760 of 6,000 rows" in text
    counts = re.search(r"as they are in (\d+) and (\d+) of their rows", text)
    assert all(100 < int(count) <= 400 for count in counts.groups())
    shares = dict(re.findall(r"column (\d) (\d+) ± \d+ %", text))
    assert int(shares["0"]) > 80 > 20 > int(shares["1"])


# Writing it -------------------------------------------------------------------------------------


def test_result_forwards_and_replaces_what_is_there(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    assert differing().report(*samples(), path=path) == path
    assert "The samples differ" in path.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [path]


def test_links_are_followed(tmp_path):
    (tmp_path / "latest.html").symlink_to(tmp_path / "real.html")
    report(differing(), path=tmp_path / "latest.html")
    assert (tmp_path / "latest.html").is_symlink()
    assert (tmp_path / "real.html").is_file()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/no/such/folder/report.html", "must be in a folder that exists"),
        ("/", "must name a file"),
        ("/dev/stdout", "must be an ordinary file"),
        ("report.pdf", "must end in .html, as a report is HTML, got 'report.pdf'"),
        ("r" * 300 + ".html", "cannot be written: File name too long"),
        (3, "must be a path"),
    ],
)
def test_path_iv(path, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"`path`.*({message})"):
        report(differing(), path=path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 2.0}, "`alpha`"),
        ({"rows": "no"}, "`rows`"),
        ({"labels": ("a", "b", "c")}, "`labels` must be two"),
        ({"labels": "ab"}, "`labels` must be two"),
        ({"names": ["a"]}, "`names` must be as many as columns"),
    ],
)
def test_options_iv(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        report(differing(), *samples(), path=tmp_path / "r.html", **options)


def test_data_iv(tmp_path):
    path, (x, y) = tmp_path / "r.html", samples()
    with pytest.raises(InputError, match="`res` must be a TestResult, got float"):
        report(0.05, x, y, path=path)
    with pytest.raises(InputError, match="`x` and `y` must be given together"):
        report(differing(), x, path=path)
    with pytest.raises(InputError, match="must be the samples of `res`"):
        report(differing(), x[:50], y, path=path)
    with pytest.raises(InputError, match="the same number of columns"):
        report(differing(), x, y[:, :2], path=path)
    assert not path.exists()


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_missing_extra_names_its_pip_line(tmp_path, monkeypatch, module):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(InputError, match=r"pip install 'nosplit\[report\]'"):
        report(differing(), path=tmp_path / "r.html")


# The command ------------------------------------------------------------------------------------


@pytest.fixture
def run(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, frame in zip("ab", people(), strict=True):
        frame[["income", "age"]].to_csv(f"{name}.csv", index=False)
    return partial(run, "test", "a.csv", "b.csv", "--kernels", "paper2")


def test_command_writes_a_report(run):
    code, out, err = run("--report", "out.html", "--seed", "3")
    assert code == 0
    assert out.startswith("a.csv and b.csv\nThe samples differ")
    assert err == "Report: out.html\n"
    source = Path("out.html").read_text(encoding="utf-8")
    text = Page(source).text
    assert "Rows that stand out in a.csv" in text
    assert "rng=3" in text
    assert "income" in text
    assert len(run("--report", "out.html", "--json")[1].splitlines()) == 1


def test_command_leaves_rows_out(run):
    assert run("--report", "out.html", "--no-rows")[0] == 0
    source = Path("out.html").read_text(encoding="utf-8")
    assert "Rows that stand out" not in source
    assert not [v for frame in people() for v in frame["income"] if f"{v:.6g}" in source]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--no-rows"], "`--no-rows` is about a report"),
        (["--report", "no/out.html"], "must be in a folder that exists"),
        (["--report", "."], "must name a file"),
        (["--report", "r.pdf"], "`--report` must end in .html"),
    ],
)
def test_command_iv(run, args, message):
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert message in err


def test_columns_that_differ_together_are_named(tmp_path):
    x, y = np.random.default_rng(5).normal(size=(2, 150, 4))
    y[:, 2] = 0.6 * y[:, 0] + 0.8 * y[:, 2]
    tables = [pd.DataFrame(z, columns=["age", "b", "<pay>", "d"]) for z in (x, y)]
    res = nosplit.two_sample_test(*tables)
    page = res.report(*tables, path=tmp_path / "report.html").read_text(encoding="utf-8")
    assert "while neither does by itself: age with &lt;pay&gt;." in page
