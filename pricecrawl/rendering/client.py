"""The same interface as a browser of our own, with the browser in another process."""

from __future__ import annotations

import asyncio

import aiohttp
from pydantic import SecretStr

from pricecrawl.domain.errors import Refused
from pricecrawl.rendering.job import Rendered, RenderJob, RenderProblem

# What a server may add to a page's own time: a browser that has to be started, and a queue.
_PATIENCE_SECONDS = 60.0
_LIMIT = 64 * 1024 * 1024


class RemoteRenderer:
    """Asks a render server (`pricecrawl render-server`)."""

    def __init__(self, url: str, token: SecretStr | None = None) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
        self._session: aiohttp.ClientSession | None = None

    async def render(self, job: RenderJob) -> Rendered:
        """See `Renderer`."""
        if self._session is None:
            self._session = aiohttp.ClientSession()
        try:
            async with asyncio.timeout(job.timeout * 2 + _PATIENCE_SECONDS):
                async with self._session.post(
                    f"{self._url}/render", json=job.to_json(), headers=self._headers, allow_redirects=False
                ) as answer:
                    if (answer.content_length or 0) > _LIMIT:
                        raise RenderProblem("The render server's answer is too large.")
                    data = await answer.json()
        except (aiohttp.ClientError, OSError, ValueError):
            raise RenderProblem(
                f"The render server at {self._url} does not answer: start it with `pricecrawl render-server`."
            ) from None
        except TimeoutError:
            raise RenderProblem(f"The render server at {self._url} took too long.") from None
        if answer.status == 200:
            return Rendered.from_json(data)
        text = str(data.get("error", "")) if isinstance(data, dict) else ""
        if answer.status == 403:
            raise Refused(text or "The render server refused the page.")
        raise RenderProblem(text or f"The render server answered {answer.status}.")

    async def close(self) -> None:
        """Let go of the connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None
