"""`pricecrawl render-server`: health, one page, and a sentence for everything that is wrong."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE

import aiohttp
import pytest
from pydantic import SecretStr

from pricecrawl.domain.errors import Refused
from pricecrawl.rendering.client import RemoteRenderer
from pricecrawl.rendering.job import RenderJob, RenderProblem
from tests.rendering.site import Site, html

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


async def command(*arguments: str, **env: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pricecrawl", "render-server", *arguments),
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )


def test_the_command_serves_health_and_pages_and_ends_on_a_signal(tmp_path: Path) -> None:
    async def story() -> None:
        token = {"PRICECRAWL_RENDER_TOKEN": "t0k3n", "PRICECRAWL_HOME": str(tmp_path)}
        process = await command("--port", "0", **token)
        assert process.stderr is not None
        said = ""
        while not (match := re.search(r"http://127\.0\.0\.1:\d+", said)):
            line = await asyncio.wait_for(process.stderr.readline(), 30)
            assert line, said
            said += line.decode()
        url = match[0]
        async with Site({"/": html("<h1>Kettle</h1>")}) as shop, aiohttp.ClientSession() as session:
            async with session.get(f"{url}/health") as answer:
                health = await answer.json()
            assert health["ok"] is True
            assert re.match(r"\d+\.", health["browser"])
            good = RemoteRenderer(url, SecretStr("t0k3n"))
            done = await good.render(RenderJob(shop.url, shop.url, settle_ms=0))
            assert b"<h1>Kettle</h1>" in done.html
            with pytest.raises(Refused, match="may not be rendered"):
                await good.render(RenderJob("https://other.example/", shop.url))
            with pytest.raises(RenderProblem, match="could not be drawn"):
                await good.render(RenderJob("http://127.0.0.1:1/", "http://127.0.0.1:1/", settle_ms=0))
            for secret in (None, SecretStr("guess")):
                stranger = RemoteRenderer(url, secret)
                with pytest.raises(RenderProblem, match="token"):
                    await stranger.render(RenderJob(shop.url, shop.url))
                await stranger.close()
            headers = {"Authorization": "Bearer t0k3n"}
            for body, words in (
                ("no json", "JSON object"),
                ("[]", "JSON object"),
                ('{"url": 1}', "'url'"),
                (json.dumps({"url": "x", "home": "y", "proxy": ["a", "b", "c"]}), "'proxy'"),
                (json.dumps({"url": "x", "home": "y", "settle_ms": -1}), "settle_ms"),
            ):
                async with session.post(f"{url}/render", data=body, headers=headers) as answer:
                    assert answer.status == 400
                    assert words in (await answer.json())["error"]
            await good.close()
        process.send_signal(signal.SIGTERM)
        _, rest = await asyncio.wait_for(process.communicate(), 30)
        assert process.returncode == 0
        assert "Traceback" not in rest.decode()
        assert "t0k3n" not in said + rest.decode()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("arguments", "env", "words"),
    [
        (("--host", "0.0.0.0"), {}, "PRICECRAWL_RENDER_TOKEN"),
        ((), {"PRICECRAWL_CHROMIUM": "/nowhere/chromium"}, "/nowhere/chromium"),
        ((), {"PATH": "/nowhere", "PLAYWRIGHT_BROWSERS_PATH": "/nowhere"}, "install"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], env: dict[str, str], words: str
) -> None:
    async def story() -> tuple[int, str]:
        process = await command(*arguments, PRICECRAWL_HOME=str(tmp_path), **env)
        _, err = await asyncio.wait_for(process.communicate(), 60)
        return process.returncode or 0, err.decode()

    code, said = asyncio.run(story())
    assert code in {1, 2}
    assert words in said
    assert said.strip().count("\n") == 0


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    async def story() -> None:
        renderer = RemoteRenderer("http://127.0.0.1:9")
        with pytest.raises(RenderProblem, match="pricecrawl render-server"):
            await renderer.render(RenderJob("http://127.0.0.1:1/", "http://127.0.0.1:1/"))
        await renderer.close()

    asyncio.run(story())
