"""Tours with time windows, shown: the timetable, the map, the chart, and the page in a real browser."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from playout import TSPTW, InputError
from playout.picture import has_picture, to_html, to_svg
from playout.problems.tsptw import _generate
from playout.problems.tsptw_picture import map_of, positions
from playout.problems.tsptw_timetable import Timetable
from tests.problems.test_tsptw import a_result, instance
from tests.test_picture import start_browser

SVG = "{http://www.w3.org/2000/svg}"


def render(drawing, width=100, **options) -> str:
    console = Console(width=width, record=True, file=open("/dev/null", "w"), **options)  # noqa: SIM115
    with console.file:
        console.print(drawing)
    return console.export_text()


def test_the_drawing_has_the_summary_and_the_timetable():
    text = render(instance().draw([2, 1, 3]))
    assert (
        "Cost 64, back at the depot at 66, 3 windows missed: customer 2 by 2, customer 1 by 8, the depot by 6" in text
    )
    lines = [line.split()[:7] for line in text.splitlines()]
    assert ["1", "2", "22", "0", "-", "20", "late"] in lines
    assert next(line for line in lines if line[:2] == ["3", "3"])[:6] == ["3", "3", "35", "0", "-", "100"]
    assert ["4", "depot", "66", "2", "-", "60", "late"] in lines
    assert "wait 3" in render(instance().draw([1, 2, 3]))
    assert "no window missed" in render(instance().draw([1, 2, 3]))


def test_the_bars_lie_where_the_times_are():
    """The tour takes from 2 to 66, the axis a fifth longer; customer 1 is open from 15 to 20 and is reached at 28."""
    line = next(line for line in render(instance().draw([2, 1, 3])).splitlines() if line.startswith("   2 "))
    bar = line[line.index("late 8") + 8 :]
    size = 100 - (len(line) - len(bar))
    assert bar.index("━") == int((15 - 2) / (1.2 * 64) * size)
    assert bar.rstrip().endswith("●")
    assert len(bar.rstrip()) - 1 == int((28 - 2) / (1.2 * 64) * size)


def test_a_window_that_goes_on_beyond_the_axis_has_an_open_end():
    """The axis is from 5 to 29 or so; customer 1 opens before it, 2 closes after it, the depot ends on it."""
    problem = TSPTW([[0, 10, 9], [10, 0, 5], [9, 5, 0]], [5, 0, 10], [29, 20, 1000])
    assert [Timetable(problem, [1, 2]).goes_on(stop) for stop in problem.tour([1, 2]).stops] == [
        (True, False), (False, True), (False, False),
    ]  # fmt: skip
    first, second, depot, legend = render(problem.draw([1, 2])).splitlines()[-4:]
    assert ["◂" in line for line in (first, second, depot, legend)] == [True, False, False, True]
    assert ["▸" in line for line in (first, second, depot, legend)] == [False, True, False, True]
    assert legend.rstrip().endswith("the window goes on")
    assert to_svg(a_result(problem, [1, 2])).count('class="window open"') == 3  # one of them in the legend
    assert "goes on" not in render(TSPTW.random(3, seed=1).draw([]))


def test_a_narrow_terminal_has_the_table_without_bars():
    text = render(instance().draw([2, 1, 3]), width=50)
    assert "late 8" in text
    assert "━" not in text


def test_the_drawing_after_some_steps():
    text = render(instance().draw([1, 2, 3], step=2))
    assert "After 2 of 3 customers" in text
    assert "Cost 15, so far, without the return; the time is 20, no window missed" in text
    assert "depot" not in text
    assert "After 0 of 3 customers" in render(instance().draw([1, 2, 3], step=0))
    with pytest.raises(InputError, match="step is 4; the result has moves 1 to 3"):
        instance().draw([1, 2, 3], step=4)


def test_without_moves_the_windows_are_drawn():
    text = render(instance(due=(60, 20, 18, 100)).draw())
    assert "3 customers, the tour begins at 2" in text
    assert "No tour is in time everywhere: customer 2 cannot be reached before 20" in text
    assert "arrival" not in text
    assert "No customer is visited" in render(TSPTW([[0]], [0], [1]).draw())


def test_a_small_delay_is_not_shown_as_none():
    problem = TSPTW([[0, 1.0001], [1, 0]], [0, 0], [9, 1])
    assert "customer 1 by 0.0001" in render(problem.draw([1]))


def test_the_map_keeps_the_distances():
    """Those of points in the plane, up to the rounding to whole numbers; service in the diagonal does not matter."""
    problem = TSPTW.random(30, seed=3)
    arcs = np.array(problem.distances)
    with_service = TSPTW(arcs + np.array([0, *[10] * 30])[:, None], problem.ready, problem.due)
    for places in (positions(problem), positions(with_service)):
        apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
        assert np.abs(apart - arcs).max() < 2


@pytest.mark.parametrize("n", [5, 20, 60])
def test_no_marks_cover_each_other(n):
    problem = TSPTW.random(n, seed=n)
    same_place = TSPTW(np.zeros((n + 1, n + 1)), problem.ready, problem.due)
    for shown in (Timetable(problem, _generate(n, 60, n)[1]), Timetable(same_place, ())):
        marks = re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', map_of(shown))
        assert len(marks) == n
        places = np.array(marks, dtype=float)
        apart = np.sqrt(((places[:, None, :2] - places[None, :, :2]) ** 2).sum(axis=2)) + 1000 * np.eye(n)
        assert apart.min() > 1.8 * places[0, 2]


def test_the_svg_is_well_formed_and_has_every_stop():
    problem = TSPTW.random(12, seed=12)
    root = ElementTree.fromstring(to_svg(a_result(problem, _generate(12, 60, 12)[1])))
    stops = [element.get("data-stop") for element in root.iter(f"{SVG}g") if element.get("data-stop")]
    assert sorted(map(int, stops)) == sorted([*range(1, 14)] * 2)
    labels = [element.text for element in root.iter(f"{SVG}text")]
    assert labels.count("7") >= 2
    assert "depot" in labels
    assert any("no window missed" in (label or "") for label in labels)


def test_the_map_says_where_its_places_come_from():
    for picture in (to_svg, to_html):
        assert "Tour, places estimated from the distances" in picture(a_result(instance(), [1, 2, 3]))
    assert "Places, estimated from the distances" in instance().to_html()


def test_missed_customers_are_red():
    """Customers 2 and 1 and the depot, in the map and in the chart; nothing is where all are in time."""
    assert map_of(Timetable(instance(), [2, 1, 3])).count('class="missed"') == 3
    assert to_svg(a_result(instance(), [2, 1, 3])).count('class="late-dot"') == 3
    assert "missed" not in map_of(Timetable(instance(), [1, 2, 3]))


@pytest.mark.parametrize(
    ("problem", "moves"),
    [
        (TSPTW([[0]], [0], [0]), ()),
        (TSPTW([[0, 0], [0, 0]], [0, 0], [0, 0]), (1,)),
        (TSPTW([[0, 5], [3, 0]], [7, 0], [7, 0]), (1,)),
        (TSPTW([[0, 1e9], [1e9, 0]], [1e9, 0], [1e9, 1e9]), (1,)),
        (TSPTW([[0, 5e-324], [5e-324, 0]], [0, 0], [1, 1]), (1,)),
        (TSPTW([[0, 5e-324], [5e-324, 0]], [0, 0], [5e-324, 0]), (1,)),
        (TSPTW([[0, 1e-7], [1e-7, 0]], [1e9, 0], [1e9, 1e9]), (1,)),
        (TSPTW.random(300, seed=1), _generate(300, 60, 1)[1]),
    ],
)
def test_odd_instances_have_pictures(problem, moves):
    result = a_result(problem, moves)
    assert has_picture(result)
    ElementTree.fromstring(to_svg(result))
    ElementTree.fromstring(problem.to_html(()))
    assert to_html(result).count("<tr data-stop") == len(moves) + bool(moves)
    assert render(problem.draw(moves))


def test_a_notebook_shows_the_pictures():
    assert instance()._repr_html_().startswith("<svg")
    assert "<svg" in a_result(instance(), [1, 2, 3])._repr_html_()


def test_what_a_file_says_cannot_become_code():
    evil = a_result(instance()._named("</script><script>alert(1)</script>$title"), [1, 2, 3])
    for picture in (to_html(evil), to_svg(evil), evil._repr_html_()):
        assert "<script>alert" not in picture
    assert "http" not in to_html(evil)


# The page in a browser


@pytest.fixture(scope="module")
def browser():
    driver = start_browser("--window-size=1250,1000")
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, tmp_path):
    """The page of a tour of twelve, opened; nothing may have gone wrong in it by the end of the test."""
    problem = TSPTW.random(12, seed=12)
    file = tmp_path / "tour.html"
    moves = sorted(range(1, 13), key=lambda customer: problem.ready[customer])[::-1]
    file.write_text(to_html(a_result(problem, moves)), encoding="utf-8")
    browser.get(file.as_uri())
    yield browser
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def marked(page):
    """The stops that are marked, in the map, the chart and the table."""
    return [element.get_attribute("data-stop") for element in page.find_elements(By.CSS_SELECTOR, ".on")]


def test_a_stop_is_marked_in_map_chart_and_table(page):
    for number, place in (("3", "#map"), ("5", "#chart"), ("7", "#rows")):
        element = page.find_element(By.CSS_SELECTOR, f'{place} [data-stop="{number}"]')
        ActionChains(page).move_to_element(element).perform()
        assert marked(page) == [number] * 3
        assert page.find_element(By.ID, "status").text.startswith(f"Stop {number}, customer ")


def test_the_keyboard_goes_from_stop_to_stop(page):
    page.execute_script("document.querySelector('#rows tr').focus()")
    assert marked(page) == ["1"] * 3
    for key, number in ((Keys.ARROW_DOWN * 2, "3"), (Keys.ARROW_UP, "2"), (Keys.END, "13"), (Keys.HOME, "1")):
        ActionChains(page).send_keys(key).perform()
        assert marked(page) == [number] * 3
    ActionChains(page).send_keys(Keys.ESCAPE).perform()
    assert marked(page) == []


def test_a_screen_reader_is_told_everything(page):
    assert [cell.text for cell in page.find_elements(By.CSS_SELECTOR, "thead th[scope=col]")] == [
        "stop", "customer", "arrival", "opens", "closes", "wait", "late",
    ]  # fmt: skip
    assert page.find_element(By.TAG_NAME, "caption").text == "Timetable"
    for picture in page.find_elements(By.CSS_SELECTOR, "svg"):
        assert picture.get_attribute("role") == "img"
        assert picture.get_attribute("aria-label")
    assert len(page.find_elements(By.CSS_SELECTOR, "#rows tr.missed")) > 5


@pytest.mark.parametrize("size", [(360, 740), (800, 600)])
def test_nothing_sticks_out_on_a_phone(page, size):
    page.set_window_size(*size)
    assert page.execute_script("return document.scrollingElement.scrollWidth <= document.documentElement.clientWidth")
    page.set_window_size(1250, 1000)


def test_dark_and_light(page):
    """The page follows the system, and so do the numbers on the map."""

    def brightness(scheme, selector, what):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        script = f"return getComputedStyle(document.querySelector('{selector}')).{what}"
        return sum(map(int, re.findall(r"\d+", page.execute_script(script))[:3]))

    for selector, what in (("body", "backgroundColor"), ("#chart .dot, #map .missed-label", "fill")):
        dark, light = brightness("dark", selector, what), brightness("light", selector, what)
        assert abs(dark - light) > 300
