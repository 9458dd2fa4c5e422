"""Pictures of results: well-formed, complete in themselves, and the replay page used in a real browser."""

import dataclasses
import os
import re
import shutil
import time
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

import playout as po
from playout.picture import NO_PICTURE, has_picture, to_html, to_svg
from playout.problems.same_game_rules import group

BROWSER, DRIVER = "chromium", "chromedriver"


@pytest.fixture(scope="module")
def result():
    """A game that clears its board, so that the end has a bonus to show."""
    found = po.solve(po.SameGame.random(8, 8, 3, seed=4), po.GNRPA(level=2), playouts=3000, seed=1)
    assert found.detail["cleared"]
    return found


def start_browser(*arguments):
    if not shutil.which(BROWSER) or not shutil.which(DRIVER):
        missing = f"{BROWSER} and {DRIVER} are needed (Debian: apt-get install chromium chromium-driver)"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which(BROWSER) or ""
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", *arguments,
    ):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    environment = {**os.environ, "TMPDIR": "/tmp"}  # the path of its socket has to be short
    return webdriver.Chrome(options, webdriver.ChromeService(shutil.which(DRIVER), env=environment))


@pytest.fixture(scope="module")
def browser():
    driver = start_browser("--window-size=1100,900")
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, result, tmp_path):
    """The replay page, opened; nothing may have gone wrong in it by the end of the test."""
    file = tmp_path / "replay.html"
    file.write_text(to_html(result), encoding="utf-8")
    browser.get(file.as_uri())
    yield browser
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def text(page, name):
    return page.find_element(By.ID, name).text


def click(page, name):
    page.find_element(By.ID, name).click()


def cells(page):
    return len(page.find_elements(By.CSS_SELECTOR, "#board g"))


def test_clicking_through_to_the_end_shows_the_score(page, result):
    """The cells left and the running total are right before every move, and the end has the result's own score."""
    positions = list(result.problem.positions(result.moves))
    for number, (columns, points) in enumerate(positions[:-1], 1):
        assert cells(page) == sum(map(len, columns))
        assert text(page, "status").startswith(f"Move {number} of {len(result.moves)}: ")
        assert text(page, "status").endswith(f"{points:,} so far.")
        assert page.find_element(By.ID, "outline").get_attribute("d")
        click(page, "next")
    assert cells(page) == result.detail["left"]
    assert f": {result.score:,.0f}" in text(page, "status")
    assert page.find_element(By.ID, "next").get_attribute("aria-disabled") == "true"
    assert page.switch_to.active_element.get_attribute("id") == "next"  # nobody loses their place
    assert page.find_element(By.ID, "outline").get_attribute("d") == ""


def test_the_outline_is_around_the_group_that_goes(page, result):
    """Its edges are those between a cell of the group and one that is not, and its box is the group's."""
    game = result.problem
    for (columns, _), move in zip(game.positions(result.moves[:6]), result.moves, strict=False):
        cells = group(columns, move)
        beside = [(c + dc, r + dr) for c, r in cells for dc, dr in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        outline = page.find_element(By.ID, "outline")
        assert outline.get_attribute("d").count("M") == sum(cell not in cells for cell in beside)
        box = page.execute_script("const b = outline.getBBox(); return [b.x, b.y, b.width, b.height]")
        left, right = min(c for c, _ in cells), max(c for c, _ in cells)
        low, high = min(r for _, r in cells), max(r for _, r in cells)
        expected = [left, game.height - 1 - high, right - left + 1, high - low + 1]
        assert box == [10 * length for length in expected]
        click(page, "next")


def test_keys_slider_and_list_go_where_they_say(page, result):
    keys = ActionChains(page)
    keys.send_keys(Keys.ARROW_RIGHT * 3).perform()
    assert text(page, "status").startswith("Move 4 ")
    ActionChains(page).send_keys(Keys.ARROW_LEFT).perform()
    assert text(page, "status").startswith("Move 3 ")
    ActionChains(page).send_keys(Keys.END).perform()
    assert text(page, "status").startswith("The end")
    ActionChains(page).send_keys(Keys.HOME).perform()
    assert text(page, "status").startswith("Move 1 ")
    page.execute_script("slider.value = 5; slider.dispatchEvent(new Event('input'))")
    assert text(page, "status").startswith("Move 6 ")
    page.find_element(By.CSS_SELECTOR, "#rows tr:nth-child(2)").click()
    assert text(page, "status").startswith("Move 2 ")
    assert page.find_element(By.CSS_SELECTOR, "tr[aria-current]").text.split()[0] == "2"


def moves_shown(page):
    """Return what the status has said since the page was asked to record it."""
    return page.execute_script("return window.shown || []")


def wait_until(reached):
    """A slow machine gets a minute."""
    patience = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < patience
        time.sleep(0.02)


def test_play_runs_to_the_end_and_pause_stays(page, result):
    """The page itself records the moves that it shows, because it may play them faster than the test can look."""
    page.execute_script(
        "shown = []; new MutationObserver(() => shown.push(element('status').textContent))"
        ".observe(element('status'), {childList: true, characterData: true, subtree: true})"
    )
    speed = Select(page.find_element(By.ID, "speed"))
    speed.select_by_visible_text("slow")
    click(page, "play")
    assert page.find_element(By.ID, "play").get_attribute("aria-label") == "Pause"
    wait_until(lambda: not text(page, "status").startswith("Move 1 "))
    click(page, "play")
    assert page.find_element(By.ID, "play").get_attribute("aria-label") == "Play"
    stopped = text(page, "status")
    speed.select_by_visible_text("very fast")
    time.sleep(0.5)
    assert text(page, "status") == stopped
    assert not stopped.startswith("The end")
    ActionChains(page).send_keys(Keys.TAB).perform()
    page.find_element(By.ID, "play").click()
    wait_until(lambda: text(page, "status").startswith("The end"))
    assert page.find_element(By.ID, "play").get_attribute("aria-label") == "Play"
    steps = [said.split(" of ")[0] for said in moves_shown(page)]
    assert steps[:-1] == [f"Move {number}" for number in range(2, len(result.moves) + 1)]
    click(page, "play")
    wait_until(lambda: any(said.startswith("Move 1 ") for said in moves_shown(page)))


def test_a_screen_reader_is_told_everything(page, result):
    """Names for all controls, a live status, and the board in words."""
    board = page.find_element(By.ID, "board")
    assert board.get_attribute("role") == "img"
    assert "64 cells left" in board.get_attribute("aria-label")
    assert page.find_element(By.ID, "status").get_attribute("aria-live") == "polite"
    for control in page.find_elements(By.CSS_SELECTOR, "button, input, select"):
        assert control.accessible_name
    assert page.find_element(By.ID, "slider").get_attribute("aria-valuetext") == f"before move 1 of {len(result.moves)}"


@pytest.mark.parametrize("size", [(360, 740), (800, 600)])
def test_nothing_sticks_out_on_a_phone(page, size):
    page.set_window_size(*size)
    assert page.execute_script("return document.scrollingElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.find_element(By.ID, "board").size["width"] > 0.5 * min(size)
    page.set_window_size(1100, 900)


def test_dark_and_light(page):
    """The page follows the system: its background is dark where that is asked for."""

    def background(scheme):
        page.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        colour = page.execute_script("return getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    assert background("dark") < 150
    assert background("light") > 700


def test_the_page_is_complete_in_itself(result):
    html = to_html(result)
    assert not re.search(r"""(src|href|url\()\s*=?\s*["']?(https?:)?//""", html)
    assert "http" not in html


def test_what_a_file_says_cannot_become_code(result):
    """A name with markup in it stays text."""
    evil = dataclasses.replace(result, problem=result.problem._named("</script><script>alert(1)</script>"))
    html = to_html(evil)
    assert html.count("<script>") == to_html(result).count("<script>")
    assert "<script>alert" not in to_svg(evil)
    result.problem._named(None)


def test_the_svg_is_well_formed_and_has_every_move(result):
    root = ElementTree.fromstring(to_svg(result))
    labels = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {str(number) for number in range(1, len(result.moves) + 1)} <= set(labels)
    assert "start" in labels
    assert f"after {len(result.moves)}" in labels
    assert f"board cleared +1,000: {result.score:,.0f}" in labels


@pytest.mark.parametrize("rows", ["0", "00", "01\n10", "0" * 20])
def test_the_smallest_games_have_pictures(rows):
    found = po.solve(po.SameGame.parse(rows), po.NMCS(level=1), playouts=3)
    ElementTree.fromstring(to_svg(found))
    assert '"frames":[' in to_html(found)


def test_the_page_says_how_it_was_found(result):
    assert "GNRPA, level 2, iterations 100, alpha 1.0, temperature 1.0, " in to_html(result)
    parallel = dataclasses.replace(result, search=po.NMCS(level=1), parallel=po.Root(jobs=3))
    assert "NMCS, level 1; root, jobs 3; seed 1, " in to_html(parallel)


def test_a_problem_without_a_picture_lists_its_moves(result):
    plain = SimpleNamespace(describe=lambda: "odd", to_json=lambda: "odd:1")
    odd = dataclasses.replace(result, problem=plain, moves=(3, 1, 2))
    assert not has_picture(odd)
    for picture in (to_svg(odd), to_html(odd)):
        assert NO_PICTURE in picture
        assert "3. 2" in picture
